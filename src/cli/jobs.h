// Jobs on a terminal: progress, Ctrl-C, and what to type to go on.
#pragma once

#include <functional>
#include <string>

#include "cli/common.h"
#include "run/job_runner.h"

namespace eignn::cli {

/// Progress on standard error unless `quiet`, signals watched for, this program for jobs side by side.
/// `parent` is the process that this one is a job of, and ends with; 0: none.
JobOptions job_options(int64_t parallel, bool quiet, int64_t parent = 0);

/// What an interruption is in words: Interrupted, with the command that goes on.
[[noreturn]] void stop(const InterruptedError& interruption, const std::string& go_on_with);

/// Does the work. `go_on_with` is the command that goes on with what is kept, empty where nothing is: an
/// interruption ends the program with it, and an error of the disk or the machine names it.
template <class Work>
auto resumable(const std::function<std::string()>& go_on_with, Work work) {
  try {
    return work();
  } catch (const InterruptedError& interruption) {
    stop(interruption, go_on_with());
  } catch (const ResourceError& error) {
    const std::string command = go_on_with();
    if (command.empty() || error.remedy().find("same command") != std::string::npos) throw;
    throw ResourceError(error.problem(), error.where(), error.remedy() + ", then go on with: " + command);
  }
}

}  // namespace eignn::cli
