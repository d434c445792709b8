// Settings, training, search, and trained models.
#include "eignn/train.h"

#include "binding.h"
#include "eignn/checkpoint.h"
#include "eignn/error.h"
#include "eignn/search.h"
#include "run/checkpoint.h"
#include "run/own_rule.h"
#include "run/recipes.h"
#include "run/train_run.h"
#include "run/training_record.h"
#include "train/assemble.h"

namespace eignn::python {

namespace {

using namespace std::chrono_literals;

// A training ends its epoch before Ctrl-C ends it, unless the epoch takes long.
constexpr auto grace = 500ms;

std::set<std::string> names_in(const Settings& settings) {
  std::set<std::string> names;
  for (const auto& [name, text] : settings) names.insert(name);
  return names;
}

// As the command does it: what is given, then the recipe, then, for data without one, the table that suits.
struct Planned {
  TrainConfig config;
  Dataset data;
};
Planned planned(const Settings& settings, const std::string& recipe, const Dataset* given) {
  Planned out;
  assign(out.config, settings);
  if (given != nullptr) out.config.dataset = given->name;
  given != nullptr ? validate_settings(out.config) : validate(out.config);
  const std::set<std::string> names = names_in(settings);
  const std::string used = recipe == "none" ? "" : apply_recipe(out.config, names, recipe);
  given != nullptr ? validate_settings(out.config) : validate(out.config);
  out.data = given != nullptr ? *given : load_raw_dataset(out.config);
  if (used == "eignn/own" && recipe.empty()) {
    apply_own_rule(out.config, names, out.data);
    validate_settings(out.config);
  }
  return out;
}

// Whether no two known labels differ, so that there is nothing to learn.
bool is_of_one_class(const Dataset& data) {
  if (!data.labels.defined() || data.multi_label() || data.is_regression()) return false;
  const auto known = data.labels.masked_select(data.known);
  return known.numel() > 0 && known.min().equal(known.max());
}

// Calls on_epoch(epoch, report as a dict) where it is not None.
TrainHooks hooks_of(Signals& signals, const std::optional<py::function>& on_epoch,
                    std::optional<py::error_already_set>& failure) {
  TrainHooks hooks;
  hooks.interrupted = [&signals, &failure] { return failure.has_value() || signals.pending(); };
  if (!on_epoch) return hooks;
  hooks.on_epoch = [&failure, call = &*on_epoch](const EpochReport& report) {
    if (failure) return;
    const py::gil_scoped_acquire acquire;
    using namespace pybind11::literals;
    try {
      (*call)(py::dict("epoch"_a = report.epoch, "metric"_a = report.metric,
                       "train_loss"_a = report.train_loss, "val_loss"_a = report.val_loss,
                       "val_score"_a = report.val_score, "seconds"_a = report.seconds,
                       "kept"_a = report.kept));
    } catch (py::error_already_set& error) {
      failure.emplace(error);
    }
  };
  return hooks;
}

py::tuple trained(const Dataset* given, const Settings& settings, const std::string& recipe,
                  const std::string& folder, bool resume, const std::optional<py::function>& on_epoch) {
  std::optional<py::error_already_set> failure;
  auto run = without_gil(
      [&](Signals& signals) {
        Planned plan = resume ? Planned{saved_config(folder), {}} : planned(settings, recipe, given);
        if (resume) plan.data = given != nullptr ? *given : load_raw_dataset(plan.config);
        TrainOptions options;
        options.config = plan.config;
        options.named_settings = names_in(settings);
        if (resume) {
          int64_t epochs = 0;
          if (settings.count("epochs")) {
            assign(options.config, "epochs", settings.at("epochs"));
            epochs = options.config.epochs;
          }
          options.resume(folder, epochs);
        } else if (!folder.empty()) {
          options.folder(folder);
        }
        options.hooks(hooks_of(signals, on_epoch, failure));
        if (is_of_one_class(plan.data))
          throw ArgumentError("labels", "all known labels are of one class", "give labels of two or more");
        if (given == nullptr) plan.data.name = plan.config.dataset;  // a path, by which it is found again
        auto out = train(plan.data, options);
        if (out.result.interrupted && !failure) throw InterruptedError(folder, out.result.epochs);
        return out;
      },
      grace);
  if (failure) throw *failure;
  return py::make_tuple(to_json(run.result), std::move(run.model));
}

py::tuple searched(const Dataset& data, const Settings& settings, const std::vector<std::string>& models,
                   double budget, int64_t trials, int64_t splits, const std::string& folder) {
  AutoSearch race;
  assign(race.base, settings);
  race.given = names_in(settings);
  if (!models.empty()) race.models = models;
  race.budget_seconds = budget;
  race.trials = trials;
  race.splits = splits;
  auto found = without_gil(
      [&](Signals& signals) {
        SearchOptions options;
        options.folder = folder;
        options.hooks.interrupted = [&] { return signals.pending(); };
        return search(data, race, options);
      },
      grace);
  py::list trials_tried;
  using namespace pybind11::literals;
  for (const AutoTrial& trial : found.trials) {
    py::list rungs;
    for (const auto& rung : trial.rungs)
      rungs.append(py::dict("epochs"_a = rung.epochs, "val"_a = rung.val, "seconds"_a = rung.seconds));
    trials_tried.append(py::dict("name"_a = trial.name, "settings"_a = trial.settings, "rungs"_a = rungs,
                                 "failure"_a = trial.failure, "chosen"_a = trial.chosen));
  }
  std::vector<std::string> runs;
  for (const RunResult& run : found.runs) runs.push_back(to_json(run));
  return py::make_tuple(trials_tried, to_strings(found.best), runs);
}

// (name, range, help, default) of each setting that a model reads.
std::vector<std::tuple<std::string, std::string, std::string, std::string>> settings_of(
    const std::string& model) {
  TrainConfig config;
  config.model = model_options(model);
  std::vector<std::tuple<std::string, std::string, std::string, std::string>> out;
  for (const Field& field : fields(config))
    out.emplace_back(field.name, field.range, field.help, field.get());
  return out;
}

py::dict recognised(const TrainedModel& model, const Dataset& data) {
  const Recognition seen = without_gil([&](Signals&) { return model.recognise(data); });
  using namespace pybind11::literals;
  return py::dict("remembers"_a = seen.remembers, "training_graph"_a = seen.training_graph,
                  "unchanged"_a = seen.unchanged, "train"_a = seen.split.train, "val"_a = seen.split.val,
                  "test"_a = seen.split.test);
}

}  // namespace

void bind_training(py::module_& module) {
  module.def("train", &trained, py::arg("data").none(true), py::arg("settings"), py::arg("recipe"),
             py::arg("folder"), py::arg("resume"), py::arg("on_epoch").none(true));
  module.def("search", &searched);
  module.def("settings_of", &settings_of);
  module.def("model_names", &model_names);
  module.def("with_recipe", [](const Settings& settings, const std::string& recipe, const Dataset* data) {
    return without_gil([&](Signals&) { return to_strings(planned(settings, recipe, data).config); });
  });

  py::class_<TrainedModel>(module, "TrainedModel")
      .def_property_readonly("settings", [](const TrainedModel& m) { return to_strings(m.config()); })
      .def_property_readonly("features", &TrainedModel::features)
      .def_property_readonly("classes", &TrainedModel::classes)
      .def_property_readonly("task", [](const TrainedModel& m) { return name(m.task()); })
      .def_property_readonly("class_names", &TrainedModel::class_names)
      .def_property_readonly("feature_names", &TrainedModel::feature_names)
      .def_property_readonly("weights", &TrainedModel::weights)
      .def_property_readonly("columns",
                             [](const TrainedModel& m) {
                               std::vector<std::pair<std::string, std::string>> out;
                               for (const TrainedColumn& column : m.tables().trained_columns)
                                 out.emplace_back(column.name, name(column.role));
                               return out;
                             })
      .def("class_name", &TrainedModel::class_name)
      .def("save", [](const TrainedModel& m,
                      const std::string& path) { without_gil([&](Signals&) { m.save(path); }); })
      .def("predict",
           [](const TrainedModel& m, const Dataset& data) {
             const Predictions p = without_gil([&](Signals&) { return m.predict(data); });
             return std::make_tuple(p.scores, if_defined(p.probabilities), if_defined(p.classes),
                                    if_defined(p.values));
           })
      .def("evaluate",
           [](const TrainedModel& m, const Dataset& data, const torch::Tensor& nodes) {
             const Evaluation found = without_gil([&](Signals&) { return m.evaluate(data, nodes); });
             return std::make_pair(found.loss, found.score);
           })
      .def("recognise", &recognised)
      .def("features_of", [](const TrainedModel& m, const Dataset& data) {
        return without_gil([&](Signals&) { return as_trained(m, data).features; });
      });
  module.def("load_model",
             [](const std::string& path) { return without_gil([&](Signals&) { return load_model(path); }); });
}

}  // namespace eignn::python
