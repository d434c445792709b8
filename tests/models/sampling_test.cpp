// GraphSAGE's samples and SSE's random updates.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/edges.h"
#include "models/hops.h"
#include "models/propagate.h"
#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

Edges club_edges() {
  return edges_of(normalised_arcs(neighbours(make_propagation(karate_club()))), torch::kFloat64);
}

TEST(MeanOfSome, TakesSoManyNeighboursWithEqualWeights) {
  const Edges edges = club_edges();
  auto generator = at::detail::createCPUGenerator(3);
  const auto weights = sampled_mean_weights(edges, 3, generator).squeeze(1);
  const auto zeros = torch::zeros({34}, torch::kFloat64);
  const auto degree = edges.begin.diff();
  const auto taken = zeros.index_add(0, edges.receiver, (weights > 0).to(torch::kFloat64));
  EXPECT_TRUE(taken.to(torch::kInt64).equal(degree.clamp_max(3)));
  EXPECT_LE((zeros.index_add(0, edges.receiver, weights) - 1).abs().max().item<double>(), 1e-15);
  EXPECT_FALSE(sampled_mean_weights(edges, 3, generator).squeeze(1).equal(weights));
}

TEST(MeanOfSome, TakesEachNeighbourEquallyOften) {
  const Edges edges = club_edges();
  auto generator = at::detail::createCPUGenerator(3);
  const int64_t draws = 20000;
  auto sum = torch::zeros({edges.sender.numel()}, torch::kFloat64);
  for (int64_t k = 0; k < draws; ++k) sum += sampled_mean_weights(edges, 3, generator).squeeze(1);
  // Node 33 has 17 neighbours: each is to have 1/17 of its mean.
  const int64_t first = edges.begin[33].item<int64_t>(), last = edges.begin[34].item<int64_t>();
  ASSERT_EQ(last - first, 17);
  EXPECT_LE((sum.slice(0, first, last) * 17 / draws - 1).abs().max().item<double>(), 0.1);
}

TEST(GraphSage, WithFullSamplesHearsTheMean) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.hidden = 5;
  options.samples = options.samples_second = 17;  // the largest degree
  const auto model = problem.model("graphsage", options);
  const auto A = (test::dense_S(*problem.S) > 0).to(torch::kFloat64) - torch::eye(34, torch::kFloat64);
  const auto mean = A / A.sum(1, true);
  auto H = problem.X;
  for (const char* l : {"0", "1"}) {
    H = torch::relu(H.mm(weight(*model, std::string("W_self") + l)) +
                    mean.mm(H).mm(weight(*model, std::string("W_mean") + l)));
    H = H / H.norm(2, 1, true).clamp_min(1e-300);
  }
  const auto expected = H.mm(weight(*model, "W_out"));
  EXPECT_LE(relative_error(scores(*model, 34), expected), 1e-13);
  model->train();
  EXPECT_LE(relative_error(scores(*model, 34), expected), 1e-13);
}

TEST(GraphSage, TheFirstCountIsTheFirstLayers) {
  const SmallProblem problem;
  test::AnyOptions options;
  const auto drawn = [&](int64_t first, int64_t second) {
    options.samples = first;
    options.samples_second = second;
    const auto model = problem.model("graphsage", options);
    const torch::NoGradGuard guard;
    model->named_parameters()["W_mean1"].zero_();  // the second layer hears nobody
    const auto whole = scores(*model, 34);
    model->train();
    return relative_error(scores(*model, 34), whole);
  };
  EXPECT_LE(drawn(17, 1), 1e-13);  // 17: all of them
  EXPECT_GT(drawn(1, 17), 1e-3);
}

TEST(GraphSage, DrawsInTrainingAndFollowsItsSeed) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.samples = options.samples_second = 2;
  const auto model = problem.model("graphsage", options);
  const auto whole = scores(*model, 34);
  model->train();
  model->seed_dropout(1);
  const auto a = scores(*model, 34);
  EXPECT_GT(relative_error(a, whole), 1e-3);
  model->seed_dropout(1);
  EXPECT_TRUE(scores(*model, 34).equal(a));
  model->seed_dropout(2);
  EXPECT_FALSE(scores(*model, 34).equal(a));
}

// SSE with weights small enough for T to contract.
struct Contracting {
  SmallProblem problem;
  std::shared_ptr<Model> model(int64_t hops) const {
    test::AnyOptions options;
    options.hidden = 5;
    options.alpha = 0.5;
    options.hops = hops;
    auto made = problem.model("sse", options);
    const torch::NoGradGuard guard;
    for (const char* W : {"W", "W_state"}) made->named_parameters()[W].mul_(0.5);
    return made;
  }
};

TEST(Sse, UpdatesLeadToTheSteadyState) {
  const Contracting sse;
  const auto model = sse.model(1);
  const auto W = [&](const char* name) { return weight(*model, name); };
  const auto received = sse.problem.received(), X = sse.problem.X;
  const auto T = [&](const torch::Tensor& h) {
    return torch::tanh(X.mm(W("W_own")) + received.mm(X.mm(W("W_heard")) + h.mm(W("W_state")))).mm(W("W"));
  };
  auto h = torch::zeros({34, 5}, torch::kFloat64);
  for (int k = 0; k < 2000; ++k) h = T(h);
  ASSERT_LE((T(h) - h).norm().item<double>(), 1e-12);
  const auto steady = torch::relu(h.mm(W("V0"))).mm(W("V1"));
  double last = 1e300;
  for (const int64_t hops : {1, 8, 32, 100}) {
    const double error = relative_error(scores(*sse.model(hops), 34), steady);
    EXPECT_LT(error, last) << hops;
    last = error;
  }
  EXPECT_LE(last, 1e-8);
}

TEST(Sse, RandomUpdatesLeadToTheSameSteadyState) {
  const Contracting sse;
  const auto steady = scores(*sse.model(400), 34);
  const auto model = sse.model(400), early = sse.model(3);
  model->train();
  early->train();
  EXPECT_LE(relative_error(scores(*model, 34), steady), 1e-10);
  early->seed_dropout(1);
  const auto a = scores(*early, 34);
  early->seed_dropout(2);
  EXPECT_GT(relative_error(scores(*early, 34), a), 1e-3);  // on the way they differ
}

}  // namespace
}  // namespace eignn
