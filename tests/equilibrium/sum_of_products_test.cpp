#include "equilibrium/sum_of_products.h"

#include <gtest/gtest.h>

#include "support/oracle.h"

namespace eignn {
namespace {

// Positive entries, so that the sums grow and a float32 that adds them up one by one would lose digits.
TEST(SumOfProducts, OfAnyNumberOfRowsIsRightToARounding) {
  for (const int64_t rows : {0, 1, 4096, 4097, 200'001}) {
    const auto A = test::random_matrix(rows, 3, 41).abs().to(torch::kFloat32),
               B = test::random_matrix(rows, 5, 42).abs().to(torch::kFloat32);
    const auto exact = A.to(torch::kFloat64).t().mm(B.to(torch::kFloat64));
    const auto sum = sum_of_products(A, B);
    ASSERT_EQ(sum.scalar_type(), torch::kFloat32);
    ASSERT_EQ(sum.sizes(), exact.sizes());
    EXPECT_LE((sum.to(torch::kFloat64) - exact).abs().max().item<double>(),
              5e-7 * exact.abs().max().item<double>())
        << rows;
  }
}

}  // namespace
}  // namespace eignn
