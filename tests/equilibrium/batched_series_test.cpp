#include "equilibrium/batched_series.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "support/baselines.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

constexpr int64_t n = 12, m = 5, runs = 3, columns = 2;
constexpr double gamma = 0.8;

// A path of seven nodes and one of five, with or without self-loops: without, S is singular.
Propagation two_paths(bool self_loops) {
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v + 1 < n; ++v)
    if (v != 6) {
      source.push_back(v);
      target.push_back(v + 1);
    }
  PropagationOptions options;
  options.self_loops = self_loops;
  return make_propagation(Graph::from_arcs(n, source, target), options);
}

torch::Tensor stack_of(int64_t rows, int64_t width, uint64_t seed) {
  std::vector<torch::Tensor> all;
  for (uint64_t k = 0; k < runs; ++k) all.push_back(random_matrix(rows, width, seed + k));
  return torch::stack(all);
}

SolverOptions options() {
  SolverOptions out;
  out.gamma = gamma;
  return out;
}

// Z of every run by a dense solve, (runs, n, m).
torch::Tensor dense(const Propagation& S, const torch::Tensor& F, const torch::Tensor& X) {
  std::vector<torch::Tensor> all;
  for (const auto& one : F.unbind()) all.push_back(test::dense_equilibrium(S, one, X, gamma));
  return torch::stack(all);
}

class BatchedSeries : public ::testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<const SharedSeries> shared(const torch::Tensor& X) const {
    return std::make_shared<SharedSeries>(S, X, options());
  }
  Propagation S = two_paths(GetParam());
  torch::Tensor F = stack_of(m, m, 10), B = stack_of(columns, m, 20);
};

TEST_P(BatchedSeries, ProjectionsAreThoseOfADenseSolve) {
  const auto X = random_matrix(n, m, 1);
  BatchedProjections projections(shared(X), runs, columns);
  const auto expected = dense(S, F, X).bmm(B.transpose(1, 2)).transpose(0, 1);
  EXPECT_LE(relative_error(projections.solve(F, B), expected), 1e-13);
}

TEST_P(BatchedSeries, EquilibriaAreThoseOfADenseSolve) {
  auto X = random_matrix(n, m, 1);
  X.select(1, 3).zero_();  // a feature that does not occur
  BatchedEquilibria equilibria(shared(X), runs);
  EXPECT_LE(relative_error(equilibria.solve(F), dense(S, F, X)), 1e-13);
}

TEST_P(BatchedSeries, GradientsMatchCentralDifferences) {
  const auto X = random_matrix(n, m, 1);
  BatchedProjections projections(shared(X), runs, columns);
  BatchedEquilibria equilibria(shared(X), runs);
  const auto f_bar = random_matrix(n, runs * columns, 30).view({n, runs, columns});
  const auto Z_bar = random_matrix(runs * n, m, 40).view({runs, n, m});
  projections.solve(F, B);
  equilibria.solve(F);
  const auto of_f = projections.pull(F, B, f_bar);
  const auto of_Z = equilibria.pull(F, Z_bar);
  const auto f = [&] { return (projections.solve(F, B) * f_bar).sum().item<double>(); };
  const auto Z = [&] { return (equilibria.solve(F) * Z_bar).sum().item<double>(); };
  for (const int64_t k : {0, 7, 31, 74}) {
    EXPECT_NEAR(of_f.F.flatten()[k].item<double>(), test::central_difference(F, k, 1e-6, f), 1e-7);
    EXPECT_NEAR(of_Z.flatten()[k].item<double>(), test::central_difference(F, k, 1e-6, Z), 1e-7);
  }
  for (const int64_t k : {0, 13, 29})
    EXPECT_NEAR(of_f.B.flatten()[k].item<double>(), test::central_difference(B, k, 1e-6, f), 1e-7);
}

TEST_P(BatchedSeries, FewerRunsAreSolvedAfterSomeHaveLeft) {
  const auto X = random_matrix(n, m, 1);
  BatchedProjections projections(shared(X), runs, columns);
  const auto all = projections.solve(F, B);
  projections.resize(2);
  const auto rest = projections.solve(F.narrow(0, 1, 2).contiguous(), B.narrow(0, 1, 2).contiguous());
  EXPECT_LE(relative_error(rest, all.narrow(1, 1, 2)), 1e-14);
}

std::string loops(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "withLoops" : "withoutLoops";
}

INSTANTIATE_TEST_SUITE_P(SelfLoops, BatchedSeries, ::testing::Bool(), loops);

TEST(SharedSeries, RefusesWhatHasNoSeries) {
  const auto X = random_matrix(n, m, 1);
  const auto refusal = [&](const Propagation& S, double gamma_given) {
    SolverOptions given = options();
    given.gamma = gamma_given;
    return message_of<ArgumentError>([&] { SharedSeries(S, X, given); });
  };
  EXPECT_CONTAINS(refusal(two_paths(true), 1), "gamma 1");
  EXPECT_CONTAINS(refusal(two_paths(true), 0.9999), "gamma 0.9999");
  PropagationOptions directed;
  directed.direction = Direction::in;
  EXPECT_CONTAINS(refusal(make_propagation(Graph::from_arcs(n, {0, 1}, {1, 2}), directed), 0.8), "symmetric");
}

TEST(BatchedEquilibria, RefuseFeaturesThatAreNotFew) {
  const Propagation S = two_paths(true);
  const auto refusal = [&](const torch::Tensor& X) {
    const auto shared = std::make_shared<SharedSeries>(S, X, options());
    return message_of<ArgumentError>([&] { BatchedEquilibria(shared, 1); });
  };
  EXPECT_CONTAINS(refusal(torch::zeros({n, m}, torch::kFloat64)), "0 features");
  EXPECT_CONTAINS(refusal(random_matrix(n, 65, 1)), "65 features");
}

}  // namespace
}  // namespace eignn
