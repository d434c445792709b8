// The batched model is EIGNN, run by run.
#include "models/batched_eignn.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "support/baselines.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

constexpr int64_t n = 9, m = 4, classes = 3;

struct Problem {
  std::shared_ptr<const Propagation> S = std::make_shared<Propagation>(make_propagation(chain_graph(1, n)));
  torch::Tensor X = random_matrix(n, m, 1);
  torch::Tensor F = torch::stack({random_matrix(m, m, 2), random_matrix(m, m, 3)});
  torch::Tensor B = torch::stack({random_matrix(classes, m, 4), random_matrix(classes, m, 5)});

  BatchedEignn model(Head head, double dropout = 0) const {
    return {{{std::make_shared<SharedSeries>(*S, X, SolverOptions{}), 1}},
            head,
            dropout,
            F.unsqueeze(1).clone(),
            B.clone()};
  }
};

TEST(BatchedEignn, ScoresAsEachModelAlone) {
  const Problem problem;
  for (const Head head : {Head::plain, Head::l2}) {
    auto batch = problem.model(head);
    batch.solve();
    for (int64_t k = 0; k < 2; ++k) {
      EignnOptions options;
      options.head = head;
      const auto alone =
          make_eignn(make_solver("spectral", problem.S, {}, m), problem.X, classes, options, 0);
      const torch::NoGradGuard guard;
      alone->named_parameters()["F"].copy_(problem.F[k]);
      alone->named_parameters()["B"].copy_(problem.B[k]);
      EXPECT_LE(relative_error(batch.scores().select(1, k), alone->scores(torch::arange(n))), 1e-12);
    }
  }
}

TEST(BatchedEignn, GradientsMatchCentralDifferences) {
  const Problem problem;
  const auto cotangent = random_matrix(n, 2 * classes, 6).view({n, 2, classes});
  for (const auto& [head, dropout] :
       std::vector<std::pair<Head, double>>{{Head::plain, 0}, {Head::l2, 0}, {Head::l2, 0.4}}) {
    auto model = problem.model(head, dropout);
    model.solve();
    model.draw_dropout(7);
    const auto gradients = model.pull(cotangent);
    const auto value = [&] {
      model.solve();
      return (model.training_scores() * cotangent).sum().item<double>();
    };
    for (const int64_t k : {0, 9, 17, 31})
      EXPECT_NEAR(gradients.F.flatten()[k].item<double>(), test::central_difference(model.F, k, 1e-6, value),
                  1e-7);
    for (const int64_t k : {0, 5, 12, 23})
      EXPECT_NEAR(gradients.B.flatten()[k].item<double>(), test::central_difference(model.B, k, 1e-6, value),
                  1e-7);
  }
}

// Two equilibria from the own features and two from the neighbours'.
struct SideBySide {
  std::shared_ptr<const Propagation> S = std::make_shared<Propagation>(
      make_propagation(chain_graph(1, n), {Direction::undirected, Normalisation::sym, false}));
  torch::Tensor X = random_matrix(n, m, 1);
  torch::Tensor F = random_matrix(2 * 4 * m, m, 2).view({2, 4, m, m});
  torch::Tensor B = random_matrix(2 * classes, 4 * m, 4).view({2, classes, 4 * m});

  BatchedEignn model(Head head, double dropout = 0) const {
    const SharedSeries own(*S, X, SolverOptions{});
    const auto received = test::dense_S(*S).t().mm(X);
    return {{{std::make_shared<SharedSeries>(own), 2},
             {std::make_shared<SharedSeries>(own.with_features(received)), 2}},
            head,
            dropout,
            F.clone(),
            B.clone()};
  }
};

TEST(BatchedEignn, ScoresSeveralChannelsAsEachModelAlone) {
  const SideBySide problem;
  for (const Head head : {Head::plain, Head::l2}) {
    auto batch = problem.model(head);
    batch.solve();
    for (int64_t k = 0; k < 2; ++k) {
      EignnOptions options;
      options.head = head;
      options.source = Source::both;
      options.equilibria = 2;
      const auto alone =
          make_eignn(make_solver("spectral", problem.S, {}, m), problem.X, classes, options, 0);
      const torch::NoGradGuard guard;
      for (int64_t c = 0; c < 4; ++c)
        alone->named_parameters()["F" + std::to_string(c)].copy_(problem.F[k][c]);
      alone->named_parameters()["B"].copy_(problem.B[k]);
      EXPECT_LE(relative_error(batch.scores().select(1, k), alone->scores(torch::arange(n))), 1e-12);
    }
  }
}

TEST(BatchedEignn, GradientsOfSeveralChannelsMatchCentralDifferences) {
  const SideBySide problem;
  const auto cotangent = random_matrix(n, 2 * classes, 6).view({n, 2, classes});
  for (const auto& [head, dropout] :
       std::vector<std::pair<Head, double>>{{Head::plain, 0}, {Head::l2, 0}, {Head::l2, 0.4}}) {
    auto model = problem.model(head, dropout);
    model.solve();
    model.draw_dropout(7);
    const auto gradients = model.pull(cotangent);
    ASSERT_EQ(gradients.F.sizes(), model.F.sizes());
    ASSERT_EQ(gradients.B.sizes(), model.B.sizes());
    const auto value = [&] {
      model.solve();
      return (model.training_scores() * cotangent).sum().item<double>();
    };
    for (const int64_t k : {0, 21, 40, 61, 70, 90, 127})
      EXPECT_NEAR(gradients.F.flatten()[k].item<double>(), test::central_difference(model.F, k, 1e-6, value),
                  1e-7);
    for (const int64_t k : {0, 5, 19, 33, 60, 95})
      EXPECT_NEAR(gradients.B.flatten()[k].item<double>(), test::central_difference(model.B, k, 1e-6, value),
                  1e-7);
    model.solve();
    const auto second = model.scores().select(1, 1).clone();
    model.keep({1});
    model.solve();
    EXPECT_LE(relative_error(model.scores().select(1, 0), second), 1e-14);
  }
}

TEST(BatchedEignn, ContinuesWithTheRunsThatAreKept) {
  const Problem problem;
  for (const Head head : {Head::plain, Head::l2}) {
    auto model = problem.model(head, 0.5);
    model.solve();
    const auto second = model.scores().select(1, 1).clone();
    model.keep({1});
    model.solve();
    EXPECT_EQ(model.scores().size(1), 1);
    EXPECT_LE(relative_error(model.scores().select(1, 0), second), 1e-14);
    model.draw_dropout(1);
    EXPECT_EQ(model.training_scores().sizes(), model.scores().sizes());
  }
}

TEST(BatchedEignn, ASeedFixesTheMask) {
  const Problem problem;
  auto model = problem.model(Head::l2, 0.5);
  model.solve();
  const auto drawn = [&](uint64_t seed) {
    model.draw_dropout(seed);
    return model.training_scores().clone();
  };
  const auto first = drawn(1);
  EXPECT_FALSE(first.equal(drawn(2)));
  EXPECT_TRUE(first.equal(drawn(1)));
}

TEST(BatchedEignn, RefusesOtherHeads) {
  const Problem problem;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.model(Head::residual); }), "residual");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.model(Head::batch_norm); }), "batch-norm");
}

}  // namespace
}  // namespace eignn
