// Compiled once per level: see kernel_table.h for what may be included here.
#include <string.h>

#include "equilibrium/kernel_level.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace eignn::EIGNN_KERNEL_LEVEL {

namespace {

// Vectors of 64 bytes (a GCC and clang extension), which the compiler maps onto the registers of the target.
typedef double DoubleLanes __attribute__((vector_size(64)));
typedef float FloatLanes __attribute__((vector_size(64)));
typedef int64_t Int64Lanes __attribute__((vector_size(64)));
typedef int32_t Int32Lanes __attribute__((vector_size(64)));

template <class T>
struct Simd;
template <>
struct Simd<double> {
  using Lanes = DoubleLanes;
  using IntLanes = Int64Lanes;
  static constexpr double largest = __DBL_MAX__, high = 0x1p256;  // high: 2^(bits/2)
};
template <>
struct Simd<float> {
  using Lanes = FloatLanes;
  using IntLanes = Int32Lanes;
  static constexpr float largest = __FLT_MAX__, high = 0x1p32F;
};

template <class T>
using Lanes = typename Simd<T>::Lanes;
template <class T>
using IntLanes = typename Simd<T>::IntLanes;

template <class V, class S>
inline V load(const S* at) {
  V v;
  memcpy(&v, at, sizeof v);
  return v;
}

template <class V, class S>
inline void store(S* at, const V& v) {
  memcpy(at, &v, sizeof v);
}

template <class V>
inline bool any(const V& mask) {
#if defined(__AVX512F__)
  __m512i bits;
  memcpy(&bits, &mask, sizeof bits);
  return _mm512_test_epi64_mask(bits, bits) != 0;
#elif defined(__AVX2__)
  __m256i half[2];
  memcpy(half, &mask, sizeof half);
  const __m256i both = _mm256_or_si256(half[0], half[1]);
  return !_mm256_testz_si256(both, both);
#else
  uint64_t word[8];
  memcpy(word, &mask, sizeof word);
  return (word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7]) != 0;
#endif
}

// 2^(bits·digits): 0 or infinite past the range.
inline double power(int64_t digits, double) {
  constexpr double of[] = {0x1p-1024, 0x1p-512, 1, 0x1p512};
  return digits < -2 ? 0 : digits > 1 ? __builtin_inf() : of[digits + 2];
}
inline float power(int32_t digits, float) {
  constexpr float of[] = {0x1p-128F, 0x1p-64F, 1, 0x1p64F};
  return digits < -2 ? 0 : digits > 1 ? __builtin_inff() : of[digits + 2];
}
template <class T>
inline T power(typename Digits<T>::Int digits) {
  return power(digits, T());
}

template <class T>
struct Number {
  Lanes<T> mantissa;
  IntLanes<T> digit;
};

template <class T>
inline Lanes<T> all_lanes(T value) {
  return Lanes<T>{} + value;
}

// 2^(bits·digits) for digits ≤ 0.
template <class T>
inline Lanes<T> downward(const IntLanes<T>& digits) {
  const Lanes<T> one = all_lanes<T>(1), down = all_lanes<T>(power<T>(-1));
  const Lanes<T> first = digits <= -1 ? down : one, second = digits <= -2 ? down : one;
  return digits <= -3 ? Lanes<T>{} : first * second;
}

// Adds numbers of different digits: both are brought to the larger one. A zero takes the digit of the other.
template <class T>
__attribute__((noinline)) void add_unlike(Number<T>& sum, const Lanes<T>& mantissa,
                                          const IntLanes<T>& digit) {
  const IntLanes<T> nothing = mantissa == 0, empty = sum.mantissa == 0;
  const IntLanes<T> apart = nothing | empty ? IntLanes<T>{} : digit - sum.digit;
  sum.mantissa = sum.mantissa * downward<T>(-apart) + mantissa * downward<T>(apart);
  sum.digit = (apart > 0) | (empty & ~nothing) ? digit : sum.digit;
}

// sum += mantissa · 2^(bits·digit)
template <class T>
inline void add(Number<T>& sum, const Lanes<T>& mantissa, const IntLanes<T>& digit) {
  if (__builtin_expect(any(digit != sum.digit), 0)) {
    add_unlike<T>(sum, mantissa, digit);
  } else {
    sum.mantissa += mantissa;
  }
}

// Keeps |mantissa| in [2^-bits/2, 2^bits/2], so that one product or one sum of a row can neither over- nor
// underflow.
template <class T>
inline void normalise(Number<T>& x) {
  constexpr T high = Simd<T>::high;
  for (;;) {
    const Lanes<T> size = x.mantissa < 0 ? -x.mantissa : x.mantissa;
    const IntLanes<T> large = (size > high) & (size <= Simd<T>::largest);
    const IntLanes<T> small = (size < 1 / high) & (size > 0);
    if (__builtin_expect(!any(large | small), 1)) return;
    x.mantissa *= large ? all_lanes<T>(power<T>(-1)) : small ? all_lanes<T>(power<T>(1)) : all_lanes<T>(1);
    x.digit += small - large;  // a true lane is -1
  }
}

// The mantissas and digits of a vector that lies in memory as [index][lanes].
template <class T>
struct Memory {
  T* mantissa;
  typename Digits<T>::Int* digit;
  Number<T> get(int64_t i) const {
    return {load<Lanes<T>>(mantissa + i * Digits<T>::lanes), load<IntLanes<T>>(digit + i * Digits<T>::lanes)};
  }
  void put(int64_t i, const Number<T>& x) const {
    store(mantissa + i * Digits<T>::lanes, x.mantissa);
    store(digit + i * Digits<T>::lanes, x.digit);
  }
};

// One triangle of the factors. Without `with_digits` all digits are 0 and are not read.
template <class T, bool with_digits>
struct Triangle {
  const T* mantissa;
  const typename Digits<T>::Int* digit;
  Number<T> times(int64_t slot, const Number<T>& x) const {
    Number<T> product = {load<Lanes<T>>(mantissa + slot * Digits<T>::lanes) * x.mantissa, x.digit};
    if constexpr (with_digits) {
      product.digit += load<IntLanes<T>>(digit + slot * Digits<T>::lanes);
      normalise(product);
    }
    return product;
  }
};

// w_j = b_j + Σ_{k<j} w_k u_kj, by scattering each finished w_k. A node whose lanes are all zero is skipped.
template <class T, bool with_digits>
void sweep_forward(const EliminationArrays& e, Triangle<T, with_digits> u, Memory<T> w) {
  for (int64_t k = 0; k < e.nodes; ++k) {
    Number<T> wk = w.get(k);
    if (!any(wk.mantissa != 0)) continue;
    normalise(wk);
    w.put(k, wk);
    for (int64_t s = e.begin[k]; s < e.begin[k + 1]; ++s) {
      const int64_t j = e.later[s];
      Number<T> wj = w.get(j);
      const Number<T> sent = u.times(s, wk);
      if (any(wj.mantissa != 0)) {
        add(wj, sent.mantissa, sent.digit);
        w.put(j, wj);
      } else {
        w.put(j, sent);
      }
    }
  }
}

// y_k = w_k/p_k + Σ_{i>k} y_i l_ik
template <class T, bool with_digits>
void sweep_backward(const EliminationArrays& e, Triangle<T, with_digits> l, const T* inverse_pivot,
                    Memory<T> y) {
  for (int64_t k = e.nodes - 1; k >= 0; --k) {
    Number<T> yk = y.get(k);
    yk.mantissa *= load<Lanes<T>>(inverse_pivot + k * Digits<T>::lanes);
    bool empty = !any(yk.mantissa != 0);
    for (int64_t s = e.begin[k]; s < e.begin[k + 1]; ++s) {
      const Number<T> received = l.times(s, y.get(e.later[s]));
      if (empty) {
        yk = received;
        empty = false;
      } else {
        add(yk, received.mantissa, received.digit);
      }
    }
    normalise(yk);
    y.put(k, yk);
  }
}

// The numbers as plain floats. Normalised mantissas lie in [2^-bits/2, 2^bits/2], so that numbers with a
// digit beyond ±2 overflow or underflow.
template <class T>
inline Lanes<T> in_ordinary_range(const Number<T>& x) {
  if (!any(x.digit)) return x.mantissa;
  const T up = power<T>(1), down = power<T>(-1);
  const Lanes<T> one = Lanes<T>{} + 1;
  Lanes<T> value = x.mantissa;
  value *= x.digit >= 1 ? one * up : one;
  value *= x.digit >= 2 ? one * up : one;
  value *= x.digit >= 3 ? one * up : one;
  value *= x.digit <= -1 ? one * down : one;
  value *= x.digit <= -2 ? one * down : one;
  value *= x.digit <= -3 ? Lanes<T>{} : one;
  return value;
}

// o = a Â, the off-diagonals without their sign. Normalised, because a may be arbitrarily small.
template <class T>
void start(const Lanes<T>& a, const double* weight, int64_t slots, const Memory<T>& o) {
  for (int64_t s = 0; s < slots; ++s) {
    Number<T> x = {a * static_cast<T>(weight[s]), IntLanes<T>{}};
    normalise(x);
    o.put(s, x);
  }
}

template <class T>
bool any_digit(const typename Digits<T>::Int* digit, int64_t slots) {
  for (int64_t s = 0; s < slots; ++s)
    if (any(load<IntLanes<T>>(digit + s * Digits<T>::lanes))) return true;
  return false;
}

}  // namespace

template <class T>
bool factor(const EliminationArrays& e, const T* shift, const T* complement, const FactorArrays<T>& f,
            bool* has_digits) {
  constexpr int W = Digits<T>::lanes;
  const Lanes<T> a = load<Lanes<T>>(shift), one_minus_a = load<Lanes<T>>(complement);
  const bool subtraction_free = e.slack != nullptr;

  const Memory<T> upper = {f.upper, f.upper_digit};
  const Memory<T> lower = e.symmetric ? upper : Memory<T>{f.lower, f.lower_digit};
  start<T>(a, e.upper, e.slots, upper);
  if (!e.symmetric) start<T>(a, e.lower, e.lower_slots, lower);

  // The row excess (1-a) h + a·slack; for plain LU the diagonal h - a Â_kk.
  for (int64_t k = 0; k < e.nodes; ++k) {
    const T h = static_cast<T>(e.h[k]);
    store(&f.excess[k * W], subtraction_free ? Lanes<T>(one_minus_a * h + a * static_cast<T>(e.slack[k]))
                                             : Lanes<T>(h - a * static_cast<T>(e.diagonal[k])));
  }

  Number<T>* scaled_upper = static_cast<Number<T>*>(f.row);
  for (int64_t k = 0; k < e.nodes; ++k) {
    const int64_t first = e.begin[k], width = e.begin[k + 1] - first;
    const Lanes<T> excess = load<Lanes<T>>(&f.excess[k * W]);
    // p_k = excess_k + Σ_j o_kj
    Lanes<T> pivot = excess;
    if (subtraction_free)
      for (int64_t s = first; s < first + width; ++s) pivot += in_ordinary_range<T>(upper.get(s));
    for (int l = 0; l < W; ++l)
      if (!(pivot[l] > 0)) return false;
    const Lanes<T> inverse = T(1) / pivot;
    store(&f.inverse_pivot[k * W], inverse);

    // u_kj = o_kj/p_k
    for (int64_t b = 0; b < width; ++b) {
      scaled_upper[b] = upper.get(first + b);
      scaled_upper[b].mantissa *= inverse;
      normalise(scaled_upper[b]);
    }
    const int32_t* slot = e.pair_slot + e.pair_begin[k];
    for (int64_t x = 0; x < width; ++x) {
      const Number<T> o_xk = lower.get(first + x);
      const int64_t i = e.later[first + x];
      // o_ij += o_ik u_kj above the diagonal, and its mirror o_ji += o_jk u_ki below it
      for (int64_t y = x + 1; y < width; ++y, ++slot) {
        auto update = [&](const Memory<T>& triangle, const Number<T>& o, const Number<T>& u) {
          Number<T> product = {o.mantissa * u.mantissa, o.digit + u.digit};
          normalise(product);
          Number<T> entry = triangle.get(*slot);
          add(entry, product.mantissa, product.digit);
          triangle.put(*slot, entry);
        };
        update(upper, o_xk, scaled_upper[y]);
        if (!e.symmetric) update(lower, lower.get(first + y), scaled_upper[x]);
      }
      // excess_i += o_ik excess_k/p_k; plain LU: diagonal_i -= o_ik u_ki
      Number<T> l_xk = o_xk;
      l_xk.mantissa *= subtraction_free ? Lanes<T>(inverse * excess) : Lanes<T>(-scaled_upper[x].mantissa);
      if (!subtraction_free) l_xk.digit += scaled_upper[x].digit;
      store(&f.excess[i * W], load<Lanes<T>>(&f.excess[i * W]) + in_ordinary_range<T>(l_xk));
    }
    for (int64_t x = 0; x < width; ++x) {
      if (!e.symmetric) {
        Number<T> l = lower.get(first + x);
        l.mantissa *= inverse;
        normalise(l);
        lower.put(first + x, l);
      }
      upper.put(first + x, scaled_upper[x]);
    }
  }
  *has_digits =
      any_digit<T>(f.upper_digit, e.slots) || (!e.symmetric && any_digit<T>(f.lower_digit, e.lower_slots));
  return true;
}

template <class T>
void solve(const EliminationArrays& e, const FilledFactor<T>& f, LaneVector<T> b, bool transposed) {
  const Memory<T> y = {b.mantissa, b.digit};
  // A symmetric factor is stored once and serves as both triangles; the transposed system swaps them.
  const bool upper_first = e.symmetric || !transposed, upper_second = e.symmetric || transposed;
  const T* first = upper_first ? f.upper : f.lower;
  const T* second = upper_second ? f.upper : f.lower;
  if (f.has_digits) {
    sweep_forward(e, Triangle<T, true>{first, upper_first ? f.upper_digit : f.lower_digit}, y);
    sweep_backward(e, Triangle<T, true>{second, upper_second ? f.upper_digit : f.lower_digit},
                   f.inverse_pivot, y);
  } else {
    sweep_forward(e, Triangle<T, false>{first, nullptr}, y);
    sweep_backward(e, Triangle<T, false>{second, nullptr}, f.inverse_pivot, y);
  }
}

template <class T>
void receive(const EliminationArrays& e, const LaneBlocks<T>& y, int64_t i, T* mantissa,
             typename Digits<T>::Int* digit) {
  constexpr int W = Digits<T>::lanes;
  const int64_t first = e.incoming_begin[i], last = e.incoming_begin[i + 1];
  for (int64_t c = 0; c < y.width; c += W) {
    const int64_t block = c / W * y.stride;
    Number<T> sum = {Lanes<T>{}, IntLanes<T>{}};
    for (int64_t a = first; a < last; ++a) {
      const int64_t at = block + e.incoming[a] * W;
      const Lanes<T> yj = load<Lanes<T>>(y.mantissa + at) * static_cast<T>(e.incoming_weight[a]);
      const IntLanes<T> dj = load<IntLanes<T>>(y.digit + at);
      if (a == first) {
        sum = {yj, dj};
      } else {
        add(sum, yj, dj);
      }
    }
    normalise(sum);
    store(mantissa + c, sum.mantissa);
    store(digit + c, sum.digit);
  }
}

template <class T>
typename Digits<T>::Int leading_digit(const LaneBlocks<T>& node) {
  using Int = typename Digits<T>::Int;
  constexpr Int none = Int(1) << (8 * sizeof(Int) - 1);
  IntLanes<T> leading = IntLanes<T>{} + none;
  for (int64_t c = 0; c < node.width; c += Digits<T>::lanes) {
    const int64_t at = c / Digits<T>::lanes * node.stride;
    const Lanes<T> m = load<Lanes<T>>(node.mantissa + at);
    const IntLanes<T> d = load<IntLanes<T>>(node.digit + at);
    const IntLanes<T> candidate = m != 0 ? d : IntLanes<T>{} + none;
    leading = candidate > leading ? candidate : leading;
  }
  Int out = none;
  for (int l = 0; l < Digits<T>::lanes; ++l) out = leading[l] > out ? leading[l] : out;
  return out == none ? 0 : out;
}

template <class T>
void unpack(const LaneBlocks<T>& node, typename Digits<T>::Int digits, T scale, T* row) {
  constexpr int W = Digits<T>::lanes;
  for (int64_t c = 0; c < node.width; c += W) {
    const int64_t at = c / W * node.stride;
    Lanes<T> m = load<Lanes<T>>(node.mantissa + at);
    const IntLanes<T> d = load<IntLanes<T>>(node.digit + at) - digits;
    if (any(d)) m = in_ordinary_range<T>({m, d});
    m *= scale;
    if (c + W <= node.width) {
      store(row + c, m);
    } else {
      memcpy(row + c, &m, sizeof(T) * static_cast<size_t>(node.width - c));
    }
  }
}

template bool factor(const EliminationArrays&, const double*, const double*, const FactorArrays<double>&,
                     bool*);
template bool factor(const EliminationArrays&, const float*, const float*, const FactorArrays<float>&, bool*);
template void solve(const EliminationArrays&, const FilledFactor<double>&, LaneVector<double>, bool);
template void solve(const EliminationArrays&, const FilledFactor<float>&, LaneVector<float>, bool);
template void receive(const EliminationArrays&, const LaneBlocks<double>&, int64_t, double*, int64_t*);
template void receive(const EliminationArrays&, const LaneBlocks<float>&, int64_t, float*, int32_t*);
template int64_t leading_digit(const LaneBlocks<double>&);
template int32_t leading_digit(const LaneBlocks<float>&);
template void unpack(const LaneBlocks<double>&, int64_t, double, double*);
template void unpack(const LaneBlocks<float>&, int32_t, float, float*);

}  // namespace eignn::EIGNN_KERNEL_LEVEL
