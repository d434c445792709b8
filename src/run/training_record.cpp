#include "run/training_record.h"

#include <nlohmann/json.hpp>

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
  return record;
}

}  // namespace eignn
