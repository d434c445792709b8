// What the library throws. Every message is one line, "problem (where); remedy", without a newline at the
// end.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>

namespace eignn {

/// The base of all errors that this library throws on purpose. The parts of the message are kept, so that a
/// binding (the command line, Python) can name the place in its own words.
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

  /// "problem (where); remedy", with the parts that are there.
  static std::string sentence(const std::string& problem, const std::string& where,
                              const std::string& remedy) {
    return problem + (where.empty() ? "" : " (" + where + ")") + (remedy.empty() ? "" : "; " + remedy);
  }

 private:
  std::string problem_, where_, remedy_;
};

/// The caller gave something that cannot be: a name that does not exist, a number out of range, a tensor of
/// the wrong shape, type or device, options that exclude each other. `field` is the argument's or option's
/// name as the API spells it ("gamma", "X", "self-loops").
class ArgumentError : public Error {
 public:
  ArgumentError(const std::string& field, const std::string& problem, const std::string& remedy = {})
      : Error(problem, field, remedy) {}

  const std::string& field() const { return where(); }
};

/// A file or a data set does not say what it should. `place` is a line, a key or a row, or empty.
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

/// A solve or a training did not arrive: iterations ran out, a loss or a weight left the floating range.
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

/// The machine cannot give what is needed: memory, disk, a device, the network, a program.
class ResourceError : public Error {
 public:
  using Error::Error;
};

}  // namespace eignn
