// The semi-iteration without an eigenbasis of g: solved to its bound, in as many products as were announced.
#include "equilibrium/node/without_eigenbasis.h"

#include <gtest/gtest.h>

#include <limits>

#include "eignn/error.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/tolerance.h"
#include "support/message_of.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

// `sparse` takes this path on a GPU alone; here it is taken on a CPU.
class WithoutEigenbasis : public Solver {
 public:
  WithoutEigenbasis(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(S, options), product_(std::make_shared<SparseProduct>(*S, options.dtype, options.device)) {}
  const char* name() const override { return "sparse"; }

 protected:
  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    auto solved = solve_without_eigenbasis(product_, F, X, options_);
    if (!solved) throw ConvergenceError("too long", "the series", "use another solver");
    return solved;
  }

 private:
  std::shared_ptr<const NodeOperator> product_;
};

std::shared_ptr<const Propagation> propagation(Direction direction, Normalisation normalise) {
  return std::make_shared<Propagation>(
      make_propagation(test::random_graph(24, 3, 5), {direction, normalise, true}));
}

// One μ near 1 and the others small, or, with a small weight, all of a size.
torch::Tensor weights(int64_t m, double leading) {
  return random_matrix(m, m, 1) + leading * random_matrix(m, 1, 2).mm(random_matrix(1, m, 3));
}

const std::vector<std::pair<Direction, Normalisation>> normalisations = {
    {Direction::undirected, Normalisation::sym},
    {Direction::in, Normalisation::sym},
    {Direction::out, Normalisation::out_in}};

TEST(WithoutEigenbasis, SolvesAsTheDenseSystemDoes) {
  for (const auto& [direction, normalise] : normalisations)
    for (const double leading : {0.0, 30.0}) {
      const auto S = propagation(direction, normalise);
      const auto F = weights(6, leading), X = random_matrix(24, 6, 4), Y = random_matrix(24, 6, 7);
      SolverOptions options;
      options.gamma = S->symmetric ? 0.8 : 0.6;  // Neumann's series for 0.8 in float64 is too long
      const auto solved = WithoutEigenbasis(S, options).solve(F, X);
      const auto Z = test::dense_equilibrium(*S, F, X, options.gamma);
      EXPECT_LE(relative_error(solved->rows().plain(), Z), 1e-13);
      const auto W = test::dense_equilibrium(*S, F, Y, options.gamma, 1e-12, /*adjoint=*/true);
      EXPECT_LE(relative_error(solved->pull({}, {Y, {}}, true).X.plain(), W), 1e-13);
      const auto index = torch::tensor({3, 17}, torch::kInt64);
      const auto few = torch::zeros_like(Y).index_copy(0, index, Y.narrow(0, 0, 2));
      EXPECT_LE(relative_error(solved->pull_X(index, {Y.narrow(0, 0, 2), {}}).plain(),
                               test::dense_equilibrium(*S, F, few, options.gamma, 1e-12, true)),
                1e-13);
      EXPECT_LE(relative_error(solved->pull({}, {Y, {}}, false).F,
                               make_solver("direct", S, options, 6)->solve(F, X)->pull({}, {Y, {}}, false).F),
                1e-11);
    }
}

TEST(WithoutEigenbasis, KeepsItsBoundInEveryPrecisionAndScale) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const auto& [direction, normalise] : normalisations)
      for (const double scale : {1.0, 1e-20, 1e20}) {
        const auto S = propagation(direction, normalise);
        SolverOptions options;
        options.dtype = dtype;
        const auto F = weights(20, 0.5).to(dtype), X = (scale * random_matrix(24, 20, 4)).to(dtype);
        const auto Z = WithoutEigenbasis(S, options).solve(F, X)->rows().plain();
        const auto z = Z.to(torch::kFloat64), x = X.to(torch::kFloat64);
        const double bound = backward_tolerance(options) * (x.norm() + z.norm()).item<double>();
        EXPECT_LE(residual(*S, z, F, x, 0.8, 1e-12) * x.norm().item<double>(), bound);
      }
}

TEST(WithoutEigenbasis, TakesAsManyProductsAsAreKnownBefore) {
  const auto S = propagation(Direction::undirected, Normalisation::sym);
  for (const double leading : {0.0, 30.0})
    for (const double gamma : {0.3, 0.8, 0.9}) {
      SolverOptions options;
      options.gamma = gamma;
      const auto solved = WithoutEigenbasis(S, options).solve(weights(6, leading), random_matrix(24, 6, 4));
      const int64_t most = products_of_semi_iteration(gamma, true, backward_tolerance(options));
      EXPECT_LE(solved->iterations(), most) << "μ is at most 1";
      if (leading > 0) {
        EXPECT_GE(solved->iterations(), most - 2) << "and here it nearly is";
      } else {
        EXPECT_LT(solved->iterations(), most) << "of a g without a large eigenvalue fewer";
      }
    }
  EXPECT_EQ(products_of_semi_iteration(0, true, 1e-7), 1);
  EXPECT_EQ(products_of_semi_iteration(1, true, 1e-7), std::numeric_limits<int64_t>::max());
  EXPECT_LT(products_of_semi_iteration(0.8, true, 1e-7), products_of_semi_iteration(0.8, false, 1e-7));
}

TEST(WithoutEigenbasis, LeavesLongSeriesAndWideFeaturesToOthers) {
  const auto S = propagation(Direction::undirected, Normalisation::sym);
  SolverOptions options;
  options.gamma = 1;
  EXPECT_THROW(WithoutEigenbasis(S, options).solve(weights(6, 30), random_matrix(24, 6, 4)),
               ConvergenceError);
  EXPECT_NO_THROW(WithoutEigenbasis(S, options).solve(weights(6, 0), random_matrix(24, 6, 4)))
      << "where no μ is near 1 the series ends";
  const int64_t wide = most_features_without_eigenbasis + 1;
  EXPECT_THROW(WithoutEigenbasis(S, {}).solve(weights(wide, 0), random_matrix(24, wide, 4)),
               ConvergenceError);
  options.gamma = 0.8;
  options.max_iterations = 3;
  EXPECT_CONTAINS(message_of<ConvergenceError>(
                      [&] { WithoutEigenbasis(S, options).solve(weights(6, 30), random_matrix(24, 6, 4)); }),
                  "3 iterations");
}

TEST(WithoutEigenbasis, HasNothingToSolveWhereFIsZero) {
  const auto S = propagation(Direction::undirected, Normalisation::sym);
  const auto X = random_matrix(24, 6, 4), F = torch::zeros({6, 6}, torch::kFloat64);
  const auto solved = WithoutEigenbasis(S, {}).solve(F, X);
  EXPECT_LE(relative_error(solved->rows().plain(), X), 1e-15);
  EXPECT_EQ(solved->pull({}, {X, {}}, false).F.count_nonzero().item<int64_t>(), 0);
}

}  // namespace
}  // namespace eignn
