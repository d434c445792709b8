// Standard output and standard error that may be full, closed or a broken pipe.
#pragma once

#include <string>

namespace eignn::cli {

/// To be called first: a closed standard stream is held open, so that no file of ours takes its place and is
/// written to as if it were the terminal; a broken pipe is an error of the write and no longer ends the
/// process.
void hold_standard_streams();

/// As many files at once as the system lets a process have: each run of a batch has two.
void allow_many_files();

/// From now on say() prints nothing, until speak_up(): this is one of several processes that have the same to
/// say.
void be_quiet();
void speak_up();

/// Text for people, on standard error. What cannot be written there is lost, and the work goes on.
void say(const std::string& text);

/// std::system_error unless all that was printed to standard output has been written.
void flush_output();

}  // namespace eignn::cli
