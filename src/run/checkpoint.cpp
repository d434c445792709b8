#include "run/checkpoint.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <charconv>
#include <filesystem>
#include <utility>

#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "equilibrium/torch_errors.h"
#include "run/provenance.h"
#include "run/run_folder.h"
#include "run/training_record.h"
#include "train/assemble.h"
#include "train/config_toml.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {
// In format 1 the configuration has the fields of all models, in format 2 those of the run's model. Format 3
// has a digest of the content. Format 4 has a record of the training data. A file of the present format has
// every setting; those that are not in an older one mean what the programs of then did (assign_known).
constexpr const char* format_prefix = "eignn-checkpoint-";
constexpr int format_number = 5, first_sealed_format = 3, first_recorded_format = 4;
// The state of an unfinished run, from which the best weights so far may be taken.
constexpr const char* best_prefix = "best.";
constexpr const char* config_prefix = "config.";

// The number of the file's format; DataError when this program does not know it.
int format_of(const SafeTensors& content, const std::string& path) {
  const auto format = content.metadata.find("format");
  const std::string text = format == content.metadata.end() ? "" : format->second, prefix = format_prefix;
  if (text.rfind(prefix, 0) != 0)
    throw DataError(path, "", "this is no eignn checkpoint", "give the model.safetensors of a run folder");
  const std::string rest = text.substr(prefix.size());
  for (int known = 1; known <= format_number; ++known)
    if (rest == std::to_string(known)) return known;
  throw DataError(path, "",
                  fmt::format("the checkpoint has the format {}, and this program knows 1 to {}", quote(rest),
                              format_number),
                  "use the program that wrote it, or a newer one");
}

// Weights are of the precision that the configuration names; counts of batches are whole numbers.
void require_type(const torch::Tensor& weight, const std::string& name, Precision precision,
                  const std::string& path) {
  if (!weight.is_floating_point() || weight.scalar_type() == torch_dtype(precision)) return;
  throw DataError(
      path, name,
      fmt::format("this weight is {}, and the run was made in {}",
                  weight.scalar_type() == torch::kFloat32 ? "float32" : "float64", eignn::name(precision)),
      "was the file put together from two?");
}
}  // namespace

int64_t saved_number(const SafeTensors& content, const std::string& key, const std::string& path) {
  const auto at = content.metadata.find(key);
  if (at == content.metadata.end())
    throw DataError(path, key, "this is missing", "the file is no eignn checkpoint");
  int64_t value = 0;
  const std::string& text = at->second;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    throw DataError(path, key, fmt::format("{} is no whole number", quote(text)), "copy the file again");
  return value;
}

void assign_saved(TrainConfig& config, const std::map<std::string, std::string>& metadata, bool complete) {
  std::map<std::string, std::string> texts;
  const std::string prefix = config_prefix;
  for (const auto& [key, value] : metadata)
    if (key.rfind(prefix, 0) == 0) texts[key.substr(prefix.size())] = value;
  complete ? assign(config, texts) : assign_known(config, texts);
  if (!complete) return;
  for (const auto& [name, value] : to_strings(config))
    if (!texts.count(name)) throw ArgumentError(name, "this setting is missing");
}

std::map<std::string, torch::Tensor> state_of(const Model& model) {
  std::map<std::string, torch::Tensor> state;
  for (const auto& item : model.named_parameters()) state[item.key()] = item.value().detach().clone();
  for (const auto& item : model.named_buffers()) state[item.key()] = item.value().detach().clone();
  return state;
}

void load_state(Model& model, const std::map<std::string, torch::Tensor>& state, const std::string& where) {
  const torch::NoGradGuard guard;
  auto copy = [&](const std::string& name, torch::Tensor into) {
    const auto at = state.find(name);
    if (at == state.end())
      throw DataError(where, name, "this weight is missing", "was it saved by another model?");
    if (at->second.sizes() != into.sizes())
      throw DataError(
          where, name,
          fmt::format("this weight has {} numbers, and the model's {}", at->second.numel(), into.numel()),
          "was it trained on another data set?");
    into.copy_(at->second);
  };
  for (auto& item : model.named_parameters()) copy(item.key(), item.value());
  for (auto& item : model.named_buffers()) copy(item.key(), item.value());
}

TrainedModel::TrainedModel(TrainConfig config, int64_t features, int64_t classes, bool multi_label,
                           std::map<std::string, torch::Tensor> weights,
                           std::shared_ptr<const TrainingRecord> record)
    : config_(std::move(config)),
      features_(features),
      classes_(classes),
      weights_(std::move(weights)),
      record_(std::move(record)) {
  if (!record_) {
    auto plain = std::make_shared<TrainingRecord>();
    plain->task = multi_label ? Task::labels : Task::classes;
    record_ = std::move(plain);
  }
  validate_settings(config_);
}

void describe_model(const TrainedModel& model, SafeTensors& content) {
  content.metadata["features"] = std::to_string(model.features());
  content.metadata["classes"] = std::to_string(model.classes());
  for (const auto& [name, value] : to_strings(model.config())) content.metadata[config_prefix + name] = value;
  save_record(*model.record(), content);
}

void TrainedModel::save(const std::string& path) const {
  SafeTensors content;
  content.metadata = {{"format", fmt::format("{}{}", format_prefix, format_number)},
                      {"version", version()},
                      {"commit", built_commit()}};
  describe_model(*this, content);
  for (const auto& [name, tensor] : weights_) content.tensors[name] = to_bytes(tensor);
  seal(content);
  write_safetensors(path, content);
}

namespace {

// The weights of `content`: those whose names begin with `prefix`, without it, but for what is recorded of
// the training data.
std::map<std::string, torch::Tensor> weights_of(const SafeTensors& content, const std::string& prefix,
                                                Precision precision, const std::string& path) {
  std::map<std::string, torch::Tensor> weights;
  for (const auto& [name, bytes] : content.tensors) {
    if (name.rfind(prefix, 0) != 0 || name.rfind(record_prefix, 0) == 0) continue;
    auto tensor = to_tensor(bytes);
    if (tensor.is_floating_point() && !torch::isfinite(tensor).all().item<bool>())
      throw DataError(path, name, "a weight is not finite", "train again");
    require_type(tensor, name, precision, path);
    weights[name.substr(prefix.size())] = tensor;
  }
  return weights;
}

// What the record says of features and classes must fit the model's widths.
void require_widths(const TrainingRecord& record, int64_t features, int64_t classes,
                    const std::string& path) {
  const auto require = [&](bool fits, const char* key) {
    if (!fits)
      throw DataError(path, key, "this does not fit the model's widths",
                      "was the file put together from two?");
  };
  require(record.class_names.empty() || static_cast<int64_t>(record.class_names.size()) == classes,
          "class_names");
  require(!record.transform || record.transform->outputs() == features, "features.transform");
  require(record.task != Task::regression || static_cast<int64_t>(record.target.mean.size()) == classes,
          "target");
}

// `recorded`: the file has a record of the training data. `complete`: it has every setting of its model.
TrainedModel model_of(const SafeTensors& content, const std::string& path, const std::string& prefix,
                      bool recorded, bool complete) {
  const int64_t features = saved_number(content, "features", path),
                classes = saved_number(content, "classes", path);
  for (const auto& [key, value] : {std::pair("features", features), std::pair("classes", classes)})
    if (value < 1) throw DataError(path, key, fmt::format("{} is no number of them", value), "train again");
  TrainConfig config;
  try {
    assign_saved(config, content.metadata, complete);
    validate_settings(config);
  } catch (const ArgumentError& error) {  // the file is wrong, not the caller's arguments
    throw DataError(path, "", fmt::format("the checkpoint's configuration does not hold: {}", error.what()),
                    "take another copy of the file, or train again");
  }
  std::shared_ptr<const TrainingRecord> record;
  if (recorded) {
    record = std::make_shared<TrainingRecord>(load_record(content, path));
    require_widths(*record, features, classes, path);
  }
  const auto labels = content.metadata.find("labels");  // of formats 1 to 3
  if (labels != content.metadata.end() && labels->second != "sets" && labels->second != "single")
    throw DataError(path, "labels", fmt::format("{} is neither single nor sets", quote(labels->second)),
                    "copy the file again");
  const bool multi_label = labels != content.metadata.end() && labels->second == "sets";
  auto weights = weights_of(content, prefix, config.dtype, path);
  return {std::move(config), features, classes, multi_label, std::move(weights), std::move(record)};
}

// The best weights so far of a run that is not finished.
TrainedModel load_unfinished(const std::string& folder) {
  const std::string path = folder + "/resume.safetensors";
  const SafeTensors content = read_safetensors(path);
  const auto format = content.metadata.find("format");
  if (format == content.metadata.end() ||
      (format->second != resume_format && format->second != last_resume_format))
    throw DataError(folder, "", "this run is not finished, and an older version began it",
                    "go on with it first");
  check_seal(content, path, /*required=*/true);
  TrainedModel model = model_of(content, path, best_prefix, /*recorded=*/true,
                                /*complete=*/format->second == resume_format);
  if (model.weights().empty())
    throw DataError(folder, "", "this run is not finished, and no epoch of it had a finite validation loss",
                    "go on with it first");
  warn(fmt::format("{} is not finished: these are its best weights so far, of epoch {}", folder,
                   saved_number(content, "best_epoch", path)));
  return model;
}

TrainedModel loaded_model(const std::string& given) {
  const std::string path = std::filesystem::is_directory(given) ? given + "/model.safetensors" : given;
  if (path != given && !std::filesystem::exists(path)) {
    if (is_interrupted_run(given)) return load_unfinished(given);
    if (std::filesystem::exists(given + "/split-0"))
      throw DataError(given, "", "the folder holds the runs of several splits",
                      fmt::format("name one, such as {}/split-0", given));
  }
  const SafeTensors content = read_safetensors(path);
  const int format = format_of(content, path);
  check_seal(content, path, format >= first_sealed_format);
  return model_of(content, path, "", /*recorded=*/format >= first_recorded_format,
                  /*complete=*/format == format_number);
}

}  // namespace

TrainedModel load_model(const std::string& given) {
  return with_our_errors("load_model", [&] { return loaded_model(given); });
}

namespace {

// The labels of the training nodes in this graph, which a model with label inputs reads beside the features.
void give_labels(const TrainedModel& trained, const Dataset& dataset, Model& model,
                 const std::string& where) {
  const auto& record = *trained.record();
  const auto known = record.nodes ? record.nodes->labels_on(dataset) : std::nullopt;
  if (!known || known->nodes.numel() == 0)
    return warn(
        "the model reads the labels of its training nodes, and none of them is in this graph: no label is "
        "input");
  const auto& labels = known->labels;
  const int64_t classes = trained.classes();
  const bool fits = trained.task() == Task::classes
                        ? labels.scalar_type() == torch::kInt64 && labels.dim() == 1 &&
                              labels.min().item<int64_t>() >= 0 && labels.max().item<int64_t>() < classes
                        : labels.dim() == 2 && labels.size(1) == classes &&
                              labels.is_floating_point() == trained.is_regression();
  if (!fits)
    throw DataError(where, "training.labels", "the labels that the model reads are damaged",
                    "train again, or take a copy of the file");
  model.use_labels(known->inputs(classes, record.target));
}

}  // namespace

std::shared_ptr<Model> restore_model(const TrainedModel& trained, const Dataset& dataset,
                                     const TrainConfig& config, SpectrumStore* store,
                                     const std::string& where) {
  if (dataset.feature_count() != trained.features())
    throw DataError(where, "",
                    fmt::format("the checkpoint was trained on {} features and the data set has {}",
                                trained.features(), dataset.feature_count()),
                    "use the data set it was trained on");
  if (dataset.classes != trained.classes())
    throw DataError(where, "",
                    fmt::format("the checkpoint tells {} classes apart and the data set has {}",
                                trained.classes(), dataset.classes),
                    "use the data set it was trained on");
  auto model = make_model(dataset, config, store);
  load_state(*model, trained.weights(), where);
  model->eval();
  if (model->reads_labels()) give_labels(trained, dataset, *model, where);
  return model;
}

}  // namespace eignn
