// A kept run on a data set: what evaluate, predict and attack begin with.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/execution.h"
#include "eignn/model.h"
#include "eignn/new_node.h"
#include "eignn/spectrum_cache.h"
#include "eignn/train.h"

namespace eignn {

struct RestoredRun {
  TrainConfig config;  // the training run's, with `settings` on top
  std::shared_ptr<const TrainedModel> trained;
  Dataset data;            // as it was read, with labels and names of its own
  Dataset dataset;         // the model's view of it: features as in training, labels by the model's classes
  Recognition recognised;  // whether it is the graph of the training
  int64_t split_number = 0;
  /// Who is in which part: of the training where the data are recognised, of the data's own split where one
  /// was asked for or the model remembers none; else nobody.
  Split split;
  bool has_parts = false;  // whether `split` says anything
  std::shared_ptr<Model> model;
  std::unique_ptr<SpectrumCache> cache;
  std::unique_ptr<Execution> execution;

  /// On the model's device.
  torch::Tensor on_device(const torch::Tensor& tensor) const;

  /// Nodes with labels to judge the model by: "train", "val" and "test", or where nobody is in a part all
  /// labelled nodes as "test", since the model has seen none of them. DataError where there is none,
  /// ArgumentError for a label that is none of the model's.
  struct Part {
    const char* name;
    torch::Tensor nodes;
  };
  std::vector<Part> parts() const;
  /// "the graph of the training", "… and 2 nodes more", "another graph than that of the training".
  std::string which_graph() const;

  Predictions predictions(const torch::Tensor& nodes) const;
};

/// Describes a node to add, once the data are read.
using DescribeNode = std::function<NewNode(const Dataset& data)>;

/// `path` is a run folder or its model.safetensors; `settings` (name and text) replace those of the run.
/// ArgumentError{"dataset"} where the data of the training are not where they were and no others are named.
RestoredRun restore_run(const std::string& path, const std::map<std::string, std::string>& settings,
                        const DescribeNode& new_node = {});

}  // namespace eignn
