// The exceptions of the library. Every message is one line, "problem (where); remedy", without a newline at
// the end.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace eignn {

/// The base of all exceptions that this library throws. The parts of the message are kept, so that a binding
/// (the command line, Python) can name the place in its own terms.
class Error : public std::runtime_error {
 public:
  Error(const std::string& problem, const std::string& where, const std::string& remedy)
      : std::runtime_error(sentence(problem, where, remedy)),
        problem_(problem),
        where_(where),
        remedy_(remedy) {}

  const std::string& problem() const { return problem_; }
  const std::string& where() const { return where_; }
  const std::string& remedy() const { return remedy_; }

  /// "problem (where); remedy", without the parts that are empty.
  static std::string sentence(const std::string& problem, const std::string& where,
                              const std::string& remedy) {
    return problem + (where.empty() ? "" : " (" + where + ")") + (remedy.empty() ? "" : "; " + remedy);
  }

 private:
  std::string problem_, where_, remedy_;
};

/// An argument is wrong: a name that does not exist, a number out of range, a tensor of the wrong shape, type
/// or device, options that exclude each other. `field` is the argument's or option's name as the API spells
/// it ("gamma", "X", "self-loops").
class ArgumentError : public Error {
 public:
  ArgumentError(const std::string& field, const std::string& problem, const std::string& remedy = {})
      : Error(problem, field, remedy) {}

  const std::string& field() const { return where(); }
};

/// A file or a data set is missing or has invalid content. `place` is a line, a key or a row, or empty.
class DataError : public Error {
 public:
  DataError(const std::string& file, const std::string& place, const std::string& problem,
            const std::string& remedy = {})
      : Error(problem, place.empty() ? file : file + ", " + place, remedy), file_(file), place_(place) {}

  const std::string& file() const { return file_; }
  const std::string& place() const { return place_; }

 private:
  std::string file_, place_;
};

/// A solve or a training did not converge: iterations ran out, or a loss or a weight left the floating range.
class ConvergenceError : public Error {
 public:
  ConvergenceError(const std::string& problem, const std::string& where, const std::string& remedy,
                   double residual = std::numeric_limits<double>::quiet_NaN())
      : Error(problem, where, remedy), residual_(residual) {}

  /// The residual that was reached; NaN where none is known.
  double residual() const { return residual_; }

 private:
  double residual_;
};

/// The caller's own `interrupted` hook ended a set of runs. Finished runs are kept in their folders, and the
/// run that was under way can be resumed from its own.
class InterruptedError : public Error {
 public:
  explicit InterruptedError(const std::string& folder, int64_t epochs = -1)
      : Error("interrupted", folder, ""), epochs_(epochs) {}

  /// Of the run that was under way; empty: it had none, and nothing of it is kept.
  const std::string& folder() const { return where(); }
  /// The epochs that it had run; -1: not known.
  int64_t epochs() const { return epochs_; }

 private:
  int64_t epochs_;
};

/// The machine cannot give what is needed: memory, disk, a device, the network, a program.
class ResourceError : public Error {
 public:
  using Error::Error;
};

}  // namespace eignn
