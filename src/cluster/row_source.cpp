#include "cluster/row_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "eignn/error.h"

namespace eignn {

namespace {

class RowsInMemory : public RowSource {
 public:
  explicit RowsInMemory(const Graph& graph) : graph_(graph) {
    if (graph.nodes > std::numeric_limits<int32_t>::max()) {
      throw ResourceError(fmt::format("{} nodes are more than 2147483647", graph.nodes), "sparse products",
                          "take a part of the graph");
    }
  }

  int64_t nodes() const override { return graph_.nodes; }
  bool weighted() const override { return !graph_.weight.empty(); }
  bool symmetric() const override {
    const Graph& in = with(RowEnds::in);
    return in.row_begin == graph_.row_begin && in.target == graph_.target && in.weight == graph_.weight;
  }

  RowsOfGraph rows(int64_t first, int64_t last, RowEnds ends) const override {
    const Graph& graph = with(ends);
    RowsOfGraph out;
    out.first = first;
    const int64_t begin = graph.row_begin[first], end = graph.row_begin[last];
    out.begin.clear();
    for (int64_t v = first; v <= last; ++v) out.begin.push_back(graph.row_begin[v] - begin);
    out.target.assign(graph.target.begin() + begin, graph.target.begin() + end);
    if (weighted()) out.weight.assign(graph.weight.begin() + begin, graph.weight.begin() + end);
    return out;
  }

  std::vector<int64_t> equal_parts(int64_t parts) const override {
    return equal_ranges(with(RowEnds::both).row_begin, parts);
  }

 private:
  const Graph& with(RowEnds ends) const {
    if (ends == RowEnds::out) return graph_;
    auto& kept = ends == RowEnds::in ? in_ : both_;
    if (!kept) kept = ends == RowEnds::in ? graph_.transposed() : graph_.symmetrised();
    return *kept;
  }

  const Graph& graph_;
  mutable std::optional<Graph> in_, both_;
};

}  // namespace

std::unique_ptr<RowSource> rows_in_memory(const Graph& graph) {
  return std::make_unique<RowsInMemory>(graph);
}

std::vector<int64_t> equal_ranges(const std::vector<int64_t>& entries_before, int64_t parts) {
  const int64_t rows = static_cast<int64_t>(entries_before.size()) - 1, all = entries_before.back() + rows;
  std::vector<int64_t> first = {0};
  for (int64_t k = 1; k < parts; ++k) {
    // The first row before which there are so many entries and rows.
    int64_t low = first.back() + 1, high = rows - (parts - k);
    const auto wanted = static_cast<int64_t>(static_cast<long double>(all) * static_cast<long double>(k) /
                                             static_cast<long double>(parts));
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (entries_before[static_cast<size_t>(middle)] + middle < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    first.push_back(low);
  }
  first.push_back(rows);
  return first;
}

}  // namespace eignn
