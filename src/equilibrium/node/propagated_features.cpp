#include "equilibrium/node/propagated_features.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "eignn/interrupt.h"
#include "equilibrium/large_pages.h"
#include "equilibrium/scale.h"
#include "equilibrium/sparse_kernel.h"

namespace eignn {

namespace {

// Columns of X in a cache line.
int64_t line_of(const torch::Tensor& X) {
  return cache_line / static_cast<int64_t>(X.element_size());
}

}  // namespace

PropagatedFeatures::PropagatedFeatures(std::shared_ptr<const NodeOperator> S, torch::Tensor X,
                                       MemoryBudget budget)
    : S_(std::move(S)), X_(std::move(X)), norm_(norm_of(*S_, X_)), budget_(std::move(budget)) {}

PropagatedFeatures::Sweep::Sweep(const torch::Tensor& X, int64_t first_column, int64_t most_lines_of_columns)
    : from(first_column) {
  const int64_t line = line_of(X);
  columns = std::min(most_lines_of_columns * line, X.size(1) - from);
  const int64_t width = (columns + line - 1) / line * line;
  now = in_large_pages({X.size(0), width}, X.options()).zero_();
  last = in_large_pages({X.size(0), width}, X.options()).zero_();
  now.narrow(1, 0, columns).copy_(X.narrow(1, from, columns));
}

// T_1 = S T_0, then T_p+1 = 2 S T_p - T_p-1: with X = 0 and a = 1 a step of the semi-iteration is
// last ← (1-ω) last + ω S now.
void PropagatedFeatures::Sweep::advance(const NodeOperator& S) {
  const auto one = torch::ones({now.size(1)}, now.options());
  S.advance(/*adjoint=*/false, now, /*X=*/{}, one, term == 0 ? one : one + one, 0, last);
  std::swap(now, last);
  ++term;
}

void PropagatedFeatures::Sweep::write(const torch::Tensor& index, torch::Tensor& rows) const {
  rows.narrow(1, from, columns).copy_(now.index_select(0, index).narrow(1, 0, columns));
}

torch::Tensor PropagatedFeatures::space_for(const torch::Tensor& index) const {
  return torch::empty({index.size(0), X_.size(1)}, X_.options());
}

double PropagatedFeatures::bytes() const {
  double sum = 0;
  for (const auto& set : sets_.entries())
    for (const auto& rows : set.value) sum += static_cast<double>(rows.nbytes());
  return sum;
}

// The limit is per node set and the total twice that, so that train and validation never evict each other.
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
  sets_.clear();
}

// The terms known for this set of nodes (none for a new set). Drops the oldest sets while all together take
// too much memory.
PropagatedFeatures::Terms& PropagatedFeatures::terms_at(const torch::Tensor& index) {
  Terms* terms = sets_.find(index);
  if (terms == nullptr) terms = &sets_.add(index, {});
  if (sets_.entries().size() == 1 || bytes() <= 2 * most_bytes()) return *terms;
  while (sets_.entries().size() > 1 && bytes() > 2 * most_bytes()) sets_.drop_oldest();
  return sets_.entries().back().value;
}

// Adds the terms below `count` that the set lacks, by running the recurrence again from p = 0, a block of
// columns at a time, of so many cache lines each.
void PropagatedFeatures::replay(const torch::Tensor& index, int64_t count, int64_t lines, Terms& terms) {
  const auto first = static_cast<int64_t>(terms.size());
  if (first >= count) return;
  while (static_cast<int64_t>(terms.size()) < count) terms.push_back(space_for(index));
  for (int64_t from = 0; from < X_.size(1);) {
    Sweep sweep(X_, from, lines);
    ++blocks_.count;
    blocks_.largest_bytes =
        std::max(blocks_.largest_bytes, static_cast<int64_t>(sweep.now.nbytes() + sweep.last.nbytes()));
    for (;; sweep.advance(*S_)) {
      check_interrupt();
      if (sweep.term >= first) sweep.write(index, terms[sweep.term]);
      if (sweep.term + 1 >= count) break;
    }
    from += sweep.columns;
  }
}

// How many cache lines of columns the recurrence may have at a time, beside so many more terms at so many
// nodes.
int64_t PropagatedFeatures::lines_at_once(int64_t nodes, int64_t terms) const {
  const auto rows = static_cast<double>(nodes), width = static_cast<double>(X_.size(1)),
             number = static_cast<double>(X_.element_size());
  const double kept = rows * static_cast<double>(terms) * width * number;
  // Two matrices, and the rows that are taken from them before they are kept.
  const double of_a_line = (2 * static_cast<double>(X_.size(0)) + rows) * cache_line;
  budget_.require(
      kept + of_a_line,
      fmt::format("T_p(S) X at {} nodes, {} columns at a time,", nodes, std::min(line_of(X_), X_.size(1))),
      ", or train on fewer nodes");
  return static_cast<int64_t>(
      std::clamp((budget_.left() - kept) / of_a_line, 1.0, static_cast<double>(most_lines)));
}

// Some terms more than are asked for, since each further one would cost all products again.
const PropagatedFeatures::Terms& PropagatedFeatures::within_budget(const torch::Tensor& index, int64_t count,
                                                                   Terms& terms) {
  const auto have = static_cast<int64_t>(terms.size());
  if (have >= count) return terms;
  const int64_t more = count + count / 4 + 1, wanted = affordable(index.size(0), more) ? more : count;
  replay(index, wanted, lines_at_once(index.size(0), wanted - have), terms);
  return terms;
}

// One step of the recurrence. The new term is added to the requested set, and to other sets that have all
// terms before it and are within the memory limits.
void PropagatedFeatures::advance_with(const Terms& asked) {
  for (Sweep& sweep : sweeps_) sweep.advance(*S_);
  const int64_t term = sweeps_[0].term;
  for (auto& set : sets_.entries()) {
    const bool may_grow =
        &set.value == &asked || (affordable(set.nodes.size(0), term + 1) && bytes() <= 2 * most_bytes());
    if (static_cast<int64_t>(set.value.size()) == term && may_grow) append_current_term(set.nodes, set.value);
  }
}

// Adds the current term of the recurrence.
void PropagatedFeatures::append_current_term(const torch::Tensor& index, Terms& terms) const {
  terms.push_back(space_for(index));
  for (const Sweep& sweep : sweeps_) sweep.write(index, terms.back());
}

const std::vector<torch::Tensor>& PropagatedFeatures::at(const torch::Tensor& index, int64_t count) {
  try {
    Terms& terms = terms_at(index);
    const auto have = [&] { return static_cast<int64_t>(terms.size()); };
    if (budget_.is_limited()) return within_budget(index, count, terms);
    if (have() >= count) return terms;
    if (sweeps_.empty())
      for (int64_t from = 0; from < X_.size(1); from += sweeps_.back().columns)
        sweeps_.emplace_back(X_, from);
    replay(index, std::min(count, sweeps_[0].term), most_lines, terms);
    if (have() < count && have() == sweeps_[0].term) append_current_term(index, terms);
    while (have() < count) {
      check_interrupt();
      advance_with(terms);
    }
    return terms;
  } catch (...) {  // the last term of a set may be incomplete
    forget();
    throw;
  }
}

}  // namespace eignn
