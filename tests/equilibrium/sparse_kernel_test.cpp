#include "equilibrium/sparse_kernel.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace eignn {
namespace {

// A random matrix with an empty row and a row of more entries than are summed in one stretch.
template <class T>
struct Matrix {
  int64_t rows = 40;
  std::vector<int64_t> begin = {0};
  std::vector<int32_t> column;
  std::vector<T> value;

  explicit Matrix(std::mt19937& random) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t entries = i == 3 ? 0 : i == 7 ? 600 : static_cast<int64_t>(random() % 6);
      for (int64_t e = 0; e < entries; ++e) {
        column.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(rows)));
        value.push_back(static_cast<T>(random() % 1000) / 1000);
      }
      begin.push_back(static_cast<int64_t>(column.size()));
    }
  }
  CompressedRows<T> view() const { return {begin.data(), column.data(), value.data()}; }

  // S Z by the definition.
  std::vector<double> times(const std::vector<T>& Z, int64_t m) const {
    std::vector<double> out(rows * m, 0.0);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t e = begin[i]; e < begin[i + 1]; ++e)
        for (int64_t c = 0; c < m; ++c)
          out[i * m + c] += static_cast<double>(value[e]) * static_cast<double>(Z[column[e] * m + c]);
    return out;
  }
};

template <class T>
std::vector<T> random_numbers(int64_t count, std::mt19937& random) {
  std::vector<T> out(count);
  for (T& x : out) x = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 1000;
  return out;
}

template <class T>
class SparseKernel : public testing::Test {
 protected:
  static constexpr double near = sizeof(T) == 4 ? 1e-4 : 1e-12;
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(SparseKernel, Numbers, );

TYPED_TEST(SparseKernel, MultipliesAnyNumberOfColumns) {
  std::mt19937 random(1);
  const Matrix<TypeParam> S(random);
  for (const int64_t m : {1, 3, 8, 15, 16, 17, 32, 64, 67, 130}) {
    const auto Z = random_numbers<TypeParam>(S.rows * m, random);
    std::vector<TypeParam> out(S.rows * m, TypeParam(7));
    multiply_rows(S.view(), {Z.data(), m}, m, {out.data(), m}, 0, 11);
    multiply_rows(S.view(), {Z.data(), m}, m, {out.data(), m}, 11, S.rows);
    const auto expected = S.times(Z, m);
    for (size_t k = 0; k < out.size(); ++k) ASSERT_NEAR(out[k], expected[k], this->near) << m;
  }
}

TYPED_TEST(SparseKernel, AdvancesTheColumnsThatTakePartAndLeavesTheOthers) {
  std::mt19937 random(2);
  const Matrix<TypeParam> S(random);
  const int64_t line = cache_line / static_cast<int64_t>(sizeof(TypeParam)), width = most_lines * line;
  for (int64_t begin = 0; begin < width; begin += line) {
    const auto Z = random_numbers<TypeParam>(S.rows * width, random),
               X = random_numbers<TypeParam>(S.rows * width, random),
               last = random_numbers<TypeParam>(S.rows * width, random),
               a = random_numbers<TypeParam>(width, random), omega = random_numbers<TypeParam>(width, random);
    auto out = last;
    std::vector<double> r2(width - begin, 1.0), z2(width - begin, 2.0);  // sums are added to
    advance_rows(S.view(), {Z.data(), X.data(), a.data(), omega.data(), out.data(), width, begin}, 0, S.rows,
                 r2.data(), z2.data());
    const auto product = S.times(Z, width);
    std::vector<double> expected_r2(width, 1.0), expected_z2(width, 2.0);
    for (int64_t i = 0; i < S.rows; ++i)
      for (int64_t c = 0; c < width; ++c) {
        const int64_t k = i * width + c;
        if (c < begin) {
          ASSERT_EQ(out[k], last[k]);
          continue;
        }
        const double z = Z[k], r = X[k] + a[c] * product[k] - z;
        ASSERT_NEAR(out[k], last[k] + omega[c] * (r + z - last[k]), this->near);
        expected_r2[c] += r * r;
        expected_z2[c] += z * z;
      }
    for (int64_t c = begin; c < width; ++c) {
      EXPECT_NEAR(r2[c - begin] / expected_r2[c], 1, this->near);
      EXPECT_NEAR(z2[c - begin] / expected_z2[c], 1, this->near);
    }
  }
}

}  // namespace
}  // namespace eignn
