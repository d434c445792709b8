#include "equilibrium/node/propagated_features.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "eignn/interrupt.h"
#include "equilibrium/large_pages.h"
#include "equilibrium/scale.h"
#include "equilibrium/sparse_kernel.h"
#include "equilibrium/stopwatch.h"
#include "graph/content_hash.h"

namespace eignn {

namespace {

// Columns of X in a cache line.
int64_t line_of(const torch::Tensor& X) {
  return cache_line / static_cast<int64_t>(X.element_size());
}

}  // namespace

PropagatedFeatures::PropagatedFeatures(std::shared_ptr<const NodeOperator> S, torch::Tensor X,
                                       MemoryBudget budget, std::shared_ptr<TermsStore> store)
    : S_(std::move(S)),
      X_(std::move(X)),
      norm_(norm_of(*S_, X_)),
      of_share_(S_),
      share_(X_),
      budget_(std::move(budget)),
      store_(S_->fingerprint().empty() ? nullptr : std::move(store)) {
  if (const ColumnShares* shares = S_->column_shares()) {
    of_share_ = shares->nodes();
    share_ = shares->share(X_, /*unit=*/1);
  }
}

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

torch::Tensor PropagatedFeatures::space_for(const NodeSet& set) const {
  return torch::empty({set.place.index.size(0), share_.size(1)}, X_.options());
}

// The rows of this process, where others computed some of their columns.
torch::Tensor PropagatedFeatures::all_columns(const torch::Tensor& rows, const NodeSet& set) const {
  const ColumnShares* shares = S_->column_shares();
  return shares ? shares->whole(rows, X_.size(1), /*unit=*/1, set.place.counts) : rows;
}

double PropagatedFeatures::bytes_of_row() const {
  return static_cast<double>(X_.size(1) * static_cast<int64_t>(X_.element_size()));
}

double PropagatedFeatures::bytes() const {
  double rows = 0;
  for (const auto& set : sets_.entries())
    rows += static_cast<double>(set.value.nodes) * static_cast<double>(set.value.terms.size());
  return rows * bytes_of_row();
}

// The limit is per node set and the total twice that, so that train and validation never evict each other.
double PropagatedFeatures::most_bytes() const {
  constexpr double gibibyte = 1 << 30;
  return std::max(gibibyte, 4 * static_cast<double>(S_->rows()) * bytes_of_row());
}

bool PropagatedFeatures::affordable(int64_t nodes, int64_t terms) const {
  return static_cast<double>(nodes) * static_cast<double>(terms) * bytes_of_row() <= most_bytes();
}

void PropagatedFeatures::forget() {
  sweeps_.clear();
  sets_.clear();
}

// The terms known for this set of nodes (none for a new set). Drops the oldest sets while all together take
// too much memory.
PropagatedFeatures::NodeSet& PropagatedFeatures::set_at(const torch::Tensor& index) {
  // What several processes keep must be alike: two sets that are equal here may differ elsewhere.
  const bool spread = S_->rows_here() < S_->rows();
  NodeSet* set = spread ? sets_.find_tensor(index) : sets_.find(index);
  if (set == nullptr) {
    const ColumnShares* shares = S_->column_shares();
    set = &sets_.add(index, {{},
                             S_->count(index.size(0)),
                             {},
                             0,
                             shares ? shares->rows_at(index) : ColumnShares::Rows{index.clone(), {}}});
  }
  if (sets_.entries().size() == 1 || bytes() <= 2 * most_bytes()) return *set;
  while (sets_.entries().size() > 1 && bytes() > 2 * most_bytes()) sets_.drop_oldest();
  return sets_.entries().back().value;
}

// Adds the terms below `count` that the set lacks, by running the recurrence again from p = 0, a block of
// columns at a time, of so many cache lines each.
void PropagatedFeatures::replay(int64_t count, int64_t lines, NodeSet& set) {
  const auto first = static_cast<int64_t>(set.terms.size());
  if (first >= count) return;
  std::vector<torch::Tensor> rows;
  while (first + static_cast<int64_t>(rows.size()) < count) rows.push_back(space_for(set));
  for (int64_t from = 0; from < share_.size(1);) {
    Sweep sweep(share_, from, lines);
    ++blocks_.count;
    blocks_.largest_bytes =
        std::max(blocks_.largest_bytes, static_cast<int64_t>(sweep.now.nbytes() + sweep.last.nbytes()));
    for (;; sweep.advance(*of_share_)) {
      check_interrupt();
      if (sweep.term >= first) sweep.write(set.place.index, rows[sweep.term - first]);
      if (sweep.term + 1 >= count) break;
    }
    from += sweep.columns;
  }
  for (const auto& term : rows) set.terms.push_back(all_columns(term, set));
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
void PropagatedFeatures::within_budget(int64_t count, NodeSet& set) {
  const auto have = static_cast<int64_t>(set.terms.size());
  const int64_t more = count + count / 4 + 1, wanted = affordable(set.nodes, more) ? more : count;
  replay(wanted, lines_at_once(set.nodes, wanted - have), set);
}

// One step of the recurrence. The new term is added to the requested set, and to other sets that have all
// terms before it and are within the memory limits.
void PropagatedFeatures::advance_with(const NodeSet& asked) {
  for (Sweep& sweep : sweeps_) sweep.advance(*of_share_);
  const int64_t term = sweeps_[0].term;
  for (auto& entry : sets_.entries()) {
    NodeSet& set = entry.value;
    const bool may_grow = &set == &asked || (affordable(set.nodes, term + 1) && bytes() <= 2 * most_bytes());
    if (static_cast<int64_t>(set.terms.size()) == term && may_grow) append_current_term(set);
  }
}

// Adds the current term of the recurrence.
void PropagatedFeatures::append_current_term(NodeSet& set) const {
  auto rows = space_for(set);
  for (const Sweep& sweep : sweeps_) sweep.write(set.place.index, rows);
  set.terms.push_back(all_columns(rows, set));
}

// Of the rows of S and X and the nodes that this process has.
std::string PropagatedFeatures::key_of(const torch::Tensor& index) {
  const auto add = [](ContentHash& hash, const torch::Tensor& t) {
    const auto bytes = t.contiguous();
    hash.add(bytes.data_ptr(), bytes.nbytes());
  };
  if (content_.empty()) {
    ContentHash hash;
    const std::string S = S_->fingerprint();
    hash.add(S.data(), S.size());
    add(hash, share_);
    content_ = hash.hex();
  }
  ContentHash hash;
  hash.add(content_.data(), content_.size());
  const std::vector<int64_t> shape = {S_->rows(), S_->rows_here(), X_.size(1), share_.size(1),
                                      static_cast<int64_t>(X_.element_size())};
  hash.add(shape);
  add(hash, index);
  return hash.hex();
}

// Takes the terms that are kept, where every process has kept its own and as many of them.
void PropagatedFeatures::take_kept(NodeSet& set) const {
  auto terms = store_->load(set.key);
  const int64_t processes = S_->count(1), mine = static_cast<int64_t>(terms.size()), all = S_->count(mine);
  const bool fits = std::all_of(terms.begin(), terms.end(), [&](const torch::Tensor& term) {
    return term.dim() == 2 && term.scalar_type() == X_.scalar_type() && term.size(1) == X_.size(1) &&
           term.size(0) == terms[0].size(0);
  });
  const bool alike = mine > 0 && fits && mine * processes == all;
  if (S_->count(alike ? 1 : 0) == processes) set.terms = std::move(terms);
  set.kept = set.terms.size();
}

const std::vector<torch::Tensor>& PropagatedFeatures::at(const torch::Tensor& index, int64_t count) {
  try {
    NodeSet& set = set_at(index);
    if (store_ && set.key.empty()) {
      set.key = key_of(index);
      take_kept(set);
    }
    const Stopwatch watch;
    make_terms(count, set);
    seconds_ += watch.seconds();
    if (store_ && set.terms.size() > set.kept) {  // those of one set may have been made with another's
      store_->save(set.key, set.terms, seconds_);
      set.kept = set.terms.size();
    }
    return set.terms;
  } catch (...) {  // the last term of a set may be incomplete
    forget();
    throw;
  }
}

void PropagatedFeatures::make_terms(int64_t count, NodeSet& set) {
  const auto have = [&] { return static_cast<int64_t>(set.terms.size()); };
  if (have() >= count) return;
  if (budget_.is_limited()) return within_budget(count, set);
  if (sweeps_.empty()) {
    for (int64_t from = 0; from < share_.size(1); from += sweeps_.back().columns)
      sweeps_.emplace_back(share_, from);
  }
  replay(std::min(count, sweeps_[0].term), most_lines, set);
  if (have() < count && have() == sweeps_[0].term) append_current_term(set);
  while (have() < count) {
    check_interrupt();
    advance_with(set);
  }
}

}  // namespace eignn
