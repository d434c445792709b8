#include "eignn/propagation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "support/message_of.h"
#include "support/random_graph.h"

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
  EXPECT_EQ(S.weight, (Row{2, 1, 1, 1, 1, 1, 2}));
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
  EXPECT_EQ(S.column, (std::vector<int64_t>{0, 2, 0, 1, 2, 0, 2}));
  EXPECT_EQ(S.weight, (Row{1, 1, 1, 2, 1, 1, 1}));
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
      ASSERT_EQ(static_cast<int64_t>(S.slack.size()), S.nodes);
      for (int64_t i = 0; i < S.nodes; ++i) {
        const double sum =
            std::accumulate(S.weight.begin() + S.row_begin[i], S.weight.begin() + S.row_begin[i + 1], 0.0);
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
