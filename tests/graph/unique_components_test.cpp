#include "graph/unique_components.h"

#include <gtest/gtest.h>

namespace eignn {
namespace {

TEST(UniqueComponents, EqualChainsAreOneKind) {
  const auto kinds = unique_components(make_propagation(chain_graph(5, 4)));
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0].S.nodes, 4);
  ASSERT_EQ(kinds[0].instances.size(), 5u);
  EXPECT_EQ(kinds[0].instances[2], (std::vector<int64_t>{8, 9, 10, 11}));
}

TEST(UniqueComponents, ComponentsThatDifferInOneLoopAreTwoKinds) {
  const auto kinds = unique_components(make_propagation(Graph::from_arcs(4, {0, 2, 3}, {1, 3, 3})));
  EXPECT_EQ(kinds.size(), 2u);
}

TEST(UniqueComponents, AreToldApartWhereTheirHashesCollide) {
  const auto S =
      make_propagation(Graph::from_arcs(9, {0, 2, 3, 5, 7}, {1, 3, 4, 6, 8}));  // three pairs and a path
  const auto same_hash = [](const Propagation&) { return std::string("0"); };
  const auto kinds = unique_components(S, same_hash), expected = unique_components(S);
  ASSERT_EQ(kinds.size(), 2u);
  for (size_t k = 0; k < kinds.size(); ++k) EXPECT_EQ(kinds[k].instances, expected[k].instances);
}

TEST(UniqueComponents, CoverEveryNodeOnceAndKeepItsRow) {
  const Propagation S = make_propagation(Graph::from_arcs(7, {0, 1, 4, 4}, {1, 2, 5, 4}));
  std::vector<int> seen(7, 0);
  for (const auto& kind : unique_components(S))
    for (const auto& nodes : kind.instances)
      for (int64_t k = 0; k < kind.S.nodes; ++k) {
        ++seen[nodes[k]];
        const int64_t v = nodes[k], width = S.row_begin[v + 1] - S.row_begin[v];
        ASSERT_EQ(kind.S.row_begin[k + 1] - kind.S.row_begin[k], width);
        for (int64_t e = 0; e < width; ++e) {
          EXPECT_EQ(nodes[kind.S.column[kind.S.row_begin[k] + e]], S.column[S.row_begin[v] + e]);
          EXPECT_EQ(kind.S.value(k, kind.S.row_begin[k] + e), S.value(v, S.row_begin[v] + e));
        }
      }
  EXPECT_EQ(seen, std::vector<int>(7, 1));
}

}  // namespace
}  // namespace eignn
