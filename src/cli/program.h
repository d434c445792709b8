// The command line as a function: parses, runs the command, prints errors, returns the exit code.
//
// It is compiled twice. The front is the executable: it needs no libtorch and starts at once, and its
// commands throw EngineNeeded, except those that need no tensor. The front then loads the engine, a shared
// library, which parses the same arguments again and does the work.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace eignn::cli {

/// Returns the exit code. `in_words` makes the message of an exception that is not one of ours. EngineNeeded
/// passes through.
int run_program(int argc, char** argv, const std::function<std::string(const std::exception&)>& in_words);

/// Thrown by a command of the front that needs the engine.
struct EngineNeeded {};

}  // namespace eignn::cli
