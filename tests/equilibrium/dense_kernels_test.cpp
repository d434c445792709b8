#include "equilibrium/dense_kernels.h"

#include <gtest/gtest.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

// Sizes around the tile and the vector, and of one.
constexpr int64_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 70};

TEST(DenseKernels, GramIsTheSymmetricProduct) {
  for (const int64_t m : sizes) {
    const auto F = random_matrix(m, m, 1), G = gram_of(F);
    EXPECT_LE(relative_error(G, F.t().mm(F)), 1e-14) << m;
    EXPECT_TRUE(torch::equal(G, G.t())) << m;
    EXPECT_LE(relative_error(gram_of(F.to(torch::kFloat32)).to(torch::kFloat64), G), 1e-5) << m;
    EXPECT_LE(relative_error(gram_of(F.t()), F.mm(F.t())), 1e-14) << m;  // strided
  }
  const auto tall = random_matrix(9, 4, 2);
  EXPECT_LE(relative_error(gram_of(tall), tall.t().mm(tall)), 1e-14);
}

TEST(DenseKernels, RowDots) {
  for (const int64_t m : sizes) {
    const auto a = random_matrix(7, m, 3), b = random_matrix(7, m, 4);
    EXPECT_LE(relative_error(row_dots(a, b), (a * b).sum(1, true)), 1e-13) << m;
  }
}

TEST(DenseKernels, SymmetriseAddsTheTransposed) {
  for (const int64_t m : sizes) {
    const auto R = random_matrix(m, m, 5);
    auto A = R.clone();
    symmetrise_(A);
    EXPECT_TRUE(torch::equal(A, R + R.t())) << m;
  }
}

TEST(DenseKernels, AddAndDotIsOnePassOfBoth) {
  for (const int64_t m : sizes) {
    const auto A0 = random_matrix(m, m, 6), B = random_matrix(m, m, 7);
    auto A = A0.clone();
    const auto dot = add_and_dot_(A, torch::tensor(-0.75, torch::kFloat64), B);
    EXPECT_LE(relative_error(A, A0 - 0.75 * B), 1e-15) << m;
    EXPECT_NEAR(dot.item<double>(), (A * B).sum().item<double>(), 1e-12 * static_cast<double>(m * m)) << m;
  }
}

}  // namespace
}  // namespace eignn
