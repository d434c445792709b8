#include "equilibrium/propagated_features.h"

#include <torch/torch.h>

#include <algorithm>

#include "equilibrium/large_pages.h"
#include "equilibrium/scale.h"
#include "equilibrium/sparse_kernel.h"

namespace eignn {

PropagatedFeatures::PropagatedFeatures(std::shared_ptr<const SparseProduct> S, torch::Tensor X)
    : S_(std::move(S)), X_(std::move(X)), norm_(norm_of(X_)) {}

PropagatedFeatures::Sweep::Sweep(const torch::Tensor& X, int64_t first_column) : from(first_column) {
  const int64_t line = cache_line / static_cast<int64_t>(X.element_size());
  columns = std::min(most_lines * line, X.size(1) - from);
  const int64_t width = (columns + line - 1) / line * line;
  now = in_large_pages({X.size(0), width}, X.options()).zero_();
  last = in_large_pages({X.size(0), width}, X.options()).zero_();
  now.narrow(1, 0, columns).copy_(X.narrow(1, from, columns));
}

// T_1 = S T_0, then T_p+1 = 2 S T_p - T_p-1: with X = 0 and a = 1 a step of the semi-iteration is
// last ← (1-ω) last + ω S now.
void PropagatedFeatures::Sweep::advance(const SparseProduct& S) {
  const auto one = torch::ones({now.size(1)}, now.options());
  S.advance(/*adjoint=*/false, now, /*X=*/{}, one, term == 0 ? one : one + one, 0, last);
  std::swap(now, last);
  ++term;
}

void PropagatedFeatures::Sweep::write(const torch::Tensor& index, torch::Tensor& rows) const {
  rows.narrow(1, from, columns).copy_(now.index_select(0, index).narrow(1, 0, columns));
}

torch::Tensor PropagatedFeatures::space_for(const Known& known) const {
  return torch::empty({known.index.size(0), X_.size(1)}, X_.options());
}

double PropagatedFeatures::bytes() const {
  double sum = 0;
  for (const Known& k : known_)
    for (const auto& rows : k.rows) sum += static_cast<double>(rows.nbytes());
  return sum;
}

// Of one set of nodes; two of them never drive each other out.
double PropagatedFeatures::most_bytes() const {
  constexpr double gibibyte = 1 << 30;
  return std::max(gibibyte, 4 * static_cast<double>(X_.nbytes()));
}

bool PropagatedFeatures::affordable(int64_t nodes, int64_t terms) const {
  const double row = static_cast<double>(X_.size(1) * static_cast<int64_t>(X_.element_size()));
  return static_cast<double>(nodes) * static_cast<double>(terms) * row <= most_bytes();
}

void PropagatedFeatures::forget() {
  sweeps_.clear();
  known_.clear();
}

// The entry of these nodes, put last; a new one has no terms.
PropagatedFeatures::Known& PropagatedFeatures::entry_for(const torch::Tensor& index) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& k) {
    return k.index.sizes() == index.sizes() && k.index.equal(index);
  });
  if (found != known_.end())
    std::rotate(found, found + 1, known_.end());
  else
    known_.push_back({index.clone(), {}});
  // The oldest go where there are too many.
  constexpr size_t most_known = 8;
  while (known_.size() > 1 && (known_.size() > most_known || bytes() > 2 * most_bytes()))
    known_.erase(known_.begin());
  return known_.back();
}

// The terms that are missing, by a recurrence that starts again, some columns at a time.
void PropagatedFeatures::catch_up(Known& known, int64_t terms) const {
  const int64_t first = known.terms();
  if (first >= terms) return;
  while (known.terms() < terms) known.rows.push_back(space_for(known));
  for (int64_t from = 0; from < X_.size(1);) {
    Sweep sweep(X_, from);
    for (;; sweep.advance(*S_)) {
      if (sweep.term >= first) sweep.write(known.index, known.rows[sweep.term]);
      if (sweep.term + 1 >= terms) break;
    }
    from += sweep.columns;
  }
}

// One term more for the entry that is asked for, and for those that are as far as it and may still grow.
void PropagatedFeatures::advance_with(const Known& asked) {
  for (Sweep& sweep : sweeps_) sweep.advance(*S_);
  const int64_t term = sweeps_[0].term;
  for (Known& k : known_) {
    const bool may_grow =
        &k == &asked || (affordable(k.index.size(0), term + 1) && bytes() <= 2 * most_bytes());
    if (k.terms() == term && may_grow) take_term(k);
  }
}

// The term at which the recurrence stands.
void PropagatedFeatures::take_term(Known& known) const {
  known.rows.push_back(space_for(known));
  for (const Sweep& sweep : sweeps_) sweep.write(known.index, known.rows.back());
}

const std::vector<torch::Tensor>& PropagatedFeatures::at(const torch::Tensor& index, int64_t terms) {
  try {
    Known& known = entry_for(index);
    if (known.terms() >= terms) return known.rows;
    if (sweeps_.empty())
      for (int64_t from = 0; from < X_.size(1); from += sweeps_.back().columns)
        sweeps_.emplace_back(X_, from);
    catch_up(known, std::min(terms, sweeps_[0].term));
    if (known.terms() < terms && known.terms() == sweeps_[0].term) take_term(known);
    while (known.terms() < terms) advance_with(known);
    return known.rows;
  } catch (...) {  // the entries need not be as long as they say
    forget();
    throw;
  }
}

}  // namespace eignn
