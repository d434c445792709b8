// The extension module: libtorch tensors in and out, without copies, and nothing that the library does not
// do.
#include "binding.h"
#include "eignn/checkpoint.h"
#include "eignn/error.h"
#include "eignn/execution.h"

namespace eignn::python {

bool Signals::pending() {
  if (error_) return true;
  constexpr auto pause = std::chrono::milliseconds(50);
  const auto now = Clock::now();
  if (now - looked_ < pause) return false;
  looked_ = now;
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  error_.emplace();  // takes the exception over
  raised_ = now;
  return true;
}

bool Signals::pending_for(std::chrono::milliseconds grace) {
  return pending() && Clock::now() - raised_ >= grace;
}

void Signals::rethrow() {
  if (error_) throw *error_;
}

void warn_in_python(const std::string& message) {
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 2) != 0) throw py::error_already_set();
}

TrainConfig configured(const Settings& settings) {
  TrainConfig config;
  assign(config, settings);
  validate_settings(config);
  return config;
}

namespace {

// Raises one of eignn/_errors.py, with the parts of the message as attributes.
void raise_in_python(const char* name, const Error& error, const py::dict& parts) {
  const auto type = py::module_::import("eignn._errors").attr(name);
  auto object = type(error.what());
  object.attr("problem") = error.problem();
  object.attr("remedy") = error.remedy();
  for (const auto& [key, value] : parts) py::setattr(object, key, value);
  PyErr_SetObject(type.ptr(), object.ptr());
}

void translate(std::exception_ptr thrown) {
  using namespace pybind11::literals;
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const ArgumentError& error) {
    raise_in_python("ArgumentError", error, py::dict("field"_a = error.field()));
  } catch (const DataError& error) {
    const auto says = [&](const char* words) { return error.problem().find(words) != std::string::npos; };
    const bool absent = says("o such file") || says("no such run folder") || says("is not here");
    raise_in_python(absent ? "MissingFileError" : "DataError", error,
                    py::dict("file"_a = error.file(), "place"_a = error.place()));
  } catch (const ConvergenceError& error) {
    raise_in_python("ConvergenceError", error, py::dict("residual"_a = error.residual()));
  } catch (const InterruptedError& error) {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const ResourceError& error) {
    const bool memory = error.problem().find("memory") != std::string::npos;
    raise_in_python(memory ? "OutOfMemoryError" : "ResourceError", error, py::dict());
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
  }
}

}  // namespace

void bind_errors(py::module_&) {
  py::register_local_exception_translator(translate);
}

}  // namespace eignn::python

PYBIND11_MODULE(_binding, module) {
  using namespace eignn::python;
  bind_errors(module);
  bind_graph(module);
  bind_solver(module);
  bind_dataset(module);
  bind_model(module);
  bind_training(module);
  bind_insight(module);
  module.def("version", &eignn::version);
}
