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
