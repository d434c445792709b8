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
#include "train/spread.h"

namespace eignn {

/// Where the nodes are spread over processes, each has its own alone: all tables, lists and tensors here are
/// of these, and functions that name it are collective.
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
  bool in_shards = false;  // of which no process has the graph
  /// On the first of several processes: what all nodes, classes and features are called, without features.
  std::unique_ptr<const Dataset> names_of_all;

  /// The processes; null where there is one.
  const Ranks* ranks() const { return dataset.spread ? &dataset.spread->ranks : nullptr; }
  bool is_first() const { return !ranks() || ranks()->is_first(); }
  int64_t all_nodes() const { return dataset.spread ? dataset.spread->nodes : data.nodes(); }
  /// Calls work() in the first process alone; what it throws ends all. Collective.
  void on_first(const std::function<void()>& work) const { ranks() ? ranks()->on_first(work) : work(); }
  /// Sums over all processes, and rows of all on the first one (undefined on the others). Collective.
  int64_t total(int64_t here) const { return ranks() ? ranks()->sum(here) : here; }
  torch::Tensor collected(const torch::Tensor& rows) const {
    return ranks() ? ranks()->rows_on_first(rows.to(torch::kCPU)) : rows;
  }
  /// The metric that the run goes by.
  Metric metric() const;
  /// What people call nodes, classes and features: of all nodes, on the first process.
  const Dataset& named() const { return names_of_all ? *names_of_all : dataset; }

  /// On the model's device.
  torch::Tensor on_device(const torch::Tensor& tensor) const;

  /// Nodes with labels to judge the model by: "train", "val" and "test", or where nobody is in a part all
  /// labelled nodes as "test", since the model has seen none of them. DataError where there is none,
  /// ArgumentError for a label that is none of the model's. Collective.
  struct Part {
    const char* name;
    torch::Tensor nodes;
    int64_t count;  // of all processes
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
/// `spread`: the processes that share the nodes, each of which makes the same call; null: this one alone.
RestoredRun restore_run(const std::string& path, const std::map<std::string, std::string>& settings,
                        const DescribeNode& new_node = {}, const SpreadOptions* spread = nullptr);

}  // namespace eignn
