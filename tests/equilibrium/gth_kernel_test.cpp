// The kernel against answers that share nothing with it: dense elimination in long double, a tridiagonal
// recurrence in quadruple precision.
#include "equilibrium/gth_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <random>

#include "support/message_of.h"
#include "support/random_graph.h"

namespace eignn {
namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;  // 128 bits where there is no other
#endif

template <class T>
constexpr int W = Digits<T>::lanes;

// ---- problems

Propagation propagation(const Graph& graph, Direction direction, Normalisation normalise, bool self_loops) {
  PropagationOptions options;
  options.direction = direction;
  options.normalise = normalise;
  options.self_loops = self_loops;
  return make_propagation(graph, options);
}

// A block of right-hand sides or answers, by node rather than by place.
template <class T>
struct Block {
  using Int = typename Digits<T>::Int;
  const Elimination& e;
  std::vector<T> mantissa;
  std::vector<Int> digit;

  explicit Block(const Elimination& of)
      : e(of), mantissa(of.nodes * W<T>, T(0)), digit(of.nodes * W<T>, Int(0)) {}
  T& m(int64_t node, int lane) { return mantissa[e.position[node] * W<T> + lane]; }
  Int& d(int64_t node, int lane) { return digit[e.position[node] * W<T> + lane]; }
  LaneVector<T> lanes() { return {mantissa.data(), digit.data()}; }

  // mantissa · 2^(bits·digit), exact within the range of a Quad.
  Quad value(int64_t node, int lane) {
    Quad x = m(node, lane);
    const Quad base = std::ldexp(1.0, Digits<T>::bits);
    for (Int k = d(node, lane); k > 0; --k) x *= base;
    for (Int k = d(node, lane); k < 0; ++k) x /= base;
    return x;
  }
};

template <class T>
void fill_randomly(Block<T>& b, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (T& v : b.mantissa) v = static_cast<T>(normal(random));
}

// ---- the dense answer: y M = b, or y Mᵀ = b, M = diag(h) - a Â with h = 1/(left·right)

using Dense = std::vector<std::vector<long double>>;

Dense dense_matrix(const Propagation& S, long double a) {
  Dense M(S.nodes, std::vector<long double>(S.nodes, 0.0L));
  for (int64_t i = 0; i < S.nodes; ++i) {
    long double h = 1 / (static_cast<long double>(S.left[i]) * S.right[i]);
    if (!S.slack.empty()) h = std::round(h);  // a degree
    M[i][i] = h;
    for (int64_t k = S.row_begin[i]; k < S.row_begin[i + 1]; ++k) M[i][S.column[k]] -= a * S.weight_of(i, k);
  }
  return M;
}

// Gauss with partial pivoting on the equations Σ_i y_i M_ij = b_j.
std::vector<long double> dense_solve(const Dense& M, std::vector<long double> b, bool transposed) {
  const size_t n = b.size();
  Dense A(n, std::vector<long double>(n));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) A[i][j] = transposed ? M[i][j] : M[j][i];
  for (size_t k = 0; k < n; ++k) {
    size_t best = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::fabs(A[i][k]) > std::fabs(A[best][k])) best = i;
    std::swap(A[k], A[best]);
    std::swap(b[k], b[best]);
    for (size_t i = k + 1; i < n; ++i) {
      const long double factor = A[i][k] / A[k][k];
      for (size_t j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

// Factors for the shifts, solves for a random block and compares every lane with the dense answer.
template <class T>
void expect_dense_answer(const Propagation& S, const std::vector<double>& shifts, bool transposed,
                         double tolerance, uint64_t seed) {
  const Elimination e = analyse_elimination(S);
  T a[W<T>], complement[W<T>];
  for (int l = 0; l < W<T>; ++l) {
    a[l] = static_cast<T>(shifts[l % shifts.size()]);
    complement[l] = static_cast<T>(1 - shifts[l % shifts.size()]);
  }
  GthFactor<T> factor;
  ASSERT_TRUE(factor.factor(e, a, complement));
  Block<T> b(e);
  fill_randomly(b, seed);
  Block<T> y = b;
  factor.solve(e, y.lanes(), transposed);
  for (int l = 0; l < W<T>; ++l) {
    std::vector<long double> right(S.nodes);
    for (int64_t v = 0; v < S.nodes; ++v) right[v] = b.m(v, l);
    const auto expected = dense_solve(dense_matrix(S, a[l]), right, transposed);
    long double size = 0, error = 0;
    for (int64_t v = 0; v < S.nodes; ++v) {
      size = std::max(size, std::fabs(expected[v]));
      error = std::max(error, std::fabs(static_cast<long double>(y.value(v, l)) - expected[v]));
    }
    EXPECT_LE(error, tolerance * size)
        << "lane " << l << ", a = " << a[l] << (transposed ? ", transposed" : "");
  }
}

const std::vector<double> eight_shifts = {0, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999};

struct Case {
  const char* name;
  Direction direction;
  Normalisation normalise;
  bool self_loops;
  bool with_slack;  // whether the pivots are free of subtractions
};

void PrintTo(const Case& kind, std::ostream* to) {
  *to << kind.name;
}

class AgainstDense : public testing::TestWithParam<Case> {
 protected:
  Propagation S(int round) const {
    const int64_t nodes = 1 + 2 * round;
    const Graph graph = random_graph(nodes, nodes * (1 + round % 4), 31 * round + 5);
    return propagation(graph, GetParam().direction, GetParam().normalise, GetParam().self_loops);
  }
};

TEST_P(AgainstDense, EveryLaneOfADoubleBlockSolvesItsOwnSystem) {
  for (int round = 0; round < 16; ++round) {
    SCOPED_TRACE(round);
    expect_dense_answer<double>(S(round), eight_shifts, false, 1e-12, round);
    expect_dense_answer<double>(S(round), eight_shifts, true, 1e-12, round + 100);
  }
}

TEST_P(AgainstDense, EveryLaneOfAFloatBlockSolvesItsOwnSystem) {
  // Without slack the pivots lose what h - a Â_kk cancels; then keep away from a = 1.
  const std::vector<double> shifts =
      GetParam().with_slack ? eight_shifts : std::vector<double>{0, 0.05, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9};
  for (int round = 0; round < 16; ++round) {
    SCOPED_TRACE(round);
    expect_dense_answer<float>(S(round), shifts, false, 1e-4, round);
    expect_dense_answer<float>(S(round), shifts, true, 1e-4, round + 100);
  }
}

TEST_P(AgainstDense, TheGraphsAreOfTheKindTheyShouldBe) {
  bool directed = false, leftover = false;
  for (int round = 0; round < 16; ++round) {
    const Propagation s = S(round);
    EXPECT_EQ(s.slack.empty(), !GetParam().with_slack && !s.symmetric);
    directed = directed || !s.symmetric;
    leftover = leftover || std::any_of(s.slack.begin(), s.slack.end(), [](double x) { return x > 0; });
  }
  EXPECT_EQ(directed, GetParam().direction != Direction::undirected);
  EXPECT_EQ(leftover, GetParam().with_slack && !GetParam().self_loops)
      << "some rows must have slack, or none";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, AgainstDense,
    testing::Values(Case{"Undirected", Direction::undirected, Normalisation::sym, true, true},
                    Case{"UndirectedWithSlack", Direction::undirected, Normalisation::sym, false, true},
                    Case{"Directed", Direction::in, Normalisation::sym, true, true},
                    Case{"DirectedWithSlack", Direction::in, Normalisation::sym, false, true},
                    Case{"DirectedTurnedRound", Direction::out, Normalisation::sym, true, true},
                    Case{"OutIn", Direction::in, Normalisation::out_in, true, false},
                    Case{"OutInWithoutSelfLoops", Direction::in, Normalisation::out_in, false, false}),
    [](const auto& kind) { return kind.param.name; });

TEST(GthKernel, TransposedAnswersDifferOnADirectedGraph) {
  // 0 -> 1 with self-loops: M = [2-a -a; 0 1-a]; a signal at 0 reaches 1, and only so.
  const Propagation S = propagation(Graph::from_arcs(2, {0}, {1}), Direction::in, Normalisation::sym, true);
  const Elimination e = analyse_elimination(S);
  const std::vector<double> a(8, 0.5), complement(8, 0.5);
  GthFactor<double> factor;
  ASSERT_TRUE(factor.factor(e, a.data(), complement.data()));
  for (bool transposed : {false, true}) {
    Block<double> y(e);
    for (int l = 0; l < 8; ++l) y.m(0, l) = 3;
    factor.solve(e, y.lanes(), transposed);
    EXPECT_DOUBLE_EQ(y.m(0, 3), 2) << "3 / (2 - a)";
    EXPECT_DOUBLE_EQ(y.m(1, 3), transposed ? 0 : 2) << "a y_0 / (1 - a)";
  }
}

TEST(GthKernel, FactorsMayBeReplaced) {
  const Propagation S = make_propagation(karate_club());
  const Elimination e = analyse_elimination(S);
  const Propagation tiny = make_propagation(chain_graph(1, 3));
  const Elimination f = analyse_elimination(tiny);
  const std::vector<double> weak(8, 0.25), strong(8, 0.75);
  GthFactor<double> used, fresh;
  ASSERT_TRUE(used.factor(f, strong.data(), weak.data()));
  ASSERT_TRUE(used.factor(e, strong.data(), weak.data()));
  ASSERT_TRUE(used.factor(e, weak.data(), strong.data()));
  ASSERT_TRUE(fresh.factor(e, weak.data(), strong.data()));
  Block<double> a(e), b(e);
  fill_randomly(a, 1);
  fill_randomly(b, 1);
  used.solve(e, a.lanes(), false);
  fresh.solve(e, b.lanes(), false);
  EXPECT_EQ(a.mantissa, b.mantissa);
}

// ---- a thousand hops

// y M = b on an undirected chain with self-loops by Thomas' recurrence in quadruple precision, where the
// excess is complement · h and the off-diagonals are -a.
std::vector<Quad> chain_answer(int64_t nodes, Quad a, Quad complement, const std::vector<Quad>& b) {
  std::vector<Quad> pivot(nodes), y(nodes);
  for (int64_t i = 0; i < nodes; ++i) {
    const int neighbours = (i > 0) + (i + 1 < nodes);
    const Quad diagonal = complement * (neighbours + 1) + a * neighbours;
    pivot[i] = i > 0 ? diagonal - a * a / pivot[i - 1] : diagonal;
    y[i] = i > 0 ? b[i] + y[i - 1] * a / pivot[i - 1] : b[i];
  }
  for (int64_t i = nodes - 1; i >= 0; --i) y[i] = (i + 1 < nodes ? y[i] + a * y[i + 1] : y[i]) / pivot[i];
  return y;
}

// The largest relative error of any entry of any lane.
template <class T>
double worst_entry(Block<T>& y, const std::vector<std::vector<Quad>>& expected) {
  double worst = 0;
  for (int l = 0; l < W<T>; ++l)
    for (size_t v = 0; v < expected[l].size(); ++v) {
      const double ratio = static_cast<double>(y.value(static_cast<int64_t>(v), l) / expected[l][v]);
      worst = std::max(worst, std::isnan(ratio) ? 1e300 : std::fabs(ratio - 1));
    }
  return worst;
}

// Four units of round-off for every hop: one for the pivot and one for each factor, repeated alike along a
// chain.
template <class T>
double round_off(int64_t hops) {
  return 4 * static_cast<double>(hops) * std::numeric_limits<T>::epsilon() / 2;
}

struct Shift {
  double a, complement;
};

const std::vector<Shift> from_weak_to_one = {{1e-3, 1 - 1e-3},   {0.05, 0.95},      {0.3, 0.7},
                                             {0.8, 0.2},         {0.99, 0.01},      {1 - 1e-6, 1e-6},
                                             {1 - 1e-12, 1e-12}, {1 - 1e-15, 1e-15}};

// A right-hand side per lane from (node, lane), solved by the kernel and by the recurrence.
template <class T, class Right>
double worst_on_a_chain(int64_t nodes, const std::vector<Shift>& shifts, Right right,
                        const std::function<void(Block<T>&)>& inspect = {}) {
  const Propagation S = make_propagation(chain_graph(1, nodes));
  const Elimination e = analyse_elimination(S);
  T a[W<T>], complement[W<T>];
  Block<T> y(e);
  std::vector<std::vector<Quad>> expected;
  for (int l = 0; l < W<T>; ++l) {
    a[l] = static_cast<T>(shifts[l % shifts.size()].a);
    complement[l] = static_cast<T>(shifts[l % shifts.size()].complement);
    std::vector<Quad> b(nodes);
    for (int64_t v = 0; v < nodes; ++v) {
      right(v, l, y.m(v, l), y.d(v, l));
      b[v] = y.value(v, l);
    }
    expected.push_back(chain_answer(nodes, a[l], complement[l], b));
  }
  GthFactor<T> factor;
  EXPECT_TRUE(factor.factor(e, a, complement));
  factor.solve(e, y.lanes(), false);
  if (inspect) inspect(y);
  return worst_entry(y, expected);
}

TEST(GthKernel, KeepsTheRelativeAccuracyOfEveryEntryAlongAThousandHops) {
  auto first_node = [](int64_t v, int, double& m, int64_t&) { m = v == 0 ? 1 : 0; };
  const double worst = worst_on_a_chain<double>(1000, from_weak_to_one, first_node, [](Block<double>& y) {
    // What makes it hard: the weakest lanes end far below any double.
    EXPECT_LT(y.d(999, 0), -20);
    EXPECT_LT(y.d(999, 1), -8);
    EXPECT_EQ(ordinary<double>(y.m(999, 2), y.d(999, 2)), 0);
    EXPECT_GT(ordinary<double>(y.m(999, 4), y.d(999, 4)), 0);
  });
  EXPECT_LT(worst, round_off<double>(1000));
}

TEST(GthKernel, KeepsTheRelativeAccuracyOfEveryEntryForPositiveRightHandSides) {
  std::mt19937_64 random(3);
  auto positive = [&](int64_t, int, double& m, int64_t&) {
    m = std::ldexp(1.0 + double(random() % 1000), -20);
  };
  EXPECT_LT(worst_on_a_chain<double>(1000, from_weak_to_one, positive), round_off<double>(1000));
}

TEST(GthKernel, KeepsTheRelativeAccuracyFromTheMiddleAndFromTheEnd) {
  for (int64_t from : {500, 999}) {
    auto one_node = [&](int64_t v, int, double& m, int64_t&) { m = v == from ? 3 : 0; };
    EXPECT_LT(worst_on_a_chain<double>(1000, from_weak_to_one, one_node), round_off<double>(1000)) << from;
  }
}

TEST(GthKernel, TakesHugeAndTinyDigitsInOneRightHandSide) {
  // Values from 2^-2800 to 2^2800, other ones in every lane; zeros between them.
  std::mt19937_64 random(11);
  auto mixed = [&](int64_t v, int, double& m, int64_t& d) {
    if (v % 3 == 1) return;
    m = std::ldexp(1.0 + double(random() % 1000), int(random() % 400) - 200);
    d = int64_t(random() % 11) - 5;
  };
  EXPECT_LT(worst_on_a_chain<double>(1000, from_weak_to_one, mixed), round_off<double>(1000));
}

TEST(GthKernel, TakesMantissasAnywhereInTheFloatingRange) {
  const double extremes[] = {1e300, 1e-300, 4.9e-324, 1.7e308, 1, 0};
  auto raw = [&](int64_t v, int l, double& m, int64_t&) { m = extremes[(v + l) % 6]; };
  EXPECT_LT(worst_on_a_chain<double>(60, from_weak_to_one, raw), round_off<double>(60));
}

TEST(GthKernel, ASignalSurvivesBesideAMuchLargerOneThatIsFarAway) {
  // Digit 8 at node 0 and digit -8 at node 999: each end sees its own, the middle sees where they cross.
  auto ends = [](int64_t v, int, double& m, int64_t& d) {
    m = v == 0 || v == 999 ? 1 : 0;
    d = v == 0 ? 8 : v == 999 ? -8 : 0;
  };
  EXPECT_LT(worst_on_a_chain<double>(1000, from_weak_to_one, ends), round_off<double>(1000));
}

TEST(GthKernel, KeepsTheRelativeAccuracyInFloat) {
  // 2^(64·digit): a = 0.05 is below any float after 25 hops.
  auto first_node = [](int64_t v, int, float& m, int32_t&) { m = v == 0 ? 1 : 0; };
  const double worst = worst_on_a_chain<float>(1000, from_weak_to_one, first_node,
                                               [](Block<float>& y) { EXPECT_LT(y.d(999, 1), -60); });
  EXPECT_LT(worst, round_off<float>(1000));
  auto mixed = [](int64_t v, int l, float& m, int32_t& d) {
    m = static_cast<float>(1 + (v + l) % 5);
    d = static_cast<int32_t>((7 * v + l) % 9 - 4);
  };
  EXPECT_LT(worst_on_a_chain<float>(1000, from_weak_to_one, mixed), round_off<float>(1000));
}

TEST(GthKernel, FollowsADirectedPathBelowAnyRange) {
  // Listening along the arcs of a path without other arcs: y_k = (a/(2-a))^k b_0/(2-a), up to the last node.
  const int64_t nodes = 1000;
  const Propagation S = propagation(chain_graph(1, nodes), Direction::in, Normalisation::sym, true);
  const Elimination e = analyse_elimination(S);
  double a[8], complement[8];
  for (int l = 0; l < 8; ++l) {
    a[l] = from_weak_to_one[l].a;
    complement[l] = from_weak_to_one[l].complement;
  }
  GthFactor<double> factor;
  ASSERT_TRUE(factor.factor(e, a, complement));
  Block<double> forth(e), back(e);
  for (int l = 0; l < 8; ++l) forth.m(0, l) = back.m(nodes - 1, l) = 1;
  factor.solve(e, forth.lanes(), false);
  factor.solve(e, back.lanes(), true);
  for (int l = 0; l < 8; ++l) {
    // Row k of M is (2-a, -a), the last row (1-a).
    const Quad shift = a[l], rest = complement[l], pivot = 2 * rest + shift;
    Quad expected = 1 / pivot;
    for (int64_t k = 0; k + 1 < nodes; ++k) {
      ASSERT_NEAR(static_cast<double>(forth.value(k, l) / expected), 1, round_off<double>(nodes))
          << "node " << k << ", lane " << l;
      expected *= k + 2 < nodes ? shift / pivot : shift / rest;
    }
    ASSERT_NEAR(static_cast<double>(forth.value(nodes - 1, l) / expected), 1, round_off<double>(nodes))
        << "lane " << l;
    // Against the arcs a signal at the last node comes to every earlier one.
    expected = 1 / rest;
    for (int64_t k = nodes - 1; k >= 0; --k) {
      ASSERT_NEAR(static_cast<double>(back.value(k, l) / expected), 1, round_off<double>(nodes))
          << "node " << k << ", lane " << l;
      expected *= shift / pivot;
    }
  }
}

// ---- zero and singular

TEST(GthKernel, AZeroRightHandSideGivesZero) {
  for (Direction direction : {Direction::undirected, Direction::in}) {
    const Propagation S = propagation(random_graph(40, 80, 9), direction, Normalisation::sym, true);
    const Elimination e = analyse_elimination(S);
    double a[8], complement[8];
    for (int l = 0; l < 8; ++l) {
      a[l] = from_weak_to_one[l].a;
      complement[l] = from_weak_to_one[l].complement;
    }
    GthFactor<double> factor;
    ASSERT_TRUE(factor.factor(e, a, complement));
    for (bool transposed : {false, true}) {
      Block<double> y(e);
      for (int64_t k = 0; k < 320; ++k) y.digit[k] = k % 7 - 3;  // a zero may carry any digit
      factor.solve(e, y.lanes(), transposed);
      EXPECT_EQ(y.mantissa, std::vector<double>(320, 0.0));
    }
  }
}

TEST(GthKernel, ALaneOfZerosStaysZeroBesideTheOthers) {
  auto all_but_one = [](int64_t v, int l, double& m, int64_t&) { m = v == 0 && l != 4 ? 1 : 0; };
  worst_on_a_chain<double>(1000, from_weak_to_one, all_but_one, [](Block<double>& y) {
    for (int64_t v = 0; v < 1000; ++v) {
      ASSERT_EQ(y.m(v, 4), 0) << v;
      ASSERT_GT(y.m(v, 3), 0) << v;
    }
  });
}

TEST(GthKernel, ANodeThatNoSignalReachesIsExactlyZero) {
  const Propagation S = make_propagation(chain_graph(2, 5));
  const Elimination e = analyse_elimination(S);
  const std::vector<double> a(8, 0.8), complement(8, 0.2);
  GthFactor<double> factor;
  ASSERT_TRUE(factor.factor(e, a.data(), complement.data()));
  Block<double> y(e);
  for (int l = 0; l < 8; ++l) y.m(0, l) = 1;
  factor.solve(e, y.lanes(), false);
  for (int64_t v = 0; v < 10; ++v) EXPECT_EQ(y.m(v, 0) > 0, v < 5) << v;
}

TEST(GthKernel, ASingularMatrixInAnyLaneMakesFactorReturnFalse) {
  for (const Graph& graph : {karate_club(), chain_graph(3, 20), Graph::from_arcs(1, {}, {})}) {
    const Elimination e = analyse_elimination(make_propagation(graph));
    for (int lane = 0; lane < 8; ++lane) {
      std::vector<double> a(8, 0.5), complement(8, 0.5);
      GthFactor<double> factor;
      EXPECT_TRUE(factor.factor(e, a.data(), complement.data()));
      a[lane] = 1;
      complement[lane] = 0;  // diag(h) - Â has the null vector of ones
      EXPECT_FALSE(factor.factor(e, a.data(), complement.data())) << "lane " << lane;
      complement[lane] = 1e-300;
      EXPECT_TRUE(factor.factor(e, a.data(), complement.data())) << "lane " << lane;
    }
    std::vector<float> one(16, 1.0f), none(16, 0.0f);
    EXPECT_FALSE(GthFactor<float>().factor(e, one.data(), none.data()));
  }
}

TEST(GthKernel, ANotANumberAmongTheShiftsMakesFactorReturnFalse) {
  const Elimination e = analyse_elimination(make_propagation(karate_club()));
  std::vector<double> a(8, 0.5), complement(8, 0.5);
  a[5] = complement[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(GthFactor<double>().factor(e, a.data(), complement.data()));
}

TEST(GthKernel, SlackKeepsAMatrixRegularAtShiftOne) {
  // 0 -> 1 -> … -> 5 without self-loops: 5 sends nothing, so 4's arc into it is dropped and is slack.
  const Propagation S = propagation(chain_graph(1, 6), Direction::in, Normalisation::sym, false);
  expect_dense_answer<double>(S, {1}, false, 1e-15, 1);
  expect_dense_answer<double>(S, {1}, true, 1e-15, 2);
}

TEST(GthKernel, AGraphWithoutNodesIsSolved) {
  const Elimination e = analyse_elimination(make_propagation(Graph()));
  const std::vector<double> a(8, 0.5);
  GthFactor<double> factor;
  EXPECT_TRUE(factor.factor(e, a.data(), a.data()));
  Block<double> y(e);
  factor.solve(e, y.lanes(), false);
}

// ---- receive

// One block of lanes, place by place.
template <class T>
void receive_everywhere(Block<T>& y, Block<T>& out) {
  const LaneBlocks<T> from = {y.mantissa.data(), y.digit.data(), y.e.nodes * W<T>, W<T>};
  for (int64_t i = 0; i < y.e.nodes; ++i)
    receive<T>(y.e, from, i, out.mantissa.data() + i * W<T>, out.digit.data() + i * W<T>);
}

template <class T>
void expect_received(const Propagation& S, Block<T>& y, double tolerance) {
  Block<T> out(y.e);
  std::fill(out.mantissa.begin(), out.mantissa.end(), T(99));  // whatever was there is overwritten
  receive_everywhere(y, out);
  for (int l = 0; l < W<T>; ++l) {
    std::vector<Quad> expected(S.nodes, 0), size(S.nodes, 0);
    for (int64_t i = 0; i < S.nodes; ++i)
      for (int64_t k = S.row_begin[i]; k < S.row_begin[i + 1]; ++k) {
        const Quad term = y.value(i, l) * S.weight_of(i, k);
        expected[S.column[k]] += term;
        size[S.column[k]] += term < 0 ? -term : term;
      }
    for (int64_t v = 0; v < S.nodes; ++v) {
      const Quad error = out.value(v, l) - expected[v];
      EXPECT_TRUE((error < 0 ? -error : error) <= tolerance * size[v]) << "node " << v << ", lane " << l;
    }
  }
}

TEST(Receive, IsTheTransposedIntegerMatrixTimesTheVector) {
  for (Direction direction : {Direction::undirected, Direction::in, Direction::out})
    for (bool self_loops : {true, false}) {
      const Propagation S = propagation(random_graph(30, 70, 4), direction, Normalisation::sym, self_loops);
      const Elimination e = analyse_elimination(S);
      Block<double> y(e);
      fill_randomly(y, 8);
      expect_received(S, y, 1e-15);
      Block<float> single(e);
      fill_randomly(single, 8);
      expect_received(S, single, 1e-6);
    }
}

TEST(Receive, AddsNumbersOfDifferentDigits) {
  const Propagation S = propagation(random_graph(30, 70, 4), Direction::in, Normalisation::out_in, true);
  const Elimination e = analyse_elimination(S);
  Block<double> y(e);
  fill_randomly(y, 8);
  std::mt19937_64 random(5);
  for (int64_t& digit : y.digit) digit = static_cast<int64_t>(random() % 7) - 3;
  expect_received(S, y, 1e-15);
}

TEST(Receive, ATinyNumberIsNotLostBesideAZeroOfALargeDigit) {
  // 0 - 1: the zero at one end must not drag the other up to its digit, whichever is added first.
  const Propagation S = make_propagation(Graph::from_arcs(2, {0}, {1}));
  const Elimination e = analyse_elimination(S);
  for (int64_t zero : {0, 1}) {
    Block<double> y(e), out(e);
    for (int l = 0; l < 8; ++l) {
      y.d(zero, l) = 6;
      y.m(1 - zero, l) = 0.75;
      y.d(1 - zero, l) = -6;
    }
    receive_everywhere(y, out);
    for (int64_t v : {0, 1}) {
      EXPECT_EQ(out.m(v, 2), 0.75) << "zero at " << zero;
      EXPECT_EQ(out.d(v, 2), -6) << "zero at " << zero;
    }
  }
}

// ---- ordinary

TEST(Ordinary, LeavesNumbersOfTheOrdinaryRangeAsTheyAre) {
  EXPECT_EQ(ordinary<double>(-1.5, 0), -1.5);
  EXPECT_EQ(ordinary<double>(1.5, 1), std::ldexp(1.5, 512));
  EXPECT_EQ(ordinary<double>(1.5, -1), std::ldexp(1.5, -512));
  EXPECT_EQ(ordinary<double>(-std::ldexp(1.5, 250), -2), -std::ldexp(1.5, 250 - 1024));
  EXPECT_EQ(ordinary<float>(1.5f, 1), std::ldexp(1.5f, 64));
  EXPECT_EQ(ordinary<float>(std::ldexp(1.5f, 30), -2), std::ldexp(1.5f, 30 - 128));
}

TEST(Ordinary, IsZeroBelowTheRangeAndInfiniteAboveIt) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (int64_t digits : {int64_t(3), int64_t(9), int64_t(1) << 40}) {
    EXPECT_EQ(ordinary<double>(1.5, digits), infinity) << digits;
    EXPECT_EQ(ordinary<double>(-1.5, digits), -infinity) << digits;
    EXPECT_EQ(ordinary<double>(1.5, -digits), 0) << digits;
  }
  EXPECT_EQ(ordinary<float>(1.5f, 3), std::numeric_limits<float>::infinity());
  EXPECT_EQ(ordinary<float>(1.5f, -4), 0);
}

TEST(Ordinary, ReachesToTheEndsOfTheRange) {
  // 2^(512·2) alone is no double, and these are.
  EXPECT_EQ(ordinary<double>(std::ldexp(1.0, -200), 2), std::ldexp(1.0, 824));
  EXPECT_EQ(ordinary<double>(std::ldexp(1.0, -1), 2), std::ldexp(1.0, 1023));
  EXPECT_EQ(ordinary<double>(std::ldexp(1.0, 255), -2), std::ldexp(1.0, -769));
  EXPECT_EQ(ordinary<float>(std::ldexp(1.0f, -20), 2), std::ldexp(1.0f, 108));
}

TEST(Ordinary, ZeroIsZeroWhateverItsDigit) {
  for (int64_t digits = -9; digits <= 9; ++digits) {
    EXPECT_EQ(ordinary<double>(0.0, digits), 0) << digits;
    EXPECT_EQ(ordinary<float>(0.0f, static_cast<int32_t>(digits)), 0) << digits;
  }
}

}  // namespace
}  // namespace eignn
