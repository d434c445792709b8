#include "run/checkpoint.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>

#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "run/provenance.h"
#include "run/result_json.h"
#include "train/assemble.h"
#include "train/config.h"

namespace eignn {

namespace {
// Of the first format, the configuration had the fields of all models; the second has those of its own.
constexpr const char* format_prefix = "eignn-checkpoint-";
constexpr int format_number = 2;
constexpr const char* config_prefix = "config.";

int64_t number(const SafeTensors& content, const std::string& key, const std::string& path) {
  const auto at = content.metadata.find(key);
  try {
    if (at != content.metadata.end()) return std::stoll(at->second);
  } catch (const std::exception&) {
  }
  throw DataError(path, key, "this is missing or no number", "the file is no eignn checkpoint");
}

void require_known_format(const SafeTensors& content, const std::string& path) {
  const auto format = content.metadata.find("format");
  const std::string text = format == content.metadata.end() ? "" : format->second, prefix = format_prefix;
  if (text.rfind(prefix, 0) != 0)
    throw DataError(path, "", "this is no eignn checkpoint", "give the model.safetensors of a run folder");
  const std::string rest = text.substr(prefix.size());
  if (rest != "1" && rest != std::to_string(format_number))
    throw DataError(path, "",
                    fmt::format("the checkpoint has the format {}, and this program knows 1 to {}",
                                quote(rest), format_number),
                    "use the program that wrote it, or a newer one");
}
}  // namespace

void assign_saved(TrainConfig& config, const std::map<std::string, std::string>& metadata) {
  std::map<std::string, std::string> texts;
  const std::string prefix = config_prefix;
  for (const auto& [key, value] : metadata)
    if (key.rfind(prefix, 0) == 0) texts[key.substr(prefix.size())] = value;
  assign_known(config, texts);
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
                           std::map<std::string, torch::Tensor> weights)
    : config_(std::move(config)),
      features_(features),
      classes_(classes),
      multi_label_(multi_label),
      weights_(std::move(weights)) {
  validate_settings(config_);
}

void TrainedModel::save(const std::string& path) const {
  SafeTensors content;
  content.metadata = {{"format", fmt::format("{}{}", format_prefix, format_number)},
                      {"version", version()},
                      {"commit", built_commit()},
                      {"features", std::to_string(features_)},
                      {"classes", std::to_string(classes_)},
                      {"labels", multi_label_ ? "sets" : "single"}};
  for (const auto& [name, value] : to_strings(config_)) content.metadata[config_prefix + name] = value;
  for (const auto& [name, tensor] : weights_) content.tensors[name] = to_bytes(tensor);
  write_safetensors(path, content);
}

TrainedModel load_model(const std::string& given) {
  const std::string path = std::filesystem::is_directory(given) ? given + "/model.safetensors" : given;
  if (path != given && !std::filesystem::exists(path)) {
    if (std::filesystem::exists(given + "/resume.safetensors"))
      throw DataError(given, "", "this run is not finished", "go on with it first");
    if (std::filesystem::exists(given + "/split-0"))
      throw DataError(given, "", "the folder holds the runs of several splits",
                      fmt::format("name one, such as {}/split-0", given));
  }
  const SafeTensors content = read_safetensors(path);
  require_known_format(content, path);
  const int64_t features = number(content, "features", path), classes = number(content, "classes", path);
  const auto labels = content.metadata.find("labels");
  TrainConfig config;
  try {
    assign_saved(config, content.metadata);
    validate_settings(config);
  } catch (const ArgumentError& error) {  // not the caller is wrong here, but the file
    throw DataError(path, "", fmt::format("the checkpoint's configuration does not hold: {}", error.what()));
  }
  std::map<std::string, torch::Tensor> weights;
  for (const auto& [name, bytes] : content.tensors) {
    auto tensor = to_tensor(bytes);
    if (tensor.is_floating_point() && !torch::isfinite(tensor).all().item<bool>())
      throw DataError(path, name, "a weight is not finite", "train again");
    weights[name] = tensor;
  }
  return {config, features, classes, labels != content.metadata.end() && labels->second == "sets", weights};
}

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
  return model;
}

}  // namespace eignn
