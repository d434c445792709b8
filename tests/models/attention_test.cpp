// Attention along the arcs, and GAT.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/edges.h"
#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

// Σ over the arcs that each node hears.
torch::Tensor sum_by_receiver(const Edges& edges, const torch::Tensor& alpha) {
  return torch::zeros({edges.nodes, alpha.size(1)}, alpha.options()).index_add(0, edges.receiver, alpha);
}

TEST(Edges, HoldTheEntriesOfS) {
  const SmallProblem problem(test::directed_graph(), test::inwards());
  const Edges edges = edges_of(*problem.S, torch::kFloat64);
  const auto dense =
      torch::zeros({7, 7}, torch::kFloat64).index_put({edges.receiver, edges.sender}, edges.value.squeeze(1));
  EXPECT_TRUE(dense.equal(problem.received()));
  EXPECT_TRUE(edges.sender.index_select(0, edges.sent_entry).diff().ge(0).all().item<bool>());
}

TEST(Edges, EveryNodeHearsItselfOnceWhereLoopsAreAskedFor) {
  PropagationOptions options;
  options.self_loops = false;
  const SmallProblem problem(test::directed_graph(), options);
  const Edges edges = edges_of(*problem.S, torch::kFloat64, /*with_loops=*/true);
  EXPECT_EQ(edges.sender.eq(edges.receiver).sum().item<int64_t>(), 7);
}

TEST(Attention, SumsToOneAtEveryNode) {
  const SmallProblem problem(test::random_graph(40, 2.0, 5));
  const Edges edges = edges_of(*problem.S, torch::kFloat64, true);
  // Large scores too: the softmax must not overflow.
  const auto from = 300 * test::random_matrix(40, 4, 1), to = 300 * test::random_matrix(40, 4, 2);
  const auto alpha = attention(edges, from, to, 0.2);
  EXPECT_LE((sum_by_receiver(edges, alpha) - 1).abs().max().item<double>(), 1e-12);
  EXPECT_GE(alpha.min().item<double>(), 0);
}

TEST(Attention, LoopsAgreeWithLibtorchForwardAndBackward) {
  const SmallProblem problem(test::random_graph(30, 2.0, 6));
  const Edges edges = edges_of(*problem.S, torch::kFloat64, true);
  const auto leaf = [](const torch::Tensor& t) { return t.clone().requires_grad_(); };
  const auto from = test::random_matrix(30, 3, 1), to = test::random_matrix(30, 3, 2),
             Z = test::random_matrix(90, 4, 3).view({30, 3, 4}),
             G = test::random_matrix(90, 4, 4).view({30, 3, 4});
  const std::vector<torch::Tensor> ours = {leaf(from), leaf(to), leaf(Z)},
                                   theirs = {leaf(from), leaf(to), leaf(Z)};
  const auto a = weighted_sum(edges, attention(edges, ours[0], ours[1], 0.2), ours[2]);
  const auto b =
      weighted_sum_by_torch(edges, attention_by_torch(edges, theirs[0], theirs[1], 0.2), theirs[2]);
  EXPECT_LE(relative_error(a.detach(), b.detach()), 1e-13);
  a.backward(G);
  b.backward(G);
  for (size_t k = 0; k < ours.size(); ++k)
    EXPECT_LE(relative_error(ours[k].grad(), theirs[k].grad()), 1e-12) << k;
}

TEST(Gat, WithEqualAttentionIsAMean) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.hidden = 4;
  options.heads = 2;
  options.output_heads = 3;
  const auto model = problem.model("gat", options);
  const torch::NoGradGuard guard;
  for (const char* a : {"a_from0", "a_to0", "a_from1", "a_to1"}) model->named_parameters()[a].zero_();
  // Every node and its neighbours alike.
  const auto hears = (problem.received() > 0).to(torch::kFloat64);
  const auto mean = hears / hears.sum(1, true);
  const auto hidden = torch::elu(mean.mm(problem.X.mm(weight(*model, "W0"))));
  const auto heads = mean.mm(hidden.mm(weight(*model, "W1"))).view({34, 3, test::classes});
  EXPECT_LE(relative_error(scores(*model, 34), heads.mean(1)), 1e-13);
}

TEST(Gat, IsTheStatedNetwork) {
  const SmallProblem problem(test::directed_graph(), test::inwards());
  test::AnyOptions options;
  options.layers = 1;
  options.output_heads = 1;
  const auto model = problem.model("gat", options);
  const auto WH = problem.X.mm(weight(*model, "W0"));
  const auto from = WH.mm(weight(*model, "a_from0").t()), to = WH.mm(weight(*model, "a_to0").t());
  const auto raw = torch::leaky_relu(to + from.t(), 0.2);  // row: the node that hears
  const auto heard = torch::where(problem.received() > 0, raw, torch::full_like(raw, -1e300));
  EXPECT_LE(relative_error(scores(*model, 7), torch::softmax(heard, 1).mm(WH)), 1e-13);
}

TEST(Gat, AMiddleLayerAddsWhatItReads) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.layers = 3;
  options.hidden = 4;
  options.heads = 2;
  const auto three = problem.model("gat", options);
  const torch::NoGradGuard guard;
  three->named_parameters()["W1"].zero_();  // the middle layer says nothing of its own
  options.layers = 2;
  const auto two = problem.model("gat", options);
  for (const char* name : {"W", "a_from", "a_to", "b"}) {
    two->named_parameters()[name + std::string("0")].copy_(weight(*three, name + std::string("0")));
    two->named_parameters()[name + std::string("1")].copy_(weight(*three, name + std::string("2")));
  }
  // ELU is applied once more by three layers; states above 0 pass unchanged.
  two->use_features(problem.X);
  const auto b = three->named_parameters()["b0"].fill_(100);
  two->named_parameters()["b0"].copy_(b);
  EXPECT_LE(relative_error(scores(*three, 34), scores(*two, 34)), 1e-13);
}

}  // namespace
}  // namespace eignn
