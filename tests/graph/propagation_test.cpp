#include "eignn/propagation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "support/message_of.h"
#include "support/random_graph.h"
#include "support/random_weights.h"
#include "support/weights_of.h"

namespace eignn {
namespace {

using Matrix = std::vector<std::vector<double>>;
using Row = std::vector<double>;

Matrix dense(const Propagation& S) {
  Matrix out(S.nodes, Row(S.nodes, 0.0));
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) out[i][S.column[e]] += S.value(i, e);
  return out;
}

void expect_matrix(const Propagation& S, const Matrix& expected) {
  ASSERT_EQ(S.nodes, static_cast<int64_t>(expected.size()));
  const Matrix found = dense(S);
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t j = 0; j < expected.size(); ++j)
      EXPECT_NEAR(found[i][j], expected[i][j], 1e-15) << "S(" << i << ", " << j << ")";
}

PropagationOptions options(Direction direction, Normalisation normalise, bool self_loops) {
  PropagationOptions o;
  o.direction = direction;
  o.normalise = normalise;
  o.self_loops = self_loops;
  return o;
}

constexpr auto undirected = Direction::undirected;
constexpr auto in = Direction::in;
constexpr auto out = Direction::out;
constexpr auto sym = Normalisation::sym;
constexpr auto out_in = Normalisation::out_in;

// 0 -> 1, 0 -> 2, 1 -> 2: row sums of A+I are 3, 2, 1, its column sums 1, 2, 3.
Graph triangle() {
  return Graph::from_arcs(3, {0, 0, 1}, {1, 2, 2});
}

double root(double x) {
  return std::sqrt(x);
}

// ---- entry by entry

TEST(Propagation, IsSymmetricNormalisedWithSelfLoopsUnlessToldOtherwise) {
  // The path 0 - 1 - 2: degrees 2, 3, 2.
  expect_matrix(make_propagation(Graph::from_arcs(3, {0, 1}, {1, 2})),
                {{1.0 / 2, 1 / root(6), 0}, {1 / root(6), 1.0 / 3, 1 / root(6)}, {0, 1 / root(6), 1.0 / 2}});
}

TEST(Propagation, UndirectedWithoutSelfLoopsIsTheNormalisedAdjacency) {
  expect_matrix(make_propagation(Graph::from_arcs(3, {0, 1}, {1, 2}), options(undirected, sym, false)),
                {{0, 1 / root(2), 0}, {1 / root(2), 0, 1 / root(2)}, {0, 1 / root(2), 0}});
}

TEST(Propagation, InTakesTheArcsAsTheyAre) {
  expect_matrix(make_propagation(triangle(), options(in, sym, true)),
                {{1.0 / 3, 1 / root(6), 1 / root(3)}, {0, 1.0 / 2, 1 / root(2)}, {0, 0, 1}});
}

TEST(Propagation, OutTakesTheArcsTurnedRound) {
  // Aᵀ + I has the rows {0}, {0, 1}, {0, 1, 2} with the sums 1, 2, 3.
  expect_matrix(make_propagation(triangle(), options(out, sym, true)),
                {{1, 0, 0}, {1 / root(2), 1.0 / 2, 0}, {1 / root(3), 1 / root(6), 1.0 / 3}});
}

TEST(Propagation, OutInDividesByTheRowSumAtTheTailAndTheColumnSumAtTheHead) {
  expect_matrix(make_propagation(triangle(), options(in, out_in, true)),
                {{1 / root(3), 1 / root(6), 1.0 / 3}, {0, 1.0 / 2, 1 / root(6)}, {0, 0, 1 / root(3)}});
  // Without I: row sums 2, 1, 0, column sums 0, 1, 2.
  expect_matrix(make_propagation(triangle(), options(in, out_in, false)),
                {{0, 1 / root(2), 1.0 / 2}, {0, 0, 1 / root(2)}, {0, 0, 0}});
}

TEST(Propagation, OutInOnAnUndirectedGraphIsSym) {
  const Graph club = karate_club();
  for (Direction direction : {undirected, in, out})
    EXPECT_EQ(dense(make_propagation(club, options(direction, out_in, true))),
              dense(make_propagation(club, options(undirected, sym, true))));
}

TEST(Propagation, ALoopInTheDataAddsOneOnTopOfTheIdentity) {
  // A loop at 0 (twice in the list) and one at 2: Â = [2 1 0; 1 1 1; 0 1 2].
  const Graph graph = Graph::from_arcs(3, {0, 0, 1, 0, 2}, {0, 1, 2, 0, 2});
  const Propagation S = make_propagation(graph);
  expect_matrix(S, {{2.0 / 3, 1.0 / 3, 0}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0, 1.0 / 3, 2.0 / 3}});
  EXPECT_EQ(weights_of(S), (Row{2, 1, 1, 1, 1, 1, 2}));
  EXPECT_TRUE(S.weight.empty()) << "4 bytes an entry";
  EXPECT_EQ(S.diagonal, (Row{2, 1, 2}));
}

TEST(Propagation, ALoopInTheDataCountsOnceWithoutTheIdentity) {
  const Graph graph = Graph::from_arcs(2, {0, 0, 0}, {0, 1, 0});
  expect_matrix(make_propagation(graph, options(undirected, sym, false)),
                {{1.0 / 2, 1 / root(2)}, {1 / root(2), 0}});
}

TEST(Propagation, ALoopCountsOnBothSidesOfADirectedGraph) {
  // Â = [2 1; 0 1]: row sums 3, 1, column sums 2, 2.
  const Graph graph = Graph::from_arcs(2, {0, 0}, {0, 1});
  expect_matrix(make_propagation(graph, options(in, sym, true)), {{2.0 / 3, 1 / root(3)}, {0, 1}});
  expect_matrix(make_propagation(graph, options(in, out_in, true)),
                {{2 / root(6), 1 / root(6)}, {0, 1 / root(2)}});
}

TEST(Propagation, DuplicatesCountOnce) {
  const Graph once = Graph::from_arcs(3, {0, 1}, {1, 2});
  const Graph often = Graph::from_arcs(3, {0, 1, 0, 1, 2, 0}, {1, 2, 1, 2, 1, 1});  // 2 -> 1 is a reverse
  EXPECT_EQ(dense(make_propagation(once)), dense(make_propagation(often)));
}

TEST(Propagation, StoresTheIntegersOfAWithTheColumnsAscending) {
  // The loop meets I in the middle of row 1; I is first in row 0 and last in row 2.
  const Graph graph = Graph::from_arcs(3, {1, 1, 1, 2, 0}, {2, 1, 0, 0, 2});
  const Propagation S = make_propagation(graph, options(in, out_in, true));
  EXPECT_EQ(S.row_begin, (std::vector<int64_t>{0, 2, 5, 7}));
  EXPECT_EQ(S.column, (std::vector<int32_t>{0, 2, 0, 1, 2, 0, 2}));
  EXPECT_EQ(weights_of(S), (Row{1, 1, 1, 2, 1, 1, 1}));
  EXPECT_EQ(S.entries(), 7);
  const Graph pattern = S.pattern();
  EXPECT_EQ(pattern.nodes, 3);
  EXPECT_EQ(pattern.row_begin, S.row_begin);
  EXPECT_EQ(pattern.target, S.column);
}

TEST(Propagation, OfTheEmptyGraphIsEmpty) {
  const Propagation S = make_propagation(Graph());
  EXPECT_EQ(S.nodes, 0);
  EXPECT_EQ(S.entries(), 0);
  EXPECT_EQ(S.row_begin, std::vector<int64_t>{0});
  EXPECT_TRUE(S.slack.empty());
}

// ---- a node of degree zero

TEST(Propagation, AnIsolatedNodeKeepsItsOwnSignalWithSelfLoops) {
  const Graph graph = Graph::from_arcs(3, {0}, {1});
  expect_matrix(make_propagation(graph), {{1.0 / 2, 1.0 / 2, 0}, {1.0 / 2, 1.0 / 2, 0}, {0, 0, 1}});
}

TEST(Propagation, ANodeOfDegreeZeroHasAZeroRow) {
  const Graph graph = Graph::from_arcs(3, {0}, {1});
  expect_matrix(make_propagation(graph, options(undirected, sym, false)), {{0, 1, 0}, {1, 0, 0}, {0, 0, 0}});
}

TEST(Propagation, UnderSymANodeWithoutOutgoingArcsHasAZeroColumnToo) {
  // 2 sends nothing: D^-1/2 = 0 there silences 0 -> 2 and 1 -> 2. The degrees of 0 and 1 stay 2 and 1.
  expect_matrix(make_propagation(triangle(), options(in, sym, false)),
                {{0, 1 / root(2), 0}, {0, 0, 0}, {0, 0, 0}});
  // Turned round it is 0 that sends nothing: 1 -> 0 and 2 -> 0 are silent, the degrees of 1 and 2 are 1
  // and 2.
  expect_matrix(make_propagation(triangle(), options(out, sym, false)),
                {{0, 0, 0}, {0, 0, 0}, {0, 1 / root(2), 0}});
}

TEST(Propagation, UnderOutInANodeWithoutOutgoingArcsStillHears) {
  // 0 -> 1 <- 2: row sums 1, 0, 1; column sums 0, 2, 0.
  const Graph graph = Graph::from_arcs(3, {0, 2}, {1, 1});
  expect_matrix(make_propagation(graph, options(in, out_in, false)),
                {{0, 1 / root(2), 0}, {0, 0, 0}, {0, 1 / root(2), 0}});
}

// ---- what is known of S

TEST(Propagation, KnowsWhetherItIsSymmetric) {
  const Graph both_ways = triangle().symmetrised();
  for (Normalisation normalise : {sym, out_in})
    for (bool self_loops : {true, false}) {
      EXPECT_TRUE(make_propagation(triangle(), options(undirected, normalise, self_loops)).symmetric);
      EXPECT_FALSE(make_propagation(triangle(), options(in, normalise, self_loops)).symmetric);
      EXPECT_FALSE(make_propagation(triangle(), options(out, normalise, self_loops)).symmetric);
      EXPECT_TRUE(make_propagation(both_ways, options(in, normalise, self_loops)).symmetric);
      EXPECT_TRUE(make_propagation(both_ways, options(out, normalise, self_loops)).symmetric);
    }
}

TEST(Propagation, SlackIsWhatTheDroppedArcsLeaveOver) {
  // Row sums of A 2, 1, 0; both arcs into 2 are dropped; a node without a degree has h = 1.
  EXPECT_EQ(make_propagation(triangle(), options(in, sym, false)).slack, (Row{1, 1, 1}));
  EXPECT_EQ(make_propagation(triangle(), options(in, sym, true)).slack, (Row{0, 0, 0}));
  EXPECT_EQ(make_propagation(triangle(), options(undirected, sym, true)).slack, (Row{0, 0, 0}));
  EXPECT_EQ(make_propagation(Graph::from_arcs(3, {0}, {1}), options(undirected, sym, false)).slack,
            (Row{0, 0, 1}));
  // 0 -> 1 … 4, of which 2, 3, 4 send nothing: h = 4, one arc is left.
  const Graph fan = Graph::from_arcs(5, {0, 0, 0, 0, 1}, {1, 2, 3, 4, 0});
  EXPECT_EQ(make_propagation(fan, options(in, sym, false)).slack, (Row{3, 0, 1, 1, 1}));
}

TEST(Propagation, SlackIsUnknownForOutInOnADirectedGraph) {
  EXPECT_TRUE(make_propagation(triangle(), options(in, out_in, true)).slack.empty());
  EXPECT_TRUE(make_propagation(triangle(), options(out, out_in, false)).slack.empty());
  EXPECT_EQ(make_propagation(triangle(), options(undirected, out_in, true)).slack.size(), 3u);
}

// ---- properties on random graphs

Row times(const Matrix& S, const Row& x) {
  Row y(x.size(), 0.0);
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::inner_product(x.begin(), x.end(), S[i].begin(), 0.0);
  return y;
}

Matrix transposed(const Matrix& S) {
  Matrix T(S.size(), Row(S.size()));
  for (size_t i = 0; i < S.size(); ++i)
    for (size_t j = 0; j < S.size(); ++j) T[j][i] = S[i][j];
  return T;
}

double norm(const Row& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

// ‖S x_k‖ / ‖x_k‖ along x_{k+1} = T S x_k: for T = Sᵀ it rises to the 2-norm of S.
double two_norm(const Matrix& S) {
  const Matrix T = transposed(S);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Row x(S.size());
  for (double& v : x) v = normal(random);
  double largest = 0;
  for (int k = 0; k < 500; ++k) {
    const double before = norm(x);
    if (before == 0) break;
    Row y = times(S, x);
    largest = std::max(largest, norm(y) / before);
    x = times(T, y);
    const double size = norm(x);
    if (size == 0) break;
    for (double& v : x) v /= size;
  }
  return largest;
}

// ‖S^k‖_F^(1/k) with k = 2^12 by squaring: above the spectral radius, and within n^(1/k) of it.
double spectral_radius_bound(Matrix S) {
  double log_scale = 0;
  for (int squarings = 0; squarings < 12; ++squarings) {
    Matrix square(S.size(), Row(S.size(), 0.0));
    for (size_t i = 0; i < S.size(); ++i)
      for (size_t k = 0; k < S.size(); ++k)
        for (size_t j = 0; j < S.size(); ++j) square[i][j] += S[i][k] * S[k][j];
    double size = 0;
    for (const Row& row : square) size = std::hypot(size, norm(row));
    if (size == 0) return 0;  // nilpotent
    for (Row& row : square)
      for (double& v : row) v /= size;
    log_scale = 2 * log_scale + std::log(size);
    S = square;
  }
  return std::exp(log_scale / 4096);
}

class RandomPropagation : public testing::TestWithParam<int> {
 protected:
  // From nearly empty to dense.
  Graph graph() const {
    const int64_t nodes = 4 + 3 * GetParam() % 20;
    return random_graph(nodes, nodes * (1 + GetParam() % 4), 100 + GetParam());
  }
};

TEST_P(RandomPropagation, SymmetricSpectrumLiesBetweenMinusOneAndOne) {
  for (bool self_loops : {true, false}) {
    const Matrix S = dense(make_propagation(graph(), options(undirected, sym, self_loops)));
    EXPECT_EQ(S, transposed(S));
    const double size = two_norm(S);  // of a symmetric matrix: the largest |λ|
    EXPECT_LE(size, 1 + 1e-13);
    EXPECT_GT(size, 1 - 1e-6) << "D^1/2 1 is an eigenvector to 1";
  }
}

TEST_P(RandomPropagation, DirectedSymHasASpectralRadiusOfAtMostOne) {
  for (Direction direction : {in, out})
    for (bool self_loops : {true, false}) {
      const double radius =
          spectral_radius_bound(dense(make_propagation(graph(), options(direction, sym, self_loops))));
      // ‖S^k‖_F ≤ cond(D^1/2) n for D^-1 Â of row sums at most 1
      const double n = static_cast<double>(graph().nodes);
      EXPECT_LE(radius, std::pow(n * std::sqrt(n + 1), 1.0 / 4096) * (1 + 1e-12));
      if (self_loops) {
        EXPECT_GT(radius, 1 - 1e-6) << "D^-1 (A+I) is stochastic";
      }
    }
}

TEST_P(RandomPropagation, OutInHasATwoNormOfAtMostOne) {
  for (Direction direction : {in, out})
    for (bool self_loops : {true, false}) {
      const double size = two_norm(dense(make_propagation(graph(), options(direction, out_in, self_loops))));
      EXPECT_LE(size, 1 + 1e-13);
      if (self_loops) {
        EXPECT_GT(size, 1 - 1e-6) << "the square roots of the degrees are a singular pair to 1";
      }
    }
}

TEST_P(RandomPropagation, OutIsInOnTheTransposedGraph) {
  for (Normalisation normalise : {sym, out_in})
    for (bool self_loops : {true, false}) {
      const Propagation a = make_propagation(graph(), options(out, normalise, self_loops));
      const Propagation b = make_propagation(graph().transposed(), options(in, normalise, self_loops));
      EXPECT_EQ(dense(a), dense(b));
      EXPECT_EQ(a.slack, b.slack);
      EXPECT_EQ(a.symmetric, b.symmetric);
    }
}

TEST_P(RandomPropagation, UndirectedDoesNotDependOnTheDirectionOfTheArcs) {
  EXPECT_EQ(dense(make_propagation(graph())), dense(make_propagation(graph().transposed())));
}

TEST_P(RandomPropagation, SlackIsTheScaleLessTheRowSumAndAnInteger) {
  for (Direction direction : {undirected, in, out})
    for (bool self_loops : {true, false}) {
      const Propagation S = make_propagation(graph(), options(direction, sym, self_loops));
      const Row weights = weights_of(S);
      ASSERT_EQ(static_cast<int64_t>(S.slack.size()), S.nodes);
      for (int64_t i = 0; i < S.nodes; ++i) {
        const double sum =
            std::accumulate(weights.begin() + S.row_begin[i], weights.begin() + S.row_begin[i + 1], 0.0);
        const double h = std::round(1 / (S.left[i] * S.right[i]));
        EXPECT_NEAR(1 / (S.left[i] * S.right[i]), h, 1e-12 * h);
        EXPECT_EQ(S.slack[i], h - sum) << "node " << i;
        EXPECT_GE(S.slack[i], 0);
        if (self_loops || direction == undirected) {
          EXPECT_EQ(S.slack[i], sum == 0 ? 1 : 0) << "nothing was dropped";
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Graphs, RandomPropagation, testing::Range(0, 16));

// ---- weights

// D^-1/2 (A/scale + I) D^-1/2 and its kin by their definition, in extended precision.
Matrix by_definition(const Graph& graph, const PropagationOptions& o, double scale) {
  const auto n = static_cast<size_t>(graph.nodes);
  std::vector<std::vector<long double>> A(n, std::vector<long double>(n, 0));
  for (size_t i = 0; i < n; ++i)
    for (int64_t a = graph.row_begin[i]; a < graph.row_begin[i + 1]; ++a) {
      const auto j = static_cast<size_t>(graph.target[a]);
      const long double w = static_cast<long double>(graph.weight[a]) / scale;
      if (o.direction == in) A[i][j] = w;
      if (o.direction == out) A[j][i] = w;
      if (o.direction == undirected) A[i][j] = A[j][i] = std::max({w, A[i][j], A[j][i]});
    }
  std::vector<long double> rows(n, 0), columns(n, 0);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      A[i][j] += o.self_loops && i == j ? 1 : 0;
      rows[i] += A[i][j];
      columns[j] += A[i][j];
    }
  Matrix S(n, Row(n, 0.0));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const long double product = rows[i] * (o.normalise == sym ? rows[j] : columns[j]);
      if (A[i][j] > 0 && product > 0) S[i][j] = static_cast<double>(A[i][j] / std::sqrt(product));
    }
  return S;
}

TEST(WeightedPropagation, IsTheDefinitionEntryByEntryOverTenOrdersOfMagnitude) {
  for (int seed = 0; seed < 12; ++seed) {
    const Graph graph = with_random_weights(random_graph(12, 30, 200 + seed), 10, seed);
    for (const Direction direction : {undirected, in, out})
      for (const Normalisation normalise : {sym, out_in})
        for (const bool self_loops : {true, false}) {
          const auto o = options(direction, normalise, self_loops);
          const Propagation S = make_propagation(graph, o);
          EXPECT_NO_THROW(check(S));
          const Matrix found = dense(S), expected = by_definition(graph, o, scale_of_weights(graph, o));
          for (size_t i = 0; i < found.size(); ++i)
            for (size_t j = 0; j < found.size(); ++j)
              EXPECT_NEAR(found[i][j], expected[i][j], 1e-15 * expected[i][j]) << i << ", " << j;
        }
  }
}

TEST(WeightedPropagation, DividesByTheMeanOfTheArcsAsTheyWereGiven) {
  const Graph graph = Graph::from_arcs(3, {0, 1, 1, 2}, {1, 0, 2, 2}, {1, 4, 3, 8});
  for (const Direction direction : {undirected, in, out})
    EXPECT_EQ(scale_of_weights(graph, options(direction, sym, true)), 4);
  PropagationOptions given;
  given.weight_scale = 2;
  EXPECT_EQ(scale_of_weights(graph, given), 2);
  EXPECT_EQ(make_propagation(graph, given).weight, (Row{1, 2, 2, 1, 1.5, 1.5, 5}));
  EXPECT_EQ(scale_of_weights(Graph::from_arcs(3, {0}, {1}), given), 1) << "without weights A has ones";
  EXPECT_EQ(weights_of(make_propagation(Graph::from_arcs(2, {0}, {1}), given)), (Row{1, 1, 1, 1}));
  for (const double wrong : {-1.0, std::nan(""), HUGE_VAL}) {
    given.weight_scale = wrong;
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { make_propagation(graph, given); }), "(weight-scale)");
  }
}

TEST(WeightedPropagation, EqualWeightsAreAsGoodAsNone) {
  const Graph plain = random_graph(30, 90, 5);
  for (const double w : {1.0, 0.1, 3.7e-5, 1e300, 1e-300, 5e-324}) {
    Graph graph = plain;
    graph.weight.assign(graph.target.size(), w);
    for (const Direction direction : {undirected, in, out})
      for (const Normalisation normalise : {sym, out_in})
        for (const bool self_loops : {true, false}) {
          const auto o = options(direction, normalise, self_loops);
          const Propagation a = make_propagation(plain, o), b = make_propagation(graph, o);
          EXPECT_EQ(a.column, b.column);
          EXPECT_EQ(weights_of(a), weights_of(b)) << "to the bit";
          EXPECT_EQ(a.left, b.left);
          EXPECT_EQ(a.right, b.right);
          EXPECT_EQ(a.slack, b.slack);
          EXPECT_EQ(a.symmetric, b.symmetric);
        }
  }
}

TEST(WeightedPropagation, DoesNotDependOnTheUnitOfTheWeights) {
  const Graph graph = with_random_weights(random_graph(20, 50, 6), 4, 7);
  Graph scaled = graph;
  for (double& w : scaled.weight) w *= 0x1p-40;
  EXPECT_EQ(dense(make_propagation(graph)), dense(make_propagation(scaled)));
}

TEST(WeightedPropagation, IsTheSameForEdgesWrittenOnceOrBothWays) {
  const Graph once = Graph::from_arcs(4, {0, 1, 2}, {1, 2, 3}, {0.3, 5, 1e-4});
  const Matrix expected = dense(make_propagation(once)),
               found = dense(make_propagation(Graph::from_arcs(4, {1, 1, 2, 2, 0, 3}, {0, 2, 1, 3, 1, 2},
                                                               {0.3, 5, 5, 1e-4, 0.3, 1e-4})));
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(found[i][j], expected[i][j], 4e-16 * expected[i][j]);
  // Some once, some both ways: to the bit where the scale is given, as in a checkpoint.
  PropagationOptions given;
  given.weight_scale = 0.7;
  const Graph some = Graph::from_arcs(4, {1, 1, 2, 3}, {0, 2, 1, 2}, {0.3, 5, 5, 1e-4});
  EXPECT_EQ(dense(make_propagation(once, given)), dense(make_propagation(some, given)));
}

TEST(WeightedPropagation, IsEquivariant) {
  const Graph graph = with_random_weights(random_graph(15, 40, 8), 10, 9);
  std::vector<int64_t> place(15);
  std::iota(place.begin(), place.end(), int64_t{0});
  std::mt19937_64 random(3);
  std::shuffle(place.begin(), place.end(), random);
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < 15; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      source.push_back(place[v]);
      target.push_back(place[graph.target[a]]);
    }
  const Graph moved = Graph::from_arcs(15, source, target, graph.weight);
  for (const Direction direction : {undirected, in, out}) {
    const Matrix a = dense(make_propagation(graph, options(direction, sym, true))),
                 b = dense(make_propagation(moved, options(direction, sym, true)));
    for (size_t i = 0; i < 15; ++i)
      for (size_t j = 0; j < 15; ++j)
        EXPECT_NEAR(a[i][j], b[place[i]][place[j]], 1e-15 * a[i][j]) << i << ", " << j;
  }
}

TEST(WeightedPropagation, SlackIsTheSumOfWhatWasDroppedAndNoDifference) {
  // 0 keeps 1e-9 and loses 1e9 and 2e9 to nodes that send nothing; 1 loses all it has.
  const Graph graph =
      Graph::from_arcs(5, {0, 0, 0, 1, 1, 4}, {4, 2, 3, 2, 3, 0}, {1e-9, 1e9, 2e9, 0.1, 0.2, 1});
  PropagationOptions o = options(in, sym, false);
  o.weight_scale = 1;
  const Propagation S = make_propagation(graph, o);
  EXPECT_EQ(S.slack, (Row{3e9, 0.1 + 0.2, 1, 1, 0}));
  EXPECT_EQ(S.weight, (Row{1e-9, 1}));
  // The other way round a difference of sums would have lost what is kept, and all of the slack.
  const Graph faint = Graph::from_arcs(4, {0, 0, 3}, {3, 2, 0}, {1e9, 1e-9, 1});
  EXPECT_EQ(make_propagation(faint, o).slack, (Row{1e-9, 1, 1, 0}));
  EXPECT_EQ(make_propagation(faint, options(undirected, sym, true)).slack, (Row{0, 0, 0, 0}));
}

TEST(WeightedPropagation, RefusesWeightsThatLeaveTheFloatingRangeBesideTheOthers) {
  EXPECT_CONTAINS(message_of<ArgumentError>([] {
                    make_propagation(Graph::from_arcs(3, {0, 1}, {1, 2}, {1e-300, 1}));
                  }),
                  "too far from the scale");
  EXPECT_NO_THROW(make_propagation(Graph::from_arcs(3, {0, 1}, {1, 2}, {1e-100, 1})));
}

TEST(WeightedPropagation, HasTheSpectrumOfOneWithoutWeights) {
  for (int seed = 0; seed < 4; ++seed) {
    const Graph graph = with_random_weights(random_graph(14, 40, 300 + seed), 6, seed);
    for (const bool self_loops : {true, false}) {
      EXPECT_LE(two_norm(dense(make_propagation(graph, options(undirected, sym, self_loops)))), 1 + 1e-13);
      EXPECT_LE(two_norm(dense(make_propagation(graph, options(in, out_in, self_loops)))), 1 + 1e-13);
    }
  }
}

// ---- names

TEST(PropagationNames, AreReadBackAsTheyAreWritten) {
  for (Direction direction : {undirected, in, out}) EXPECT_EQ(parse_direction(name(direction)), direction);
  for (Normalisation normalise : {sym, out_in}) EXPECT_EQ(parse_normalisation(name(normalise)), normalise);
  EXPECT_STREQ(name(undirected), "undirected");
  EXPECT_STREQ(name(out_in), "out-in");
}

TEST(PropagationNames, AreRefusedWhenUnknown) {
  const std::string direction = message_of<ArgumentError>([] { parse_direction("inwards"); });
  EXPECT_CONTAINS(direction, "unknown direction 'inwards' (direction)");
  EXPECT_CONTAINS(direction, "undirected");
  const std::string normalise = message_of<ArgumentError>([] { parse_normalisation("rw"); });
  EXPECT_CONTAINS(normalise, "unknown normalisation 'rw' (normalise)");
  EXPECT_CONTAINS(normalise, "out-in");
  for (const char* wrong : {"", "In", "in ", "out_in", "undirecte"}) {
    EXPECT_THROW(parse_direction(wrong), ArgumentError) << wrong;
    EXPECT_THROW(parse_normalisation(wrong), ArgumentError) << wrong;
  }
}

}  // namespace
}  // namespace eignn
