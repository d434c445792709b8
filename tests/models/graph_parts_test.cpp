#include "models/graph_parts.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "support/message_of.h"
#include "support/oracle.h"

namespace eignn {
namespace {

torch::Tensor numbers(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

// Seven nodes: two graphs whose nodes alternate, and node 6, which is in neither.
GraphParts two_graphs() {
  return {{{0, 2, 4}, {5, 1, 3}}, 7, torch::kCPU};
}

// Each node's row, so that a selection shows which nodes it took.
torch::Tensor rows() {
  return torch::arange(7, torch::kFloat64).unsqueeze(1);
}

TEST(GraphParts, OneGraphOfAllNodesLeavesAnIndexAsItIs) {
  const GraphParts parts({{}}, 7, torch::kCPU);
  EXPECT_TRUE(parts.one_with_all_nodes());
  EXPECT_EQ(parts.graphs(), 1u);
  EXPECT_EQ(parts.nodes(0), 7);
  const auto index = numbers({3, 0, 3});
  EXPECT_TRUE(parts.stacked(index).index.is_same(index));
  EXPECT_TRUE(parts.apart(index).pieces[0].rows.is_same(index));
  EXPECT_TRUE(parts.apart(index).order.equal(numbers({0, 1, 2})));
  EXPECT_TRUE(parts.rows_of(0, rows()).equal(rows()));
}

TEST(GraphParts, AGraphHasItsRowsInTheOrderOfItsNodes) {
  const GraphParts parts = two_graphs();
  EXPECT_EQ(parts.graphs(), 2u);
  EXPECT_EQ(parts.nodes(1), 3);
  EXPECT_TRUE(parts.rows_of(1, rows()).equal(torch::tensor({{5.0}, {1.0}, {3.0}}, torch::kFloat64)));
}

TEST(GraphParts, BothWaysToLocateAnIndexFindItsNodes) {
  const GraphParts parts = two_graphs();
  for (const auto& nodes : std::vector<std::vector<int64_t>>{{3, 4, 0, 5, 3}, {2}, {1, 1}, {5, 4}}) {
    const auto index = numbers(nodes), expected = rows().index_select(0, index);
    const auto stacked = parts.stacked(index);
    std::vector<torch::Tensor> below;
    for (const size_t g : stacked.graphs) below.push_back(parts.rows_of(g, rows()));
    EXPECT_TRUE(torch::cat(below).index_select(0, stacked.index).equal(expected));
    const auto apart = parts.apart(index);
    below.clear();
    for (const auto& [g, in_graph] : apart.pieces)
      below.push_back(parts.rows_of(g, rows()).index_select(0, in_graph));
    EXPECT_TRUE(torch::cat(below).index_select(0, apart.order).equal(expected));
  }
}

TEST(GraphParts, OnlyTheGraphsThatAnIndexNamesAreLocated) {
  const GraphParts parts = two_graphs();
  EXPECT_EQ(parts.stacked(numbers({3, 5})).graphs, std::vector<size_t>{1});
  EXPECT_EQ(parts.apart(numbers({3, 5})).pieces.size(), 1u);
  EXPECT_EQ(parts.stacked(numbers({3, 0})).graphs, (std::vector<size_t>{0, 1}));
}

TEST(GraphParts, AnEmptyIndexNamesNoGraph) {
  const GraphParts parts = two_graphs();
  const auto nobody = torch::empty({0}, torch::kInt64);
  EXPECT_TRUE(parts.stacked(nobody).graphs.empty());
  EXPECT_EQ(parts.stacked(nobody).index.numel(), 0);
  EXPECT_TRUE(parts.apart(nobody).pieces.empty());
}

TEST(GraphParts, ANodeOfNoGraphIsAnError) {
  const GraphParts parts = two_graphs();
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { parts.stacked(numbers({0, 6})); }), "node 6");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { parts.apart(numbers({6})); }), "no graph");
}

TEST(GraphParts, GraphsThatDoNotFitAreRefused) {
  const auto refusal = [](const std::vector<std::vector<int64_t>>& nodes_of) {
    return message_of<ArgumentError>([&] { GraphParts(nodes_of, 3, torch::kCPU); });
  };
  EXPECT_CONTAINS(refusal({}), "no graph");
  EXPECT_CONTAINS(refusal({{0, 1}, {}}), "graph 1 of 2 has no node");
  EXPECT_CONTAINS(refusal({{0, 3}}), "node 3");
  EXPECT_CONTAINS(refusal({{0, -1}}), "node -1");
  EXPECT_CONTAINS(refusal({{0, 1}, {2, 1}}), "node 1 is listed twice");
  EXPECT_CONTAINS(refusal({{0, 0}}), "node 0 is listed twice");
}

}  // namespace
}  // namespace eignn
