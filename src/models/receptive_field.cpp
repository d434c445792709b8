#include "models/receptive_field.h"

#include <torch/torch.h>

#include <algorithm>
#include <numeric>

namespace eignn {

namespace {

std::vector<int64_t> sorted_nodes(const torch::Tensor& rows) {
  const auto unique = std::get<0>(torch::_unique(rows.to(torch::kCPU), /*sorted=*/true));
  return {unique.data_ptr<int64_t>(), unique.data_ptr<int64_t>() + unique.numel()};
}

std::vector<int64_t> all_nodes(int64_t nodes) {
  std::vector<int64_t> out(nodes);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<int64_t> places_of(const std::vector<int64_t>& nodes, int64_t count) {
  std::vector<int64_t> place(count, -1);
  for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int64_t>(k);
  return place;
}

// These nodes and all nodes that they receive from.
std::vector<int64_t> with_senders(const Propagation& S, const std::vector<int64_t>& nodes) {
  const auto place = places_of(nodes, S.nodes);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < S.nodes; ++i) {
    const auto first = S.column.begin() + S.row_begin[i], last = S.column.begin() + S.row_begin[i + 1];
    if (place[i] >= 0 || std::any_of(first, last, [&](int64_t j) { return place[j] >= 0; })) out.push_back(i);
  }
  return out;
}

}  // namespace

ReceptiveField::ReceptiveField(std::shared_ptr<const Propagation> S, const torch::TensorOptions& type)
    : S_(std::move(S)), type_(type), whole_(make_product(S_, type)) {}

// The block of S (with `stay`, of the identity) with the rows `from` and the columns `to`.
SharedProduct ReceptiveField::part(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                                   bool stay) const {
  const auto place = places_of(to, S_->nodes);
  SparseEntries entries;
  entries.columns = static_cast<int64_t>(to.size());
  const auto add = [&](int64_t node, double value) {
    if (place[node] < 0) return;
    entries.column.push_back(place[node]);
    entries.value.push_back(value);
  };
  for (const int64_t i : from) {
    if (stay)
      add(i, 1);
    else
      for (int64_t e = S_->row_begin[i]; e < S_->row_begin[i + 1]; ++e) add(S_->column[e], S_->value(i, e));
    entries.begin.push_back(static_cast<int64_t>(entries.column.size()));
  }
  return std::make_shared<SparseProduct>(entries, c10::typeMetaToScalarType(type_.dtype()), type_.device());
}

const std::vector<Round>& ReceptiveField::rounds_to(const torch::Tensor& rows, int64_t count) {
  for (const Cached& cached : cache_)
    if (static_cast<int64_t>(cached.rounds.size()) == count && cached.rows.equal(rows)) return cached.rounds;
  constexpr size_t kept = 3;  // training, validation, test
  if (cache_.size() == kept) cache_.pop_front();
  const auto copy = rows.clone();
  cache_.push_back({copy, find(copy, count)});
  return cache_.back().rounds;
}

std::vector<Round> ReceptiveField::find(const torch::Tensor& rows, int64_t count) const {
  std::vector<Round> rounds(count, {whole_, nullptr, rows});
  if (4 * rows.numel() > S_->nodes || rows.numel() == 0 || count == 0) return rounds;
  // Backwards: a round needs its receivers and the nodes that they receive from.
  std::vector<std::vector<int64_t>> receivers(count);  // empty: all nodes
  receivers[count - 1] = sorted_nodes(rows);
  const auto most = [&](const std::vector<int64_t>& nodes) {
    return 10 * static_cast<int64_t>(nodes.size()) > 8 * S_->nodes;
  };
  for (int64_t l = count - 1; l > 0; --l) {
    auto wider = with_senders(*S_, receivers[l]);
    if (most(wider)) break;
    receivers[l - 1] = std::move(wider);
  }
  for (int64_t l = 0; l < count; ++l) {
    if (receivers[l].empty()) continue;
    const auto before = l > 0 && !receivers[l - 1].empty() ? receivers[l - 1] : all_nodes(S_->nodes);
    const auto place = torch::tensor(places_of(receivers[l], S_->nodes), torch::kInt64);
    rounds[l] = {part(before, receivers[l], false), part(before, receivers[l], true),
                 place.index_select(0, rows.to(torch::kCPU)).to(type_.device())};
  }
  return rounds;
}

std::vector<ReceptiveField> receptive_fields(const std::vector<GraphMatrix>& graphs,
                                             const torch::TensorOptions& type) {
  std::vector<ReceptiveField> out;
  for (const GraphMatrix& graph : graphs) out.emplace_back(graph.S, type);
  return out;
}

}  // namespace eignn
