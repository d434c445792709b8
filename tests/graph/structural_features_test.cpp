#include "graph/structural_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "eignn/graph.h"

namespace eignn {
namespace {

// Random walks by dense products, and cores by taking nodes away.
struct Oracle {
  std::vector<std::vector<double>> walk;
  std::vector<double> degree, core;

  explicit Oracle(const Graph& graph) {
    const auto n = static_cast<size_t>(graph.nodes);
    std::vector<std::vector<double>> A(n, std::vector<double>(n, 0));
    for (size_t v = 0; v < n; ++v)
      for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a)
        if (const auto u = static_cast<size_t>(graph.target[a]); u != v) A[v][u] = A[u][v] = 1;
    degree.assign(n, 0);
    for (size_t v = 0; v < n; ++v)
      for (size_t u = 0; u < n; ++u) degree[v] += A[v][u];
    walk = A;
    for (size_t v = 0; v < n; ++v)
      for (size_t u = 0; u < n; ++u) walk[v][u] = degree[v] > 0 ? A[v][u] / degree[v] : 0;
    core.assign(n, 0);
    for (double k = 1; k < static_cast<double>(n); ++k) {
      std::vector<bool> in(n, true);
      for (bool changed = true; changed;) {
        changed = false;
        for (size_t v = 0; v < n; ++v) {
          double within = 0;
          for (size_t u = 0; u < n; ++u) within += in[u] ? A[v][u] : 0;
          if (in[v] && within < k) in[v] = !(changed = true);
        }
      }
      for (size_t v = 0; v < n; ++v)
        if (in[v]) core[v] = k;
    }
  }

  double returns(size_t v, int steps) const {
    std::vector<double> at(degree.size(), 0);
    at[v] = 1;
    for (int step = 0; step < steps; ++step) {
      std::vector<double> next(at.size(), 0);
      for (size_t a = 0; a < at.size(); ++a)
        for (size_t b = 0; b < at.size(); ++b) next[b] += at[a] * walk[a][b];
      at = next;
    }
    return at[v];
  }
};

TEST(StructuralFeatures, AgreeWithWalksAndCoresComputedDensely) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const int64_t n = 12;
    std::vector<int64_t> source, target;
    for (int k = 0; k < 3 * round; ++k) {  // loops and repeats among them
      source.push_back(static_cast<int64_t>(random() % n));
      target.push_back(static_cast<int64_t>(random() % n));
    }
    const Graph graph = Graph::from_arcs(n, source, target);
    const StructuralFeatures features = structural_features(graph);
    const Oracle oracle(graph);
    ASSERT_EQ(features.names.size(), 5U);
    for (size_t v = 0; v < static_cast<size_t>(n); ++v) {
      const double* row = &features.values[v * 5];
      EXPECT_NEAR(row[0], std::log1p(oracle.degree[v]), 1e-14);
      EXPECT_NEAR(row[1], std::log1p(oracle.core[v]), 1e-14);
      double neighbours = 0;
      for (size_t u = 0; u < static_cast<size_t>(n); ++u)
        neighbours += oracle.walk[v][u] * std::log1p(oracle.degree[u]);
      EXPECT_NEAR(row[2], neighbours, 1e-14);
      if (oracle.degree[v] > 0) {
        EXPECT_NEAR(row[3], oracle.returns(v, 2), 1e-14);
        EXPECT_NEAR(row[4], oracle.returns(v, 3), 1e-14);
      } else {
        EXPECT_EQ(row[3], 0);
        EXPECT_EQ(row[4], 0);
      }
    }
  }
}

TEST(StructuralFeatures, DoNotDependOnTheDirectionOrTheWeightOfArcs) {
  Graph graph = Graph::from_arcs(4, {0, 1, 2}, {1, 2, 0});
  const auto one_way = structural_features(graph).values;
  EXPECT_EQ(one_way, structural_features(graph.symmetrised()).values);
  graph.weight = {1, 2, 3};
  EXPECT_EQ(one_way, structural_features(graph).values);
}

}  // namespace
}  // namespace eignn
