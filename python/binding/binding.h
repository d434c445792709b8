// The parts of the extension module eignn._binding, and what all of them use.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/torch.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/error.h"
#include "eignn/interrupt.h"
#include "eignn/options.h"
#include "eignn/warning.h"

namespace eignn::python {

namespace py = pybind11;

/// Settings of a run by name, as texts; python/eignn/_settings.py writes them.
using Settings = std::map<std::string, std::string>;

void bind_errors(py::module_& module);
void bind_graph(py::module_& module);
void bind_solver(py::module_& module);
void bind_dataset(py::module_& module);
void bind_model(py::module_& module);
void bind_training(py::module_& module);
void bind_insight(py::module_& module);

/// Watches for Python's signals while the library computes without the GIL. Python calls its handlers on the
/// main thread alone; on another one nothing is ever pending.
class Signals {
 public:
  /// Whether a handler has raised, as that of Ctrl-C does. Looks at most twenty times a second.
  bool pending();
  /// Whether one has raised so long ago, so that a training may end its epoch first.
  bool pending_for(std::chrono::milliseconds grace);
  /// Raises what the handler has raised, with the GIL held.
  void rethrow();

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point looked_ = Clock::now(), raised_;
  std::optional<py::error_already_set> error_;
};

/// Gives Python's `warnings` a line, as a RuntimeWarning; throws where they are errors.
void warn_in_python(const std::string& message);

/// Runs work(signals) without the GIL. Warnings of the library become Python's, and Ctrl-C ends the
/// iterations of its solvers after `grace`.
template <class Work>
auto without_gil(Work work, std::chrono::milliseconds grace = std::chrono::milliseconds(0)) {
  Signals signals;
  std::vector<std::string> warnings;
  const auto run = [&] {
    const py::gil_scoped_release release;
    const WarningScope warned([&](const std::string& message) { warnings.push_back(message); });
    const InterruptScope interruptible([&] { return signals.pending_for(grace); });
    return work(signals);
  };
  const auto say = [&] {
    for (const std::string& message : warnings) warn_in_python(message);
  };
  try {
    if constexpr (std::is_void_v<decltype(work(signals))>) {
      run();
      say();
    } else {
      auto result = run();
      say();
      return result;
    }
  } catch (const InterruptedError&) {
    signals.rethrow();
    throw;
  }
}

/// None in Python for a tensor that is not defined.
inline std::optional<torch::Tensor> if_defined(const torch::Tensor& tensor) {
  return tensor.defined() ? std::optional<torch::Tensor>(tensor) : std::nullopt;
}

/// A configuration with these settings, in range. `dataset` need not be a name where data are given.
TrainConfig configured(const Settings& settings);

}  // namespace eignn::python
