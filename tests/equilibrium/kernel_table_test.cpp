// Every level of the kernels that this processor runs gives what the plain one gives: the elimination to the
// last bit, products up to the rounding that fused multiply-adds save.
#include "equilibrium/kernel_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <random>
#include <vector>

#include "eignn/graph.h"
#include "equilibrium/elimination/elimination.h"
#include "equilibrium/gth_kernel.h"

namespace eignn {
namespace {

std::vector<const KernelTable*> levels_here() {
  std::vector<const KernelTable*> tables;
  for (const KernelLevel level : {KernelLevel::plain, KernelLevel::avx2, KernelLevel::avx512})
    if (const KernelTable* table = kernel_table(level)) tables.push_back(table);
  return tables;
}

template <class T>
std::vector<T> random_numbers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> in(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) value = in(random);
  return values;
}

// Factors one block of shifts of the karate club's matrix and solves it, with the kernels of one level.
template <class T>
std::vector<T> solved(const KernelTable& table, const Elimination& e) {
  constexpr size_t lanes = Digits<T>::lanes;
  using Int = typename Digits<T>::Int;
  struct alignas(64) Number {
    T mantissa[lanes];
    Int digit[lanes];
  };
  std::vector<T> a(lanes), complement(lanes);
  for (size_t l = 0; l < lanes; ++l) {
    a[l] = T(0.9) - T(0.05) * static_cast<T>(l);
    complement[l] = 1 - a[l];
  }
  const size_t slots = e.upper.size() * lanes, lower_slots = e.lower.size() * lanes, nodes = e.nodes * lanes;
  std::vector<T> lower(lower_slots), upper(slots), inverse_pivot(nodes), excess(nodes);
  std::vector<Int> lower_digit(lower_slots), upper_digit(slots), digit(nodes);
  const std::unique_ptr<Number[]> row(new Number[e.nodes]);
  bool has_digits = false;
  const EliminationArrays arrays = arrays_of(e);
  const KernelsOf<T>& kernels = kernels_of<T>(table);
  EXPECT_TRUE(kernels.factor(arrays, a.data(), complement.data(),
                             {lower.data(), upper.data(), lower_digit.data(), upper_digit.data(),
                              inverse_pivot.data(), excess.data(), row.get()},
                             &has_digits));
  std::vector<T> b = random_numbers<T>(nodes, 3);
  kernels.solve(
      arrays,
      {lower.data(), upper.data(), lower_digit.data(), upper_digit.data(), inverse_pivot.data(), has_digits},
      {b.data(), digit.data()}, false);
  return b;
}

TEST(KernelTable, ThisProcessorRunsTheLevelThatIsChosen) {
  std::cout << "kernels: " << kernel_table().level << std::endl;  // old_processor_test.sh reads this
  EXPECT_EQ(&kernel_table(), levels_here().back());
}

TEST(KernelTable, EveryLevelEliminatesToTheSameBits) {
  const Elimination e = analyse_elimination(make_propagation(karate_club()));
  for (const KernelTable* table : levels_here()) {
    EXPECT_EQ(solved<double>(*table, e), solved<double>(*kernel_table(KernelLevel::plain), e))
        << table->level;
    EXPECT_EQ(solved<float>(*table, e), solved<float>(*kernel_table(KernelLevel::plain), e)) << table->level;
  }
}

template <class T>
void expect_same_products(const KernelTable& table) {
  const KernelsOf<T>&here = kernels_of<T>(table), &plain = kernels_of<T>(*kernel_table(KernelLevel::plain));
  const T tolerance = 64 * std::numeric_limits<T>::epsilon();
  constexpr int64_t m = 77, k = 5;
  const std::vector<T> P = random_numbers<T>(k * m, 1), A = random_numbers<T>(m * m, 2);
  std::vector<T> out(k * m), expected(k * m);
  here.add_thin_product(k, m, P.data(), A.data(), out.data(), 0, m);
  plain.add_thin_product(k, m, P.data(), A.data(), expected.data(), 0, m);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], tolerance) << table.level;

  // A dense 40 x 40 matrix as a sparse one, times 77 columns.
  constexpr int64_t rows = 40;
  std::vector<int64_t> begin(rows + 1);
  std::vector<int32_t> column(rows * rows);
  for (int64_t i = 0; i <= rows; ++i) begin[i] = i * rows;
  for (int64_t e = 0; e < rows * rows; ++e) column[e] = static_cast<int32_t>(e % rows);
  const std::vector<T> value = random_numbers<T>(rows * rows, 4), Z = random_numbers<T>(rows * m, 5);
  const CompressedRows<T> S = {begin.data(), column.data(), value.data()};
  std::vector<T> product(rows * m), expected_product(rows * m);
  here.multiply_rows(S, {Z.data(), m}, m, {product.data(), m}, 0, rows);
  plain.multiply_rows(S, {Z.data(), m}, m, {expected_product.data(), m}, 0, rows);
  for (size_t i = 0; i < product.size(); ++i)
    ASSERT_NEAR(product[i], expected_product[i], tolerance) << table.level;
}

TEST(KernelTable, EveryLevelMultipliesAlike) {
  for (const KernelTable* table : levels_here()) {
    expect_same_products<float>(*table);
    expect_same_products<double>(*table);
  }
}

}  // namespace
}  // namespace eignn
