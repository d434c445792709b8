// What "infinite depth" needs: relative accuracy at any distance, below the range of a double too.
#include <gtest/gtest.h>

#include <cmath>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/elimination/elimination.h"
#include "equilibrium/elimination/ordering.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using Quad = __float128;  // 113 bits, exponents to ±16383: 1000 hops fit without care

Quad square_root(Quad x) {
  Quad root = std::sqrt(static_cast<double>(x));
  for (int i = 0; i < 4; ++i) root = (root + x / root) / 2;
  return root;
}

// z (I - a S) = x e_0 on an undirected chain, by elimination from the far end in quadruple precision.
// Independent of the solver: it works on S itself, with subtraction.
std::vector<Quad> chain_equilibrium(int64_t length, Quad a, Quad x) {
  auto degree = [&](int64_t j) { return Quad(j == 0 || j == length - 1 ? 2 : 3); };
  auto S = [&](int64_t i, int64_t j) { return 1 / square_root(degree(i) * degree(j)); };
  // z_{j} = ratio_j z_{j-1}
  std::vector<Quad> ratio(length);
  Quad below = 0;
  for (int64_t j = length - 1; j > 0; --j) {
    ratio[j] = a * S(j - 1, j) / (1 - a * S(j, j) - below);
    below = a * S(j - 1, j) * ratio[j];
  }
  std::vector<Quad> z(length);
  z[0] = x / (1 - a * S(0, 0) - below);
  for (int64_t j = 1; j < length; ++j) z[j] = z[j - 1] * ratio[j];
  return z;
}

Quad scaled(double value, int64_t exponent) {
  Quad out = value;
  for (; exponent >= 512; exponent -= 512) out *= Quad(std::ldexp(1.0, 512));
  for (; exponent <= -512; exponent += 512) out *= Quad(std::ldexp(1.0, -512));
  return out * Quad(std::ldexp(1.0, static_cast<int>(exponent)));
}

double absolute(Quad x) {
  return static_cast<double>(x < 0 ? -x : x);
}

std::shared_ptr<const Propagation> chain(int64_t length) {
  return std::make_shared<Propagation>(make_propagation(chain_graph(1, length)));
}

class LongChain : public testing::TestWithParam<double> {};

TEST_P(LongChain, EveryEntryIsRightRelativeToItself) {
  const int64_t length = 1000;
  SolverOptions options;
  options.gamma = GetParam();
  auto X = torch::zeros({length, 1}, torch::kFloat64);
  X[0][0] = 1.5;
  const double weight = 0.7;
  const auto F = torch::full({1, 1}, weight, torch::kFloat64);
  const auto Z = make_solver("direct", chain(length), options, 1)->solve(F, X)->rows();
  const Quad square = Quad(weight) * weight, mu = square / (square + Quad(1e-12));
  const auto exact = chain_equilibrium(length, Quad(options.gamma) * mu, 1.5);
  for (int64_t j = 0; j < length; ++j) {
    const Quad z =
        scaled(Z.values[j][0].item<double>(), Z.exponents.defined() ? Z.exponents[j].item<int64_t>() : 0);
    ASSERT_LE(absolute(z / exact[j] - 1), 1e-12) << "hop " << j;
  }
  if (options.gamma == 0.8) {
    EXPECT_TRUE(Z.exponents.defined());
    EXPECT_LT(Z.exponents[length - 1].item<int64_t>(), -1000);  // below 1e-300, and not lost
  }
}

TEST_P(LongChain, EveryRowIsRightRelativeToItsLargestEntry) {
  const int64_t length = 1000, m = 3;
  SolverOptions options;
  options.gamma = GetParam();
  options.refine = true;
  const auto F = test::random_matrix(m, m, 5);
  auto X = torch::zeros({length, m}, torch::kFloat64);
  X[0] = torch::tensor({1.0, -0.5, 2.0}, torch::kFloat64);
  const auto Z = make_solver("direct", chain(length), options, m)->solve(F, X)->rows();

  // g in quadruple precision, diagonalised by cyclic Jacobi rotations.
  std::vector<std::vector<Quad>> A(m, std::vector<Quad>(m, 0)), Q = A;
  for (int64_t i = 0; i < m; ++i) {
    Q[i][i] = 1;
    for (int64_t j = 0; j < m; ++j)
      for (int64_t k = 0; k < m; ++k) A[i][j] += Quad(F[k][i].item<double>()) * Quad(F[k][j].item<double>());
  }
  Quad nu = 0;
  for (auto& row : A)
    for (Quad v : row) nu += v * v;
  nu = square_root(nu);
  for (int sweep = 0; sweep < 12; ++sweep)
    for (int64_t p = 0; p < m; ++p)
      for (int64_t q = p + 1; q < m; ++q) {
        if (A[p][q] == 0) continue;
        const Quad theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const Quad t = (theta >= 0 ? Quad(1) : Quad(-1)) /
                       ((theta >= 0 ? theta : -theta) + square_root(theta * theta + 1));
        const Quad c = 1 / square_root(t * t + 1), s = t * c;
        for (int64_t k = 0; k < m; ++k) {
          const Quad kp = A[k][p], kq = A[k][q];
          A[k][p] = c * kp - s * kq;
          A[k][q] = s * kp + c * kq;
        }
        for (int64_t k = 0; k < m; ++k) {
          const Quad pk = A[p][k], qk = A[q][k];
          A[p][k] = c * pk - s * qk;
          A[q][k] = s * pk + c * qk;
          const Quad a = Q[k][p], b = Q[k][q];
          Q[k][p] = c * a - s * b;
          Q[k][q] = s * a + c * b;
        }
      }
  std::vector<std::vector<Quad>> exact(length, std::vector<Quad>(m, 0));
  for (int64_t q = 0; q < m; ++q) {
    Quad source = 0;
    for (int64_t k = 0; k < m; ++k) source += Quad(X[0][k].item<double>()) * Q[k][q];
    const auto z = chain_equilibrium(length, Quad(options.gamma) * A[q][q] / (nu + Quad(1e-12)), source);
    for (int64_t j = 0; j < length; ++j)
      for (int64_t k = 0; k < m; ++k) exact[j][k] += z[j] * Q[k][q];
  }
  for (int64_t j = 0; j < length; ++j) {
    Quad largest = 0;
    for (Quad v : exact[j]) largest = std::max(largest, v < 0 ? -v : v);
    for (int64_t k = 0; k < m; ++k) {
      const Quad z =
          scaled(Z.values[j][k].item<double>(), Z.exponents.defined() ? Z.exponents[j].item<int64_t>() : 0);
      ASSERT_LE(absolute((z - exact[j][k]) / largest), 1e-12) << "hop " << j << " feature " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gammas, LongChain, testing::Values(0.8, 0.99, 1.0),
                         [](const auto& p) { return std::to_string(static_cast<int>(100 * p.param)); });

TEST(DirectSolver, SinglePrecisionKeepsSixDigitsBelowItsRange) {
  const int64_t length = 400;
  SolverOptions options;
  options.dtype = torch::kFloat32;
  auto X = torch::zeros({length, 1});
  X[0][0] = 1;
  const auto Z = make_solver("direct", chain(length), options, 1)->solve(torch::ones({1, 1}), X)->rows();
  const Quad a = Quad(static_cast<float>(0.8)), complement = Quad(static_cast<float>(1 - 0.8));
  const auto exact = chain_equilibrium(length, a / (a + complement), 1);
  ASSERT_TRUE(Z.exponents.defined());
  for (int64_t j = 0; j < length; ++j) {
    const Quad z = scaled(Z.values[j][0].item<float>(), Z.exponents[j].item<int64_t>());
    ASSERT_LE(absolute(z / exact[j] - 1), 2e-4) << "hop " << j;
  }
}

// A fast eigen-row from far away must win over a slow one from nearby, however small it is where they meet:
// this is why exponents belong to the node and the eigen-row, not to the node alone.
TEST(DirectSolver, ASignalBelowItsNeighboursSurvivesToOvertakeThem) {
  const int64_t length = 4000, second = 1000;
  auto X = torch::zeros({length, 2}, torch::kFloat64);
  X[0][0] = 1;       // feature 0: large μ, far
  X[second][1] = 1;  // feature 1: small μ, near
  auto F = torch::zeros({2, 2}, torch::kFloat64);
  F[0][0] = 0.4;
  F[1][1] = 0.1;
  SolverOptions options;
  options.gamma = 0.3;
  const auto Z = make_solver("direct", chain(length), options, 2)->solve(F, X)->rows();
  ASSERT_TRUE(Z.exponents.defined());
  EXPECT_GT(Z.values[second][1].item<double>(), 0);
  EXPECT_EQ(Z.values[second + 1][0].item<double>(), 0);  // out of sight beside feature 1 …
  EXPECT_GT(Z.values[length - 1][0].item<double>(), 0);  // … and yet the winner at the end
  EXPECT_LT(Z.values[length - 1][1].item<double>(), 1e-300);
}

// A ring has fill-ins that stand for long detours: they may fall below the floating range as well.
TEST(DirectSolver, FillInsOfALongRingDoNotUnderflow) {
  const int64_t length = 3000;
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < length; ++i) {
    source.push_back(i);
    target.push_back((i + 1) % length);
  }
  const auto S = std::make_shared<Propagation>(make_propagation(Graph::from_arcs(length, source, target)));
  auto X = torch::zeros({length, 1}, torch::kFloat64);
  X[0][0] = 1;
  SolverOptions options;
  options.gamma = 0.5;
  const auto Z = make_solver("direct", S, options, 1)->solve(torch::ones({1, 1}, torch::kFloat64), X)->rows();
  // Along the ring z_j = C (r^j + r^(n-j)), r + 1/r = 3/a - 1.
  const Quad mu = 1 / (1 + Quad(1e-12)), half = (3 / (Quad(0.5) * mu) - 1) / 2,
             r = half - square_root(half * half - 1);
  auto value = [&](int64_t j) {
    return scaled(Z.values[j][0].item<double>(), Z.exponents[j].item<int64_t>());
  };
  Quad expected = value(0);
  for (int64_t j = 1; j < length / 2 - 100; ++j) {
    expected *= r;
    ASSERT_LE(absolute(value(j) / expected - 1), 1e-11) << "hop " << j;
    ASSERT_LE(absolute(value(length - j) / expected - 1), 1e-11) << "hop " << -j;
  }
}

TEST(DirectSolver, GradientsOfNormalisedRowsStayInRangeAtAnyDistance) {
  const int64_t length = 600, m = 4;
  const auto S = chain(length);
  const auto F0 = torch::eye(m, torch::kFloat64) + 0.05 * test::random_matrix(m, m, 3);
  auto X = torch::zeros({length, m}, torch::kFloat64);
  X[0] = torch::tensor({1.0, 0.5, 0.0, -0.25}, torch::kFloat64);
  const auto index = torch::tensor({0, 7, 300, 599}, torch::kInt64);
  const auto target = test::random_matrix(4, m, 4);
  SolverOptions options;
  options.gamma = 0.2;
  const auto solver = make_solver("direct", S, options, m);
  auto loss = [&](const torch::Tensor& F) {
    const auto z = equilibrium(*solver, F, X, index).values;
    return (target * z / z.norm(2, 1, true)).sum();
  };
  auto F = F0.clone().requires_grad_();
  loss(F).backward();
  ASSERT_TRUE(torch::isfinite(F.grad()).all().item<bool>());
  for (uint64_t d = 0; d < 3; ++d) {
    const auto D = test::random_matrix(m, m, 20 + d);
    const double h = 1e-7;
    const double numeric = (loss(F0 + h * D) - loss(F0 - h * D)).item<double>() / (2 * h);
    EXPECT_NEAR((F.grad() * D).sum().item<double>(), numeric, 1e-5 * F.grad().norm().item<double>());
  }
}

TEST(Ordering, ForestsFillNothing) {
  const auto S = make_propagation(chain_graph(7, 30));
  EXPECT_EQ(estimate_elimination(S).slots, 7 * 29);
  const Elimination e = analyse_elimination(S);
  EXPECT_EQ(e.slots(), 7 * 29);
  EXPECT_TRUE(e.pair_slot.empty());
}

TEST(Ordering, MinimumDegreeIsAPermutationAndFillsNoForest) {
  const Graph path = chain_graph(1, 10).symmetrised();
  auto order = minimum_degree_order(path);
  EXPECT_EQ(order.front(), 0);
  std::sort(order.begin(), order.end());
  for (int64_t k = 0; k < 10; ++k) EXPECT_EQ(order[k], k);
}

TEST(Elimination, AGraphThatFillsInTooMuchIsRefusedWithARemedy) {
  const auto S = make_propagation(test::random_graph(400, 30, 1));
  EXPECT_THROW(analyse_elimination(S, 8, 8, /*memory_limit=*/1e6), ResourceError);
}

}  // namespace
}  // namespace eignn
