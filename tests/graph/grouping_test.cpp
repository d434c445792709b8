#include "graph/grouping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "eignn/error.h"
#include "support/message_of.h"
#include "support/random_graph.h"

namespace eignn {
namespace {

Graph cycle(int64_t n) {
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < n; ++v) {
    source.push_back(v);
    target.push_back((v + 1) % n);
  }
  return Graph::from_arcs(n, source, target);
}

Graph star(int64_t leaves) {
  std::vector<int64_t> source(static_cast<size_t>(leaves), 0), target;
  for (int64_t v = 1; v <= leaves; ++v) target.push_back(v);
  return Graph::from_arcs(leaves + 1, source, target);
}

std::vector<size_t> sizes_of(const Grouping& grouping) {
  std::vector<size_t> sizes;
  for (const auto& nodes : grouping.members()) sizes.push_back(nodes.size());
  return sizes;
}

// Each node in one group, groups numbered by their smallest node, none empty.
void expect_grouping(const Grouping& grouping, int64_t nodes) {
  ASSERT_EQ(static_cast<int64_t>(grouping.group_of.size()), nodes);
  int64_t next = 0;
  for (const int64_t group : grouping.group_of) {
    ASSERT_GE(group, 0);
    ASSERT_LE(group, next);
    next = std::max(next, group + 1);
  }
  EXPECT_EQ(next, grouping.groups);
}

TEST(Partition, AlongComponentsDropsNothing) {
  const Graph chains = chain_graph(6, 10);
  for (const int64_t parts : {1, 2, 3, 6}) {
    const Grouping grouping = partition_graph(chains, parts);
    expect_grouping(grouping, 60);
    EXPECT_EQ(grouping.groups, parts);
    const EdgeCount edges = count_edges(chains, grouping.group_of);
    EXPECT_EQ(edges.edges, 54);
    EXPECT_EQ(edges.within, 54) << parts;
    for (const size_t size : sizes_of(grouping)) EXPECT_EQ(size, 60u / static_cast<size_t>(parts));
  }
}

TEST(Partition, OfAsManyPartsAsNodesHasOneInEach) {
  const Grouping grouping = partition_graph(karate_club(), 34);
  EXPECT_EQ(grouping.groups, 34);
  EXPECT_EQ(count_edges(karate_club(), grouping.group_of).within, 0);
}

#ifdef EIGNN_HAVE_METIS
TEST(Partition, CutsAConnectedGraphIntoPartsOfOneSize) {
  const Graph ring = cycle(400);
  const Grouping grouping = partition_graph(ring, 4);
  expect_grouping(grouping, 400);
  EXPECT_EQ(grouping.groups, 4);
  for (const size_t size : sizes_of(grouping)) {
    EXPECT_GE(size, 90u);
    EXPECT_LE(size, 110u);
  }
  const EdgeCount edges = count_edges(ring, grouping.group_of);
  EXPECT_GE(edges.edges - edges.within, 4) << "a ring in four parts is cut at four places at least";
  EXPECT_LE(edges.edges - edges.within, 12);
  EXPECT_EQ(partition_graph(ring, 4).group_of, grouping.group_of) << "the seed is fixed";
}

TEST(Partition, CutsTheLightEdgesOfWeightedArcs) {
  // Eight nodes in a row, a heavy edge between any two but the fourth and the fifth.
  const Graph path =
      Graph::from_arcs(8, {0, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7}, {5, 5, 5, 0.01, 5, 5, 5});
  const Grouping grouping = partition_graph(path, 2);
  const EdgeCount edges = count_edges(path, grouping.group_of);
  EXPECT_EQ(edges.edges - edges.within, 1);
  EXPECT_NEAR(edges.weight - edges.weight_within, 0.01, 1e-12);
}

TEST(Partition, LeavesTheRandomNumbersOfTheProcessAlone) {
  std::srand(7);
  const int expected = std::rand();
  std::srand(7);
  partition_graph(cycle(100), 3);
  EXPECT_EQ(std::rand(), expected);
}
#endif

TEST(Partition, RefusesNumbersThatAreNoParts) {
  for (const int64_t parts : {-1, 0, 35, 1000})
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { partition_graph(karate_club(), parts); }), "(partition)");
  EXPECT_THROW(partition_graph(Graph(), 1), ArgumentError);
  Graph broken = karate_club();
  broken.target[0] = 99;
  EXPECT_THROW(partition_graph(broken, 2), ArgumentError);
}

TEST(HeavyEdges, TheHeaviestAreMerged) {
  const Graph path = Graph::from_arcs(5, {0, 1, 2, 3}, {1, 2, 3, 4}, {1, 5, 1, 4});
  EXPECT_EQ(heavy_edge_clusters(path, 4).group_of, (std::vector<int64_t>{0, 1, 1, 2, 3}));
  EXPECT_EQ(heavy_edge_clusters(path, 3).group_of, (std::vector<int64_t>{0, 1, 1, 2, 2}));
  // 1 - 2 has no free end left, and 3 - 4 neither, so that the second round merges what weighs 1; of the two
  // such edges the one between the smaller clusters.
  EXPECT_EQ(heavy_edge_clusters(path, 2).group_of, (std::vector<int64_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(heavy_edge_clusters(path, 1).groups, 1);
}

TEST(HeavyEdges, ARoundIsAMatching) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Graph graph = random_graph(60, 240, seed).symmetrised();
    const Grouping pairs = heavy_edge_clusters(graph, 40);  // one round: twenty pairs
    expect_grouping(pairs, 60);
    EXPECT_EQ(pairs.groups, 40);
    for (const auto& nodes : pairs.members()) {
      ASSERT_LE(nodes.size(), 2u) << "a node has one partner";
      if (nodes.size() == 1) continue;
      const auto begin = graph.target.begin() + graph.row_begin[nodes[0]],
                 end = graph.target.begin() + graph.row_begin[nodes[0] + 1];
      EXPECT_TRUE(std::binary_search(begin, end, nodes[1])) << "partners are neighbours";
    }
  }
}

TEST(HeavyEdges, AsManyClustersAsNodesIsTheIdentity) {
  const Grouping all = heavy_edge_clusters(karate_club(), 34);
  EXPECT_EQ(all.groups, 34);
  for (int64_t v = 0; v < 34; ++v) EXPECT_EQ(all.group_of[v], v);
  EXPECT_EQ(heavy_edge_clusters(karate_club(), 1000).groups, 34);
}

TEST(HeavyEdges, EndAtExactlyTheNumberAskedForWhereTheGraphIsConnected) {
  for (const int64_t most : {1, 2, 7, 20, 33})
    EXPECT_EQ(heavy_edge_clusters(karate_club(), most).groups, most);
  const Grouping of_star = heavy_edge_clusters(star(1000), 100);  // one merge a round, were it not for hubs
  EXPECT_EQ(of_star.groups, 100);
  const auto sizes = sizes_of(of_star);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 64u) << "leaves are merged evenly";
}

TEST(HeavyEdges, StayWithinComponents) {
  const Grouping grouping = heavy_edge_clusters(chain_graph(3, 4), 1);
  EXPECT_EQ(grouping.groups, 3);
  EXPECT_EQ(grouping.group_of, weak_components(chain_graph(3, 4)).label);
  EXPECT_EQ(heavy_edge_clusters(Graph::from_arcs(5, {}, {}), 2).groups, 5);
}

TEST(HeavyEdges, RefuseNoClusters) {
  EXPECT_CONTAINS(message_of<ArgumentError>([] { heavy_edge_clusters(karate_club(), 0); }), "(coarsen)");
}

TEST(CoarseGraph, IsTheProductWithTheClusters) {
  std::mt19937_64 random(5);
  std::vector<int64_t> source, target;
  std::vector<double> weight;
  for (int a = 0; a < 60; ++a) {
    source.push_back(static_cast<int64_t>(random() % 12));
    target.push_back(static_cast<int64_t>(random() % 12));
    weight.push_back(0.5 + static_cast<double>(random() % 8));
  }
  const Graph graph = Graph::from_arcs(12, source, target, weight);  // directed, with loops
  const Grouping clusters = heavy_edge_clusters(graph, 5);
  const double own = 0.25;
  std::map<std::pair<int64_t, int64_t>, double> expected;
  for (int64_t v = 0; v < 12; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a)
      expected[{clusters.group_of[v], clusters.group_of[graph.target[a]]}] += graph.weight[a];
  const auto members = clusters.members();
  for (size_t c = 0; c < members.size(); ++c)
    if (members[c].size() > 1)
      expected[{static_cast<int64_t>(c), static_cast<int64_t>(c)}] +=
          own * static_cast<double>(members[c].size() - 1);
  const Graph coarse = coarse_graph(graph, clusters, own);
  EXPECT_EQ(coarse.nodes, 5);
  EXPECT_EQ(coarse.arcs(), static_cast<int64_t>(expected.size()));
  for (int64_t v = 0; v < coarse.nodes; ++v)
    for (int64_t a = coarse.row_begin[v]; a < coarse.row_begin[v + 1]; ++a)
      EXPECT_NEAR(coarse.weight[a], expected.at({v, coarse.target[a]}), 1e-12);
}

TEST(InducedGraph, HasTheArcsAmongItsNodesAlone) {
  const Graph graph = Graph::from_arcs(5, {0, 1, 1, 3, 4}, {1, 3, 4, 1, 4}, {1, 2, 3, 4, 5});
  const Graph part = induced_graph(graph, {1, 3, 4});
  EXPECT_EQ(part.nodes, 3);
  EXPECT_EQ(part.target, (std::vector<int32_t>{1, 2, 0, 2}));
  EXPECT_EQ(part.weight, (std::vector<double>{2, 3, 4, 5}));
}

TEST(CountEdges, CountsAPairOnceAndNoLoop) {
  const Graph graph = Graph::from_arcs(3, {0, 1, 1, 2}, {1, 0, 2, 2}, {1, 4, 2, 9});
  const EdgeCount edges = count_edges(graph, {0, 0, 1});
  EXPECT_EQ(edges.edges, 2);
  EXPECT_EQ(edges.within, 1);
  EXPECT_EQ(edges.weight, 6) << "of both directions the larger";
  EXPECT_EQ(edges.weight_within, 4);
}

}  // namespace
}  // namespace eignn
