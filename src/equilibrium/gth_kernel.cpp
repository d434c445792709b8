#include "equilibrium/gth_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace eignn {

namespace {

// GCC's and clang's vector extension: 64 bytes, mapped onto whatever registers the target has.
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
};
template <>
struct Simd<float> {
  using Lanes = FloatLanes;
  using IntLanes = Int32Lanes;
};

template <class T>
using Lanes = typename Simd<T>::Lanes;
template <class T>
using IntLanes = typename Simd<T>::IntLanes;

template <class V, class S>
inline V load(const S* at) {
  V v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

template <class V, class S>
inline void store(S* at, const V& v) {
  std::memcpy(at, &v, sizeof v);
}

template <class V>
inline bool any(const V& mask) {
#if defined(__AVX512F__)
  __m512i bits;
  std::memcpy(&bits, &mask, sizeof bits);
  return _mm512_test_epi64_mask(bits, bits) != 0;
#elif defined(__AVX2__)
  __m256i half[2];
  std::memcpy(half, &mask, sizeof half);
  const __m256i both = _mm256_or_si256(half[0], half[1]);
  return !_mm256_testz_si256(both, both);
#else
  uint64_t word[8];
  std::memcpy(word, &mask, sizeof word);
  return (word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7]) != 0;
#endif
}

// 2^(bits·digits): 0 or infinite past the range.
inline double power(int64_t digits, double) {
  constexpr double of[] = {0x1p-1024, 0x1p-512, 1, 0x1p512};
  return digits < -2 ? 0 : digits > 1 ? std::numeric_limits<double>::infinity() : of[digits + 2];
}
inline float power(int32_t digits, float) {
  constexpr float of[] = {0x1p-128F, 0x1p-64F, 1, 0x1p64F};
  return digits < -2 ? 0 : digits > 1 ? std::numeric_limits<float>::infinity() : of[digits + 2];
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

// Brings both to the larger digit; a zero takes the digit of the other.
template <class T>
__attribute__((noinline)) void add_unlike(Number<T>& sum, const Lanes<T>& mantissa,
                                          const IntLanes<T>& digit) {
  const IntLanes<T> nothing = mantissa == 0, empty = sum.mantissa == 0;
  const IntLanes<T> apart = nothing | empty ? IntLanes<T>{} : digit - sum.digit;
  sum.mantissa = sum.mantissa * downward<T>(-apart) + mantissa * downward<T>(apart);
  sum.digit = (apart > 0) | (empty & ~nothing) ? digit : sum.digit;
}

// sum += mantissa · base^digit
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
  const T high = std::ldexp(T(1), Digits<T>::bits / 2);
  for (;;) {
    const Lanes<T> size = x.mantissa < 0 ? -x.mantissa : x.mantissa;
    const IntLanes<T> large = (size > high) & (size <= std::numeric_limits<T>::max());
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

// One triangle of the factors; without digits these are not even read.
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

// w_j = b_j + Σ_{k<j} w_k u_kj, by scattering each finished w_k; a node whose lanes are all zero sends
// nothing.
template <class T, bool with_digits>
void sweep_forward(const Elimination& e, Triangle<T, with_digits> u, Memory<T> w) {
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
void sweep_backward(const Elimination& e, Triangle<T, with_digits> l, const T* inverse_pivot, Memory<T> y) {
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

// The numbers as plain floats. Normalised mantissas reach from 2^-bits/2 to 2^bits/2, so two digits up or
// down are all that may still lie in the range.
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

}  // namespace

template <class T>
T ordinary(T mantissa, typename Digits<T>::Int digit) {
  for (int k = 0; k < 3 && digit > 0; ++k, --digit) mantissa *= power<T>(1);
  for (int k = 0; k < 3 && digit < 0; ++k, ++digit) mantissa *= k < 2 ? power<T>(-1) : T(0);
  return mantissa;
}

template <class T>
bool GthFactor<T>::factor(const Elimination& e, const T* shift, const T* complement) {
  constexpr int W = Digits<T>::lanes;
  const Lanes<T> a = load<Lanes<T>>(shift), one_minus_a = load<Lanes<T>>(complement);
  const bool subtraction_free = !e.slack.empty();

  // o = a Â: the off-diagonals without their sign. Normalised, because a may be as small as it likes.
  auto start = [&](const std::vector<double>& weight, std::vector<T>& m,
                   std::vector<typename Digits<T>::Int>& d) {
    m.resize(weight.size() * W);
    d.resize(weight.size() * W);
    Memory<T> o = {m.data(), d.data()};
    for (size_t s = 0; s < weight.size(); ++s) {
      Number<T> x = {a * static_cast<T>(weight[s]), IntLanes<T>{}};
      normalise(x);
      o.put(static_cast<int64_t>(s), x);
    }
  };
  start(e.upper, upper_, upper_digit_);
  start(e.lower, lower_, lower_digit_);
  const Memory<T> upper = {upper_.data(), upper_digit_.data()};
  const Memory<T> lower = e.symmetric ? upper : Memory<T>{lower_.data(), lower_digit_.data()};

  // The row excess (1-a) h + a·slack; for plain LU the diagonal h - a Â_kk.
  inverse_pivot_.resize(e.nodes * W);
  excess_.resize(e.nodes * W);
  for (int64_t k = 0; k < e.nodes; ++k) {
    const T h = static_cast<T>(e.h[k]);
    store(&excess_[k * W], subtraction_free ? Lanes<T>(one_minus_a * h + a * static_cast<T>(e.slack[k]))
                                            : Lanes<T>(h - a * static_cast<T>(e.diagonal[k])));
  }

  std::vector<Number<T>> scaled_upper;
  for (int64_t k = 0; k < e.nodes; ++k) {
    const int64_t first = e.begin[k], width = e.begin[k + 1] - first;
    const Lanes<T> excess = load<Lanes<T>>(&excess_[k * W]);
    // p_k = excess_k + Σ_j o_kj
    Lanes<T> pivot = excess;
    if (subtraction_free)
      for (int64_t s = first; s < first + width; ++s) pivot += in_ordinary_range<T>(upper.get(s));
    for (int l = 0; l < W; ++l)
      if (!(pivot[l] > 0)) return false;
    const Lanes<T> inverse = T(1) / pivot;
    store(&inverse_pivot_[k * W], inverse);

    // u_kj = o_kj/p_k
    scaled_upper.resize(width);
    for (int64_t b = 0; b < width; ++b) {
      scaled_upper[b] = upper.get(first + b);
      scaled_upper[b].mantissa *= inverse;
      normalise(scaled_upper[b]);
    }
    const int32_t* slot = e.pair_slot.data() + e.pair_begin[k];
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
      store(&excess_[i * W], load<Lanes<T>>(&excess_[i * W]) + in_ordinary_range<T>(l_xk));
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
  auto has_digits = [](const auto& digits) {
    return std::any_of(digits.begin(), digits.end(), [](auto d) { return d != 0; });
  };
  upper_has_digits_ = has_digits(upper_digit_);
  lower_has_digits_ = e.symmetric ? upper_has_digits_ : has_digits(lower_digit_);
  return true;
}

template <class T>
void GthFactor<T>::solve(const Elimination& e, LaneVector<T> b, bool transposed) const {
  const Memory<T> y = {b.mantissa, b.digit};
  // A symmetric factor is stored once and serves as both triangles; the transposed system swaps them.
  const bool upper_first = e.symmetric || !transposed, upper_second = e.symmetric || transposed;
  const auto& first = upper_first ? upper_ : lower_;
  const auto& first_digit = upper_first ? upper_digit_ : lower_digit_;
  const auto& second = upper_second ? upper_ : lower_;
  const auto& second_digit = upper_second ? upper_digit_ : lower_digit_;
  if (upper_has_digits_ || lower_has_digits_) {
    sweep_forward(e, Triangle<T, true>{first.data(), first_digit.data()}, y);
    sweep_backward(e, Triangle<T, true>{second.data(), second_digit.data()}, inverse_pivot_.data(), y);
  } else {
    sweep_forward(e, Triangle<T, false>{first.data(), nullptr}, y);
    sweep_backward(e, Triangle<T, false>{second.data(), nullptr}, inverse_pivot_.data(), y);
  }
}

template <class T>
void receive(const Elimination& e, const LaneBlocks<T>& y, int64_t i, T* mantissa,
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
  constexpr Int none = std::numeric_limits<Int>::min();
  IntLanes<T> leading = IntLanes<T>{} + none;
  for (int64_t c = 0; c < node.width; c += Digits<T>::lanes) {
    const int64_t at = c / Digits<T>::lanes * node.stride;
    const Lanes<T> m = load<Lanes<T>>(node.mantissa + at);
    const IntLanes<T> d = load<IntLanes<T>>(node.digit + at);
    const IntLanes<T> candidate = m != 0 ? d : IntLanes<T>{} + none;
    leading = candidate > leading ? candidate : leading;
  }
  Int out = none;
  for (int l = 0; l < Digits<T>::lanes; ++l) out = std::max(out, static_cast<Int>(leading[l]));
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
      std::memcpy(row + c, &m, sizeof(T) * static_cast<size_t>(node.width - c));
    }
  }
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

}  // namespace eignn
