#include "equilibrium/propagated_features.h"

#include <torch/torch.h>

#include <algorithm>

#include "equilibrium/large_pages.h"
#include "equilibrium/scale.h"
#include "equilibrium/sparse_kernel.h"

namespace eignn {

PropagatedFeatures::PropagatedFeatures(std::shared_ptr<const SparseProduct> S, torch::Tensor X)
    : S_(std::move(S)), X_(std::move(X)), norm_(norm_of(X_)) {}

PropagatedFeatures::Sweep::Sweep(const torch::Tensor& X) {
  const int64_t line = cache_line / static_cast<int64_t>(X.element_size()), most = most_lines * line;
  for (int64_t from = 0; from < X.size(1); from += most) {
    const int64_t columns = std::min(most, X.size(1) - from), width = (columns + line - 1) / line * line;
    auto now = in_large_pages({X.size(0), width}, X.options()).zero_();
    now.narrow(1, 0, columns).copy_(X.narrow(1, from, columns));
    blocks_.push_back({columns, now, in_large_pages({X.size(0), width}, X.options()).zero_()});
  }
}

torch::Tensor PropagatedFeatures::Sweep::rows(const torch::Tensor& index) const {
  std::vector<torch::Tensor> beside;
  for (const Block& block : blocks_)
    beside.push_back(block.now.index_select(0, index).narrow(1, 0, block.columns));
  return (beside.size() == 1 ? beside[0] : torch::cat(beside, 1)).contiguous();
}

void PropagatedFeatures::Sweep::advance(const SparseProduct& S) {
  for (Block& block : blocks_) {
    // T_1 = S T_0, then T_p+1 = 2 S T_p - T_p-1: with X = 0 and a = 1 a step of the semi-iteration is
    // last ← (1-ω) last + ω S now.
    const auto one = torch::ones({block.now.size(1)}, block.now.options());
    S.advance(/*adjoint=*/false, block.now, /*X=*/{}, one, term_ == 0 ? one : one + one, 0, block.last);
    std::swap(block.now, block.last);
  }
  ++term_;
}

bool PropagatedFeatures::affordable(int64_t nodes, int64_t terms) const {
  constexpr double gibibyte = 1 << 30;
  const double row = static_cast<double>(X_.size(1) * static_cast<int64_t>(X_.element_size()));
  return static_cast<double>(nodes) * static_cast<double>(terms) * row <=
         std::max(gibibyte, 4 * row * static_cast<double>(X_.size(0)));
}

const std::vector<torch::Tensor>& PropagatedFeatures::at(const torch::Tensor& index, int64_t terms) {
  constexpr size_t most_known = 4;  // training and validation nodes, and room for two more
  auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& k) {
    return k.index.is_same(index) || (k.index.sizes() == index.sizes() && k.index.equal(index));
  });
  if (found == known_.end()) {
    if (known_.size() == most_known) known_.erase(known_.begin());
    // Up to where the sweep stands by one of its own.
    Known fresh{index.clone(), {}};
    if (!sweep_) sweep_.emplace(X_);
    if (sweep_->term() > 0) {
      Sweep own(X_);
      for (; own.term() < sweep_->term(); own.advance(*S_)) fresh.rows.push_back(own.rows(index));
    }
    fresh.rows.push_back(sweep_->rows(index));
    known_.push_back(std::move(fresh));
  } else {
    std::rotate(found, found + 1, known_.end());
  }
  // Those who are not asked for now do not grow beyond what one would ask for.
  known_.erase(std::remove_if(known_.begin(), known_.end() - 1,
                              [&](const Known& k) { return !affordable(k.index.size(0), terms); }),
               known_.end() - 1);
  while (sweep_->term() + 1 < terms) {
    sweep_->advance(*S_);
    for (Known& k : known_) k.rows.push_back(sweep_->rows(k.index));
  }
  return known_.back().rows;
}

}  // namespace eignn
