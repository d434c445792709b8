#include "run/training_record.h"

#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include "data/tensor_bytes.h"
#include "eignn/error.h"

namespace eignn {

namespace {

// Names may hold any UTF-8 text, so that a list of them is kept as JSON.
constexpr const char *class_names_key = "class_names", *transform_key = "features.transform",
                     *target_key = "target", *task_key = "task";

std::vector<std::string> names_from(const std::string& text, const std::string& path) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> names;
  if (json.is_array())
    for (const auto& name : json)
      if (name.is_string()) names.push_back(name.get<std::string>());
  if (!json.is_array() || names.size() != json.size())
    throw DataError(path, class_names_key, "the names of the classes are damaged",
                    "train again, or take a copy of the file");
  return names;
}

constexpr const char *groups_name = "training.groups", *reduced_graph_key = "training.reduced_graph",
                     *reduction_key = "training.reduction";
constexpr const char* reduction_names[] = {"partition", "coarsening"};

void save_reduction(const GraphReduction& reduction, SafeTensors& content) {
  content.metadata[reduction_key] = reduction_names[reduction.is_partition() ? 0 : 1];
  content.metadata[reduced_graph_key] = reduction.graph;
  content.tensors[groups_name] = to_bytes(torch::tensor(reduction.group_of, torch::kInt64).to(torch::kInt32));
}

// Null where there is none.
std::shared_ptr<const GraphReduction> load_reduction(const SafeTensors& content, const std::string& path) {
  const auto kind = content.metadata.find(reduction_key), graph = content.metadata.find(reduced_graph_key);
  const auto groups = content.tensors.find(groups_name);
  if (kind == content.metadata.end() && groups == content.tensors.end()) return nullptr;
  const auto damaged = [&]() -> DataError {
    return {path, groups_name, "what the model keeps of the graph's parts is damaged",
            "train again, or take a copy of the file"};
  };
  if (kind == content.metadata.end() || graph == content.metadata.end() || groups == content.tensors.end() ||
      groups->second.type != ElementType::int32 || groups->second.shape.size() != 1)
    throw damaged();
  auto out = std::make_shared<GraphReduction>();
  out->kind = kind->second == reduction_names[0] ? ReductionKind::partition : ReductionKind::coarsening;
  if (kind->second != reduction_names[out->is_partition() ? 0 : 1]) throw damaged();
  out->graph = graph->second;
  const auto numbers = to_tensor(groups->second).to(torch::kInt64).contiguous();
  out->group_of = {numbers.data_ptr<int64_t>(), numbers.data_ptr<int64_t>() + numbers.numel()};
  if (out->group_of.empty() || numbers.min().item<int64_t>() < 0) throw damaged();
  out->groups = numbers.max().item<int64_t>() + 1;
  if (torch::bincount(numbers).min().item<int64_t>() == 0) throw damaged();
  return out;
}

}  // namespace

Task task_of(const Dataset& data) {
  return data.is_regression() ? Task::regression : data.multi_label() ? Task::labels : Task::classes;
}

TrainingRecord record_of(const Dataset& data, const Split& split, const std::optional<KnownLabels>& labels) {
  TrainingRecord record;
  record.task = task_of(data);
  record.class_names = data.class_names;
  if (data.transform) record.transform = *data.transform;
  if (data.is_regression()) record.target = TargetScale::fit(data.labels, split.train);
  record.reduction = data.reduction;
  record.nodes = TrainingNodes::of(data, split, /*features_are_own=*/structural_feature_count(data) == 0);
  if (labels) record.nodes->keep_labels(data, *labels);
  return record;
}

void save_record(const TrainingRecord& record, SafeTensors& content) {
  content.metadata[task_key] = name(record.task);
  if (!record.class_names.empty())
    content.metadata[class_names_key] = nlohmann::json(record.class_names).dump();
  if (record.transform) content.metadata[transform_key] = record.transform->to_json();
  if (!record.target.empty()) content.metadata[target_key] = record.target.to_json();
  if (record.nodes) record.nodes->save(content);
  if (record.reduction) save_reduction(*record.reduction, content);
}

TrainingRecord load_record(const SafeTensors& content, const std::string& path) {
  TrainingRecord record;
  const auto text = [&](const char* key) {
    const auto at = content.metadata.find(key);
    return at == content.metadata.end() ? std::optional<std::string>() : at->second;
  };
  bool known = false;
  const auto task = text(task_key);
  for (const Task candidate : {Task::classes, Task::labels, Task::regression})
    if (task == name(candidate)) {
      record.task = candidate;
      known = true;
    }
  if (!known)
    throw DataError(path, task_key, "this is missing or no task", "the file is no eignn checkpoint");
  if (const auto names = text(class_names_key)) record.class_names = names_from(*names, path);
  if (const auto json = text(transform_key)) record.transform = FeatureTransform::from_json(*json, path);
  if (const auto json = text(target_key)) record.target = TargetScale::from_json(*json, path);
  record.nodes = TrainingNodes::load(content, path);
  record.reduction = load_reduction(content, path);
  return record;
}

}  // namespace eignn
