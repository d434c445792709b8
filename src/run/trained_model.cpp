// Implements the public interface to training and prediction on data in memory: eignn/train.h and
// eignn/checkpoint.h.
#include <fmt/format.h>
#include <torch/torch.h>

#include <optional>

#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/train.h"
#include "run/checkpoint.h"
#include "run/recipes.h"
#include "run/run_folder.h"
#include "run/train_run.h"
#include "train/assemble.h"
#include "train/metrics.h"
#include "train/torch_settings.h"

namespace eignn {

Dataset as_trained(const TrainedModel& trained, const Dataset& data) {
  if (data.feature_count() != trained.features())
    throw ArgumentError("data",
                        fmt::format("the model was trained on {} features and these data have {}",
                                    trained.features(), data.feature_count()),
                        "give the features that it was trained on");
  Dataset own = prepared(data, trained.config());
  own.classes = trained.classes();
  return own;
}

void require_labelled(const Dataset& data, const torch::Tensor& nodes) {
  if (!data.labels.defined() || !data.known.defined())
    throw ArgumentError("data", "the data set has no labels to evaluate against", "give labels and known");
  if (!nodes.defined() || nodes.scalar_type() != torch::kInt64 || nodes.dim() != 1 ||
      (nodes.numel() > 0 && (nodes.min().item<int64_t>() < 0 || nodes.max().item<int64_t>() >= data.nodes())))
    throw ArgumentError("nodes", "these are no nodes of the data set",
                        fmt::format("give int64 numbers from 0 to {}", data.nodes() - 1));
  if (nodes.numel() == 0) throw ArgumentError("nodes", "there is no node to evaluate", "give at least one");
  if (!data.known.index_select(0, nodes).all().item<bool>())
    throw ArgumentError("nodes", "the label of one of these nodes is not known", "leave it out");
}

namespace {

torch::Tensor all_nodes(const Dataset& data, torch::Device device) {
  return torch::arange(data.nodes(), torch::kInt64).to(device);
}

}  // namespace

TrainOptions& TrainOptions::recipe(const std::string& name) {
  const std::string dataset = config.dataset;
  config.dataset = name;
  apply_recipe(config, {});
  config.dataset = dataset;
  return *this;
}

TrainedRun train(const Dataset& data, const TrainOptions& options) {
  TrainConfig config = options.resume_run ? saved_config(options.run_folder) : options.config;
  validate(data);
  config.dataset = data.name.empty() ? config.dataset : data.name;
  const bool as_is = config.feature_norm == FeatureNorm::none && config.train_graphs == 0;
  std::optional<Dataset> own;
  if (!as_is) own = prepared(data, config);
  RunOutcome run = run_training({config, options.run_folder, options.resume_run, options.run_hooks,
                                 own ? &*own : &data, options.spectrum_store});
  return {std::move(run.result), TrainedModel(config, data.feature_count(), data.classes, data.multi_label(),
                                              std::move(run.weights))};
}

std::shared_ptr<Model> TrainedModel::on(const Dataset& data) const {
  return restore_model(*this, as_trained(*this, data), config_, nullptr, "the trained model");
}

Predictions TrainedModel::predict(const Dataset& data) const {
  const Execution execution(config_);
  const auto model = on(data);
  Predictions out;
  out.scores = scores_of(*model, all_nodes(data, torch_device(config_.device)));
  out.probabilities = probabilities(out.scores, multi_label_);
  out.classes = multi_label_ ? (out.probabilities > 0.5).to(torch::kUInt8) : out.probabilities.argmax(1);
  return out;
}

Evaluation TrainedModel::evaluate(const Dataset& data, const torch::Tensor& nodes) const {
  const Execution execution(config_);
  const auto device = torch_device(config_.device);
  require_labelled(data, nodes);
  const auto model = on(data);
  return eignn::evaluate(*model, data.labels.to(device), nodes.to(device));
}

}  // namespace eignn
