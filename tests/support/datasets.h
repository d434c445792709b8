// What tests of the readers ask of the data sets they read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "data/raw_dataset.h"

namespace eignn {

using NodePairs = std::set<std::pair<int64_t, int64_t>>;

inline int64_t count_loops(const ArcList& arcs) {
  int64_t loops = 0;
  for (size_t k = 0; k < arcs.source.size(); ++k) loops += arcs.source[k] == arcs.target[k] ? 1 : 0;
  return loops;
}

/// The distinct arcs.
inline NodePairs distinct_arcs(const ArcList& arcs) {
  NodePairs pairs;
  for (size_t k = 0; k < arcs.source.size(); ++k) pairs.emplace(arcs.source[k], arcs.target[k]);
  return pairs;
}

/// The pairs of distinct nodes that an arc joins, in either direction.
inline NodePairs undirected_pairs(const ArcList& arcs) {
  NodePairs pairs;
  for (size_t k = 0; k < arcs.source.size(); ++k)
    if (arcs.source[k] != arcs.target[k]) pairs.insert(std::minmax(arcs.source[k], arcs.target[k]));
  return pairs;
}

inline void expect_same_splits(const RawDataset& a, const RawDataset& b) {
  ASSERT_EQ(a.splits.size(), b.splits.size());
  for (size_t k = 0; k < a.splits.size(); ++k) {
    EXPECT_EQ(a.splits[k].train, b.splits[k].train) << "split " << k;
    EXPECT_EQ(a.splits[k].val, b.splits[k].val) << "split " << k;
    EXPECT_EQ(a.splits[k].test, b.splits[k].test) << "split " << k;
  }
}

/// Everything but the arcs; features are compared as numbers.
inline void expect_same_nodes(const RawDataset& a, const RawDataset& b) {
  EXPECT_EQ(a.features.shape, b.features.shape);
  EXPECT_TRUE(a.features.as<double>() == b.features.as<double>()) << "the features differ";
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.label_sets, b.label_sets);
  EXPECT_EQ(a.known, b.known);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.graph_of, b.graph_of);
  expect_same_splits(a, b);
}

}  // namespace eignn
