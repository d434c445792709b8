// out += P A against the definition, for sizes that leave every kind of remainder.
#include "equilibrium/thin_kernel.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace eignn {
namespace {

template <class T>
void expect_product(int64_t k, int64_t m, int64_t first, int64_t last, T tolerance) {
  std::mt19937_64 random(static_cast<uint64_t>(m));
  std::uniform_real_distribution<T> in(-1, 1);
  std::vector<T> P(k * m), A(m * m), out(k * m);
  for (auto* values : {&P, &A, &out})
    for (T& value : *values) value = in(random);
  const std::vector<T> before = out;
  add_thin_product(k, m, P.data(), A.data(), out.data(), first, last);
  for (int64_t c = 0; c < k; ++c)
    for (int64_t j = 0; j < m; ++j) {
      long double expected = before[c * m + j];
      if (j >= first && j < last)
        for (int64_t i = 0; i < m; ++i) expected += static_cast<long double>(P[c * m + i]) * A[i * m + j];
      ASSERT_NEAR(out[c * m + j], static_cast<T>(expected), tolerance) << c << " " << j << " of " << m;
    }
}

TEST(ThinKernel, IsTheProduct) {
  for (const int64_t m : {1, 7, 8, 9, 63, 515, 1031})
    for (const int64_t k : {1, 2, 3, 4, 5, 6, 7, 13}) {
      expect_product<float>(k, m, 0, m, 2e-4F);
      expect_product<double>(k, m, 0, m, 1e-12);
    }
}

TEST(ThinKernel, TouchesItsColumnsAlone) {
  expect_product<double>(2, 40, 11, 29, 1e-13);
  expect_product<double>(2, 40, 11, 11, 0);
}

TEST(ThinKernel, DoesNotDependOnHowTheColumnsAreShared) {
  const int64_t k = 4, m = 777;
  std::vector<float> P(k * m), A(m * m), whole(k * m), parts(k * m);
  for (int64_t i = 0; i < k * m; ++i) P[i] = 1.0F / static_cast<float>(i + 3);
  for (int64_t i = 0; i < m * m; ++i) A[i] = 1.0F / static_cast<float>(i % 97 + 1);
  add_thin_product(k, m, P.data(), A.data(), whole.data(), 0, m);
  for (const auto& [first, last] : {std::pair<int64_t, int64_t>{0, 130}, {130, 131}, {131, m}})
    add_thin_product(k, m, P.data(), A.data(), parts.data(), first, last);
  EXPECT_EQ(whole, parts);
}

}  // namespace
}  // namespace eignn
