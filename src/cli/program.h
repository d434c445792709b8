// The command line as a function: parses, runs the command, prints errors, returns the exit code.
//
// It is compiled twice. The front, which is the executable, needs no libtorch and starts at once; its
// commands throw EngineNeeded instead of working, except those that need no tensor. The engine is a shared
// library that the front loads then, and parses the same arguments again.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace eignn::cli {

/// `in_words`: the message of an exception that is not one of ours. EngineNeeded passes through.
int run_program(int argc, char** argv, const std::function<std::string(const std::exception&)>& in_words);

/// What a command of the front throws that cannot do its work there.
struct EngineNeeded {};

}  // namespace eignn::cli
