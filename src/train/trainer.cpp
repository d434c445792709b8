#include "train/trainer.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <sstream>

#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "eignn/spectrum_cache.h"
#include "equilibrium/contraction.h"
#include "equilibrium/stopwatch.h"
#include "graph/random_stream.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/early_stopping.h"
#include "train/metrics.h"
#include "train/provenance.h"
#include "train/run_folder.h"

namespace eignn {

namespace {

// F in a group of its own: its learning rate and its decay are decisions about the graph, not about the
// classifier.
std::unique_ptr<torch::optim::Adam> make_optimiser(Model& model, const TrainConfig& c) {
  auto group = [](std::vector<torch::Tensor> parameters, double lr, double decay) {
    return torch::optim::OptimizerParamGroup(
        std::move(parameters),
        std::make_unique<torch::optim::AdamOptions>(torch::optim::AdamOptions(lr).weight_decay(decay)));
  };
  const auto F = model.propagation_weight();
  std::vector<torch::Tensor> others;
  for (const auto& parameter : model.parameters())
    if (!F.defined() || !parameter.is_same(F)) others.push_back(parameter);
  std::vector<torch::optim::OptimizerParamGroup> groups = {group(others, c.lr, c.weight_decay)};
  const double lr_F = c.lr_propagation < 0 ? c.lr : c.lr_propagation;
  const double decay_F = c.weight_decay_propagation < 0 ? c.weight_decay : c.weight_decay_propagation;
  if (F.defined() && lr_F > 0) groups.push_back(group({F}, lr_F, decay_F));
  if (F.defined() && lr_F == 0) torch::Tensor(F).set_requires_grad(false);
  return std::make_unique<torch::optim::Adam>(groups,
                                              torch::optim::AdamOptions(c.lr).weight_decay(c.weight_decay));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

int64_t split_number(const TrainConfig& config, const Dataset& dataset) {
  const int64_t split = std::stoll(config.split), count = static_cast<int64_t>(dataset.splits.size());
  if (split >= count)
    throw UsageError(fmt::format("the data set {} has {} split{}, numbered from 0, and not {} (--split)",
                                 dataset.name, count, count == 1 ? "" : "s", split));
  return split;
}

// Where a run stands between two epochs: all that the rest of it depends on.
struct Progress {
  int64_t next_epoch = 0, best_epoch = -1;
  bool finished = false;
  std::map<std::string, torch::Tensor> best;
  std::vector<double> epoch_seconds, step_seconds;
  double seconds = 0;
};

std::string optimiser_bytes(torch::optim::Adam& optimiser) {
  torch::serialize::OutputArchive archive;
  optimiser.save(archive);
  std::ostringstream out;
  archive.save_to(out);
  return out.str();
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
  const auto memory = trainer.model().memory();
  for (size_t k = 0; k < memory.size(); ++k)
    if (memory[k].defined()) content.tensors[fmt::format("memory.{}", k)] = to_bytes(memory[k]);
  const std::string adam = optimiser_bytes(trainer.optimiser());
  content.tensors["optimiser"] = {
      ElementType::uint8, {static_cast<int64_t>(adam.size())}, {adam.begin(), adam.end()}};
  content.tensors["epoch_seconds"] = to_bytes(doubles(progress.epoch_seconds));
  content.tensors["step_seconds"] = to_bytes(doubles(progress.step_seconds));
  content.tensors["stopping"] = to_bytes(doubles(
      {stopping.best_loss, stopping.best_accuracy, static_cast<double>(stopping.waited), progress.seconds}));
  content.metadata = {{"format", "eignn-resume-1"},
                      {"next_epoch", std::to_string(progress.next_epoch)},
                      {"best_epoch", std::to_string(progress.best_epoch)}};
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
    std::vector<torch::Tensor> memory;
    for (const auto& [name, tensor] : with_prefix(content, "memory.")) {
      memory.resize(std::max<size_t>(memory.size(), std::stoull(name) + 1));
      memory[std::stoull(name)] = tensor.to(trainer.model().parameters()[0].device());
    }
    trainer.model().restore(memory);
    const auto& adam = content.tensors.at("optimiser").bytes;
    std::istringstream stream(std::string(adam.begin(), adam.end()));
    torch::serialize::InputArchive archive;
    archive.load_from(stream);
    trainer.optimiser().load(archive);
    progress.epoch_seconds = doubles(to_tensor(content.tensors.at("epoch_seconds")));
    progress.step_seconds = doubles(to_tensor(content.tensors.at("step_seconds")));
    const auto numbers = doubles(to_tensor(content.tensors.at("stopping")));
    stopping.best_loss = numbers.at(0);
    stopping.best_accuracy = numbers.at(1);
    stopping.waited = static_cast<int64_t>(numbers.at(2));
    progress.seconds = numbers.at(3);
    progress.next_epoch = std::stoll(content.metadata.at("next_epoch"));
    progress.best_epoch = std::stoll(content.metadata.at("best_epoch"));
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
    if (format == content.metadata.end() || format->second != "eignn-resume-1")
      throw UsageError("another format");
    validate(config);
  } catch (const UsageError& error) {  // not the user's flags are wrong here, but the file
    throw InputError(fmt::format("the saved run does not hold: {} ({}); start it again with another --out",
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
    report.train_loss = trainer.step(report.epoch);
    // The solve of this step was done by the evaluation before it; both belong to the step's cost.
    const double solve = trainer.model().solve_seconds();
    progress.step_seconds.push_back(watch.seconds() + (report.epoch > 0 ? solve : 0));
    const auto evaluation = trainer.evaluate(trainer.split().val);
    report.val_loss = evaluation.loss;
    report.val_accuracy = evaluation.accuracy;
    const auto verdict = stopping.judge(report.val_loss, report.val_accuracy);
    report.kept = verdict.keep;
    report.seconds = watch.seconds();
    if (verdict.keep) {
      progress.best = state_of(trainer.model());
      progress.best_epoch = report.epoch;
    }
    progress.epoch_seconds.push_back(report.seconds);
    progress.seconds += report.seconds;
    ++progress.next_epoch;
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

}  // namespace

Trainer::Trainer(const TrainConfig& config, const Dataset& dataset, int64_t split, SpectrumStore* store)
    : config_(config) {
  const auto device = parse_device(config.device);
  const Split& s = dataset.splits.at(split);
  split_ = {s.train.to(device), s.val.to(device), s.test.to(device)};
  labels_ = dataset.labels.to(device);
  model_ = make_model(dataset, config, store);
  optimiser_ = make_optimiser(*model_, config);
}

double Trainer::step(int64_t epoch) {
  model_->train();
  model_->seed_dropout(stream_seed(config_.seed, Stream::dropout, static_cast<uint64_t>(epoch)));
  optimiser_->zero_grad();
  const auto loss =
      torch::cross_entropy_loss(model_->scores(split_.train), labels_.index_select(0, split_.train));
  const double value = loss.item<double>();
  if (!std::isfinite(value))
    throw InputError(
        fmt::format("the training loss is not finite (epoch {}); lower --lr, or use --dtype float64", epoch));
  loss.backward();
  optimiser_->step();
  return value;
}

torch::Tensor Trainer::scores(const torch::Tensor& nodes) {
  const torch::NoGradGuard guard;
  model_->eval();
  return model_->scores(nodes);
}

Trainer::Evaluation Trainer::evaluate(const torch::Tensor& nodes) {
  const auto f = scores(nodes), labels = labels_.index_select(0, nodes);
  return {torch::cross_entropy_loss(f, labels).item<double>(), accuracy(f, labels)};
}

TrainSummary train(const TrainConfig& given, const std::string& path, bool resume, const TrainHooks& hooks) {
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
  const Dataset dataset = load_dataset(config);
  summary.split = split_number(config, dataset);
  summary.threads = use_threads(config.threads);
  if (!path.empty() && !resume) folder = std::make_unique<RunFolder>(RunFolder::create(path, config));

  SpectrumCache cache;
  Trainer trainer(config, dataset, summary.split, &cache);
  const auto F = trainer.model().propagation_weight();
  const auto F_start = F.defined() ? F.detach().clone() : torch::Tensor();
  EarlyStopping stopping(config.stopping == "loss" ? EarlyStopping::Rule::loss : EarlyStopping::Rule::either,
                         config.patience);
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

  if (progress.best.empty())
    throw InputError("no epoch had a finite validation loss; lower --lr, or use --dtype float64");
  load_state(trainer.model(), progress.best, "the best epoch");
  const Split& split = trainer.split();
  const auto train = trainer.evaluate(split.train), val = trainer.evaluate(split.val),
             test = trainer.evaluate(split.test);
  summary.accuracy = {train.accuracy, val.accuracy, test.accuracy};
  summary.loss = {train.loss, val.loss, test.loss};
  if (!dataset.distance.empty())
    summary.by_distance = accuracy_by_distance(
        trainer.scores(split.test), dataset.labels.to(split.test.device()).index_select(0, split.test),
        split.test, dataset.distance);
  summary.seconds_total = progress.seconds + trainer.model().preprocess_seconds();
  summary.seconds_per_epoch = median(progress.epoch_seconds);
  summary.seconds_per_train_step = median(progress.step_seconds);
  summary.preprocess_seconds = trainer.model().preprocess_seconds();
  summary.peak_memory_bytes = peak_memory_bytes();
  if (F.defined()) {
    summary.weight_change = ((F.detach() - F_start).norm() / F_start.norm()).item<double>();
    summary.mu_start = leading_mu(F_start, config.epsilon);
    summary.mu_end = leading_mu(F, config.epsilon);
  }
  if (folder) {
    write_checkpoint(folder->checkpoint_path(),
                     {config, dataset.feature_count(), dataset.classes, progress.best});
    folder->write_predictions(dataset, dataset.splits[summary.split],
                              trainer.scores(torch::arange(dataset.nodes()).to(split.test.device())));
    folder->write_summary(summary);
    std::remove(folder->resume_path().c_str());
  }
  return summary;
}

}  // namespace eignn
