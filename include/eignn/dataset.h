// A graph with features, labels and splits: what a model is trained on.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// Node indices, int64.
struct Split {
  torch::Tensor train, val, test;
};

struct Dataset {
  std::string name;
  Graph graph;             // arcs as the data has them; a Direction says how they are read
  torch::Tensor features;  // float64 (n, m)
  torch::Tensor labels;    // int64 (n,)
  int64_t classes = 0;
  std::vector<Split> splits;
  std::vector<int64_t>
      distance;  // hops from the informative node, where the set has such a thing; else empty

  int64_t nodes() const { return graph.nodes; }
  int64_t feature_count() const { return features.size(1); }
};

/// The paper's synthetic chains: `chains_per_class` paths per class, features zero but for the one-hot class
/// in the first node of each path; arcs run away from that node. The split is random over nodes: train ⌊5 %⌋,
/// validation ⌊10 %⌋, test the rest.
struct ChainsOptions {
  int64_t length = 100;
  int64_t chains_per_class = 20;
  int64_t classes = 2;
  int64_t features = 100;
  double noise = 0;  // features get U(-noise, noise) on top
};
Dataset chains_dataset(const ChainsOptions& options, uint64_t seed);

/// Zachary's karate club: one-hot features, the two factions as classes; 4 random members of each faction to
/// train on, 4 to validate, the rest to test.
Dataset karate_dataset(uint64_t seed);

/// The built-in sets by name ("chains", "karate"); UsageError for another name.
Dataset load_dataset(const std::string& name, const ChainsOptions& chains, uint64_t seed);

const std::vector<std::string>& dataset_names();

}  // namespace eignn
