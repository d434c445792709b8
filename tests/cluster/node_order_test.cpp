#include "cluster/node_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "cluster/one_process.h"
#include "eignn/error.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/thread_transport.h"

namespace eignn {
namespace {

// The largest distance of two joined nodes in this order.
int64_t bandwidth(const Graph& graph) {
  int64_t most = 0;
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a)
      most = std::max<int64_t>(most, std::abs(graph.target[a] - v));
  return most;
}

TEST(BreadthFirstOrder, PutsTheNodesOfAChainSideBySide) {
  // A chain whose nodes are numbered by multiples of 17 modulo 60.
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v + 1 < 60; ++v) {
    source.push_back(v * 17 % 60);
    target.push_back((v + 1) * 17 % 60);
  }
  const Graph chain = Graph::from_arcs(60, source, target);
  EXPECT_GT(bandwidth(chain), 15);
  const auto order = breadth_first_order(chain, {});
  EXPECT_EQ(order[0], 0);
  EXPECT_LE(bandwidth(reordered(chain, order)), 2);
}

TEST(BreadthFirstOrder, KeepsPartsTogetherAndLeavesNobodyOut) {
  const Graph graph = test::random_graph(80, 3, 1);
  std::vector<int64_t> part;
  for (int64_t v = 0; v < 80; ++v) part.push_back(v * 7 % 3);
  const auto order = breadth_first_order(graph, part);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> all(80);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return part[static_cast<size_t>(a)] < part[static_cast<size_t>(b)];
  }));
  EXPECT_TRUE(breadth_first_order(Graph::from_arcs(0, {}, {}), {}).empty());
}

TEST(Reordered, IsTheSameGraphByOtherNumbers) {
  Graph graph = test::random_graph(40, 3, 2);
  for (int64_t a = 0; a < graph.arcs(); ++a) graph.weight.push_back(1 + static_cast<double>(a % 5));
  std::vector<int64_t> order;
  for (int64_t v = 0; v < 40; ++v) order.push_back(v * 13 % 40);
  const Graph other = reordered(graph, order);
  ASSERT_EQ(other.arcs(), graph.arcs());
  for (int64_t v = 0; v < 40; ++v) {
    std::vector<std::pair<int64_t, double>> here, there;
    for (int64_t a = other.row_begin[v]; a < other.row_begin[v + 1]; ++a)
      here.emplace_back(order[static_cast<size_t>(other.target[a])], other.weight[a]);
    const int64_t u = order[static_cast<size_t>(v)];
    for (int64_t a = graph.row_begin[u]; a < graph.row_begin[u + 1]; ++a)
      there.emplace_back(graph.target[a], graph.weight[a]);
    std::sort(here.begin(), here.end());
    EXPECT_EQ(here, there);
  }
}

TEST(PtscotchParts, AreAlikeInAllProcesses) {
  const Graph graph = test::random_graph(50, 3, 3);
  test::in_threads(3, [&](const auto& transport) {
    const auto part = ptscotch_parts(Ranks(transport), graph, 4);
    ASSERT_EQ(part.size(), 50U);
    for (int64_t v = 0; v < 50; ++v)
      EXPECT_EQ(part[static_cast<size_t>(v)], v * 7 % 4);  // of the threads' partitioner
  });
}

TEST(PtscotchParts, SaysWhyThereAreNone) {
  const Graph graph = test::random_graph(50, 3, 3);
  EXPECT_EQ(
      message_of<ResourceError>([&] { ptscotch_parts(Ranks(std::make_shared<OneProcess>()), graph, 2); }),
      "one process has no PTScotch (order); use bfs, or keep the order of the data");
}

}  // namespace
}  // namespace eignn
