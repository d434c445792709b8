// What a model keeps of the data that it was trained on, besides its settings and weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/safetensors.h"
#include "eignn/checkpoint.h"
#include "eignn/dataset.h"
#include "run/training_nodes.h"
#include "train/feature_transform.h"
#include "train/graph_reduction.h"
#include "train/target_scale.h"

namespace eignn {

struct TrainingRecord {
  Task task = Task::classes;                        // never automatic
  std::vector<std::string> class_names;             // empty: numbers
  std::optional<FeatureTransform> transform;        // nothing: the features are taken as they are
  TargetScale target;                               // of a regression
  std::optional<TrainingNodes> nodes;               // nothing: of an older version
  std::shared_ptr<const GraphReduction> reduction;  // with partition or coarsen; its facts are not kept
};

Task task_of(const Dataset& data);

/// The record of a training on this split of `data`, which went through prepared(). `labels`: those that were
/// inputs, if any.
TrainingRecord record_of(const Dataset& data, const Split& split,
                         const std::optional<KnownLabels>& labels = {});

/// The names of the tensors that are no weights begin with this.
constexpr const char* record_prefix = "training.";

void save_record(const TrainingRecord& record, SafeTensors& content);
/// DataError naming `path` where the record is damaged.
TrainingRecord load_record(const SafeTensors& content, const std::string& path);

}  // namespace eignn
