#include "equilibrium/propagated_features.h"

#include <torch/torch.h>

#include <algorithm>

#include "equilibrium/large_pages.h"
#include "equilibrium/scale.h"
#include "equilibrium/sparse_kernel.h"

namespace eignn {

PropagatedFeatures::PropagatedFeatures(std::shared_ptr<const SparseProduct> S, torch::Tensor X)
    : S_(std::move(S)), X_(std::move(X)), norm_(norm_of(X_)) {}

int64_t PropagatedFeatures::most_terms(int64_t nodes) const {
  constexpr int64_t least_bytes = int64_t{1} << 30;
  const int64_t most_bytes = std::max(least_bytes, 4 * static_cast<int64_t>(X_.nbytes()));
  return most_bytes / std::max<int64_t>(nodes * X_.size(1) * static_cast<int64_t>(X_.element_size()), 1);
}

torch::Tensor PropagatedFeatures::at(const torch::Tensor& index, int64_t terms) {
  constexpr size_t most_known = 4;  // training and validation nodes, and room for two more
  auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& k) {
    return k.index.is_same(index) || (k.index.sizes() == index.sizes() && k.index.equal(index));
  });
  if (found == known_.end()) {
    if (known_.size() == most_known) known_.erase(known_.begin());
    known_.push_back({index.clone(), compute(index, terms)});
    return known_.back().rows;
  }
  std::rotate(found, found + 1, known_.end());
  auto& rows = known_.back().rows;
  if (rows.size(0) < terms) {
    // With half as many to spare, since training moves their number upwards a step at a time.
    const int64_t spare = std::min(rows.size(0) * 3 / 2, most_terms(index.size(0)));
    rows = torch::Tensor();  // gives its memory back first
    rows = compute(index, std::max(terms, spare));
  }
  return rows;
}

torch::Tensor PropagatedFeatures::compute(const torch::Tensor& index, int64_t terms) const {
  const int64_t n = X_.size(0), m = X_.size(1);
  const int64_t line = cache_line / static_cast<int64_t>(X_.element_size()), most = most_lines * line;
  auto rows = in_large_pages({terms, index.size(0), m}, X_.options());
  for (int64_t from = 0; from < m; from += most) {
    // Whole cache lines of columns, the last filled up with zeros.
    const int64_t columns = std::min(most, m - from), width = (columns + line - 1) / line * line;
    auto now = torch::zeros({n, width}, X_.options()), last = torch::zeros_like(now);
    now.narrow(1, 0, columns).copy_(X_.narrow(1, from, columns));
    const auto zero = torch::zeros_like(now), one = torch::ones({width}, X_.options()), two = one + one;
    for (int64_t p = 0; p < terms; ++p) {
      rows[p].narrow(1, from, columns).copy_(now.index_select(0, index).narrow(1, 0, columns));
      if (p + 1 == terms) break;
      // T_1 = S T_0, then T_p+1 = 2 S T_p - T_p-1: with X = 0 and a = 1 a step of the semi-iteration is
      // last ← (1-ω) last + ω S now.
      S_->advance(/*adjoint=*/false, now, zero, one, p == 0 ? one : two, 0, last);
      std::swap(now, last);
    }
  }
  return rows;
}

}  // namespace eignn
