// Implements the public interface to training and prediction on data in memory: eignn/train.h and
// eignn/checkpoint.h.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/train.h"
#include "eignn/warning.h"
#include "equilibrium/torch_errors.h"
#include "run/checkpoint.h"
#include "run/recipes.h"
#include "run/run_folder.h"
#include "run/train_run.h"
#include "run/training_record.h"
#include "train/assemble.h"
#include "train/metrics.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {

std::string names_in_words(const TrainedModel& model) {
  constexpr int64_t shown = 10;
  std::string out;
  for (int64_t k = 0; k < std::min(model.classes(), shown); ++k)
    out += (k > 0 ? ", " : "") + model.class_name(k);
  return model.classes() > shown ? out + ", …" : out;
}

// The model's number of each class of the data; -1 where the model does not have it.
std::vector<int64_t> classes_of(const TrainedModel& model, const Dataset& data) {
  std::map<std::string, int64_t> place;
  for (int64_t k = 0; k < model.classes(); ++k) place.emplace(model.class_name(k), k);
  std::vector<int64_t> out;
  for (int64_t k = 0; k < data.classes; ++k) {
    const auto at = place.find(data.class_name(k));
    out.push_back(at == place.end() ? -1 : at->second);
  }
  return out;
}

void forget_labels(Dataset& own, Task task) {
  const int64_t n = own.nodes();
  own.known = torch::zeros({n}, torch::kBool);
  if (task == Task::classes)
    own.labels = torch::full({n}, -1, torch::kInt64);
  else if (task == Task::labels)
    own.labels = torch::zeros({n, own.classes}, torch::kUInt8);
  else
    own.labels = torch::full({n, own.classes}, std::nan(""), torch::kFloat64);
}

// Labels in the columns of the model's own, where each of them is there and no other.
void reorder_columns(Dataset& own, const Dataset& data, const std::vector<int64_t>& place) {
  const auto n = static_cast<int64_t>(place.size());
  if (n != own.classes || std::count(place.begin(), place.end(), -1) > 0)
    return forget_labels(own, task_of(data));
  if (!std::is_sorted(place.begin(), place.end())) {
    std::vector<int64_t> column(place.size());
    for (size_t k = 0; k < place.size(); ++k) column[static_cast<size_t>(place[k])] = static_cast<int64_t>(k);
    own.labels = data.labels.index_select(1, torch::tensor(column, torch::kInt64));
  }
}

void renumber_classes(Dataset& own, const Dataset& data, const std::vector<int64_t>& place) {
  bool same = true;
  for (size_t k = 0; k < place.size(); ++k) same = same && place[k] == static_cast<int64_t>(k);
  if (same) return;
  std::vector<int64_t> of_label = {-1};  // of the label -1, which is not known
  of_label.insert(of_label.end(), place.begin(), place.end());
  own.labels = torch::tensor(of_label, torch::kInt64).index_select(0, data.labels + 1);
  own.known = data.known.logical_and(own.labels >= 0);
}

// A model that knows no names takes the columns as they stand, if they are numbers.
Dataset without_names(Dataset data) {
  for (const FeatureColumn& column : data.columns)
    if (column.is_category())
      throw DataError(data.name, fmt::format("column '{}'", column.name),
                      "the model was trained on numbers without names, and these are words",
                      "give the features that it was trained on");
  if (torch::isnan(stored_numbers(data.features)).any().item<bool>())
    throw DataError(data.name, "", "the model was trained on numbers without gaps, and here is one",
                    "fill the gaps first");
  data.columns.clear();
  return data;
}

}  // namespace

void take_own_classes(const TrainedModel& model, const Dataset& data, Dataset& own) {
  own.classes = model.classes();
  own.class_names = model.class_names();
  if (!data.labels.defined() || !data.known.defined() || task_of(data) != model.task())
    return forget_labels(own, model.task());
  const std::vector<int64_t> place = classes_of(model, data);
  if (model.task() == Task::classes)
    renumber_classes(own, data, place);
  else
    reorder_columns(own, data, place);
}

Task TrainedModel::task() const {
  return record_->task;
}

const std::vector<std::string>& TrainedModel::class_names() const {
  return record_->class_names;
}

std::string TrainedModel::class_name(int64_t k) const {
  return class_names().empty() ? std::to_string(k) : class_names().at(static_cast<size_t>(k));
}

std::vector<std::string> TrainedModel::feature_names() const {
  const auto& transform = record_->transform;
  return transform && transform->has_names() ? transform->names() : std::vector<std::string>();
}

TableOptions TrainedModel::tables() const {
  TableOptions out = TableOptions::from(config_);
  if (const auto& transform = record_->transform; transform && transform->has_names()) {
    out.task = task();
    out.trained_columns = transform->trained_columns();
  }
  return out;
}

Dataset as_trained(const TrainedModel& trained, const Dataset& data) {
  validate(data);
  const auto& transform = trained.record()->transform;
  const auto refuse_width = [&](int64_t width) {
    throw ArgumentError("data",
                        fmt::format("the model was trained on {} features and these data have {}", width,
                                    data.feature_count()),
                        "give the features that it was trained on");
  };
  const bool named = transform && transform->has_names();
  if (!named && !trained.config().structure) {
    const int64_t width = transform ? transform->inputs() : trained.features();
    if (data.feature_count() != width) refuse_width(width);
  }
  TrainConfig config = trained.config();
  config.train_graphs = 0;  // of the training alone
  Dataset own = prepared(named ? data : without_names(data), config, transform ? &*transform : nullptr,
                         trained.record()->reduction);
  if (own.feature_count() != trained.features()) refuse_width(trained.features());
  take_own_classes(trained, data, own);
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

void require_own_classes(const TrainedModel& trained, const Dataset& data, const Dataset& own,
                         const torch::Tensor& nodes) {
  const auto lost = own.known.index_select(0, nodes).logical_not().nonzero();
  if (lost.numel() == 0) return;
  const int64_t node = nodes[lost[0].item<int64_t>()].item<int64_t>();
  if (task_of(data) == Task::classes && trained.task() == Task::classes)
    throw ArgumentError(
        "labels",
        fmt::format("node {} has the class '{}', and the model knows {}", data.node_name(node),
                    data.class_name(data.labels[node].item<int64_t>()), names_in_words(trained)),
        "leave such nodes out, or train again with them");
  throw ArgumentError("labels", fmt::format("the model predicts {}", names_in_words(trained)),
                      "give labels of the same kind and names");
}

namespace {

torch::Tensor all_nodes(const Dataset& data, torch::Device device) {
  return torch::arange(data.nodes(), torch::kInt64).to(device);
}

}  // namespace

TrainOptions& TrainOptions::recipe(const std::string& name) {
  if (has_recipe(eignn::name(config.model), name)) {
    apply_recipe(config, {}, name);
    return *this;
  }
  const std::string dataset = config.dataset;  // a data set for which the model has [own] or [default] alone
  config.dataset = name;
  apply_recipe(config, {});
  config.dataset = dataset;
  return *this;
}

namespace {

TrainedRun trained_on(const Dataset& data, const TrainOptions& options) {
  TrainConfig config = options.resume_run ? saved_config(options.run_folder) : options.config;
  if (options.resume_run && options.resumed_epochs > 0) config.epochs = options.resumed_epochs;
  validate(data);
  config.dataset = data.name.empty() ? config.dataset : data.name;
  validate_settings(config);
  if (const auto idle = idle_settings_in_words(config, options.named_settings); !idle.empty()) warn(idle);
  const bool as_is = config.feature_norm == FeatureNorm::none && data.columns.empty() && !config.structure &&
                     config.train_graphs == 0 && config.partition == 0 && config.coarsen == 1;
  std::optional<Dataset> own;
  if (!as_is) own = prepared(data, config);
  RunOutcome run = run_training({config, options.run_folder, options.resume_run, options.run_hooks,
                                 own ? &*own : &data, options.spectrum_store, options.resumed_epochs});
  const Dataset& used = own ? *own : data;
  return {std::move(run.result),
          TrainedModel(with_weight_scale(data, config), used.feature_count(), used.classes,
                       used.multi_label(), std::move(run.weights), std::move(run.record))};
}

}  // namespace

TrainedRun train(const Dataset& data, const TrainOptions& options) {
  return with_our_errors("train", [&] { return trained_on(data, options); });
}

std::shared_ptr<Model> TrainedModel::on(const Dataset& data) const {
  return with_our_errors("the model on these data", [&]() -> std::shared_ptr<Model> {
    return restore_model(*this, as_trained(*this, data), config_, nullptr, "the trained model");
  });
}

Predictions predictions_of(const TrainedModel& trained, const torch::Tensor& scores) {
  Predictions out;
  out.scores = scores;
  if (trained.is_regression()) {
    out.values = trained.record()->target.raw(scores.to(torch::kCPU, torch::kFloat64));
    return out;
  }
  out.probabilities = probabilities(scores, trained.multi_label());
  out.classes =
      trained.multi_label() ? (out.probabilities > 0.5).to(torch::kUInt8) : out.probabilities.argmax(1);
  return out;
}

Predictions TrainedModel::predict(const Dataset& data) const {
  return with_our_errors("predict", [&]() -> Predictions {
    const Execution execution(config_);
    const auto model = on(data);
    return predictions_of(*this, scores_of(*model, all_nodes(data, torch_device(config_.device))));
  });
}

Evaluation TrainedModel::evaluate(const Dataset& data, const torch::Tensor& nodes) const {
  return with_our_errors("evaluate", [&]() -> Evaluation {
    const Execution execution(config_);
    const auto device = torch_device(config_.device);
    require_labelled(data, nodes);
    const Dataset own = as_trained(*this, data);
    require_own_classes(*this, data, own, nodes);
    const auto model = restore_model(*this, own, config_, nullptr, "the trained model");
    Judge judge;
    judge.targets = record_->target;
    return eignn::evaluate(*model, own.labels.to(device), nodes.to(device), judge);
  });
}

Recognition TrainedModel::recognise(const Dataset& data) const {
  return with_our_errors("recognise",
                         [&]() -> Recognition { return recognise_prepared(*this, as_trained(*this, data)); });
}

Recognition recognise_prepared(const TrainedModel& trained, const Dataset& own) {
  if (trained.record()->nodes) return trained.record()->nodes->recognise(own);
  const auto empty = torch::empty({0}, torch::kInt64);
  Recognition unknown;
  unknown.split = {empty, empty, empty};
  return unknown;
}

}  // namespace eignn
