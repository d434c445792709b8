#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "equilibrium/gth_kernel.h"
#include "equilibrium/kernel_table.h"
#include "equilibrium/sparse_kernel.h"
#include "equilibrium/thin_kernel.h"

namespace eignn {

namespace plain {
extern const KernelTable table;
}
#ifdef EIGNN_X86_KERNELS
namespace avx2 {
extern const KernelTable table;
}
namespace avx512 {
extern const KernelTable table;
}
#endif

const KernelTable* kernel_table(KernelLevel level) {
  if (level == KernelLevel::plain) return &plain::table;
#ifdef EIGNN_X86_KERNELS
  // The features that the flags in cmake/Kernels.cmake let the compiler use. __builtin_cpu_supports also
  // checks that the operating system supports them.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (level == KernelLevel::avx2) return v3 ? &avx2::table : nullptr;
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? &avx512::table : nullptr;
#else
  return nullptr;
#endif
}

const KernelTable& kernel_table() {
  static const KernelTable& highest = [&]() -> const KernelTable& {
    for (const KernelLevel level : {KernelLevel::avx512, KernelLevel::avx2})
      if (const KernelTable* table = kernel_table(level)) return *table;
    return plain::table;
  }();
  return highest;
}

namespace {

template <class T>
const KernelsOf<T>& kernels() {
  return kernels_of<T>(kernel_table());
}

}  // namespace

EliminationArrays arrays_of(const Elimination& e) {
  return {e.nodes,
          static_cast<int64_t>(e.upper.size()),
          static_cast<int64_t>(e.lower.size()),
          e.symmetric,
          e.begin.data(),
          e.later.data(),
          e.lower.data(),
          e.upper.data(),
          e.pair_begin.data(),
          e.pair_slot.data(),
          e.diagonal.data(),
          e.h.data(),
          e.slack.empty() ? nullptr : e.slack.data(),
          e.incoming_begin.data(),
          e.incoming.data(),
          e.incoming_weight.data()};
}

template <class T>
bool GthFactor<T>::factor(const Elimination& e, const T* a, const T* complement) {
  constexpr size_t lanes = Digits<T>::lanes;
  upper_.resize(e.upper.size() * lanes);
  upper_digit_.resize(e.upper.size() * lanes);
  lower_.resize(e.lower.size() * lanes);
  lower_digit_.resize(e.lower.size() * lanes);
  inverse_pivot_.resize(e.nodes * lanes);
  excess_.resize(e.nodes * lanes);
  int64_t longest = 0;
  for (int64_t k = 0; k < e.nodes; ++k) longest = std::max(longest, e.begin[k + 1] - e.begin[k]);
  struct alignas(64) Number {
    T mantissa[lanes];
    typename Digits<T>::Int digit[lanes];
  };
  const std::unique_ptr<Number[]> row(new Number[static_cast<size_t>(longest)]);
  return kernels<T>().factor(arrays_of(e), a, complement,
                             {lower_.data(), upper_.data(), lower_digit_.data(), upper_digit_.data(),
                              inverse_pivot_.data(), excess_.data(), row.get()},
                             &has_digits_);
}

template <class T>
void GthFactor<T>::solve(const Elimination& e, LaneVector<T> b, bool transposed) const {
  kernels<T>().solve(arrays_of(e),
                     {lower_.data(), upper_.data(), lower_digit_.data(), upper_digit_.data(),
                      inverse_pivot_.data(), has_digits_},
                     b, transposed);
}

template <class T>
void receive(const Elimination& e, const LaneBlocks<T>& y, int64_t i, T* mantissa,
             typename Digits<T>::Int* digit) {
  kernels<T>().receive(arrays_of(e), y, i, mantissa, digit);
}

template <class T>
typename Digits<T>::Int leading_digit(const LaneBlocks<T>& node) {
  return kernels<T>().leading_digit(node);
}

template <class T>
void unpack(const LaneBlocks<T>& node, typename Digits<T>::Int digits, T scale, T* row) {
  kernels<T>().unpack(node, digits, scale, row);
}

template <class T>
T ordinary(T mantissa, typename Digits<T>::Int digit) {
  const T up = std::ldexp(T(1), Digits<T>::bits), down = 1 / up;
  for (int k = 0; k < 3 && digit > 0; ++k, --digit) mantissa *= up;
  for (int k = 0; k < 3 && digit < 0; ++k, ++digit) mantissa *= k < 2 ? down : T(0);
  return mantissa;
}

template <class T>
void multiply_rows(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last) {
  kernels<T>().multiply_rows(S, Z, columns, out, first, last);
}

template <class T>
void advance_rows(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                  double* r2, double* z2) {
  kernels<T>().advance_rows(S, step, first, last, r2, z2);
}

void add_thin_product(int64_t k, int64_t m, const float* P, const float* A, float* out, int64_t first,
                      int64_t last) {
  kernels<float>().add_thin_product(k, m, P, A, out, first, last);
}

void add_thin_product(int64_t k, int64_t m, const double* P, const double* A, double* out, int64_t first,
                      int64_t last) {
  kernels<double>().add_thin_product(k, m, P, A, out, first, last);
}

template class GthFactor<double>;
template class GthFactor<float>;
template void receive(const Elimination&, const LaneBlocks<double>&, int64_t, double*, int64_t*);
template void receive(const Elimination&, const LaneBlocks<float>&, int64_t, float*, int32_t*);
template int64_t leading_digit(const LaneBlocks<double>&);
template int32_t leading_digit(const LaneBlocks<float>&);
template void unpack(const LaneBlocks<double>&, int64_t, double, double*);
template void unpack(const LaneBlocks<float>&, int32_t, float, float*);
template double ordinary(double, int64_t);
template float ordinary(float, int32_t);
template void multiply_rows(const CompressedRows<float>&, StridedRows<const float>, int64_t,
                            StridedRows<float>, int64_t, int64_t);
template void multiply_rows(const CompressedRows<double>&, StridedRows<const double>, int64_t,
                            StridedRows<double>, int64_t, int64_t);
template void advance_rows(const CompressedRows<float>&, const SemiIterationStep<float>&, int64_t, int64_t,
                           double*, double*);
template void advance_rows(const CompressedRows<double>&, const SemiIterationStep<double>&, int64_t, int64_t,
                           double*, double*);

}  // namespace eignn
