// H2GCN and the neighbourhoods it keeps apart.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/hops.h"
#include "models/propagate.h"
#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

torch::Tensor dense_arcs(const Graph& graph) {
  auto A = torch::zeros({graph.nodes, graph.nodes}, torch::kFloat64);
  for (int64_t i = 0; i < graph.nodes; ++i)
    for (int64_t a = graph.row_begin[i]; a < graph.row_begin[i + 1]; ++a) A[i][graph.target[a]] += 1;
  return A;
}

TEST(ExactTwoHops, LeavesOutTheNodeAndItsNeighbours) {
  // A triangle with a tail: 0-1, 1-2, 2-0, 2-3.
  const Graph graph = Graph::from_arcs(4, {0, 1, 2, 2}, {1, 2, 0, 3}).symmetrised();
  const auto two = dense_arcs(exact_two_hops(graph));
  const auto expected = torch::zeros({4, 4}, torch::kFloat64);
  for (const auto& [i, j] : {std::pair<int, int>{0, 3}, {1, 3}}) expected[i][j] = expected[j][i] = 1;
  EXPECT_TRUE(two.equal(expected)) << two;
}

TEST(ExactTwoHops, AreTheWalksOfTwoArcsThatNoShorterOneReplaces) {
  for (const Graph& graph : {neighbours(make_propagation(test::random_graph(40, 1.5, 2))),
                             neighbours(make_propagation(test::directed_graph(), test::inwards()))}) {
    const auto A = dense_arcs(graph), I = torch::eye(graph.nodes, torch::kFloat64);
    const auto expected = (A.mm(A) > 0).logical_and(A + I == 0).to(torch::kFloat64);
    EXPECT_TRUE(dense_arcs(exact_two_hops(graph)).equal(expected));
  }
}

TEST(H2gcn, KeepsEgoOneAndTwoHopsApart) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.hidden = 4;
  options.layers = 2;
  const auto model = problem.model("h2gcn", options);
  const auto normalised = [](const torch::Tensor& A) {
    const auto d = A.sum(1);
    const auto r = torch::where(d > 0, d.rsqrt(), torch::zeros_like(d));
    return r.unsqueeze(1) * A * r;
  };
  const auto A = dense_arcs(karate_club()), I = torch::eye(34, torch::kFloat64);
  const auto S1 = normalised(A), S2 = normalised((A.mm(A) > 0).logical_and(A + I == 0).to(torch::kFloat64));
  std::vector<torch::Tensor> R = {torch::relu(problem.X.mm(weight(*model, "W_e")))};
  for (int k = 0; k < 2; ++k) R.push_back(torch::cat({S1.mm(R.back()), S2.mm(R.back())}, 1));
  EXPECT_LE(relative_error(scores(*model, 34), torch::cat(R, 1).mm(weight(*model, "W_c"))), 1e-13);
}

TEST(H2gcn, DoesNotSeeSelfLoops) {
  PropagationOptions without;
  without.self_loops = false;
  const SmallProblem on, off(karate_club(), without);
  EXPECT_TRUE(scores(*on.model("h2gcn"), 34).equal(scores(*off.model("h2gcn"), 34)));
}

}  // namespace
}  // namespace eignn
