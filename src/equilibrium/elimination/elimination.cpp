#include "equilibrium/elimination/elimination.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "eignn/error.h"
#include "equilibrium/elimination/ordering.h"

namespace eignn {

namespace {

struct Structure {
  std::vector<int64_t> order, position;
  std::vector<std::vector<int32_t>> later;
};

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> position(order.size());
  for (size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<int64_t>(k);
  return position;
}

struct MemoryBudget {
  double per_slot, per_update, limit;  // bytes
};

// The structure of column k is the union of its later neighbours and the structures of its children in the
// elimination tree, without k; the parent of a column is its first later position. Throws ResourceError when
// the budget is exceeded.
Structure eliminate_symbolically(const Propagation& S, const MemoryBudget& budget) {
  const Graph pattern = S.symmetric ? S.pattern() : S.pattern().symmetrised();
  Structure s;
  s.order = fill_reducing_order(pattern);
  s.position = inverse(s.order);
  s.later.resize(S.nodes);
  std::vector<std::vector<int32_t>> children(S.nodes);
  double bytes = 0;
  for (int64_t k = 0; k < S.nodes; ++k) {
    std::vector<int32_t>& column = s.later[k];
    const int64_t v = s.order[k];
    for (int64_t a = pattern.row_begin[v]; a < pattern.row_begin[v + 1]; ++a)
      if (s.position[pattern.target[a]] > k)
        column.push_back(static_cast<int32_t>(s.position[pattern.target[a]]));
    for (int32_t child : children[k])
      for (int32_t i : s.later[child])
        if (i != k) column.push_back(i);
    std::sort(column.begin(), column.end());
    column.erase(std::unique(column.begin(), column.end()), column.end());
    if (!column.empty()) children[column.front()].push_back(static_cast<int32_t>(k));
    const double width = static_cast<double>(column.size());
    bytes += width * budget.per_slot + width * (width - 1) / 2 * budget.per_update;
    if (bytes > budget.limit)
      throw ResourceError(
          fmt::format("the direct solver would need more than {:.3g} GB", 1e-9 * budget.limit),
          fmt::format("the graph's factors fill in: at node {} of {}", k, S.nodes),
          "use solver spectral, krylov or sparse");
  }
  return s;
}

// The number of edges left after trees are cut off and paths contracted. Eliminating a node with one or two
// neighbours does not increase the number of edges, so only these edges make an ordering expensive.
int64_t core_edges(const Propagation& S) {
  const Graph pattern = S.symmetric ? S.pattern() : S.pattern().symmetrised();
  std::vector<int64_t> degree(S.nodes, 0), leaves;
  for (int64_t v = 0; v < S.nodes; ++v) {
    for (int64_t a = pattern.row_begin[v]; a < pattern.row_begin[v + 1]; ++a)
      degree[v] += pattern.target[a] != v;
    if (degree[v] == 1) leaves.push_back(v);
  }
  while (!leaves.empty()) {
    const int64_t v = leaves.back();
    leaves.pop_back();
    if (degree[v] != 1) continue;
    degree[v] = 0;
    for (int64_t a = pattern.row_begin[v]; a < pattern.row_begin[v + 1]; ++a) {
      const int64_t w = pattern.target[a];
      if (w != v && degree[w] > 0 && --degree[w] == 1) leaves.push_back(w);
    }
  }
  int64_t ends = 0, on_paths = 0;
  for (const int64_t d : degree) {
    ends += d;
    on_paths += d == 2;
  }
  return ends / 2 - on_paths;
}

int64_t slot_of(const Elimination& e, int64_t column, int64_t row) {
  const auto first = e.later.begin() + e.begin[column], last = e.later.begin() + e.begin[column + 1];
  return std::lower_bound(first, last, row) - e.later.begin();
}

void place_entries(const Propagation& S, Elimination& e) {
  e.upper.assign(e.slots(), 0.0);
  if (!e.symmetric) e.lower.assign(e.slots(), 0.0);
  e.diagonal.assign(e.nodes, 0.0);
  for (int64_t v = 0; v < e.nodes; ++v)
    for (int64_t a = S.row_begin[v]; a < S.row_begin[v + 1]; ++a) {
      const int64_t p = e.position[v], q = e.position[S.column[a]];
      if (p == q) {
        e.diagonal[p] = S.weight_of(v, a);
      } else if (p < q) {
        e.upper[slot_of(e, p, q)] = S.weight_of(v, a);
      } else if (!e.symmetric) {
        e.lower[slot_of(e, q, p)] = S.weight_of(v, a);
      }
    }
}

void place_updates(Elimination& e) {
  e.pair_begin.assign(1, 0);
  int64_t pairs = 0;
  for (int64_t k = 0; k < e.nodes; ++k) {
    const int64_t width = e.begin[k + 1] - e.begin[k];
    pairs += width * (width - 1) / 2;
  }
  e.pair_slot.reserve(pairs);
  for (int64_t k = 0; k < e.nodes; ++k) {
    for (int64_t a = e.begin[k]; a < e.begin[k + 1]; ++a)
      for (int64_t b = a + 1; b < e.begin[k + 1]; ++b)
        e.pair_slot.push_back(static_cast<int32_t>(slot_of(e, e.later[a], e.later[b])));
    e.pair_begin.push_back(static_cast<int64_t>(e.pair_slot.size()));
  }
}

void place_scaling(const Propagation& S, Elimination& e) {
  for (int64_t v : e.order) {
    long double row_sum = 0;
    for (int64_t a = S.row_begin[v]; a < S.row_begin[v + 1]; ++a) row_sum += S.weight_of(v, a);
    e.left.push_back(S.left[v]);
    e.right.push_back(S.right[v]);
    if (S.slack.empty()) {
      e.h.push_back(1 / (S.left[v] * S.right[v]));
    } else {
      e.h.push_back(static_cast<double>(row_sum + S.slack[v]));
      e.slack.push_back(S.slack[v]);
    }
  }
}

void place_incoming(const Propagation& S, Elimination& e) {
  std::vector<int64_t> count(e.nodes + 1, 0);
  for (int64_t column : S.column) ++count[e.position[column] + 1];
  for (int64_t k = 0; k < e.nodes; ++k) count[k + 1] += count[k];
  e.incoming_begin = count;
  e.incoming.resize(S.column.size());
  e.incoming_weight.resize(S.column.size());
  for (int64_t p = 0; p < e.nodes; ++p) {
    const int64_t v = e.order[p];
    for (int64_t a = S.row_begin[v]; a < S.row_begin[v + 1]; ++a) {
      const int64_t at = count[e.position[S.column[a]]]++;
      e.incoming[at] = static_cast<int32_t>(p);
      e.incoming_weight[at] = S.weight_of(v, a);
    }
  }
}

}  // namespace

EliminationCost EliminationCost::unaffordable(int64_t nodes) {
  return {nodes * nodes / 2, std::numeric_limits<double>::infinity()};
}

EliminationCost estimate_elimination(const Propagation& S) {
  constexpr int64_t most_ordered = 250'000;  // edges
  if (core_edges(S) > most_ordered) return EliminationCost::unaffordable(S.nodes);
  EliminationCost cost;
  // The planner never takes direct for more updates than this, so that the estimate only has to be large.
  constexpr double most_updates = 1e9;
  try {
    for (const auto& column : eliminate_symbolically(S, {0, 1, most_updates}).later) {
      const double width = static_cast<double>(column.size());
      cost.slots += static_cast<int64_t>(column.size());
      cost.updates += width * (width - 1) / 2;
    }
  } catch (const ResourceError&) {
    return EliminationCost::unaffordable(S.nodes);
  }
  return cost;
}

Elimination analyse_elimination(const Propagation& S, int64_t shifts, int64_t bytes_per_number,
                                double memory_limit) {
  // Each slot holds a mantissa and a digit per shift and triangle, each update an index.
  const double triangles = S.symmetric ? 1 : 2;
  const double per_slot = 2 * triangles * static_cast<double>(shifts * bytes_per_number);
  Structure s = eliminate_symbolically(S, {per_slot, sizeof(int32_t), memory_limit});
  Elimination e;
  e.nodes = S.nodes;
  e.symmetric = S.symmetric;
  e.order = std::move(s.order);
  e.position = std::move(s.position);
  e.begin.assign(1, 0);
  for (const auto& column : s.later) {
    e.later.insert(e.later.end(), column.begin(), column.end());
    e.begin.push_back(e.slots());
  }
  place_entries(S, e);
  place_updates(e);
  place_scaling(S, e);
  place_incoming(S, e);
  return e;
}

}  // namespace eignn
