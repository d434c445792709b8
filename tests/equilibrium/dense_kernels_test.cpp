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

// All entries of A, as a product with it tells them.
torch::Tensor all_of(const Symmetric& A, int64_t m) {
  return A.multiplied(torch::eye(m, torch::kFloat64), torch::ones({}, torch::kFloat64));
}

TEST(DenseKernels, SymmetricMatricesAreSumsAndProducts) {
  for (const int64_t m : sizes) {
    const auto R = random_matrix(m, m, 5), left = random_matrix(3, m, 8), right = random_matrix(3, m, 9);
    EXPECT_TRUE(torch::equal(all_of(Symmetric::sum_of(R.clone()), m), R + R.t())) << m;
    const auto product = left.t().mm(right);
    EXPECT_LE(relative_error(all_of(Symmetric::product_of(left, right), m), product + product.t()), 1e-14)
        << m;
  }
}

TEST(DenseKernels, ASymmetricMatrixMultipliesRectangularOnes) {
  const auto R = random_matrix(33, 33, 5), F = random_matrix(7, 33, 6);
  const auto out = Symmetric::sum_of(R.clone()).multiplied(F, torch::tensor(-0.5, torch::kFloat64));
  EXPECT_LE(relative_error(out, -0.5 * F.mm(R + R.t())), 1e-14);
}

TEST(DenseKernels, AddAndDotIsOnePassOfBoth) {
  for (const int64_t m : sizes) {
    const auto R = random_matrix(m, m, 6), A0 = R + R.t(), B = gram_of(random_matrix(m, m, 7));
    auto A = Symmetric::sum_of(R.clone());
    const auto close = [&](const torch::Tensor& dot, const torch::Tensor& expected) {
      return std::abs((dot - (expected * B).sum()).item<double>()) <=
             1e-12 * (expected * B).abs().sum().item<double>();
    };
    EXPECT_TRUE(close(A.add_and_dot_(torch::zeros({}, torch::kFloat64), B), A0)) << m;
    EXPECT_TRUE(close(A.add_and_dot_(torch::tensor(-0.75, torch::kFloat64), B), A0 - 0.75 * B)) << m;
    A.add_(torch::tensor(2.0, torch::kFloat64), B);
    EXPECT_LE(relative_error(all_of(A, m), A0 + 1.25 * B), 1e-14) << m;
  }
}

}  // namespace
}  // namespace eignn
