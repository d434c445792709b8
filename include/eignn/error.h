#pragma once

#include <stdexcept>
#include <string>

namespace eignn {

/// A failure that the user can mend. The message is one line, "what (where); remedy", without a newline at
/// the end, so that the command line can print it as it is. Mistakes of the programmer are no `Error`.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& what) : std::runtime_error(what), exit_code_(exit_code) {}

  /// What the process returns when nobody handles this error.
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// The request itself is wrong: an unknown command, flag or name, a value out of range, flags that exclude
/// each other. Exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& what) : Error(2, what) {}
};

/// The request is fine and what it met is not: files, data, shapes, NaN, disk, non-convergence. Exit code 1.
class InputError : public Error {
 public:
  explicit InputError(const std::string& what) : Error(1, what) {}
};

}  // namespace eignn
