#include "train/run_batch.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "equilibrium/batched_series.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "graph/random_stream.h"
#include "train/assemble.h"
#include "train/feature_transform.h"
#include "train/metrics.h"
#include "train/plan_request.h"
#include "train/trainer.h"

namespace eignn {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw ArgumentError("batch-runs", why, "train the runs one by one");
}

void require_alike(const std::vector<TrainConfig>& configs) {
  const auto& own = per_run_settings();
  auto shared = to_strings(configs.at(0));
  for (const TrainConfig& config : configs)
    for (const auto& [name, value] : to_strings(config))
      if (!own.count(name) && shared.at(name) != value)
        refuse(fmt::format("runs in a batch share {}, and {} is not {}", name, value, shared.at(name)));
}

void require_possible(const TrainConfig& c, const Dataset& dataset) {
  if (!c.is_eignn()) refuse(fmt::format("a batch knows one model, eignn, and not {}", name(c.model)));
  const EignnOptions& model = c.eignn();
  if (c.clip > 0) refuse("a batch does not clip gradients");
  if (model.solver != "auto" && model.solver != "krylov" && model.solver != "spectral")
    refuse(fmt::format("a batch is solved by the series of krylov, and not by solver {}", model.solver));
  if (c.tf32) refuse("a batch computes in full precision, not in TF32");
  if (model.head != Head::plain && model.head != Head::l2)
    refuse(fmt::format("a batch knows the heads plain and l2, not {}", name(model.head)));
  if (const Norm norm = norm_of(model); norm != Norm::none && norm != Norm::l2)
    refuse(fmt::format("a batch knows the norms none and l2, not {}", name(norm)));
  if (is_stack(model))
    refuse("a batch has one layer of equilibria: its series is for features that stay the same");
  if (model.encoder > 0) refuse("a batch has no encoder: its series is for features that stay the same");
  if (model.intercept) refuse("a batch has no intercept");
  if (model.label_inputs) refuse("the features of a batch stay the same, and label inputs change them");
  if (c.partition > 0 || c.coarsen < 1)
    refuse("a batch is of a whole graph, and no partition or coarsening of it");
  if (dataset.graphs() > 1 || dataset.multi_label() || dataset.is_regression())
    refuse("a batch is of one graph with one class a node");
  if (c.class_weights != ClassWeights::none) refuse("a batch counts all nodes the same in the loss");
  if (c.conformal > 0) refuse("a batch judges by all validation nodes, and keeps none for prediction sets");
  if (const Metric metric = resolved_metric(c.metric, dataset);
      metric != Metric::accuracy && (c.metric != Metric::automatic || c.stopping != Stopping::loss))
    refuse(fmt::format("a batch is judged by accuracy, and not by {}", name(metric)));
  if (!series_ends(solver_options(c)))
    refuse(fmt::format("the series for gamma {} has no end in sight", model.gamma));
}

TrainConfig with_direction(TrainConfig config, Direction direction) {
  config.propagation.direction = direction;
  return config;
}

// Returns S of each direction. Throws where a batch cannot be trained with this configuration.
std::vector<Propagation> propagations_of_a_batch(const TrainConfig& config, const Dataset& dataset) {
  require_possible(config, dataset);
  std::vector<Propagation> out;
  for (const Direction direction : config.directions()) {
    out.push_back(make_propagation(dataset, with_direction(config, direction)));
    if (!out.back().symmetric)
      refuse(fmt::format("a batch needs a symmetric S, which this graph does not have in the direction {}",
                         name(direction)));
  }
  return out;
}

// The channels of a run, as channels_of() orders them: by direction, then source, then repetition.
std::vector<BatchedChannels> channels_of_a_batch(const TrainConfig& config, const Dataset& dataset,
                                                 const SolverOptions& options) {
  const EignnOptions& model = config.eignn();
  const auto features = dense_matrix(dataset.features, "a batch of runs");
  std::vector<BatchedChannels> out;
  for (const Propagation& S : propagations_of_a_batch(config, dataset)) {
    const SharedSeries own(S, features, options);
    if (model.source != Source::neighbours)
      out.push_back({std::make_shared<SharedSeries>(own), model.equilibria});
    if (model.source != Source::own) {  // X P, which does not depend on the weights
      const auto received = SparseProduct(S, torch::kFloat64, torch::kCPU).gather(features);
      out.push_back({std::make_shared<SharedSeries>(own.with_features(received)), model.equilibria});
    }
  }
  return out;
}

// The names of F, one for each channel, in a checkpoint.
std::vector<std::string> names_of_F(int64_t channels) {
  if (channels == 1) return {"F"};
  std::vector<std::string> out;
  for (int64_t k = 0; k < channels; ++k) out.push_back(fmt::format("F{}", k));
  return out;
}

}  // namespace

const std::set<std::string>& per_run_settings() {
  static const std::set<std::string> names = {"split",          "seed",         "lr",
                                              "lr-propagation", "weight-decay", "weight-decay-propagation"};
  return names;
}

void require_same_features(const std::vector<TrainConfig>& configs, const Dataset& dataset) {
  if (!dataset.transform || !dataset.transform->is_fitted()) return;
  for (const TrainConfig& config : configs)
    if (config.split != configs[0].split)
      refuse("the features are scaled by the training nodes of each split, so that splits share no batch");
}

void require_batchable(const TrainConfig& config, const Dataset& dataset) {
  propagations_of_a_batch(config, dataset);
  if (config.eignn().solver != "auto") return;
  for (const Direction direction : config.directions()) {
    const TrainConfig along = with_direction(config, direction);
    const Plan plan = plan_solver(plan_request(graph_matrices(dataset, along), dataset, along));
    if (plan.chosen_for_range)
      throw ArgumentError(
          "batch-runs",
          fmt::format(
              "a batch is right relative to the largest entry alone, and this graph calls for direct: {}",
              plan.reason),
          "train the runs one by one, or use solver krylov");
  }
}

namespace {

// The initial weights that the run would have by itself. They do not depend on the solver, so one without
// preparation is used.
std::map<std::string, torch::Tensor> starting_weights(TrainConfig config, const Dataset& dataset) {
  config.eignn().solver = "picard";
  const auto model = make_model(dataset, config, nullptr);
  std::map<std::string, torch::Tensor> out;
  for (const auto& parameter : model->named_parameters()) out[parameter.key()] = parameter.value().detach();
  return out;
}

}  // namespace

RunBatch::RunBatch(const std::vector<TrainConfig>& configs, const Dataset& dataset, SpectrumStore* store)
    : config_(configs.at(0)) {
  const torch::NoGradGuard guard;
  require_alike(configs);
  require_possible(config_, dataset);
  SolverOptions options = solver_options(config_);
  options.store = store;

  const Stopwatch watch;
  const auto channels = channels_of_a_batch(config_, dataset, options);
  preprocess_seconds_ = watch.seconds();
  int64_t count = 0;
  for (const BatchedChannels& of : channels) count += of.count;
  std::vector<torch::Tensor> F, B;
  std::vector<const Split*> splits;
  std::vector<BatchedAdam::Rates> rates_F, rates_B;
  std::map<uint64_t, std::map<std::string, torch::Tensor>> starts;  // by seed
  for (const TrainConfig& config : configs) {
    splits.push_back(&dataset.splits.at(split_number(config, dataset)));
    auto& start = starts[config.seed];
    if (start.empty()) start = starting_weights(config, dataset);
    std::vector<torch::Tensor> of_channels;
    for (const std::string& name : names_of_F(count)) of_channels.push_back(start.at(name));
    F.push_back(torch::stack(of_channels));
    B.push_back(start.at("B"));
    rates_F.push_back({rate_of_F(config), decay_of_F(config)});
    rates_B.push_back({config.lr, config.weight_decay});
  }

  const auto F_start = torch::stack(F).to(torch::dtype(options.dtype).device(options.device)),
             B_start = torch::stack(B).to(F_start.options());
  const Stopwatch watch_model;
  const Head head = norm_of(config_.eignn()) == Norm::l2 ? Head::l2 : config_.eignn().head;
  for (const BatchedChannels& of : channels)
    if (const int64_t live = of.shared->live_features().size(0);
        head == Head::l2 && (live == 0 || live > most_live_features))
      refuse(fmt::format("the l2 head is for 1 to {} features that are not zero everywhere, and there are {}",
                         most_live_features, live));
  model_ = std::make_unique<BatchedEignn>(channels, head, config_.eignn().dropout, F_start, B_start);
  preprocess_seconds_ += watch_model.seconds();
  metrics_ = std::make_unique<BatchedMetrics>(dataset, splits, model_->F.options());
  adam_ = std::make_unique<BatchedAdam>(
      std::vector<BatchedAdam::Parameter>{{model_->F, rates_F}, {model_->B, rates_B}},
      config_.optimiser == Optimiser::adamw);
  begin();
}

RunBatch::~RunBatch() = default;

int64_t RunBatch::size() const {
  return model_->F.size(0);
}

void RunBatch::begin() {
  model_->solve();
  report_ = torch::zeros({3, size()}, model_->F.options());
  captured_ = std::make_unique<Captured>([this] { work(); }, model_->F.device());
}

void RunBatch::keep(const std::vector<int64_t>& places) {
  const torch::NoGradGuard guard;
  captured_ = nullptr;  // before the memory that it refers to is freed
  model_->keep(places);
  metrics_->keep(places);
  adam_->keep(places);
  begin();
}

void RunBatch::work() {
  const auto [train_loss, cotangent] = metrics_->training(model_->training_scores());
  const auto gradients = model_->pull(cotangent);
  adam_->step(0, model_->F, gradients.F);
  adam_->step(1, model_->B, gradients.B);
  model_->solve();
  const auto [val_loss, right] = metrics_->validation(model_->scores());
  torch::stack_out(report_, {train_loss, val_loss, right});
}

std::vector<RunBatch::Report> RunBatch::epoch() {
  const torch::NoGradGuard guard;
  model_->draw_dropout(stream_seed(config_.seed, Stream::dropout, static_cast<uint64_t>(epoch_)));
  adam_->begin_step(schedule_factor(config_, epoch_));
  (*captured_)();
  ++epoch_;
  const auto report = report_.to(torch::kCPU).to(torch::kFloat64);
  const auto at = report.accessor<double, 2>();
  std::vector<Report> out;
  for (int64_t k = 0; k < size(); ++k)  // divides the count of nodes as a single run does
    out.push_back({at[0][k], at[1][k], at[2][k] / metrics_->validation_nodes(static_cast<size_t>(k))});
  return out;
}

std::map<std::string, torch::Tensor> RunBatch::state(int64_t place) const {
  std::map<std::string, torch::Tensor> out = {{"B", model_->B[place].clone()}};
  const auto names = names_of_F(model_->F.size(1));
  for (size_t k = 0; k < names.size(); ++k) out[names[k]] = model_->F[place][static_cast<int64_t>(k)].clone();
  return out;
}

}  // namespace eignn
