#include "eignn/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "graph/content_hash.h"
#include "graph/statistics.h"
#include "support/message_of.h"
#include "support/weights_of.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Targets = std::vector<int32_t>;

void expect_same(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.row_begin, b.row_begin);
  EXPECT_EQ(a.target, b.target);
}

// Both arcs of each pair.
Graph undirected(int64_t nodes, const Ids& source, const Ids& target) {
  return Graph::from_arcs(nodes, source, target).symmetrised();
}

Graph ring(int64_t nodes) {
  Ids source(nodes), target(nodes);
  std::iota(source.begin(), source.end(), int64_t(0));
  for (int64_t v = 0; v < nodes; ++v) target[v] = (v + 1) % nodes;
  return Graph::from_arcs(nodes, source, target);
}

// ---- construction

TEST(Graph, ADefaultGraphIsTheEmptyGraph) {
  const Graph empty;
  expect_same(empty, Graph::from_arcs(0, {}, {}));
  EXPECT_EQ(empty.arcs(), 0);
  EXPECT_EQ(empty.undirected_edges(), 0);
  EXPECT_EQ(empty.isolated(), 0);
  EXPECT_TRUE(empty.is_symmetric());
}

TEST(Graph, SortsTheArcsOfEachRow) {
  const Graph graph = Graph::from_arcs(4, {2, 0, 2, 0, 2}, {3, 2, 0, 1, 1});
  EXPECT_EQ(graph.nodes, 4);
  EXPECT_EQ(graph.row_begin, (Ids{0, 2, 2, 5, 5}));
  EXPECT_EQ(graph.target, (Targets{1, 2, 0, 1, 3}));
}

TEST(Graph, MergesDuplicateArcsAndKeepsTheirReverses) {
  const Graph graph = Graph::from_arcs(3, {0, 1, 0, 1, 0, 1}, {1, 2, 1, 2, 1, 0});
  EXPECT_EQ(graph.row_begin, (Ids{0, 1, 3, 3}));
  EXPECT_EQ(graph.target, (Targets{1, 0, 2}));
  EXPECT_EQ(graph.arcs(), 3);
}

TEST(Graph, KeepsALoopOnce) {
  const Graph graph = Graph::from_arcs(3, {1, 1, 1, 2, 0}, {1, 1, 0, 2, 1});
  EXPECT_EQ(graph.arcs(), 4);
  EXPECT_EQ(graph.loops(), 2);
  EXPECT_EQ(graph.symmetrised().loops(), 2);
  EXPECT_EQ(graph.symmetrised().arcs(), 4) << "0 -> 1, 1 -> 0, 1 -> 1, 2 -> 2";
  EXPECT_EQ(graph.transposed().loops(), 2);
}

TEST(Graph, RefusesAnIdOutOfRangeAndNamesTheArc) {
  const std::string source = message_of<ArgumentError>([] { Graph::from_arcs(3, {0, 1, 3}, {1, 2, 0}); });
  EXPECT_CONTAINS(source, "node 3 does not exist");
  EXPECT_CONTAINS(source, "arc 2: 3 -> 0");
  EXPECT_CONTAINS(source, "from 0 to 2");
  const std::string target = message_of<ArgumentError>([] { Graph::from_arcs(3, {0, 1}, {1, 70}); });
  EXPECT_CONTAINS(target, "node 70 does not exist");
  EXPECT_CONTAINS(target, "arc 1: 1 -> 70");
  EXPECT_THROW(Graph::from_arcs(0, {0}, {0}), ArgumentError);
}

TEST(Graph, RefusesANegativeIdAndNamesTheArc) {
  EXPECT_CONTAINS(message_of<ArgumentError>([] { Graph::from_arcs(3, {0, -1}, {1, 0}); }), "arc 1: -1 -> 0");
  EXPECT_CONTAINS(message_of<ArgumentError>([] {
                    Graph::from_arcs(3, {2, 0}, {INT64_MIN, 0});
                  }),
                  "arc 0: 2 -> -9223372036854775808");
}

TEST(Graph, RefusesUnequalListsAndANegativeSize) {
  EXPECT_CONTAINS(message_of<ArgumentError>([] {
                    Graph::from_arcs(3, {0, 1}, {1});
                  }),
                  "2 sources and 1 targets");
  EXPECT_THROW(Graph::from_arcs(3, {0}, {1, 2}), ArgumentError);
  EXPECT_THROW(Graph::from_arcs(-1, {}, {}), ArgumentError);
}

TEST(Graph, RefusesSizesThatCannotBe) {
  EXPECT_THROW(Graph::from_arcs(INT64_MAX, {}, {}), ArgumentError);
  EXPECT_THROW(Graph::from_arcs(int64_t{1} << 59, {}, {}), ResourceError);
  EXPECT_THROW(chain_graph(-1, 3), ArgumentError);
  EXPECT_THROW(chain_graph(INT64_MAX, 2), ArgumentError);
  EXPECT_THROW(chain_graph(int64_t{1} << 29, int64_t{1} << 30), ResourceError);
  EXPECT_EQ(chain_graph(3, 0).nodes, 0);
}

TEST(Graph, RefusesPartsThatContradictEachOther) {
  const auto refused = [](const auto& damage) {
    Graph graph = karate_club();
    damage(graph);
    EXPECT_THROW(graph.symmetrised(), ArgumentError);
    EXPECT_THROW(graph.transposed(), ArgumentError);
    EXPECT_THROW(graph.loops(), ArgumentError);
    EXPECT_THROW(graph.isolated(), ArgumentError);
    EXPECT_THROW(graph.is_symmetric(), ArgumentError);
    EXPECT_THROW(graph.undirected_edges(), ArgumentError);
    EXPECT_THROW(weak_components(graph), ArgumentError);
    EXPECT_THROW(longest_hops(graph), ArgumentError);
    EXPECT_THROW(make_propagation(graph), ArgumentError);
    EXPECT_THROW(make_propagation(graph, {Direction::out, Normalisation::out_in, false}), ArgumentError);
  };
  refused([](Graph& g) { g.nodes = 33; });
  refused([](Graph& g) { g.nodes = -1; });
  refused([](Graph& g) { g.nodes = INT64_MAX; });
  refused([](Graph& g) { g.row_begin.clear(); });
  refused([](Graph& g) { g.row_begin[0] = 2; });
  refused([](Graph& g) { g.row_begin[7] = -5; });
  refused([](Graph& g) { g.row_begin[7] = 10'000; });
  refused([](Graph& g) { g.row_begin.back() = 0; });
  refused([](Graph& g) { g.target.pop_back(); });
  refused([](Graph& g) { g.target[3] = 34; });
  refused([](Graph& g) { g.target[3] = -1; });
  refused([](Graph& g) { std::swap(g.target[0], g.target[1]); });
}

// ---- symmetry

TEST(Graph, SymmetrisedHasEveryArcBothWaysAndOnce) {
  const Graph graph = Graph::from_arcs(4, {0, 1, 2, 3}, {1, 0, 1, 3});
  const Graph both = graph.symmetrised();
  EXPECT_EQ(both.row_begin, (Ids{0, 1, 3, 4, 5}));
  EXPECT_EQ(both.target, (Targets{1, 0, 2, 1, 3}));
  expect_same(both.symmetrised(), both);
}

TEST(Graph, TransposedTurnsEveryArcRound) {
  const Graph graph = Graph::from_arcs(4, {0, 0, 2, 3}, {1, 3, 1, 3});
  expect_same(graph.transposed(), Graph::from_arcs(4, {1, 3, 1, 3}, {0, 0, 2, 3}));
  expect_same(graph.transposed().transposed(), graph);
}

TEST(Graph, IsSymmetricWhenEveryArcHasItsReverse) {
  EXPECT_TRUE(Graph::from_arcs(3, {0, 1, 2}, {1, 0, 2}).is_symmetric());
  EXPECT_FALSE(Graph::from_arcs(3, {0, 1, 2}, {1, 0, 0}).is_symmetric());
  // As many arcs into each node as out of it, and still no symmetry.
  EXPECT_FALSE(ring(3).is_symmetric());
  EXPECT_TRUE(ring(3).symmetrised().is_symmetric());
  EXPECT_TRUE(ring(2).is_symmetric());
  EXPECT_TRUE(Graph::from_arcs(5, {}, {}).is_symmetric());
}

TEST(Graph, UndirectedEdgesCountsPairsOnceAndNoLoops) {
  // 0 - 1 given both ways, 1 -> 2 one way and twice, a loop at 2 and at the lone 3.
  const Graph graph = Graph::from_arcs(5, {0, 1, 1, 1, 2, 3}, {1, 0, 2, 2, 2, 3});
  EXPECT_EQ(graph.undirected_edges(), 2);
  EXPECT_EQ(graph.symmetrised().undirected_edges(), 2);
  EXPECT_EQ(ring(7).undirected_edges(), 7);
}

TEST(Graph, ANodeWithALoopOnlyIsIsolatedAndAMereTargetIsNot) {
  // 3 is only pointed at, 4 has a loop only, 2 and 5 have nothing.
  const Graph graph = Graph::from_arcs(6, {0, 1, 4}, {1, 3, 4});
  EXPECT_EQ(graph.isolated(), 3);
  EXPECT_EQ(graph.transposed().isolated(), 3);
  EXPECT_EQ(Graph::from_arcs(4, {}, {}).isolated(), 4);
  EXPECT_EQ(ring(4).isolated(), 0);
}

// ---- weights

using Weights = std::vector<double>;

TEST(WeightedGraph, KeepsTheWeightOfEachArcBesideIt) {
  const Graph graph = Graph::from_arcs(4, {2, 0, 2, 0}, {3, 2, 0, 1}, {1.5, 2, 1e-9, 4});
  EXPECT_EQ(graph.target, (Targets{1, 2, 0, 3}));
  EXPECT_EQ(graph.weight, (Weights{4, 2, 1e-9, 1.5}));
  EXPECT_EQ(graph.weight_of(2), 1e-9);
  const Graph plain = Graph::from_arcs(2, {0}, {1});
  EXPECT_TRUE(plain.weight.empty());
  EXPECT_EQ(plain.weight_of(0), 1);
}

TEST(WeightedGraph, AddsUpDuplicatesInWhateverOrderTheyCome) {
  const Graph graph = Graph::from_arcs(2, {0, 0, 0, 1}, {1, 1, 1, 0}, {0.1, 0.2, 0.3, 7});
  EXPECT_EQ(graph.arcs(), 2);
  EXPECT_DOUBLE_EQ(graph.weight[0], 0.6);
  EXPECT_EQ(graph.weight[1], 7);
  const Graph other = Graph::from_arcs(2, {1, 0, 0, 0}, {0, 1, 1, 1}, {7, 0.3, 0.1, 0.2});
  EXPECT_EQ(other.weight, graph.weight) << "to the bit";
}

TEST(WeightedGraph, LeavesOutArcsOfWeightZero) {
  const Graph graph = Graph::from_arcs(3, {0, 1, 1, 2}, {1, 2, 2, 0}, {0, 0, 3, -0.0});
  EXPECT_EQ(graph.row_begin, (Ids{0, 0, 1, 1}));
  EXPECT_EQ(graph.target, Targets{2});
  EXPECT_EQ(graph.weight, Weights{3});
  const Graph nothing = Graph::from_arcs(2, {0}, {1}, {0});
  EXPECT_EQ(nothing.arcs(), 0);
  EXPECT_EQ(nothing.isolated(), 2);
}

TEST(WeightedGraph, RefusesWhatIsNoWeightAndNamesTheArc) {
  for (const double wrong : {-1e-300, -2.0, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const std::string message = message_of<ArgumentError>([&] {
      Graph::from_arcs(3, {0, 1}, {1, 2}, {1, wrong});
    });
    EXPECT_CONTAINS(message, "arc 1: 1 -> 2");
    EXPECT_CONTAINS(message, "(weight)");
  }
  EXPECT_CONTAINS(message_of<ArgumentError>([] {
                    Graph::from_arcs(3, {0, 1}, {1, 2}, {1});
                  }),
                  "1 weights for 2 arcs");
  EXPECT_CONTAINS(message_of<ArgumentError>([] {
                    Graph::from_arcs(3, {0, 0}, {1, 1}, {1e308, 1e308});
                  }),
                  "0 -> 1 add up to infinity");
}

TEST(WeightedGraph, AnEdgeWrittenOnceAndOneWrittenBothWaysAreTheSame) {
  const Graph once = Graph::from_arcs(4, {0, 1, 3, 2}, {1, 2, 3, 3}, {0.3, 5, 2, 1e-4});
  const Graph both =
      Graph::from_arcs(4, {0, 1, 1, 2, 3, 3, 2}, {1, 0, 2, 1, 3, 2, 3}, {0.3, 0.3, 5, 5, 2, 1e-4, 1e-4});
  const Graph some = Graph::from_arcs(4, {1, 1, 2, 3, 3}, {0, 2, 1, 3, 2}, {0.3, 5, 5, 2, 1e-4});
  for (const Graph& graph : {both, some}) {
    expect_same(graph.symmetrised(), once.symmetrised());
    EXPECT_EQ(graph.symmetrised().weight, once.symmetrised().weight);
  }
  EXPECT_EQ(once.symmetrised().weight, (Weights{0.3, 0.3, 5, 5, 1e-4, 1e-4, 2}));
}

TEST(WeightedGraph, SymmetrisedTakesTheLargerOfTheTwoDirections) {
  const Graph graph = Graph::from_arcs(3, {0, 1, 1, 2}, {1, 0, 2, 1}, {1, 4, 9, 8}).symmetrised();
  EXPECT_EQ(graph.weight, (Weights{4, 4, 9, 9}));
  EXPECT_TRUE(graph.is_symmetric());
}

TEST(WeightedGraph, TransposedTakesTheWeightsAlong) {
  const Graph graph = Graph::from_arcs(4, {0, 0, 2, 3}, {1, 3, 1, 3}, {1, 2, 3, 4});
  EXPECT_EQ(graph.transposed().weight, (Weights{1, 3, 2, 4}));
  EXPECT_EQ(graph.transposed().transposed().weight, graph.weight);
}

TEST(WeightedGraph, IsSymmetricOnlyWhereTheWeightsAreToo) {
  EXPECT_TRUE(Graph::from_arcs(2, {0, 1}, {1, 0}, {3, 3}).is_symmetric());
  EXPECT_FALSE(Graph::from_arcs(2, {0, 1}, {1, 0}, {3, 2}).is_symmetric());
}

TEST(WeightedGraph, RefusesWeightsThatContradictTheArcs) {
  const Graph good = Graph::from_arcs(3, {0, 1}, {1, 2}, {1, 2});
  EXPECT_NO_THROW(check(good));
  for (const Weights& wrong : {Weights{1}, Weights{1, 2, 3}, Weights{1, 0}, Weights{-1, 1},
                               Weights{std::nan(""), 1}, Weights{1, HUGE_VAL}}) {
    Graph graph = good;
    graph.weight = wrong;
    EXPECT_THROW(check(graph), ArgumentError);
    EXPECT_THROW(graph.symmetrised(), ArgumentError);
    EXPECT_THROW(make_propagation(graph), ArgumentError);
  }
}

// ---- components and distances

TEST(Components, AreNumberedByTheirSmallestNodeWithMembersAscending) {
  // Arcs point from late nodes to early ones: {0, 5, 3}, {1}, {2, 6, 4}; no node reaches all its fellows.
  const Graph graph = Graph::from_arcs(7, {5, 5, 4, 4}, {0, 3, 6, 2});
  const Components components = weak_components(graph);
  EXPECT_EQ(components.count, 3);
  EXPECT_EQ(components.label, (Ids{0, 1, 2, 0, 2, 0, 2}));
  EXPECT_EQ(components.members(), (std::vector<Ids>{{0, 3, 5}, {1}, {2, 4, 6}}));
}

TEST(Components, DoNotDependOnTheDirectionOfTheArcs) {
  const Graph graph = Graph::from_arcs(6, {1, 1, 4}, {0, 2, 5});
  const Ids expected = {0, 0, 0, 1, 2, 2};
  EXPECT_EQ(weak_components(graph).label, expected);
  EXPECT_EQ(weak_components(graph.transposed()).label, expected);
  EXPECT_EQ(weak_components(graph.symmetrised()).label, expected);
}

TEST(Components, OfAnEmptyGraphAreNone) {
  EXPECT_EQ(weak_components(Graph()).count, 0);
  EXPECT_TRUE(weak_components(Graph()).members().empty());
  EXPECT_EQ(weak_components(Graph::from_arcs(3, {}, {})).count, 3);
}

TEST(LongestHops, OfAPathIsItsLengthWhereverTheSearchStarts) {
  EXPECT_EQ(longest_hops(chain_graph(1, 10)), 9);
  // The path 3 - 1 - 0 - 2 - 4: node 0, where the search starts, is its middle. Arcs point to the middle.
  EXPECT_EQ(longest_hops(Graph::from_arcs(5, {3, 1, 2, 4}, {1, 0, 0, 2})), 4);
}

TEST(LongestHops, OfAStarIsTwo) {
  EXPECT_EQ(longest_hops(Graph::from_arcs(5, {0, 0, 0, 0}, {1, 2, 3, 4})), 2);
  EXPECT_EQ(longest_hops(Graph::from_arcs(5, {4, 4, 4, 4}, {0, 1, 2, 3})), 2);
}

TEST(LongestHops, OfARingIsHalfItsLength) {
  EXPECT_EQ(longest_hops(ring(10)), 5);
  EXPECT_EQ(longest_hops(ring(11)), 5);
}

TEST(LongestHops, IsThatOfTheWidestComponent) {
  // Two nodes, then a path of five, then three.
  EXPECT_EQ(longest_hops(Graph::from_arcs(10, {0, 2, 3, 4, 5, 7, 8}, {1, 3, 4, 5, 6, 8, 9})), 4);
  EXPECT_EQ(longest_hops(chain_graph(3, 7)), 6);
}

TEST(LongestHops, IsZeroWithoutAnArcBetweenTwoNodes) {
  EXPECT_EQ(longest_hops(Graph()), 0);
  EXPECT_EQ(longest_hops(Graph::from_arcs(1, {}, {})), 0);
  EXPECT_EQ(longest_hops(Graph::from_arcs(2, {0, 1}, {0, 1})), 0);
}

// ---- generators

TEST(ChainGraph, RunsAwayFromTheFirstNodeOfEachChain) {
  expect_same(chain_graph(2, 3), Graph::from_arcs(6, {0, 1, 3, 4}, {1, 2, 4, 5}));
  const Graph many = chain_graph(40, 100);
  EXPECT_EQ(many.nodes, 4000);
  EXPECT_EQ(many.arcs(), 40 * 99);
  EXPECT_EQ(weak_components(many).count, 40);
  EXPECT_EQ(chain_graph(3, 1).nodes, 3);
  EXPECT_EQ(chain_graph(3, 1).arcs(), 0);
  EXPECT_EQ(chain_graph(0, 5).nodes, 0);
}

TEST(KarateClub, HasThePublishedMembersAndFriendships) {
  const Graph club = karate_club();
  EXPECT_EQ(club.nodes, 34);
  EXPECT_EQ(club.undirected_edges(), 78);
  EXPECT_EQ(club.arcs(), 156);
  EXPECT_EQ(club.loops(), 0);
  EXPECT_TRUE(club.is_symmetric());
  EXPECT_EQ(weak_components(club).count, 1);
  EXPECT_EQ(longest_hops(club), 5) << "its diameter";
}

TEST(KarateClub, HasThePublishedDegrees) {
  const Graph club = karate_club();
  Ids degrees;
  for (int64_t v = 0; v < club.nodes; ++v) degrees.push_back(club.row_begin[v + 1] - club.row_begin[v]);
  EXPECT_EQ(degrees, (Ids{16, 9, 10, 6, 3, 4, 4, 4, 5, 2, 3, 1, 2, 5, 2, 2,  2,
                          2,  2, 3,  2, 2, 2, 5, 3, 3, 2, 4, 3, 4, 4, 6, 12, 17}));
}

TEST(KarateClub, SplitsInTwoHalvesWithMemberEightOnTheInstructorsSide) {
  const Ids factions = karate_factions();
  ASSERT_EQ(factions.size(), 34u);
  EXPECT_EQ(std::count(factions.begin(), factions.end(), 0), 17);
  EXPECT_EQ(std::count(factions.begin(), factions.end(), 1), 17);
  EXPECT_EQ(factions[0], 0);
  EXPECT_EQ(factions[33], 1);
  EXPECT_EQ(factions[8], 0) << "he sat with the officers' friends and joined the instructor";
  EXPECT_NEAR(edge_homophily(karate_club(), factions), 67.0 / 78, 1e-15) << "eleven friendships were cut";
}

// ---- statistics

TEST(Homophily, OfEdgesIsTheFractionThatJoinsEqualLabels) {
  // A square 0 - 1 - 2 - 3 with a diagonal 0 - 2; three of the five edges join equal labels.
  const Graph square = undirected(4, {0, 1, 2, 3, 0}, {1, 2, 3, 0, 2});
  EXPECT_DOUBLE_EQ(edge_homophily(square, {7, 7, 7, 1}), 3.0 / 5);
  EXPECT_DOUBLE_EQ(edge_homophily(square, {7, 7, 7, 7}), 1);
  EXPECT_DOUBLE_EQ(edge_homophily(square, {1, 2, 3, 4}), 0);
}

TEST(Homophily, OfNodesIsTheMeanOverTheirNeighbourhoods) {
  // 0: 2 of 3 (1, 2; not 3); 1: 2 of 2; 2: 2 of 3; 3: 0 of 2.
  const Graph square = undirected(4, {0, 1, 2, 3, 0}, {1, 2, 3, 0, 2});
  EXPECT_DOUBLE_EQ(node_homophily(square, {7, 7, 7, 1}), (2.0 / 3 + 1 + 2.0 / 3 + 0) / 4);
  // A star: each leaf sees its centre only, the centre one friend of four.
  const Graph star = undirected(5, {0, 0, 0, 0}, {1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(node_homophily(star, {0, 0, 1, 1, 1}), (0.25 + 1) / 5);
  EXPECT_DOUBLE_EQ(edge_homophily(star, {0, 0, 1, 1, 1}), 0.25);
}

TEST(Homophily, IgnoresLoopsDirectionsAndIsolatedNodes) {
  // 0 - 1 given both ways, 1 -> 2 one way, loops at 0 and at the lone 3, nothing at 4.
  const Graph graph = Graph::from_arcs(5, {0, 1, 1, 0, 3}, {1, 0, 2, 0, 3});
  const Ids labels = {0, 0, 1, 1, 1};
  EXPECT_DOUBLE_EQ(edge_homophily(graph, labels), 0.5);
  EXPECT_DOUBLE_EQ(node_homophily(graph, labels), (1 + 0.5 + 0) / 3);
  EXPECT_DOUBLE_EQ(edge_homophily(graph.transposed(), labels), 0.5);
}

TEST(Homophily, OfAGraphWithoutEdgesIsZero) {
  const Graph lone = Graph::from_arcs(2, {0}, {0});
  EXPECT_EQ(edge_homophily(lone, {0, 0}), 0);
  EXPECT_EQ(node_homophily(lone, {0, 0}), 0);
}

// ---- fingerprints

Propagation club_matrix() {
  return make_propagation(karate_club());
}

TEST(ContentHashOfAMatrix, IsEqualForEqualMatrices) {
  const std::string hash = content_hash(club_matrix());
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos) << hash;
  EXPECT_EQ(content_hash(club_matrix()), hash);
  // The same S by another road: a directed list of the edges, with duplicates.
  const Graph club = karate_club();
  Ids source, target;
  for (int64_t v = 0; v < club.nodes; ++v)
    for (int64_t a = club.row_begin[v]; a < club.row_begin[v + 1]; ++a)
      for (int copies = 0; copies < 2; ++copies) {
        source.push_back(std::max<int64_t>(v, club.target[a]));
        target.push_back(std::min<int64_t>(v, club.target[a]));
      }
  EXPECT_EQ(content_hash(make_propagation(Graph::from_arcs(34, source, target))), hash);
}

TEST(ContentHashOfAMatrix, DiffersAfterAnySingleChange) {
  const Propagation S = club_matrix();
  std::set<std::string> seen = {content_hash(S)};
  size_t made = 1;
  auto expect_new = [&](const Propagation& changed) {
    seen.insert(content_hash(changed));
    ++made;
  };
  for (size_t e = 0; e < S.column.size(); ++e) {
    Propagation moved = S, heavier = S;
    ++moved.column[e];
    heavier.weight = weights_of(S);
    heavier.diagonal.clear();
    EXPECT_EQ(content_hash(heavier), content_hash(S)) << "stored or not, the same matrix";
    heavier.weight[e] = 3;
    expect_new(moved);
    expect_new(heavier);
  }
  for (size_t i = 0; i < S.left.size(); ++i) {
    Propagation left = S, right = S, rows = S;
    left.left[i] = std::nextafter(S.left[i], 2);  // one unit in the last place
    right.right[i] = std::nextafter(S.right[i], 2);
    ++rows.row_begin[i + 1];
    expect_new(left);
    expect_new(right);
    expect_new(rows);
  }
  Propagation larger = S;
  ++larger.nodes;
  expect_new(larger);
  EXPECT_EQ(seen.size(), made) << "two different matrices share a fingerprint";
}

TEST(ContentHashOfAMatrix, TellsTheOptionsApart) {
  const Graph path = chain_graph(2, 5);
  std::set<std::string> seen;
  for (Direction direction : {Direction::undirected, Direction::in, Direction::out})
    for (bool self_loops : {true, false})
      for (Normalisation normalise : {Normalisation::sym, Normalisation::out_in})
        seen.insert(content_hash(make_propagation(path, {direction, normalise, self_loops})));
  EXPECT_EQ(seen.size(), 10u) << "undirected: out-in is sym";
}

std::string hash_of(const std::string& bytes) {
  ContentHash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

TEST(ContentHash, DiffersForEveryTruncatedAndExtendedBuffer) {
  // Zeros are what a hash that pads forgets; counting bytes stand for ordinary content.
  std::string counting;
  for (int i = 1; i <= 64; ++i) counting.push_back(static_cast<char>(i));
  for (const std::string& whole : {std::string(64, '\0'), counting, counting + std::string(64, '\0')}) {
    std::set<std::string> seen;
    for (size_t length = 0; length <= whole.size(); ++length) seen.insert(hash_of(whole.substr(0, length)));
    EXPECT_EQ(seen.size(), whole.size() + 1);
  }
}

TEST(ContentHash, DiffersAfterAnySingleBitFlips) {
  std::string bytes;
  for (int i = 0; i < 45; ++i) bytes.push_back(static_cast<char>(17 * i));
  std::set<std::string> seen = {hash_of(bytes)};
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      seen.insert(hash_of(flipped));
    }
  EXPECT_EQ(seen.size(), 1 + 8 * bytes.size());
}

TEST(ContentHash, DiffersWhenWordsChangePlaces) {
  const std::vector<int64_t> ascending = {1, 2, 3}, swapped = {2, 1, 3};
  ContentHash a, b;
  a.add(ascending);
  b.add(swapped);
  EXPECT_NE(a.hex(), b.hex());
}

TEST(ContentHash, KnowsWhereOnePieceEndsAndTheNextBegins) {
  std::set<std::string> seen;
  const std::string bytes = "abcdefghijklmnopqrstuvwx";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    ContentHash hash;
    hash.add(bytes.data(), cut);
    hash.add(bytes.data() + cut, bytes.size() - cut);
    seen.insert(hash.hex());
  }
  EXPECT_EQ(seen.size(), bytes.size() + 1);

  // A word and an empty piece are not the word and a zero.
  const std::vector<int64_t> word = {5}, word_and_zero = {5, 0}, nothing;
  ContentHash two_pieces, one_piece;
  two_pieces.add(word);
  two_pieces.add(nothing);
  one_piece.add(word_and_zero);
  EXPECT_NE(two_pieces.hex(), one_piece.hex());
}

TEST(Statistics, AdjustedHomophilyIsAgreementBeyondChance) {
  const Graph path = Graph::from_arcs(4, {0, 1, 2}, {1, 2, 3});
  EXPECT_DOUBLE_EQ(adjusted_homophily(path, {0, 0, 0, 1}), (2.0 / 3 - 26.0 / 36) / (1 - 26.0 / 36));
  EXPECT_DOUBLE_EQ(adjusted_homophily(path, {0, 1, 0, 1}), -1);
  const Graph both = path.symmetrised();
  EXPECT_DOUBLE_EQ(adjusted_homophily(both, {0, 0, 0, 1}), adjusted_homophily(path, {0, 0, 0, 1}));
  EXPECT_TRUE(std::isnan(adjusted_homophily(path, {0, 0, 0, 0})));     // one class
  EXPECT_TRUE(std::isnan(adjusted_homophily(path, {0, -1, 0, -1})));   // no arc between known nodes
  EXPECT_TRUE(std::isnan(adjusted_homophily(path, {0, 1, 0, 1}, 4)));  // too few
  EXPECT_TRUE(std::isnan(adjusted_homophily(Graph::from_arcs(2, {0}, {0}), {0, 1})));  // loops do not count
}

TEST(Statistics, ReciprocityIsTheShareOfArcsThatAreAnswered) {
  EXPECT_EQ(reciprocity(Graph::from_arcs(3, {0, 1, 1}, {1, 0, 2})), 2.0 / 3);
  EXPECT_EQ(reciprocity(karate_club()), 1);
  EXPECT_EQ(reciprocity(chain_graph(2, 5)), 0);
  EXPECT_EQ(reciprocity(Graph::from_arcs(2, {0}, {0})), 1);  // a loop alone
}

TEST(Statistics, EdgesWrittenOnceInOrderOrBothWaysReadUndirected) {
  EXPECT_TRUE(reads_undirected(karate_club()));
  EXPECT_TRUE(reads_undirected(Graph::from_arcs(3, {0, 0, 1}, {1, 2, 2})));
  EXPECT_TRUE(reads_undirected(Graph::from_arcs(3, {1, 2, 2}, {0, 0, 1})));
  EXPECT_FALSE(reads_undirected(Graph::from_arcs(3, {0, 1, 2}, {1, 2, 0})));
  EXPECT_FALSE(reads_undirected(Graph::from_arcs(3, {0, 1, 1}, {1, 0, 2})));
}

}  // namespace
}  // namespace eignn
