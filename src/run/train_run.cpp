#include "run/train_run.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>

#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/warning.h"
#include "equilibrium/contraction.h"
#include "equilibrium/stopwatch.h"
#include "run/checkpoint.h"
#include "run/conclude.h"
#include "run/disk_estimate.h"
#include "run/predictions_csv.h"
#include "run/provenance.h"
#include "run/run_folder.h"
#include "run/saving_pace.h"
#include "run/terms_folder.h"
#include "run/training_record.h"
#include "train/assemble.h"
#include "train/calibration.h"
#include "train/config_toml.h"
#include "train/early_stopping.h"
#include "train/graph_reduction.h"
#include "train/metrics.h"
#include "train/spread.h"
#include "train/thin_data.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// Format 2 has the settings of all models, format 3 those of the run's model. Format 4 has a digest of its
// content, and one of metrics.jsonl; format 5 a record of the training data, with which it is a checkpoint
// too (run/checkpoint.h). Format 6, the present one, has every setting.
constexpr const char* first_sealed_format = "eignn-resume-4";

int64_t non_converged(const Trainer& trainer, const RunState& progress) {
  return progress.non_converged + trainer.model().non_converged_solves().value_or(0);
}

torch::Tensor doubles(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

std::vector<double> doubles(const torch::Tensor& values) {
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

// `trained`: the run's model, whose weights are not looked at.
void save_progress(RunFolder& folder, const TrainedModel& trained, Trainer& trainer,
                   const EarlyStopping& stopping, const RunState& progress) {
  SafeTensors content;
  for (const auto& [name, tensor] : state_of(trainer.model()))
    content.tensors["now." + name] = to_bytes(tensor);
  for (const auto& [name, tensor] : progress.best) content.tensors["best." + name] = to_bytes(tensor);
  for (const auto& [name, tensor] : trainer.optimiser().state())
    content.tensors["adam." + name] = to_bytes(tensor);
  content.tensors["epoch_seconds"] = to_bytes(doubles(progress.epoch_seconds));
  content.tensors["step_seconds"] = to_bytes(doubles(progress.step_seconds));
  content.tensors["stopping"] = to_bytes(doubles(
      {stopping.best_loss, stopping.best_score, static_cast<double>(stopping.waited), progress.seconds}));
  content.metadata = {{"format", resume_format},
                      {"next_epoch", std::to_string(progress.next_epoch)},
                      {"best_epoch", std::to_string(progress.best_epoch)},
                      {"non_converged", std::to_string(non_converged(trainer, progress))},
                      {"metrics", folder.flush_metrics()}};
  describe_model(trained, content);
  seal(content);
  write_safetensors(folder.resume_path(), content);
}

// The tensors whose names begin with `prefix`, without it.
std::map<std::string, torch::Tensor> with_prefix(const SafeTensors& content, const std::string& prefix) {
  std::map<std::string, torch::Tensor> out;
  for (const auto& [name, bytes] : content.tensors)
    if (name.rfind(prefix, 0) == 0) out[name.substr(prefix.size())] = to_tensor(bytes);
  return out;
}

// Calls `read`, which reads the saved state at `path`, and says in its errors what works without that state.
template <class Read>
auto reading_state(const std::string& path, Read read) {
  const auto damaged = [&](const std::string& place, const std::string& problem) {
    throw DataError(path, place, problem, begin_anew);
  };
  try {
    return read();
  } catch (const DataError& error) {
    damaged(error.place(), error.problem());
  } catch (const ArgumentError& error) {
    damaged("", fmt::format("the saved run does not hold: {}", error.what()));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    damaged("", "the saved run is damaged");
  }
  throw std::logic_error("reading_state");  // never reached
}

void require_in(const char* key, int64_t value, int64_t least, int64_t most, const std::string& path) {
  if (value < least || value > most)
    throw DataError(path, key, fmt::format("{} is not between {} and {}", value, least, most));
}

// Weights by name: as many, of the same shapes and types as the model has.
void require_alike(const std::map<std::string, torch::Tensor>& found,
                   const std::map<std::string, torch::Tensor>& model, const std::string& prefix,
                   const std::string& path) {
  for (const auto& [name, tensor] : found)
    if (!model.count(name)) throw DataError(path, prefix + name, "the model has no such weight");
  for (const auto& [name, tensor] : model) {
    const auto at = found.find(name);
    if (at == found.end()) throw DataError(path, prefix + name, "this weight is missing");
    if (at->second.sizes() != tensor.sizes() || at->second.scalar_type() != tensor.scalar_type())
      throw DataError(path, prefix + name, "it is of another shape or type than the model's");
  }
}

void load_progress(const std::string& path, const SafeTensors& content, Trainer& trainer,
                   EarlyStopping& stopping, RunState& progress) {
  const auto model = state_of(trainer.model());
  const auto now = with_prefix(content, "now.");
  require_alike(now, model, "now.", path);
  load_state(trainer.model(), now, path);
  progress.next_epoch = saved_number(content, "next_epoch", path);
  progress.best_epoch = saved_number(content, "best_epoch", path);
  if (content.metadata.count("non_converged"))
    progress.non_converged = saved_number(content, "non_converged", path);
  require_in("next_epoch", progress.next_epoch, 0, trainer.config().epochs, path);
  require_in("best_epoch", progress.best_epoch, -1, progress.next_epoch - 1, path);
  require_in("non_converged", progress.non_converged, 0, std::numeric_limits<int64_t>::max(), path);
  progress.best = with_prefix(content, "best.");
  if (progress.best.empty() != (progress.best_epoch < 0))
    throw DataError(path, "best_epoch", "there are best weights or a best epoch, and not both");
  if (!progress.best.empty()) require_alike(progress.best, model, "best.", path);
  trainer.optimiser().load_state(with_prefix(content, "adam."));
  progress.epoch_seconds = doubles(to_tensor(content.tensors.at("epoch_seconds")));
  progress.step_seconds = doubles(to_tensor(content.tensors.at("step_seconds")));
  const auto numbers = doubles(to_tensor(content.tensors.at("stopping")));
  stopping.best_loss = numbers.at(0);
  stopping.best_score = numbers.at(1);
  const double waited = numbers.at(2);
  if (!(waited >= 0 && waited <= static_cast<double>(progress.next_epoch)))
    throw DataError(path, "stopping.waited",
                    fmt::format("{} is not between 0 and {}", waited, progress.next_epoch));
  stopping.waited = static_cast<int64_t>(waited);
  progress.seconds = numbers.at(3);
  if (!(progress.seconds >= 0 && std::isfinite(progress.seconds)))
    throw DataError(path, "stopping.seconds", fmt::format("{} is no time", progress.seconds));
  const auto epochs = static_cast<size_t>(progress.next_epoch);
  if (progress.epoch_seconds.size() != epochs || progress.step_seconds.size() != epochs)
    throw DataError(path, "epoch_seconds",
                    fmt::format("there are {} times for {} epochs", progress.epoch_seconds.size(), epochs));
}

// `data_given`: the run goes on with data in memory, and the name of its data set need not be one.
TrainConfig resumed_config(const SafeTensors& content, const std::string& path, bool data_given) {
  TrainConfig config;
  const auto format = content.metadata.find("format");
  const std::string text = format == content.metadata.end() ? "" : format->second;
  const bool is_present = text == resume_format,
             is_sealed = is_present || text == last_resume_format || text == first_sealed_format;
  if (!is_sealed && text != "eignn-resume-2" && text != "eignn-resume-3")
    throw ArgumentError("format", "it is of another version");
  check_seal(content, path, is_sealed);
  assign_saved(config, content.metadata, /*complete=*/is_present);
  data_given ? validate_settings(config) : validate(config);
  return config;
}

// A resumed run that shall have another number of epochs than it began with.
void lengthen(TrainConfig& config, int64_t epochs, const SafeTensors& saved, const std::string& path) {
  if (epochs == 0 || epochs == config.epochs) return;
  const int64_t done = saved_number(saved, "next_epoch", path);
  if (epochs < done)
    throw ArgumentError("epochs",
                        fmt::format("the run has had {} epochs, which {} would cut off", done, epochs),
                        fmt::format("give {} or more", done));
  if (config.schedule == Schedule::cosine)
    warn(
        "the learning rates now fall to 0 at the new last epoch, so that the run is not the one that "
        "would have had so many from its start");
  config.epochs = epochs;
}

// Runs epochs until early stopping, the limit on epochs or an interruption ends them. Where the nodes are
// spread over processes, the first one has the folder; all act on its clock, and on an interruption of any.
void run_epochs(const TrainConfig& config, RunFolder* folder, const TrainedModel* trained,
                const TrainHooks& hooks, Trainer& trainer, EarlyStopping& stopping, RunState& progress) {
  SavingPace pace;
  Stopwatch since_save;
  const auto save = [&] {
    trainer.on_first([&] {
      if (folder) save_progress(*folder, *trained, trainer, stopping, progress);
    });
  };
  while (progress.next_epoch < config.epochs) {
    const Stopwatch watch;
    EpochReport report;
    report.epoch = progress.next_epoch;
    // The last evaluation may already have solved for these weights; charge that time to this step.
    const double solved = trainer.model().solve_seconds();
    report.train_loss = trainer.step(report.epoch);
    const double step_seconds = watch.seconds() + solved;
    const auto evaluation = trainer.evaluate(trainer.split().val);
    report.val_loss = evaluation.loss;
    report.metric = trainer.metric();
    report.val_score = evaluation.score;
    report.seconds = watch.seconds();
    const auto verdict = record_epoch(report, step_seconds, folder, stopping, progress,
                                      [&] { return state_of(trainer.model()); });
    if (hooks.on_epoch) hooks.on_epoch(report);
    if (verdict.stop) break;
    if (trainer.any(hooks.interrupted && hooks.interrupted())) return save();
    if (trainer.any(folder && pace.is_due(since_save.seconds()))) {
      const Stopwatch saving;
      save();
      pace.saved_in(saving.seconds());
      since_save = Stopwatch();
    }
  }
  progress.finished = true;
}

std::vector<torch::Tensor> copies(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> out;
  for (const auto& tensor : tensors) out.push_back(tensor.detach().clone());
  return out;
}

// The change of F, and the leading eigenvalues of g before and after, over all F where there are several.
void describe_propagation(const std::vector<torch::Tensor>& start, const std::vector<torch::Tensor>& end,
                          double epsilon, RunResult& summary) {
  if (start.empty()) return;
  double moved = 0, length = 0;
  for (size_t k = 0; k < start.size(); ++k) {
    moved += (end[k].detach() - start[k]).square().sum().item<double>();
    length += start[k].square().sum().item<double>();
  }
  summary.weight_change = std::sqrt(moved / length);
  const auto leading = [&](const std::vector<torch::Tensor>& weights) {
    std::vector<double> mu;
    for (const auto& F : weights)
      for (double value : leading_mu(F, epsilon)) mu.push_back(value);
    std::sort(mu.rbegin(), mu.rend());
    mu.resize(std::min<size_t>(mu.size(), 5));
    return mu;
  };
  summary.mu_start = leading(start);
  summary.mu_end = leading(end);
}

// Scores of the weights that are loaded, and labels, at the nodes of one part.
struct OnPart {
  torch::Tensor f, y;

  OnPart(Trainer& trainer, const torch::Tensor& nodes)
      : f(trainer.scores_at(nodes)), y(trainer.labels_at(nodes)) {}
};

// Tests the weights that are loaded on each part.
void note_scores(const Trainer& trainer, const Dataset& dataset, const OnPart& train, const OnPart& val,
                 const OnPart& test, const std::optional<OnPart>& calibration, RunResult& summary) {
  const Judge& judge = trainer.judge();
  const auto judged = [&](const OnPart& part, double& loss, double& score, PartScores& all) {
    const auto evaluation = evaluation_of(part.f, part.y, judge);
    loss = evaluation.loss;
    score = evaluation.score;
    all = part_scores(judge.targets.raw(part.f), part.y);
  };
  summary.metric = trainer.metric();
  judged(train, summary.loss.train, summary.score.train, summary.parts.train);
  judged(val, summary.loss.val, summary.score.val, summary.parts.val);
  judged(test, summary.loss.test, summary.score.test, summary.parts.test);

  summary.constant =
      part_scores(constant_scores(train.y, dataset.classes, test.y.size(0)), test.y.to(torch::kCPU));
  const bool of_classes = !dataset.multi_label() && !dataset.is_regression();
  double temperature = 1;
  if (of_classes) {
    temperature = fitted_temperature(val.f, val.y);
    summary.calibration = {temperature, calibration_error(test.f, test.y),
                           calibration_error(test.f / temperature, test.y)};
  }
  if (calibration) {
    summary.conformal = conformal_result(summary.config.conformal, calibration->f / temperature,
                                         calibration->y, test.f / temperature, test.y, judge.targets);
  }
  const Metric metric = judge.metric;
  const auto constant = summary.constant.of(metric);
  const double better = higher_is_better(metric) ? 1 : -1;
  if (constant && !(better * summary.score.test > better * *constant))
    warn(fmt::format("the model's {} on the test nodes, {}, is no better than that of {}, {}", name(metric),
                     metric_text(metric, summary.score.test),
                     dataset.is_regression() ? "predicting the mean" : "the most frequent class alone",
                     metric_text(metric, *constant)));
}

// Hops from the informative node: of the test nodes, and the largest of all. On the first process.
struct Distances {
  torch::Tensor test, largest;

  Distances(const Trainer& trainer, const Dataset& dataset) {
    if (dataset.distance.empty()) return;
    const auto here = torch::tensor(dataset.distance, torch::kInt64);
    test = trainer.collected(here.index_select(0, trainer.split().test.to(torch::kCPU)));
    largest = trainer.collected(here.max().reshape({1}));
  }
};

int64_t count_parameters(const Model& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace

EarlyStopping::Verdict record_epoch(EpochReport& report, double step_seconds, RunFolder* folder,
                                    EarlyStopping& stopping, RunState& progress,
                                    const std::function<std::map<std::string, torch::Tensor>()>& state) {
  const bool rising = higher_is_better(metric_by_name(report.metric));
  const auto verdict = stopping.judge(report.val_loss, rising ? report.val_score : -report.val_score);
  report.kept = verdict.keep;
  if (verdict.keep) {
    progress.best = state();
    progress.best_epoch = report.epoch;
  }
  progress.note(report, step_seconds);
  if (folder) folder->append_epoch(report);
  return verdict;
}

void RunState::note(const EpochReport& report, double step) {
  epoch_seconds.push_back(report.seconds);
  step_seconds.push_back(step);
  seconds += report.seconds;
  ++next_epoch;
}

void note_provenance(RunResult& result) {
  result.machine = (result.config.device == DeviceKind::cuda ? gpu_name() + ", " : "") + machine_name();
  result.version = version();
  result.commit = built_commit();
}

void conclude(Trainer& trainer, const Dataset& dataset, const RunFolder* folder, const RunState& progress,
              const std::vector<torch::Tensor>& F_start, double preprocess_seconds,
              const std::shared_ptr<const TrainingRecord>& record, RunResult& summary) {
  note_provenance(summary);
  summary.epochs = progress.next_epoch;
  summary.best_epoch = progress.best_epoch;
  if (progress.best.empty())
    throw ConvergenceError("no epoch had a finite validation loss", "", "lower lr, or use dtype float64");
  load_state(trainer.model(), progress.best, "the best epoch");
  const Split& split = trainer.split();
  const OnPart train(trainer, split.train), val(trainer, split.val), test(trainer, split.test);
  std::optional<OnPart> calibration;
  if (summary.config.conformal > 0) calibration.emplace(trainer, trainer.calibration());
  const Distances distance(trainer, dataset);
  trainer.on_first([&] {
    note_scores(trainer, dataset, train, val, test, calibration, summary);
    if (distance.test.defined()) {
      summary.by_distance =
          accuracy_by_distance(test.f, test.y, distance.test, distance.largest.max().item<int64_t>());
    }
  });
  summary.seconds_total = progress.seconds + preprocess_seconds;
  summary.seconds_per_epoch = median(progress.epoch_seconds);
  summary.seconds_per_train_step = median(progress.step_seconds);
  summary.preprocess_seconds = preprocess_seconds;
  summary.peak_memory_bytes = peak_memory_bytes();
  describe_propagation(F_start, trainer.model().propagation_weights(),
                       summary.config.is_eignn() ? summary.config.eignn().epsilon : 0, summary);
  if (trainer.model().non_converged_solves()) summary.non_converged_solves = non_converged(trainer, progress);
  summary.error_bound = trainer.model().error_bound();
  if (!trainer.any(folder != nullptr)) return;
  const TrainedModel model(with_weight_scale(dataset, summary.config), dataset.feature_count(),
                           dataset.classes, dataset.multi_label(), progress.best, record);
  trainer.on_first([&] { model.save(folder->checkpoint_path()); });
  const auto scores = scores_of(trainer.model(), torch::arange(dataset.nodes()).to(split.test.device()));
  const Split& nodes = dataset.splits[summary.split];
  if (trainer.ranks()) {
    write_predictions_together(folder ? folder->predictions_path() : "", dataset, nodes,
                               predictions_of(model, scores), dataset.class_names);
  } else {
    folder->write_predictions(dataset, nodes, predictions_of(model, scores));
  }
  if (summary.conformal) {
    write_prediction_sets(folder->path() + "/prediction_sets.csv", dataset, scores, *summary.conformal,
                          summary.calibration ? summary.calibration->temperature : 1,
                          trainer.judge().targets);
  }
  trainer.on_first([&] {
    folder->finish(summary);
    if (trainer.ranks()) remove_terms(folder->path());
  });
}

TrainConfig saved_config(const std::string& folder) {
  const std::string path = RunFolder::open(folder).resume_path();
  return reading_state(path,
                       [&] { return resumed_config(read_safetensors(path), path, /*data_given=*/true); });
}

RunOutcome run_training(const RunRequest& request) {
  RunResult summary;
  std::unique_ptr<RunFolder> folder;
  SafeTensors saved;
  const Ranks* ranks = request.spread ? &request.spread->ranks : nullptr;
  const auto on_first = [&](const std::function<void()>& work) { ranks ? ranks->on_first(work) : work(); };
  summary.config = request.config;
  bool longer = false;
  if (request.resume) {
    std::string content, path;
    on_first([&] {
      folder = std::make_unique<RunFolder>(RunFolder::open(request.folder));
      path = folder->resume_path();
      if (ranks) content = read_whole_file(path);
    });
    if (ranks) {
      path = ranks->of_first(path);
      content = ranks->of_first(content);
    }
    summary.config = reading_state(path, [&] {
      saved = ranks ? parse_safetensors(content, path) : read_safetensors(path);
      return resumed_config(saved, path, request.data != nullptr);
    });
    const int64_t before = summary.config.epochs;
    lengthen(summary.config, request.epochs, saved, path);
    longer = summary.config.epochs != before;
  }
  const TrainConfig& config = summary.config;
  request.data ? validate_settings(config) : validate(config);
  if (ranks && ranks->any(to_toml(config) != ranks->of_first(to_toml(config))))
    throw ArgumentError("", "the processes were given different settings", "start all with one command");
  std::optional<Dataset> own, part;
  std::optional<SpreadOptions> spreading;
  if (ranks) spreading = *request.spread;
  if (ranks && !request.folder.empty() && !spreading->terms)
    spreading->terms = std::make_shared<TermsFolder>(request.folder);
  if (ranks && !request.data) part = spread_from_shards(config, *spreading);
  const Dataset& read = part ? *part : request.data ? *request.data : own.emplace(load_dataset(config));
  std::optional<Dataset> as_begun;
  if (request.resume && read.reduction && !ranks) {
    as_begun = reading_state(folder->resume_path(), [&] {
      return reduced(read, config, load_record(saved, folder->resume_path()).reduction);
    });
  }
  const Dataset& whole = as_begun ? *as_begun : read;
  summary.split = split_number(config, whole);
  summary.columns = whole.report;
  summary.reduction = reduction_facts(whole);
  const Execution execution(on_machine(config, request.spread));
  summary.threads = execution.threads();
  if (!request.folder.empty() && !request.resume)
    on_first([&] { folder = std::make_unique<RunFolder>(RunFolder::create(request.folder, config)); });
  if (request.hooks.on_data) request.hooks.on_data(whole);

  std::optional<TrainingRecord> record_of_whole;
  if (part) {  // no process has the graph, by which the model would know it again
    record_of_whole = record_of(*part, part->splits[summary.split]);
    record_of_whole->nodes.reset();
  } else if (ranks) {
    if (!request.resume) warn_of_thin_data(whole, whole.splits[summary.split], config, /*parameters=*/0);
    record_of_whole = record_of(whole, whole.splits[summary.split]);
    if (!ranks->is_first()) record_of_whole->nodes.reset();  // for the checkpoint, which the first one writes
    part = spread(own ? std::move(*own) : whole, config, *spreading);
    own.reset();
  }
  const Dataset& dataset = part ? *part : whole;
  Trainer trainer(config, dataset, summary.split, request.spectra);
  trainer.on_first([&] {
    if (!folder) return;
    const RunBytes bytes = bytes_of_run(bytes_of(state_of(trainer.model())), dataset, config);
    require_space(folder->path(), bytes.small + bytes.model + bytes.on_way);
  });
  const int64_t parameters = count_parameters(trainer.model());
  if (!request.resume && !ranks) warn_of_thin_data(dataset, trainer.split(), config, parameters);
  const RunStart start{trainer.model().solver_name(),
                       trainer.metric(),
                       summary.threads,
                       parameters,
                       trainer.count(trainer.split().train),
                       trainer.count(trainer.split().val),
                       trainer.count(trainer.split().test),
                       trainer.model().preprocess_seconds(),
                       reduction_facts(dataset)};
  if (request.hooks.on_start) request.hooks.on_start(start);
  const auto F_start = copies(trainer.model().propagation_weights());
  const auto record = std::make_shared<const TrainingRecord>(
      record_of_whole ? *record_of_whole
                      : record_of(dataset, dataset.splits[summary.split], trainer.known_labels()));
  const TrainedModel trained(config, dataset.feature_count(), dataset.classes, dataset.multi_label(), {},
                             record);
  EarlyStopping stopping(config.stopping, config.patience);
  RunState progress;
  if (request.resume) {
    const std::string path = request.folder + "/resume.safetensors";
    reading_state(path, [&] { load_progress(path, saved, trainer, stopping, progress); });
    const auto digest = saved.metadata.find("metrics");
    trainer.on_first([&] {
      folder->truncate_metrics(progress.next_epoch, digest == saved.metadata.end() ? "" : digest->second);
      if (longer) {  // the state first: config.toml is for people, and for a run that begins anew
        save_progress(*folder, trained, trainer, stopping, progress);
        folder->write_settings(config);
      }
    });
  }
  run_epochs(config, folder.get(), &trained, request.hooks, trainer, stopping, progress);

  summary.solver = trainer.model().solver_name();
  summary.epochs = progress.next_epoch;
  summary.best_epoch = progress.best_epoch;
  summary.interrupted = !progress.finished;
  if (summary.interrupted) return {summary, progress.best, record};

  conclude(trainer, dataset, folder.get(), progress, F_start, trainer.model().preprocess_seconds(), record,
           summary);
  return {summary, progress.best, record};
}

}  // namespace eignn
