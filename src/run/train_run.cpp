#include "run/train_run.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "equilibrium/contraction.h"
#include "equilibrium/stopwatch.h"
#include "run/checkpoint.h"
#include "run/conclude.h"
#include "run/provenance.h"
#include "run/run_folder.h"
#include "train/assemble.h"
#include "train/early_stopping.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// Format 2 has the settings of all models, format 3 those of the run's model. Format 4 has a digest of its
// content, and one of metrics.jsonl.
constexpr const char* resume_format = "eignn-resume-4";

int64_t non_converged(const Trainer& trainer, const RunState& progress) {
  return progress.non_converged + trainer.model().non_converged_solves().value_or(0);
}

torch::Tensor doubles(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

std::vector<double> doubles(const torch::Tensor& values) {
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

void save_progress(RunFolder& folder, const TrainConfig& config, Trainer& trainer,
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
  for (const auto& [name, value] : to_strings(config)) content.metadata["config." + name] = value;
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

constexpr const char* start_again = "start it again in another folder";

void require_in(const char* key, int64_t value, int64_t least, int64_t most, const std::string& path) {
  if (value < least || value > most)
    throw DataError(path, key, fmt::format("{} is not between {} and {}", value, least, most), start_again);
}

void load_progress(const RunFolder& folder, const SafeTensors& content, Trainer& trainer,
                   EarlyStopping& stopping, RunState& progress) {
  try {
    load_state(trainer.model(), with_prefix(content, "now."), folder.resume_path());
    progress.best = with_prefix(content, "best.");
    trainer.optimiser().load_state(with_prefix(content, "adam."));
    progress.epoch_seconds = doubles(to_tensor(content.tensors.at("epoch_seconds")));
    progress.step_seconds = doubles(to_tensor(content.tensors.at("step_seconds")));
    const auto numbers = doubles(to_tensor(content.tensors.at("stopping")));
    stopping.best_loss = numbers.at(0);
    stopping.best_score = numbers.at(1);
    stopping.waited = static_cast<int64_t>(numbers.at(2));
    progress.seconds = numbers.at(3);
    progress.next_epoch = std::stoll(content.metadata.at("next_epoch"));
    progress.best_epoch = std::stoll(content.metadata.at("best_epoch"));
    if (const auto at = content.metadata.find("non_converged"); at != content.metadata.end())
      progress.non_converged = std::stoll(at->second);
    const auto epochs = static_cast<size_t>(progress.next_epoch);
    require_in("next_epoch", progress.next_epoch, 0, trainer.config().epochs, folder.resume_path());
    require_in("best_epoch", progress.best_epoch, -1, progress.next_epoch - 1, folder.resume_path());
    require_in("non_converged", progress.non_converged, 0, std::numeric_limits<int64_t>::max(),
               folder.resume_path());
    if (progress.epoch_seconds.size() != epochs || progress.step_seconds.size() != epochs)
      throw DataError(folder.resume_path(), "epoch_seconds",
                      fmt::format("there are {} times for {} epochs", progress.epoch_seconds.size(), epochs),
                      start_again);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw DataError(folder.resume_path(), "", "the saved run is damaged", start_again);
  }
}

// `data_given`: the run goes on with data in memory, and the name of its data set need not be one.
TrainConfig resumed_config(const SafeTensors& content, const std::string& path, bool data_given) {
  TrainConfig config;
  const auto format = content.metadata.find("format");
  try {
    const std::string text = format == content.metadata.end() ? "" : format->second;
    const bool is_sealed = text == resume_format;
    if (!is_sealed && text != "eignn-resume-2" && text != "eignn-resume-3")
      throw ArgumentError("format", "it is of another version");
    check_seal(content, path, is_sealed);
    assign_saved(config, content.metadata, /*complete=*/is_sealed);
    data_given ? validate_settings(config) : validate(config);
  } catch (const ArgumentError& error) {  // the file is wrong, not the caller's arguments
    throw DataError(path, "", fmt::format("the saved run does not hold: {}", error.what()),
                    "remove its folder and run the command again");
  }
  return config;
}

// Runs epochs until early stopping, the limit on epochs or an interruption ends them.
void run_epochs(const TrainConfig& config, RunFolder* folder, const TrainHooks& hooks, Trainer& trainer,
                EarlyStopping& stopping, RunState& progress) {
  // The most training time, in seconds, that a crash can lose; more where saving would cost over 2 %.
  constexpr double save_every = 5, saves_share = 0.02;
  Stopwatch since_save;
  double save_seconds = 0;
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
    if (hooks.interrupted && hooks.interrupted()) {
      if (folder) save_progress(*folder, config, trainer, stopping, progress);
      return;
    }
    if (folder && since_save.seconds() > std::max(save_every, save_seconds / saves_share)) {
      const Stopwatch saving;
      save_progress(*folder, config, trainer, stopping, progress);
      save_seconds = saving.seconds();
      since_save = Stopwatch();
    }
  }
  progress.finished = true;
}

// About what a run's folder will hold at its fullest.
double bytes_to_write(const Model& model, const Dataset& dataset, const TrainConfig& config) {
  double weights = 0;
  for (const auto& parameter : model.parameters()) weights += static_cast<double>(parameter.nbytes());
  // The weights now and at best, Adam's two moments; twice while the new state stands beside the old one.
  constexpr double states = 2 * 4, line = 150, node = 25, probability = 9;
  const auto nodes = static_cast<double>(dataset.nodes()), classes = static_cast<double>(dataset.classes);
  return (states + 1) * weights + line * static_cast<double>(config.epochs) +
         nodes * (node + probability * classes);
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

}  // namespace

EarlyStopping::Verdict record_epoch(EpochReport& report, double step_seconds, RunFolder* folder,
                                    EarlyStopping& stopping, RunState& progress,
                                    const std::function<std::map<std::string, torch::Tensor>()>& state) {
  const auto verdict = stopping.judge(report.val_loss, report.val_score);
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
              const std::vector<torch::Tensor>& F_start, double preprocess_seconds, RunResult& summary) {
  note_provenance(summary);
  summary.epochs = progress.next_epoch;
  summary.best_epoch = progress.best_epoch;
  if (progress.best.empty())
    throw ConvergenceError("no epoch had a finite validation loss", "", "lower lr, or use dtype float64");
  load_state(trainer.model(), progress.best, "the best epoch");
  const Split& split = trainer.split();
  const auto train = trainer.evaluate(split.train), val = trainer.evaluate(split.val),
             test = trainer.evaluate(split.test);
  summary.metric = trainer.metric();
  summary.score = {train.score, val.score, test.score};
  summary.loss = {train.loss, val.loss, test.loss};
  if (!dataset.distance.empty())
    summary.by_distance =
        accuracy_by_distance(scores_of(trainer.model(), split.test),
                             trainer.labels().index_select(0, split.test), split.test, dataset.distance);
  summary.seconds_total = progress.seconds + preprocess_seconds;
  summary.seconds_per_epoch = median(progress.epoch_seconds);
  summary.seconds_per_train_step = median(progress.step_seconds);
  summary.preprocess_seconds = preprocess_seconds;
  summary.peak_memory_bytes = peak_memory_bytes();
  describe_propagation(F_start, trainer.model().propagation_weights(),
                       summary.config.is_eignn() ? summary.config.eignn().epsilon : 0, summary);
  if (trainer.model().non_converged_solves()) summary.non_converged_solves = non_converged(trainer, progress);
  if (folder) {
    TrainedModel(summary.config, dataset.feature_count(), dataset.classes, dataset.multi_label(),
                 progress.best)
        .save(folder->checkpoint_path());
    folder->write_predictions(
        dataset, dataset.splits[summary.split],
        scores_of(trainer.model(), torch::arange(dataset.nodes()).to(split.test.device())));
    folder->write_summary(summary);
    std::remove(folder->resume_path().c_str());
  }
}

TrainConfig saved_config(const std::string& folder) {
  const std::string path = RunFolder::open(folder).resume_path();
  return resumed_config(read_safetensors(path), path, /*data_given=*/true);
}

RunOutcome run_training(const RunRequest& request) {
  RunResult summary;
  std::unique_ptr<RunFolder> folder;
  SafeTensors saved;
  summary.config = request.config;
  if (request.resume) {
    folder = std::make_unique<RunFolder>(RunFolder::open(request.folder));
    saved = read_safetensors(folder->resume_path());
    summary.config = resumed_config(saved, folder->resume_path(), request.data != nullptr);
  }
  const TrainConfig& config = summary.config;
  request.data ? validate_settings(config) : validate(config);
  std::optional<Dataset> own;
  const Dataset& dataset = request.data ? *request.data : own.emplace(load_dataset(config));
  summary.split = split_number(config, dataset);
  const Execution execution(config);
  summary.threads = execution.threads();
  if (!request.folder.empty() && !request.resume)
    folder = std::make_unique<RunFolder>(RunFolder::create(request.folder, config));

  Trainer trainer(config, dataset, summary.split, request.spectra);
  if (folder) require_space(folder->path(), bytes_to_write(trainer.model(), dataset, config));
  const auto F_start = copies(trainer.model().propagation_weights());
  EarlyStopping stopping(config.stopping, config.patience);
  RunState progress;
  if (request.resume) {
    load_progress(*folder, saved, trainer, stopping, progress);
    const auto digest = saved.metadata.find("metrics");
    folder->truncate_metrics(progress.next_epoch, digest == saved.metadata.end() ? "" : digest->second);
  }
  run_epochs(config, folder.get(), request.hooks, trainer, stopping, progress);

  summary.solver = trainer.model().solver_name();
  summary.epochs = progress.next_epoch;
  summary.best_epoch = progress.best_epoch;
  summary.interrupted = !progress.finished;
  if (summary.interrupted) return {summary, progress.best};

  conclude(trainer, dataset, folder.get(), progress, F_start, trainer.model().preprocess_seconds(), summary);
  return {summary, progress.best};
}

}  // namespace eignn
