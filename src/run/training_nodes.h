// What a model keeps of the graph that it was trained on: who was in which part, and enough to tell whether a
// graph is that one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "data/safetensors.h"
#include "eignn/checkpoint.h"
#include "eignn/dataset.h"
#include "train/known_labels.h"

namespace eignn {

/// The nodes of a training. Two bits a node where nodes are numbered, the hashes of their names (64 bits)
/// where they have names: a checkpoint tells who was trained on without naming anybody.
///
/// A graph is that of the training, perhaps grown, when of a sample of its nodes and arcs nine tenths are
/// there, the nodes by name and the arcs in either direction. Where nodes have numbers for names, which other
/// graphs have too, nine tenths of the sample must have the features of then besides.
class TrainingNodes {
 public:
  /// `data` after prepared(). `features_are_own`: a node's features do not depend on the graph, so that they
  /// can tell whether it is the node of then.
  static TrainingNodes of(const Dataset& data, const Split& split, bool features_are_own);

  Recognition recognise(const Dataset& data) const;

  /// Keeps the labels of the training nodes too, which a model with label inputs reads again. `data` are
  /// those of the training.
  void keep_labels(const Dataset& data, const KnownLabels& labels);
  /// The labels that were kept, at the nodes that they belong to in `data`. Nothing where none were kept and
  /// on another graph than that of the training.
  std::optional<KnownLabels> labels_on(const Dataset& data) const;

  int64_t nodes() const { return nodes_; }
  int64_t arcs() const { return arcs_; }
  /// Of train, val and test.
  std::array<int64_t, 3> counts() const;
  /// graph_digest() of the training graph.
  const std::string& digest() const { return digest_; }

  /// As tensors and metadata whose names begin with "training.".
  void save(SafeTensors& content) const;
  /// Nothing where there is none; DataError naming `path` where it is damaged.
  static std::optional<TrainingNodes> load(const SafeTensors& content, const std::string& path);

 private:
  struct NodeSample {
    uint64_t key, features;  // of its name, of its row of features
  };
  struct ArcSample {
    uint64_t source, target;
  };

  uint64_t key_of_number(int64_t node) const;

  bool named_ = false, features_are_own_ = false;
  int64_t nodes_ = 0, arcs_ = 0;
  std::string digest_;
  std::vector<uint64_t> members_[3];  // of train, val and test: hashes where nodes have names, else numbers
  std::vector<NodeSample> node_sample_;
  std::vector<ArcSample> arc_sample_;
  torch::Tensor labels_, half_;  // of the nodes of members_[0]; undefined: not kept
};

/// The digest of a graph, whatever the order of its nodes and arcs: 32 digits of the nodes' names, the arcs
/// between them and their weights.
std::string graph_digest(const Dataset& data);

}  // namespace eignn
