#include "run/checkpoint.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>

#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "run/provenance.h"
#include "train/config.h"

namespace eignn {

namespace {
// The number at the end is the format's.
const std::string format_family = "eignn-checkpoint-", format_name = format_family + "1";
constexpr const char* config_prefix = "config.";

int64_t number(const SafeTensors& content, const std::string& key, const std::string& path) {
  const auto at = content.metadata.find(key);
  try {
    if (at != content.metadata.end()) return std::stoll(at->second);
  } catch (const std::exception&) {
  }
  throw InputError(
      fmt::format("'{}' is missing or no number ({}); the file is no eignn checkpoint", key, path));
}
}  // namespace

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
      throw InputError(
          fmt::format("the weight '{}' is missing ({}); was it saved by another model?", name, where));
    if (at->second.sizes() != into.sizes())
      throw InputError(
          fmt::format("the weight '{}' has {} numbers and the model {} ({}); was it trained on another set?",
                      name, at->second.numel(), into.numel(), where));
    into.copy_(at->second);
  };
  for (auto& item : model.named_parameters()) copy(item.key(), item.value());
  for (auto& item : model.named_buffers()) copy(item.key(), item.value());
}

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  SafeTensors content;
  content.metadata = {{"format", format_name},
                      {"version", version()},
                      {"commit", built_commit()},
                      {"features", std::to_string(checkpoint.features)},
                      {"classes", std::to_string(checkpoint.classes)}};
  for (const auto& [name, value] : to_strings(checkpoint.config))
    content.metadata[config_prefix + name] = value;
  for (const auto& [name, tensor] : checkpoint.state) content.tensors[name] = to_bytes(tensor);
  write_safetensors(path, content);
}

Checkpoint read_checkpoint(const std::string& given) {
  const std::string path = std::filesystem::is_directory(given) ? given + "/model.safetensors" : given;
  if (path != given && !std::filesystem::exists(path) &&
      std::filesystem::exists(given + "/resume.safetensors"))
    throw InputError(
        fmt::format("this run is not finished ({}); go on with: eignn train --resume {}", given, given));
  if (path != given && !std::filesystem::exists(path) && std::filesystem::exists(given + "/split-0"))
    throw InputError(fmt::format(
        "the folder holds the runs of several splits ({}); name one, such as {}/split-0", given, given));
  const SafeTensors content = read_safetensors(path);
  const auto format = content.metadata.find("format");
  if (format != content.metadata.end() && format->second != format_name &&
      format->second.rfind(format_family, 0) == 0)
    throw DataError(path, "format",
                    fmt::format("the checkpoint has format {}, and this version reads format {}",
                                format->second, format_name),
                    "use the version of eignn that wrote it");
  if (format == content.metadata.end() || format->second != format_name)
    throw InputError(
        fmt::format("this is no eignn checkpoint ({}); give the model.safetensors of a run folder", path));
  Checkpoint checkpoint;
  checkpoint.features = number(content, "features", path);
  checkpoint.classes = number(content, "classes", path);
  const std::string prefix = config_prefix;
  for (const auto& [key, value] : content.metadata)
    if (key.rfind(prefix, 0) == 0) assign(checkpoint.config, key.substr(prefix.size()), value);
  try {
    validate(checkpoint.config);
  } catch (const UsageError& error) {  // not the user's flags are wrong here, but the file
    throw InputError(
        fmt::format("the checkpoint's configuration does not hold ({}): {}", path, error.what()));
  }
  for (const auto& [name, bytes] : content.tensors) {
    auto tensor = to_tensor(bytes);
    if (tensor.is_floating_point() && !torch::isfinite(tensor).all().item<bool>())
      throw InputError(
          fmt::format("the weight '{}' has a value that is not finite ({}); train again", name, path));
    checkpoint.state[name] = tensor;
  }
  return checkpoint;
}

std::shared_ptr<Model> restore_model(const Checkpoint& checkpoint, const Dataset& dataset,
                                     const TrainConfig& config, SpectrumStore* store,
                                     const std::string& where) {
  if (dataset.feature_count() != checkpoint.features)
    throw InputError(fmt::format(
        "the checkpoint was trained on {} features and the data set has {} ({}); use the data set "
        "it was trained on",
        checkpoint.features, dataset.feature_count(), where));
  if (dataset.classes != checkpoint.classes)
    throw InputError(
        fmt::format("the checkpoint tells {} classes apart and the data set has {} ({}); use the data set it "
                    "was trained on",
                    checkpoint.classes, dataset.classes, where));
  auto model = make_model(dataset, config, store);
  load_state(*model, checkpoint.state, where);
  model->eval();
  return model;
}

}  // namespace eignn
