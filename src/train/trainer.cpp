#include "train/trainer.h"

#include <fmt/format.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/torch.h>

#include <algorithm>

#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "eignn/spectrum_cache.h"
#include "equilibrium/contraction.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"
#include "graph/random_stream.h"
#include "run/checkpoint.h"
#include "run/provenance.h"
#include "run/run_folder.h"
#include "train/config.h"
#include "train/early_stopping.h"
#include "train/metrics.h"

namespace eignn {

namespace {

// F in a group of its own: its learning rate and its decay are decisions about the graph, not about the
// classifier.
Adam make_optimiser(Model& model, const TrainConfig& c) {
  const auto F = model.propagation_weights();
  const auto is_F = [&](const torch::Tensor& parameter) {
    return std::any_of(F.begin(), F.end(), [&](const torch::Tensor& f) { return f.is_same(parameter); });
  };
  Adam::Group others{{}, c.lr, c.weight_decay};
  for (const auto& parameter : model.parameters())
    if (!is_F(parameter)) others.parameters.push_back(parameter);
  std::vector<Adam::Group> groups = {others};
  if (!F.empty() && rate_of_F(c) > 0) groups.push_back({F, rate_of_F(c), decay_of_F(c)});
  if (rate_of_F(c) == 0)
    for (torch::Tensor f : F) f.set_requires_grad(false);
  return Adam(groups);
}

int64_t non_converged(const Trainer& trainer, const Progress& progress) {
  return progress.non_converged + trainer.model().non_converged_solves().value_or(0);
}

torch::Tensor doubles(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

std::vector<double> doubles(const torch::Tensor& values) {
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

void save_progress(const RunFolder& folder, const TrainConfig& config, Trainer& trainer,
                   const EarlyStopping& stopping, const Progress& progress) {
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
  content.metadata = {{"format", "eignn-resume-2"},
                      {"next_epoch", std::to_string(progress.next_epoch)},
                      {"best_epoch", std::to_string(progress.best_epoch)},
                      {"non_converged", std::to_string(non_converged(trainer, progress))}};
  for (const auto& [name, value] : to_strings(config)) content.metadata["config." + name] = value;
  write_safetensors(folder.resume_path(), content);
}

// The tensors whose names begin with `prefix`, without it.
std::map<std::string, torch::Tensor> with_prefix(const SafeTensors& content, const std::string& prefix) {
  std::map<std::string, torch::Tensor> out;
  for (const auto& [name, bytes] : content.tensors)
    if (name.rfind(prefix, 0) == 0) out[name.substr(prefix.size())] = to_tensor(bytes);
  return out;
}

void load_progress(const RunFolder& folder, const SafeTensors& content, Trainer& trainer,
                   EarlyStopping& stopping, Progress& progress) {
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
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw InputError(fmt::format("the saved run is damaged ({}); start it again with another --out",
                                 folder.resume_path()));
  }
}

TrainConfig resumed_config(const SafeTensors& content, const std::string& path) {
  TrainConfig config;
  const std::string prefix = "config.";
  for (const auto& [name, value] : content.metadata)
    if (name.rfind(prefix, 0) == 0) assign(config, name.substr(prefix.size()), value);
  const auto format = content.metadata.find("format");
  try {
    if (format == content.metadata.end() || format->second != "eignn-resume-2")
      throw UsageError("it is of another version");
    validate(config);
  } catch (const UsageError& error) {  // not the user's flags are wrong here, but the file
    throw InputError(
        fmt::format("the saved run does not hold: {} ({}); remove its folder and run the command again",
                    error.what(), path));
  }
  return config;
}

// The epochs, until patience, the limit or an interruption ends them.
void run_epochs(const TrainConfig& config, const RunFolder* folder, const TrainHooks& hooks, Trainer& trainer,
                EarlyStopping& stopping, Progress& progress) {
  constexpr double save_every = 30;  // seconds: what a power cut may cost
  Stopwatch since_save;
  while (progress.next_epoch < config.epochs) {
    const Stopwatch watch;
    EpochReport report;
    report.epoch = progress.next_epoch;
    // What of this step's solve the evaluation before it has done belongs to the step's cost.
    const double solved = trainer.model().solve_seconds();
    report.train_loss = trainer.step(report.epoch);
    const double step_seconds = watch.seconds() + solved;
    const auto evaluation = trainer.evaluate(trainer.split().val);
    report.val_loss = evaluation.loss;
    report.metric = trainer.metric();
    report.val_score = evaluation.score;
    const auto verdict = stopping.judge(report.val_loss, report.val_score);
    report.kept = verdict.keep;
    report.seconds = watch.seconds();
    if (verdict.keep) {
      progress.best = state_of(trainer.model());
      progress.best_epoch = report.epoch;
    }
    progress.note(report, step_seconds);
    if (folder) folder->append_epoch(report);
    if (hooks.on_epoch) hooks.on_epoch(report);
    if (verdict.stop) break;
    if (hooks.interrupted && hooks.interrupted()) {
      if (folder) save_progress(*folder, config, trainer, stopping, progress);
      return;
    }
    if (folder && since_save.seconds() > save_every) {
      save_progress(*folder, config, trainer, stopping, progress);
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

// How far F went, and what became of g's eigenvalues; over all F where there are several.
void describe_propagation(const std::vector<torch::Tensor>& start, const std::vector<torch::Tensor>& end,
                          double epsilon, TrainSummary& summary) {
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

int64_t split_number(const TrainConfig& config, const Dataset& dataset) {
  const int64_t split = std::stoll(config.split), count = static_cast<int64_t>(dataset.splits.size());
  if (split >= count)
    throw UsageError(fmt::format(
        "the data set {} has {} split{}, numbered from 0, and not {} (--split); give one of them, or all",
        dataset.name, count, count == 1 ? "" : "s", split));
  return split;
}

double rate_of_F(const TrainConfig& c) {
  return c.lr_propagation < 0 ? c.lr : c.lr_propagation;
}

double decay_of_F(const TrainConfig& c) {
  return c.weight_decay_propagation < 0 ? c.weight_decay : c.weight_decay_propagation;
}

double schedule_factor(const TrainConfig& config, int64_t epoch) {
  if (config.schedule == "constant") return 1;
  const double part = static_cast<double>(epoch) / static_cast<double>(config.epochs);
  return (1 + std::cos(std::acos(-1.0) * part)) / 2;
}

Trainer::Trainer(const TrainConfig& config, const Dataset& dataset, int64_t split, SpectrumStore* store)
    : config_(config) {
  const auto device = parse_device(config.device);
  const Split& s = dataset.splits.at(split);
  split_ = {s.train.to(device), s.val.to(device), s.test.to(device)};
  labels_ = dataset.labels.to(device);
  if (dataset.graphs() > 1) {
    const auto graph = torch::tensor(dataset.graph_of, torch::kInt64).index_select(0, s.train);
    for (int64_t g = 0; g < dataset.graphs(); ++g)
      if (const auto nodes = s.train.masked_select(graph == g); nodes.numel() > 0)
        train_by_graph_.push_back(nodes.to(device));
  }
  model_ = make_model(dataset, config, store);
  optimiser_ = std::make_unique<Adam>(make_optimiser(*model_, config));
  for (const auto& group : optimiser_->groups()) full_rates_.push_back(group.rate);
}

std::vector<torch::Tensor> Trainer::batches(int64_t epoch) const {
  if (train_by_graph_.empty()) return {split_.train};
  const int64_t count = static_cast<int64_t>(train_by_graph_.size());
  const auto seed = stream_seed(config_.seed, Stream::batches, static_cast<uint64_t>(epoch));
  const auto order = torch::randperm(count, at::detail::createCPUGenerator(seed), torch::kInt64);
  std::vector<torch::Tensor> out;
  for (int64_t first = 0; first < count; first += config_.batch_graphs) {
    std::vector<torch::Tensor> graphs;
    for (int64_t k = first; k < std::min(count, first + config_.batch_graphs); ++k)
      graphs.push_back(train_by_graph_[order[k].item<int64_t>()]);
    out.push_back(torch::cat(graphs));
  }
  return out;
}

void Trainer::set_learning_rates(int64_t epoch) {
  if (config_.schedule == "constant") return;
  const double factor = schedule_factor(config_, epoch);
  for (size_t k = 0; k < full_rates_.size(); ++k) optimiser_->groups()[k].rate = factor * full_rates_[k];
}

double Trainer::step(int64_t epoch) {
  model_->train();
  model_->seed_dropout(stream_seed(config_.seed, Stream::dropout, static_cast<uint64_t>(epoch)));
  set_learning_rates(epoch);
  const ProductsInTf32 products(config_.tf32 == "on");
  double sum = 0;
  int64_t nodes = 0;
  for (const auto& batch : batches(epoch)) {
    optimiser_->forget_gradients();
    const auto loss = loss_of(model_->scores(batch), labels_.index_select(0, batch));
    const double value = loss.item<double>();
    if (!std::isfinite(value))
      throw InputError(fmt::format(
          "the training loss is not finite (epoch {}); lower --lr, or use --dtype float64", epoch));
    loss.backward();
    if (config_.clip > 0)
      for (const auto& parameter : model_->parameters())
        if (parameter.grad().defined()) torch::nn::utils::clip_grad_norm_(parameter, config_.clip);
    optimiser_->step();
    model_->after_step();
    sum += value * static_cast<double>(batch.numel());
    nodes += batch.numel();
  }
  return sum / static_cast<double>(nodes);
}

void Progress::note(const EpochReport& report, double step) {
  epoch_seconds.push_back(report.seconds);
  step_seconds.push_back(step);
  seconds += report.seconds;
  ++next_epoch;
}

void conclude(Trainer& trainer, const Dataset& dataset, const RunFolder* folder, const Progress& progress,
              const std::vector<torch::Tensor>& F_start, double preprocess_seconds, TrainSummary& summary) {
  summary.epochs = progress.next_epoch;
  summary.best_epoch = progress.best_epoch;
  if (progress.best.empty())
    throw InputError("no epoch had a finite validation loss; lower --lr, or use --dtype float64");
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
  describe_propagation(F_start, trainer.model().propagation_weights(), summary.config.epsilon, summary);
  if (trainer.model().non_converged_solves()) summary.non_converged_solves = non_converged(trainer, progress);
  if (folder) {
    write_checkpoint(folder->checkpoint_path(),
                     {summary.config, dataset.feature_count(), dataset.classes, progress.best});
    folder->write_predictions(
        dataset, dataset.splits[summary.split],
        scores_of(trainer.model(), torch::arange(dataset.nodes()).to(split.test.device())));
    folder->write_summary(summary);
    std::remove(folder->resume_path().c_str());
  }
}

TrainSummary train(const TrainConfig& given, const std::string& path, bool resume, const TrainHooks& hooks,
                   const Dataset* loaded) {
  TrainSummary summary;
  std::unique_ptr<RunFolder> folder;
  SafeTensors saved;
  summary.config = given;
  if (resume) {
    folder = std::make_unique<RunFolder>(RunFolder::open(path));
    saved = read_safetensors(folder->resume_path());
    summary.config = resumed_config(saved, folder->resume_path());
  }
  const TrainConfig& config = summary.config;
  validate(config);
  const Dataset dataset = loaded ? *loaded : load_dataset(config);
  summary.split = split_number(config, dataset);
  summary.threads = use_threads(config);
  if (!path.empty() && !resume) folder = std::make_unique<RunFolder>(RunFolder::create(path, config));

  SpectrumCache cache;
  Trainer trainer(config, dataset, summary.split, &cache);
  const auto F_start = copies(trainer.model().propagation_weights());
  EarlyStopping stopping(EarlyStopping::parse(config.stopping), config.patience);
  Progress progress;
  if (resume) {
    load_progress(*folder, saved, trainer, stopping, progress);
    folder->truncate_metrics(progress.next_epoch);
  }
  run_epochs(config, folder.get(), hooks, trainer, stopping, progress);

  summary.solver = trainer.model().solver_name();
  summary.epochs = progress.next_epoch;
  summary.best_epoch = progress.best_epoch;
  summary.interrupted = !progress.finished;
  if (summary.interrupted) return summary;

  conclude(trainer, dataset, folder.get(), progress, F_start, trainer.model().preprocess_seconds(), summary);
  return summary;
}

}  // namespace eignn
