#include <gtest/gtest.h>

#include <algorithm>

#include "eignn/error.h"
#include "eignn/graph.h"

namespace eignn {
namespace {

std::vector<int64_t> degrees(const Graph& graph) {
  const Graph both_ways = graph.symmetrised();
  std::vector<int64_t> out(graph.nodes);
  for (int64_t v = 0; v < graph.nodes; ++v) out[v] = both_ways.row_begin[v + 1] - both_ways.row_begin[v];
  return out;
}

TEST(Rmat, HasExactlyTheEdgesAskedForAndNoLoops) {
  for (const auto& [nodes, edges] : {std::pair<int64_t, int64_t>{1000, 10'000},
                                     {1024, 1},
                                     {37, 200},  // no power of two, and nearly a third of all pairs
                                     {2, 1},
                                     {1, 0},
                                     {0, 0}}) {
    const Graph graph = rmat_graph(nodes, edges, 1);
    EXPECT_EQ(graph.nodes, nodes);
    EXPECT_EQ(graph.arcs(), edges);
    EXPECT_EQ(graph.undirected_edges(), edges);
    EXPECT_EQ(graph.loops(), 0);
  }
}

TEST(Rmat, IsFixedByItsSeed) {
  const Graph a = rmat_graph(500, 3000, 7), b = rmat_graph(500, 3000, 7), c = rmat_graph(500, 3000, 8);
  EXPECT_EQ(a.row_begin, b.row_begin);
  EXPECT_EQ(a.target, b.target);
  EXPECT_NE(a.target, c.target);
}

TEST(Rmat, HasHubsUnlessTheQuartersAreEqual) {
  const int64_t nodes = 4096, edges = 10 * nodes;
  const auto hub = [&](const RmatOptions& options) {
    const auto d = degrees(rmat_graph(nodes, edges, 3, options));
    return *std::max_element(d.begin(), d.end());
  };
  EXPECT_GT(hub({}), 10 * 20);                  // the mean degree is 20
  EXPECT_LT(hub({0.25, 0.25, 0.25}), 20 + 50);  // about binomial: more than ten standard deviations
}

TEST(Rmat, AnIdSaysNothingOfADegree) {
  const int64_t nodes = 4096;
  const auto d = degrees(rmat_graph(nodes, 10 * nodes, 4));
  const int64_t half = nodes / 2;
  double low = 0, high = 0;
  for (int64_t v = 0; v < nodes; ++v) (v < half ? low : high) += static_cast<double>(d[v]);
  EXPECT_NEAR(low / high, 1, 0.25);  // as drawn, the lower half of the ids would have three times as much
}

TEST(Rmat, ArcsRunBothWays) {
  const Graph graph = rmat_graph(1000, 10'000, 5);
  int64_t up = 0;
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) up += graph.target[a] > v;
  EXPECT_NEAR(static_cast<double>(up), 5000, 500);
}

TEST(Rmat, RefusesWhatCannotBe) {
  EXPECT_THROW(rmat_graph(-1, 0, 0), ArgumentError);
  EXPECT_THROW(rmat_graph(1, 1, 0), ArgumentError);
  EXPECT_THROW(rmat_graph(10, 46, 0), ArgumentError);
  EXPECT_THROW(rmat_graph(10, -1, 0), ArgumentError);
  EXPECT_THROW(rmat_graph(10, 5, 0, {0.6, 0.3, 0.2}), ArgumentError);
  EXPECT_THROW(rmat_graph(10, 5, 0, {-0.1, 0.3, 0.2}), ArgumentError);
  // Only arcs from the upper half to the lower half of a level: too few pairs.
  EXPECT_THROW(rmat_graph(4, 6, 0, {0, 1, 0}), ConvergenceError);
  EXPECT_THROW(rmat_graph(4, 1, 0, {1, 0, 0}), ConvergenceError);  // nothing but loops
}

}  // namespace
}  // namespace eignn
