// An F of fewer rows than columns, by every solver: the dense Kronecker solve, central differences, and the
// same F with rows of zeros below it, which every solver takes at its full width.
#include <gtest/gtest.h>

#include <set>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/contraction.h"
#include "equilibrium/feature_product.h"
#include "equilibrium/scaled_rows.h"
#include "support/message_of.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

struct Case {
  std::string name;
  Graph graph;
  PropagationOptions propagation;
  torch::Tensor F;
  double gamma, epsilon = 1e-12;
};

// Features of which nine in ten are zero, so that a CPU reads them by their entries.
torch::Tensor few_entries(int64_t nodes, int64_t m, uint64_t seed) {
  const auto X = random_matrix(nodes, m, seed);
  return X * random_matrix(nodes, m, seed + 1).gt(1.3);
}

std::vector<Case> cases() {
  const PropagationOptions plain, bare{Direction::undirected, Normalisation::sym, false};
  const PropagationOptions in{Direction::in, Normalisation::sym, true};
  const PropagationOptions out_in{Direction::out, Normalisation::out_in, false};
  std::vector<Case> all = {
      {"TwoRows", test::random_graph(20, 1.5, 1), plain, random_matrix(2, 7, 1), 0.8},
      {"OneRow", test::random_graph(20, 1.5, 2), plain, random_matrix(1, 6, 2), 0.9},
      {"OneRowNearTheEdge", test::random_graph(12, 1.5, 2), bare, random_matrix(1, 6, 2), 1.0, 1e-4},
      {"MoreRowsThanNodes", test::random_graph(5, 1.5, 3), plain, random_matrix(9, 14, 3), 0.8},
      {"AllButOneRow", test::random_graph(16, 2, 4), bare, random_matrix(5, 6, 4), 0.8},
      {"AsManyRowsAsColumns", test::random_graph(16, 2, 4), plain, random_matrix(6, 6, 4), 0.8},
      {"DependentRows", test::random_graph(16, 2, 5), plain,
       random_matrix(4, 2, 5).mm(random_matrix(2, 8, 6)), 0.8},
      {"Directed", test::random_graph(20, 1.5, 6), in, random_matrix(3, 8, 7), 0.8},
      {"DirectedOutIn", test::random_graph(20, 2, 7), out_in, random_matrix(3, 8, 8), 1.0},
      {"EqualChains", chain_graph(4, 6), plain, random_matrix(3, 5, 9), 0.8},
      {"ZeroF", test::random_graph(12, 1.5, 8), plain, torch::zeros({2, 5}, torch::kFloat64), 0.8},
      {"SmallF", test::random_graph(12, 1.5, 9), plain, 1e-7 * random_matrix(2, 5, 10), 0.8},
  };
  return all;
}

// The same F with rows of zeros, which change nothing in FᵀF.
torch::Tensor padded(const torch::Tensor& F) {
  return torch::cat({F, torch::zeros({F.size(1) - F.size(0), F.size(1)}, F.options())});
}

class ThinF : public testing::TestWithParam<std::string> {
 protected:
  bool takes(const Propagation& S) const {
    static const std::set<std::string> directed = {"direct", "deflated", "sparse", "picard"};
    return S.symmetric || directed.count(GetParam()) > 0;
  }
  // Calls test(case, S, solver, X) for dense features and for few.
  template <class Test>
  void for_each(const Test& test) const {
    for (const Case& c : cases()) {
      auto S = std::make_shared<Propagation>(make_propagation(c.graph, c.propagation));
      // There the recurrence takes a million steps.
      const bool recurrence = GetParam() == "picard" || GetParam() == "deflated";
      if (!takes(*S) || (recurrence && c.name == "OneRowNearTheEdge")) continue;
      SolverOptions options;
      options.gamma = c.gamma;
      options.epsilon = c.epsilon;
      for (const bool few : {false, true}) {
        SCOPED_TRACE(c.name + (few ? ", few features" : ""));
        const int64_t m = c.F.size(1);
        const auto X = few ? few_entries(S->nodes, m, 98) : random_matrix(S->nodes, m, 99);
        const auto solver = make_solver(GetParam(), S, options, c.F.size(0));
        test(c, *S, *solver, X);
      }
    }
  }
};

TEST_P(ThinF, AgreesWithADenseKroneckerSolve) {
  for_each([](const Case& c, const Propagation& S, Solver& solver, const torch::Tensor& X) {
    const auto solved = solver.solve(c.F, X);
    const auto Z = solved->rows().plain();
    EXPECT_LE(relative_error(Z, test::dense_equilibrium(S, c.F, X, c.gamma, c.epsilon)), 1e-10);
    EXPECT_LE(status_of(solver, *solved, c.F, X).residual, 1e-11);
    const auto index = torch::tensor({S.nodes - 1, int64_t{0}, int64_t{2}}, torch::kInt64);
    EXPECT_LE(relative_error(solver.solve(c.F, X)->rows(index).plain(), Z.index_select(0, index)), 1e-12);
    const auto C = random_matrix(c.F.size(1), 3, 11);
    EXPECT_LE(relative_error(solved->project(index, C), Z.index_select(0, index).mm(C)), 1e-11);
    EXPECT_LE(relative_error(solver.project(c.F, X, C)->rows({}), Z.mm(C)), 1e-11);
    const Moments moments = solved->moments();
    EXPECT_LE(relative_error(moments.mean, Z.mean(0)), 1e-11);
    EXPECT_LE(relative_error(moments.variance, Z.var(0, /*unbiased=*/false)), 1e-11);
  });
}

TEST_P(ThinF, HasTheAdjointOfWhatItSolves) {
  for_each([](const Case& c, const Propagation& S, Solver& solver, const torch::Tensor& X) {
    const int64_t m = c.F.size(1);
    const auto index = torch::tensor({S.nodes - 1, int64_t{1}, int64_t{1}}, torch::kInt64);
    const auto Y = random_matrix(3, m, 97);
    const auto everywhere = torch::zeros({S.nodes, m}, torch::kFloat64).index_add_(0, index, Y);
    const auto solved = solver.solve(c.F, X);
    const Gradients gradients = solved->pull(index, {Y, {}}, true);
    const auto W = test::dense_equilibrium(S, c.F, everywhere, c.gamma, c.epsilon, true);
    EXPECT_LE(relative_error(gradients.X.plain(), W), 1e-10);
    EXPECT_LE(relative_error(solved->pull_X(index, {Y, {}}).plain(), W), 1e-10);
    EXPECT_EQ(gradients.F.sizes(), c.F.sizes());
    if (c.F.norm().item<double>() == 0) {
      EXPECT_EQ(gradients.F.abs().max().item<double>(), 0);
      return;
    }
    // L(F) = ⟨Y, Z(F)⟩ by central differences through the dense solve.
    for (uint64_t direction = 0; direction < 3; ++direction) {
      const auto D = random_matrix(c.F.size(0), m, 40 + direction) * c.F.norm() / m;
      const double h = 1e-5;
      const auto loss = [&](double step) {
        return (everywhere * test::dense_equilibrium(S, c.F + step * D, X, c.gamma, c.epsilon))
            .sum()
            .item<double>();
      };
      const double numeric = (loss(h) - loss(-h)) / (2 * h),
                   analytic = (gradients.F * D).sum().item<double>();
      const double scale = gradients.F.norm().item<double>() * D.norm().item<double>();
      EXPECT_NEAR(analytic, numeric, 1e-6 * scale + 1e-9 * std::abs(loss(0)));
    }
  });
}

// Whatever is asked of it.
TEST_P(ThinF, IsTheFullPathWithRowsOfZeros) {
  for_each([](const Case& c, const Propagation& S, Solver& solver, const torch::Tensor& X) {
    const int64_t m = c.F.size(1), r = c.F.size(0);
    const auto thin = solver.solve(c.F, X);
    const auto wide = make_solver(solver.name(), std::make_shared<Propagation>(S), solver.options(), m)
                          ->solve(padded(c.F), X);
    const auto expect_equal = [&](const torch::Tensor& F, const torch::Tensor& of_padded) {
      EXPECT_LE(relative_error(F, of_padded.narrow(0, 0, r)), 1e-9);
    };
    const auto index = torch::tensor({int64_t{3}, S.nodes - 1}, torch::kInt64);
    for (const auto& at : {torch::Tensor(), index}) {
      const int64_t rows = at.defined() ? 2 : S.nodes;
      const auto Y = random_matrix(rows, m, 21), C = random_matrix(m, 2, 22), d = random_matrix(rows, 2, 23);
      expect_equal(thin->pull(at, {Y, {}}, false).F, wide->pull(at, {Y, {}}, false).F);
      const auto of_thin = thin->pull_projected(at, d, C), of_wide = wide->pull_projected(at, d, C);
      expect_equal(of_thin.F, of_wide.F);
      EXPECT_LE(relative_error(of_thin.C, of_wide.C), 1e-10);
      const Moments bar{random_matrix(1, m, 24)[0], random_matrix(1, m, 25)[0]};
      const auto a = thin->pull_with_moments(at, {Y, {}}, bar, true),
                 b = wide->pull_with_moments(at, {Y, {}}, bar, true);
      expect_equal(a.F, b.F);
      EXPECT_LE(relative_error(a.X.plain(), b.X.plain()), 1e-9);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Solvers, ThinF,
                         testing::Values("auto", "spectral", "direct", "krylov", "deflated", "sparse",
                                         "picard", "published"),
                         [](const auto& info) { return info.param; });

// A signal of a thin F over 2400 hops is far below the range of a double. Along a chain the equilibrium of
// one row is a product of numbers, which exponents follow.
TEST(ThinEquilibrium, KeepsRowsBelowTheRangeOfADouble) {
  constexpr int64_t n = 2400, m = 4;
  const auto S = std::make_shared<Propagation>(
      make_propagation(chain_graph(1, n), {Direction::in, Normalisation::sym, true}));
  auto X = torch::zeros({n, m}, torch::kFloat64);
  X[0] = random_matrix(1, m, 1)[0];
  const auto F = random_matrix(2, m, 2);
  SolverOptions options;
  options.refine = true;
  const auto thin = make_solver("direct", S, options, 2)->solve(F, X),
             wide = make_solver("direct", S, options, m)->solve(padded(F), X);
  const auto a = thin->rows(), b = wide->rows();
  ASSERT_TRUE(a.exponents.defined());
  ASSERT_TRUE(b.exponents.defined());
  EXPECT_LT(b.exponents[n - 1].item<int64_t>(), -1100);
  EXPECT_EQ(b.plain()[n - 1].abs().max().item<double>(), 0);
  for (const int64_t v : {0L, 1L, 300L, n - 1}) {
    const auto shift = a.exponents[v] - b.exponents[v];
    EXPECT_LE(relative_error(a.values[v] * torch::pow(2.0, shift.to(torch::kFloat64)), b.values[v]), 1e-9)
        << v;
  }
  // A loss of the direction alone pulls back a cotangent of a size beyond the range.
  const auto at = torch::tensor({n - 1}, torch::kInt64);
  const ScaledRows Y{random_matrix(1, m, 3), -b.exponents.index_select(0, at)};
  const auto of_thin = thin->pull(at, Y, true), of_wide = wide->pull(at, Y, true);
  const auto unit = [](const torch::Tensor& t) { return t / t.norm(); };
  EXPECT_TRUE(torch::isfinite(of_thin.F).all().item<bool>());
  EXPECT_LE(relative_error(of_thin.F, of_wide.F.narrow(0, 0, 2)), 1e-7);
  EXPECT_LE(relative_error(unit(of_thin.X.values[0]), unit(of_wide.X.values[0])), 1e-9);
}

TEST(ThinEquilibrium, ComputesInFloat32) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(60, 2, 1)));
  const auto X = few_entries(60, 40, 2), F = random_matrix(5, 40, 3);
  SolverOptions options;
  options.dtype = torch::kFloat32;
  const auto expected = test::dense_equilibrium(*S, F, X, 0.8);
  for (const char* solver : {"spectral", "krylov", "sparse", "deflated", "picard", "direct"})
    EXPECT_LE(relative_error(make_solver(solver, S, options, 5)
                                 ->solve(F.to(torch::kFloat32), X.to(torch::kFloat32))
                                 ->rows()
                                 .plain(),
                             expected),
              1e-5)
        << solver;
}

TEST(ThinEquilibrium, RefusesAnFThatHasNoRowsOrTooMany) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(8, 2, 1)));
  const auto solver = make_solver("sparse", S, {}, 2);
  const auto X = random_matrix(8, 5, 1);
  for (const int64_t rows : {0, 6, 7})
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { solver->solve(random_matrix(rows, 5, 2), X); }),
                    "1 to 5 rows");
  EXPECT_THROW(solver->solve(random_matrix(2, 4, 2), X), ArgumentError);
  auto infinite = random_matrix(2, 5, 3);
  infinite[1][2] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(solver->solve(infinite, X), ConvergenceError);
  auto solved = solver->solve(random_matrix(2, 5, 4), X);
  X.mul_(2);
  EXPECT_THROW(solved->rows(), ArgumentError);
}

TEST(LeadingMu, OfAThinFAreThoseOfItsPaddedOne) {
  const auto F = random_matrix(3, 9, 1);
  const auto thin = leading_mu(F, 1e-12), wide = leading_mu(padded(F), 1e-12);
  ASSERT_EQ(thin.size(), 3u);
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(thin[k], wide[k], 1e-14);
}

TEST(TimesG, FormsNothingOfTheFeaturesSquared) {
  const auto Z = random_matrix(4, 9, 2), F = random_matrix(3, 9, 1);
  EXPECT_LE(relative_error(times_g(Z, F, 1e-12), Z.mm(test::dense_g(F, 1e-12))), 1e-13);
  EXPECT_LE(relative_error(times_g(Z, padded(F), 1e-12), Z.mm(test::dense_g(F, 1e-12))), 1e-13);
}

TEST(FeatureProduct, GivesTheSameOfEntriesAsOfADenseMatrix) {
  const auto X = few_entries(30, 12, 5), C = random_matrix(12, 3, 6), V = random_matrix(30, 4, 7);
  const FeatureProduct by_entries(std::make_shared<SparseEntries>(entries_of(X)), torch::kFloat64,
                                  torch::kCPU);
  auto changing = X.clone().requires_grad_();  // read densely
  const auto index = torch::tensor({7, 2, 29, 2}, torch::kInt64);
  for (const FeatureProduct* product : {&by_entries}) {
    const FeatureProduct dense(changing);
    EXPECT_LE(relative_error(product->times(C), X.mm(C)), 1e-14);
    EXPECT_LE(relative_error(dense.times(C), X.mm(C)), 1e-14);
    EXPECT_LE(relative_error(product->transposed_times(V), X.t().mm(V)), 1e-14);
    EXPECT_TRUE(product->dense().equal(X));
    EXPECT_TRUE(product->at(index).dense().equal(X.index_select(0, index)));
    EXPECT_TRUE(dense.at(index).dense().equal(X.index_select(0, index)));
    EXPECT_LE(relative_error(product->at(index).times(C), X.index_select(0, index).mm(C)), 1e-14);
    EXPECT_TRUE(product->filled().equal(dense.filled()));
    EXPECT_LE(relative_error(product->mean(), X.mean(0)), 1e-14);
    EXPECT_LE(relative_error(product->variance(), X.var(0, /*unbiased=*/false)), 1e-14);
    EXPECT_LE(relative_error(dense.variance(), X.var(0, /*unbiased=*/false)), 1e-14);
  }
}

TEST(ScaledRows, AddUpAtTheLargerExponent) {
  const auto a = torch::tensor({{1.0, 2.0}, {0.0, 0.0}, {3.0, 1.0}}, torch::kFloat64);
  const auto e = torch::tensor({-3000, -5, -3000}, torch::kInt64);
  const auto sum =
      sum_of({a, e}, {torch::tensor({{0.0, 0.0}, {4.0, 5.0}, {2.0, 2.0}}, torch::kFloat64), e + 1});
  EXPECT_EQ(sum.exponents[0].item<int64_t>(), -3000);
  EXPECT_TRUE(sum.values[0].equal(a[0]));
  EXPECT_EQ(sum.exponents[1].item<int64_t>(), -4);
  EXPECT_EQ(sum.exponents[2].item<int64_t>(), -2999);
  EXPECT_TRUE(sum.values[2].equal(torch::tensor({3.5, 2.5}, torch::kFloat64)));
  const auto product = transposed_product({a, e}, {a, -e});
  EXPECT_LE(relative_error(product, a.t().mm(a)), 1e-15);
}

}  // namespace
}  // namespace eignn
