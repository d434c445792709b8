#include "train/trainer.h"

#include <fmt/format.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "data/random_split.h"
#include "eignn/error.h"
#include "equilibrium/tf32.h"
#include "graph/random_stream.h"
#include "train/assemble.h"
#include "train/calibration.h"
#include "train/graph_reduction.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {

// F has a parameter group of its own, because its learning rate and decay may differ from those of the other
// weights.
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
  return Adam(groups, c.optimiser == Optimiser::adamw);
}

}  // namespace

int64_t split_number(const TrainConfig& config, const Dataset& dataset) {
  if (!dataset.labels.defined())
    throw DataError(dataset.name, "",
                    dataset.why_unlabelled.empty() ? "the data have no labels" : dataset.why_unlabelled,
                    "label some nodes of each class, or name the column by the setting label");
  if (config.split == "all")
    throw ArgumentError("split", "a run is of one split, and all of them are asked for", "give its number");
  if (dataset.splits.empty()) random_split(dataset, config.seed);  // says why there is none
  const int64_t split = std::stoll(config.split), count = static_cast<int64_t>(dataset.splits.size());
  if (split >= count)
    throw ArgumentError("split",
                        fmt::format("the data set {} has {} split{}, numbered from 0, and not {}",
                                    dataset.name, count, count == 1 ? "" : "s", split),
                        dataset.drawn_split ? "give one of them, or all; drawn says how many there are"
                                            : "give one of them, or all");
  return split;
}

double rate_of_F(const TrainConfig& c) {
  const double own = c.is_eignn() ? c.eignn().lr_propagation : -1;
  return own < 0 ? c.lr : own;
}

double decay_of_F(const TrainConfig& c) {
  const double own = c.is_eignn() ? c.eignn().weight_decay_propagation : -1;
  return own < 0 ? c.weight_decay : own;
}

double schedule_factor(const TrainConfig& config, int64_t epoch) {
  if (config.schedule == Schedule::constant) return 1;
  const double part = static_cast<double>(epoch) / static_cast<double>(config.epochs);
  return (1 + std::cos(std::acos(-1.0) * part)) / 2;
}

Trainer::Trainer(const TrainConfig& config, const Dataset& dataset, int64_t split, SpectrumStore* store)
    : config_(config), spread_(dataset.spread) {
  const auto device = torch_device(config.device);
  const Split& s = dataset.splits.at(split);
  split_ = {s.train.to(device), s.val.to(device), s.test.to(device)};
  if (config.conformal > 0) {
    if (dataset.multi_label())
      throw ArgumentError("conformal", "prediction sets are of one class or number a node",
                          "leave it out for sets of labels");
    const auto halves = conformal_halves(s.val, config.seed);
    split_.val = halves.judged.to(device);
    calibration_ = halves.calibration.to(device);
  }
  labels_ = dataset.labels.to(device);
  if (spread_) places_ = spread_->train_places.at(static_cast<size_t>(split));
  const TrainingTargets taught = training_targets(dataset, s.train);
  taught_ = taught.nodes.is_same(s.train) ? split_.train : taught.nodes.to(device);
  judge_.metric = spread_ ? spread_->metric : resolved_metric(config.metric, dataset);
  // Those of all processes.
  const auto everywhere = [&](const torch::Tensor& labels, const torch::Tensor& nodes) {
    const auto here = labels.index_select(0, nodes);
    return spread_ ? spread_->ranks.rows_everywhere(here) : here;
  };
  if (config.class_weights == ClassWeights::balanced)
    judge_.class_weights =
        balanced_weights(everywhere(taught.labels, taught.nodes), dataset.classes).to(device);
  if (dataset.is_regression()) {
    const auto numbers = everywhere(dataset.labels, s.train);
    judge_.targets = TargetScale::fit(numbers, torch::arange(numbers.size(0)));
  }
  targets_ = judge_.targets.standardised(taught.labels.to(device));
  sort_by_graph(dataset, taught.nodes);
  if (config.is_eignn() && config.eignn().label_inputs)
    known_labels_ = KnownLabels::of(dataset, s.train, config.seed);
  model_ = make_model(dataset, config, store);
  if (known_labels_) model_->use_labels(known_labels_->inputs(dataset.classes, judge_.targets));
  optimiser_ = std::make_unique<Adam>(make_optimiser(*model_, config));
  for (const auto& group : optimiser_->groups()) full_rates_.push_back(group.rate);
}

void Trainer::sort_by_graph(const Dataset& dataset, const torch::Tensor& taught) {
  const int64_t graphs = spread_ ? spread_->all_graphs : dataset.graphs();
  if (graphs == 1) return;
  auto graph = torch::tensor(dataset.graph_of, torch::kInt64).index_select(0, taught);
  if (spread_) graph = torch::tensor(spread_->graphs, torch::kInt64).index_select(0, graph);
  auto count = torch::bincount(graph, {}, graphs);
  if (spread_) count = spread_->ranks.sum(count);
  for (int64_t g = 0; g < graphs; ++g) {
    if (const auto nodes = count[g].item<int64_t>(); nodes > 0)
      train_by_graph_.push_back({taught.masked_select(graph == g).to(labels_.device()), nodes});
  }
}

std::vector<Trainer::Batch> Trainer::batches(int64_t epoch) {
  if (known_labels_) {
    const auto halves = halves_of_epoch(split_.train.numel(), config_.seed, epoch);
    model_->show_labels(halves.shown);
    return {{split_.train.index_select(0, halves.scored.to(split_.train.device())), {}}};
  }
  if (train_by_graph_.empty()) return {{taught_, {}}};
  const int64_t count = static_cast<int64_t>(train_by_graph_.size());
  const auto seed = stream_seed(config_.seed, Stream::batches, static_cast<uint64_t>(epoch));
  const auto order = torch::randperm(count, at::detail::createCPUGenerator(seed), torch::kInt64);
  std::vector<Batch> out;
  for (int64_t first = 0; first < count; first += config_.batch_graphs) {
    std::vector<torch::Tensor> graphs, rows;
    int64_t before = 0;
    for (int64_t k = first; k < std::min(count, first + config_.batch_graphs); ++k) {
      const GraphNodes& graph = train_by_graph_[static_cast<size_t>(order[k].item<int64_t>())];
      graphs.push_back(graph.nodes);
      rows.push_back(torch::arange(before, before + graph.nodes.numel(), torch::kInt64));
      before += graph.count;
    }
    out.push_back({torch::cat(graphs), spread_ ? torch::cat(rows) : torch::Tensor(), before});
  }
  return out;
}

void Trainer::set_learning_rates(int64_t epoch) {
  if (config_.schedule == Schedule::constant) return;
  const double factor = schedule_factor(config_, epoch);
  for (size_t k = 0; k < full_rates_.size(); ++k) optimiser_->groups()[k].rate = factor * full_rates_[k];
}

// The mean over these nodes, which is also put into `of_all`; where there are several processes, this one's
// part of the mean over the nodes of all. A process without nodes takes part in the solves of the others.
torch::Tensor Trainer::loss_at(const torch::Tensor& nodes, double& of_all) {
  const auto f = model_->scores(nodes), y = targets_.index_select(0, nodes);
  if (!spread_) {
    const auto loss = loss_of(f, y, judge_.class_weights);
    of_all = loss.item<double>();
    return loss;
  }
  const Ranks& ranks = spread_->ranks;
  const double here = loss_weight(y, judge_.class_weights), all = ranks.sum(here);
  // In float64, so that each node's gradient is rounded once, whatever its process's share of the nodes.
  const auto loss =
      here > 0 ? loss_of(f.to(torch::kFloat64), y, judge_.class_weights) * (here / all) : f.sum() * 0;
  of_all = ranks.sum(loss.item<double>());
  return loss;
}

// After it each process has the gradients over the nodes of all.
void Trainer::add_up_gradients() {
  if (!spread_) return;
  const auto done = model_->summed_by_solvers();
  std::vector<torch::Tensor> parameters, numbers;
  std::vector<double> has;  // a gradient, which a process without any node of the batch may not have
  for (const auto& parameter : model_->parameters()) {
    const bool summed = std::any_of(done.begin(), done.end(),
                                    [&](const torch::Tensor& other) { return other.is_same(parameter); });
    if (summed || !parameter.requires_grad()) continue;
    const auto& gradient = parameter.grad();
    parameters.push_back(parameter);
    has.push_back(gradient.defined() ? 1 : 0);
    numbers.push_back(gradient.defined() ? gradient.reshape({-1}).to(torch::kFloat64)
                                         : torch::zeros({parameter.numel()}, torch::kFloat64));
  }
  if (parameters.empty()) return;
  numbers.push_back(torch::tensor(has, torch::kFloat64));
  const auto sums = spread_->ranks.sum(torch::cat(numbers));
  const auto kinds = static_cast<int64_t>(has.size());
  const auto any_has = sums.narrow(0, sums.numel() - kinds, kinds);
  int64_t at = 0;
  for (size_t k = 0; k < parameters.size(); ++k) {
    torch::Tensor& parameter = parameters[k];
    const auto sum = sums.narrow(0, at, parameter.numel()).view_as(parameter);
    at += parameter.numel();
    if (any_has[static_cast<int64_t>(k)].item<double>() == 0) continue;
    if (parameter.grad().defined()) {
      parameter.mutable_grad().copy_(sum);
    } else {
      parameter.mutable_grad() = sum.to(parameter.scalar_type());
    }
  }
}

torch::Tensor Trainer::collected(const torch::Tensor& rows) const {
  return spread_ ? spread_->ranks.rows_on_first(rows) : rows;
}

torch::Tensor Trainer::scores_at(const torch::Tensor& nodes) {
  return collected(scores_of(*model_, nodes));
}

int64_t Trainer::count(const torch::Tensor& nodes) const {
  return spread_ ? spread_->ranks.sum(nodes.numel()) : nodes.numel();
}

void Trainer::on_first(const std::function<void()>& work) const {
  spread_ ? spread_->ranks.on_first(work) : work();
}

bool Trainer::is_first() const {
  return !spread_ || spread_->ranks.is_first();
}

bool Trainer::any(bool here) const {
  return spread_ ? spread_->ranks.any(here) : here;
}

const Ranks* Trainer::ranks() const {
  return spread_ ? &spread_->ranks : nullptr;
}

// The first process alone computes it, so that all act on the same numbers.
Evaluation Trainer::evaluate(const torch::Tensor& nodes) {
  if (!spread_) return eignn::evaluate(*model_, labels_, nodes, judge_);
  const auto f = scores_at(nodes), y = labels_at(nodes);
  Evaluation out;
  on_first([&] { out = evaluation_of(f, y, judge_); });
  out.loss = spread_->ranks.of_first(out.loss);
  out.score = spread_->ranks.of_first(out.score);
  return out;
}

double Trainer::step(int64_t epoch) {
  model_->train();
  model_->seed_dropout(stream_seed(config_.seed, Stream::dropout, static_cast<uint64_t>(epoch)), places_);
  set_learning_rates(epoch);
  const ProductsInTf32 products(config_.tf32, labels_.device());
  double sum = 0;
  int64_t weight = 0;
  for (const Batch& batch : batches(epoch)) {
    optimiser_->clear_gradients();
    if (batch.rows.defined()) model_->use_dropout_rows(batch.rows);
    double value = 0;
    const auto loss = loss_at(batch.nodes, value);
    if (!std::isfinite(value))
      throw ConvergenceError("the training loss is not finite", fmt::format("epoch {}", epoch),
                             "lower lr, or use dtype float64");
    loss.backward();
    add_up_gradients();
    if (config_.clip > 0)
      for (const auto& parameter : model_->parameters())
        if (parameter.grad().defined()) torch::nn::utils::clip_grad_norm_(parameter, config_.clip);
    optimiser_->step();
    model_->after_step();
    sum += value * static_cast<double>(batch.weight);
    weight += batch.weight;
  }
  return sum / static_cast<double>(weight);
}

}  // namespace eignn
