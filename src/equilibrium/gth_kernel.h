// The numeric half of the direct solver, for a block of shifts at once: one SIMD lane per shift.
//
//     M = diag(h) - a Â,   y M = b   or   v Mᵀ = b
//
// Numbers are pairs (mantissa, digit) with the value mantissa · 2^(512·digit) (2^(64·digit) in float), so
// that a signal keeps its relative accuracy when it falls below the floating range along a path. The operands
// nearly always have equal digits; an operation is then the floating-point one and a comparison.
#pragma once

#include <cstdint>
#include <vector>

#include "equilibrium/elimination/elimination.h"
#include "equilibrium/kernel_arguments.h"

namespace eignn {

/// Pointers to the arrays of `e` that the kernels read; they are valid as long as `e` is not changed.
EliminationArrays arrays_of(const Elimination& e);

/// The factors of one block of shifts.
template <class T>
class GthFactor {
 public:
  /// Factors diag(h) - a Â for the lanes' shifts a. `complement` is 1 - a, formed without cancellation by the
  /// caller: pivots are sums of off-diagonals and of row excesses (1-a) h + a·slack, and nothing is
  /// subtracted (Grassmann, Taksar and Heyman). Without slack the pivots are h - a Â_kk - …, as in plain LU.
  /// Returns false when a pivot is not positive: the matrix is singular.
  bool factor(const Elimination& e, const T* a, const T* complement);

  /// b ← the y of y M = b; transposed: of y Mᵀ = b.
  void solve(const Elimination& e, LaneVector<T> b, bool transposed) const;

 private:
  std::vector<T> lower_, upper_;  // [slots][lanes]: o/pivot
  std::vector<typename Digits<T>::Int> lower_digit_, upper_digit_;
  std::vector<T> inverse_pivot_, excess_;
  bool has_digits_ = false;
};

/// t_i = Σ_j y_j Â_ji at place i, for all shifts; `mantissa` and `digit` hold [blocks][lanes].
template <class T>
void receive(const Elimination& e, const LaneBlocks<T>& y, int64_t i, T* mantissa,
             typename Digits<T>::Int* digit);

/// The largest digit among a node's non-zero numbers; 0 when all are zero.
template <class T>
typename Digits<T>::Int leading_digit(const LaneBlocks<T>& node);

/// row[c] = number c · scale · 2^(-bits·digits), in the ordinary range.
template <class T>
void unpack(const LaneBlocks<T>& node, typename Digits<T>::Int digits, T scale, T* row);

/// mantissa · 2^(bits·digit) in the ordinary range: 0 below it, infinite above it.
template <class T>
T ordinary(T mantissa, typename Digits<T>::Int digit);

}  // namespace eignn
