#include "equilibrium/symmetric_eigen.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "eignn/warning.h"
#include "support/message_of.h"
#include "support/oracle.h"

namespace eignn {
namespace {

// ‖AQ - QΛ‖ and ‖QᵀQ - I‖ in units of round-off; √n comes from the Frobenius norm.
void expect_decomposed(int64_t n, torch::Dtype dtype) {
  const auto R = test::random_matrix(n, n, 3).to(dtype);
  const auto A = (R + R.t()) / (2 * std::sqrt(2.0 * static_cast<double>(n)));  // ‖A‖₂ about 1
  const auto [values, vectors] = symmetric_eigen(A);
  ASSERT_EQ(vectors.sizes(), A.sizes());
  ASSERT_EQ(values.scalar_type(), dtype);
  EXPECT_TRUE((values.diff() >= 0).all().item<bool>());
  const double unit = dtype == torch::kFloat32 ? 0x1p-24 : 0x1p-53;
  const double bound = 100 * unit * std::sqrt(static_cast<double>(n));
  EXPECT_LE((A.mm(vectors) - vectors * values).norm().item<double>(), bound);
  EXPECT_LE((vectors.t().mm(vectors) - torch::eye(n, A.options())).norm().item<double>(), bound);
}

TEST(SymmetricEigen, DecomposesEverySize) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const int64_t n : {1, 2, 3, 50, 257}) {
      SCOPED_TRACE(n);
      expect_decomposed(n, dtype);
    }
  EXPECT_EQ(symmetric_eigen(torch::zeros({0, 0}, torch::kFloat32)).first.numel(), 0);
}

TEST(SymmetricEigen, IsSinglePrecisionWhereTheWorkSpaceNoLongerFitsAFloat) {
  expect_decomposed(3000, torch::kFloat32);
}

TEST(SymmetricEigen, LeavesItsArgumentAsItWas) {
  const auto A = torch::eye(5, torch::kFloat64) + 1, before = A.clone();
  symmetric_eigen(A);
  EXPECT_TRUE(A.equal(before));
}

TEST(SymmetricEigen, NamesAMatrixThatIsNotFinite) {
  for (const int64_t n : {3, 100}) {
    auto A = torch::eye(n, torch::kFloat32) + 1;
    A[1][1] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_CONTAINS(message_of([&] { symmetric_eigen(A); }), "the weights are out of range");
  }
}

TEST(SymmetricEigen, FallsBackToTheCpuWithAWarning) {
  const auto A = torch::diag(torch::tensor({3.0, 1.0, 2.0}, torch::kFloat64));
  const auto failing = [](const torch::Tensor&) -> EigenPairs { TORCH_CHECK(false, "no convergence there"); };
  std::string said;
  const WarningScope scope([&](const std::string& message) { said = message; });
  const auto [values, vectors] = eigen_or_on_cpu(A, failing);
  EXPECT_TRUE(values.equal(torch::tensor({1.0, 2.0, 3.0}, torch::kFloat64)));
  EXPECT_LE((A.mm(vectors) - vectors * values).norm().item<double>(), 1e-15);
  EXPECT_CONTAINS(said, "the eigendecomposition on cpu failed (size 3: no convergence there");
  // A matrix that is not finite is the caller's, not the device's.
  EXPECT_CONTAINS(message_of([&] { eigen_or_on_cpu(A / 0.0, failing); }), "the weights are out of range");
}

}  // namespace
}  // namespace eignn
