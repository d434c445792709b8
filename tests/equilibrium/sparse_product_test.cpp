#include "equilibrium/sparse_product.h"

#include <gtest/gtest.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

TEST(SparseProduct, TakesWideMatricesInBlocksOfColumns) {
  const int64_t n = 20'000, m = 150;  // 64 columns of so many rows are what a block holds
  const Propagation S =
      make_propagation(test::random_graph(n, 3, 68), {Direction::in, Normalisation::sym, true});
  const SparseProduct product(S, torch::kFloat32, torch::kCPU);
  const auto Z = random_matrix(n, m, 69).to(torch::kFloat32);
  const auto together = product.gather(Z);
  for (const int64_t first : {0, 60, 130})
    EXPECT_LE(relative_error(together.narrow(1, first, 20), product.gather(Z.narrow(1, first, 20))), 1e-6);
}

TEST(SparseProduct, AGpuMultipliesAsTheCpuDoes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const Propagation S =
      make_propagation(test::random_graph(500, 3, 70), {Direction::in, Normalisation::sym, true});
  const auto Z = random_matrix(500, 40, 71);
  const SparseProduct here(S, torch::kFloat64, torch::kCPU), there(S, torch::kFloat64, torch::kCUDA);
  EXPECT_LE(relative_error(there.gather(Z.cuda()).cpu(), here.gather(Z)), 1e-14);
  EXPECT_LE(relative_error(there.scatter(Z.cuda()).cpu(), here.scatter(Z)), 1e-14);
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
