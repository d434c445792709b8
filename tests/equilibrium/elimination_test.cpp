// The symbolic half of the direct solver: orders of elimination, slots of the factors.
#include "equilibrium/elimination/elimination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "equilibrium/elimination/ordering.h"
#include "support/message_of.h"
#include "support/random_graph.h"

namespace eignn {
namespace {

TEST(Elimination, AForestFillsNothing) {
  // A random tree, a star, chains: every slot is an edge, under both orderings.
  std::vector<int64_t> source, target;
  std::mt19937_64 random(2);
  for (int64_t v = 1; v < 200; ++v) {
    source.push_back(v);
    target.push_back(static_cast<int64_t>(random() % v));
  }
  const Graph tree = Graph::from_arcs(200, source, target);
  for (const Graph& forest : {tree, chain_graph(4, 50)}) {
    EXPECT_EQ(analyse_elimination(make_propagation(forest)).slots(), forest.undirected_edges());
    EXPECT_EQ(estimate_elimination(make_propagation(forest)).slots, forest.undirected_edges());
    // Minimum degree: each node has at most one neighbour left when its turn comes.
    const std::vector<int64_t> order = minimum_degree_order(forest.symmetrised());
    std::vector<int64_t> turn(200);
    for (int64_t k = 0; k < 200; ++k) turn[order[k]] = k;
    const Graph both = forest.symmetrised();
    for (int64_t v = 0; v < 200; ++v) {
      int64_t later = 0;
      for (int64_t a = both.row_begin[v]; a < both.row_begin[v + 1]; ++a)
        later += turn[both.target[a]] > turn[v];
      EXPECT_LE(later, 1) << v;
    }
  }
}

TEST(Elimination, OrdersEveryNodeOnce) {
  for (const Graph& graph :
       {karate_club(), Graph::from_arcs(7, {}, {}), random_graph(60, 200, 1).symmetrised()})
    for (std::vector<int64_t> order : {fill_reducing_order(graph), minimum_degree_order(graph)}) {
      std::sort(order.begin(), order.end());
      ASSERT_EQ(static_cast<int64_t>(order.size()), graph.nodes);
      for (int64_t v = 0; v < graph.nodes; ++v) EXPECT_EQ(order[v], v);
    }
}

TEST(Elimination, MinimumDegreeTakesTheSmallestOfEqualNodes) {
  EXPECT_EQ(minimum_degree_order(chain_graph(1, 4).symmetrised()), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(minimum_degree_order(Graph::from_arcs(4, {0, 0, 0}, {1, 2, 3}).symmetrised()),
            (std::vector<int64_t>{1, 2, 0, 3}));
}

TEST(Elimination, RefusesFactorsThatPassTheMemoryLimit) {
  // A complete graph of 40 nodes has 780 slots, 128 bytes each for eight shifts, and 40·39·38/6 updates of 4
  // bytes.
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < i; ++j) {
      source.push_back(i);
      target.push_back(j);
    }
  const Propagation S = make_propagation(Graph::from_arcs(40, source, target));
  const double needed = 780 * 128 + 40 * 39 * 38 / 6 * 4;
  EXPECT_EQ(analyse_elimination(S, 8, 8, needed).slots(), 780);
  EXPECT_CONTAINS(message_of([&] { analyse_elimination(S, 8, 8, needed - 1); }), "direct solver");
  EXPECT_EQ(estimate_elimination(S).slots, 780);
  EXPECT_EQ(estimate_elimination(S).updates, 40.0 * 39 * 38 / 6);
}

}  // namespace
}  // namespace eignn
