#include "equilibrium/sparse_product.h"

#include <gtest/gtest.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

TEST(SparseProduct, TakesWideMatricesInBlocksOfColumns) {
  const int64_t n = 1'500;
  const Propagation S =
      make_propagation(test::random_graph(n, 8, 68), {Direction::in, Normalisation::sym, true});
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const SparseProduct product(S, dtype, torch::kCPU);
    const auto ST = dense(S).t();
    // Whole blocks; a last one of whole lines; one that has to begin earlier; and too few columns for blocks.
    for (const int64_t m : {256, 304, 301, 150}) {
      const auto Z = random_matrix(n, m, 69);
      const auto product_of_Z = product.gather(Z.to(dtype)).to(torch::kFloat64);
      EXPECT_LE(relative_error(product_of_Z, ST.mm(Z)), dtype == torch::kFloat32 ? 1e-6 : 1e-14) << m;
    }
  }
}

// Without weights, with and without a loop in the data; symmetric, and not.
std::vector<Propagation> unweighted_matrices() {
  std::vector<Propagation> out;
  for (const bool loops : {false, true}) {
    Graph graph = test::random_graph(700, 6, 90);
    if (loops) {
      std::vector<int64_t> source, target;
      for (int64_t v = 0; v < graph.nodes; ++v) {
        if (v % 3 == 0) {
          source.push_back(v);
          target.push_back(v);
        }
        for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
          source.push_back(v);
          target.push_back(graph.target[a]);
        }
      }
      graph = Graph::from_arcs(700, source, target);
    }
    for (const Direction direction : {Direction::undirected, Direction::in, Direction::out}) {
      for (const Normalisation normalise : {Normalisation::sym, Normalisation::out_in}) {
        for (const bool self_loops : {true, false})
          out.push_back(make_propagation(graph, {direction, normalise, self_loops}));
      }
    }
  }
  return out;
}

// The values are the same to the bit; the sums need not be, since the compiler may fuse a product and its sum
// in one of the two loops and not in the other.
double roundings(torch::Dtype dtype) {
  return dtype == torch::kFloat32 ? 3e-7 : 1e-15;
}

TEST(SparseProduct, FormsTheValuesOfAMatrixWithoutWeights) {
  for (const Propagation& S : unweighted_matrices()) {
    ASSERT_TRUE(S.weight.empty());
    const auto shared = std::make_shared<const Propagation>(S);
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
      const SparseProduct stored(shared, dtype, torch::kCPU, SparseProduct::Values::stored),
          formed(shared, dtype, torch::kCPU, SparseProduct::Values::formed);
      EXPECT_EQ(formed.entries(), S.entries());
      for (const int64_t m : {1, 16, 37, 64, 260}) {
        const auto Z = random_matrix(S.nodes, m, 91).to(dtype);
        EXPECT_LE(relative_error(formed.gather(Z), stored.gather(Z)), roundings(dtype)) << m;
        EXPECT_LE(relative_error(formed.scatter(Z), stored.scatter(Z)), roundings(dtype)) << m;
      }
      const double bound = dtype == torch::kFloat32 ? 1e-6 : 1e-14;
      const auto Z = random_matrix(S.nodes, 20, 92);
      EXPECT_LE(relative_error(formed.scatter(Z.to(dtype)).to(torch::kFloat64), dense(S).mm(Z)), bound);
      EXPECT_LE(relative_error(formed.gather(Z.to(dtype)).to(torch::kFloat64), dense(S).t().mm(Z)), bound);
    }
  }
}

TEST(SparseProduct, AStepOfTheIterationFormsTheSameValues) {
  for (const Propagation& S : unweighted_matrices()) {
    const auto shared = std::make_shared<const Propagation>(S);
    for (const bool adjoint : {false, true}) {
      for (const int64_t m : {16, 64}) {
        const auto Z = random_matrix(S.nodes, m, 93).to(torch::kFloat32),
                   X = random_matrix(S.nodes, m, 94).to(torch::kFloat32), a = torch::full({m}, 0.7F),
                   omega = torch::full({m}, 1.2F);
        auto one = torch::ones_like(Z), other = torch::ones_like(Z);
        const auto r = SparseProduct(shared, torch::kFloat32, torch::kCPU, SparseProduct::Values::stored)
                           .advance(adjoint, Z, X, a, omega, 0, one);
        const auto q = SparseProduct(shared, torch::kFloat32, torch::kCPU, SparseProduct::Values::formed)
                           .advance(adjoint, Z, X, a, omega, 0, other);
        EXPECT_LE(relative_error(one, other), roundings(torch::kFloat32));
        EXPECT_LE(relative_error(r.r, q.r), roundings(torch::kFloat32));
        EXPECT_LE(relative_error(r.z, q.z), roundings(torch::kFloat32));
      }
    }
  }
}

TEST(SparseProduct, KeepsTheMatrixThatItShares) {
  auto S = std::make_shared<const Propagation>(make_propagation(test::random_graph(300, 4, 95)));
  const auto expected = dense(*S);
  const SparseProduct product(S, torch::kFloat64, torch::kCPU);
  EXPECT_EQ(S.use_count(), 2) << "shared, not copied";
  S.reset();
  EXPECT_LE(relative_error(product.scatter(torch::eye(300, torch::kFloat64)), expected), 1e-15);
}

TEST(SparseProduct, AGpuMultipliesAsTheCpuDoes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const Propagation S =
      make_propagation(test::random_graph(500, 3, 70), {Direction::in, Normalisation::sym, true});
  const SparseProduct here(S, torch::kFloat64, torch::kCPU), there(S, torch::kFloat64, torch::kCUDA);
  for (const int64_t m : {40, 701}) {
    const auto Z = random_matrix(500, m, 71);
    EXPECT_LE(relative_error(there.gather(Z.cuda()).cpu(), here.gather(Z)), 1e-14) << m;
    EXPECT_LE(relative_error(there.scatter(Z.cuda()).cpu(), here.scatter(Z)), 1e-14) << m;
  }
}

TEST(SparseProduct, ReadsWhatOfAMatrixIsNotZero) {
  auto X = random_matrix(7, 5, 72);
  X.masked_fill_(X < 0.5, 0);
  X[3].zero_();
  const SparseEntries entries = entries_of(X);
  EXPECT_EQ(static_cast<int64_t>(entries.value.size()), X.count_nonzero().item<int64_t>());
  const SparseProduct product(entries, torch::kFloat64, torch::kCPU);
  const auto W = random_matrix(5, 3, 73), G = random_matrix(7, 3, 74);
  EXPECT_LE(relative_error(product.scatter(W), X.mm(W)), 1e-15);
  EXPECT_LE(relative_error(product.gather(G), X.t().mm(G)), 1e-15);
}

}  // namespace
}  // namespace eignn
