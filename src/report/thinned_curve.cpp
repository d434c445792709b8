#include "report/thinned_curve.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace eignn {

ThinnedCurve thinned(const std::vector<double>& y, size_t most) {
  std::set<size_t> kept;
  const size_t n = y.size(), stretches = std::max<size_t>(1, most / 2);
  if (n <= std::max<size_t>(most, 2)) {
    for (size_t i = 0; i < n; ++i) kept.insert(i);
  } else {
    kept = {0, n - 1};
    for (size_t s = 0; s < stretches; ++s) {
      const size_t begin = s * n / stretches, end = (s + 1) * n / stretches;
      size_t least = end, largest = end, broken = end;
      for (size_t i = begin; i < end; ++i) {
        if (!std::isfinite(y[i])) {
          if (broken == end) broken = i;
          continue;
        }
        if (least == end || y[i] < y[least]) least = i;
        if (largest == end || y[i] > y[largest]) largest = i;
      }
      for (const size_t i : {least, largest, broken})
        if (i < end) kept.insert(i);
    }
  }
  ThinnedCurve out;
  for (const size_t i : kept) {
    out.place.push_back(i);
    out.value.push_back(y[i]);
  }
  return out;
}

}  // namespace eignn
