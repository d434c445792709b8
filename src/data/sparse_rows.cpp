#include "data/sparse_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "data/text_lines.h"

namespace eignn {

bool stay_sparse(int64_t rows, int64_t columns, int64_t entries) {
  constexpr double most_cells = 1 << 27, one_in = 8;
  const double cells = static_cast<double>(rows) * static_cast<double>(columns);
  return cells > most_cells && static_cast<double>(entries) <= cells / one_in;
}

SparseRows sorted_rows(SparseRows rows, int64_t columns, const std::string& origin) {
  if (columns > std::numeric_limits<int32_t>::max())
    refuse(fmt::format("{} columns are more than 2147483647", columns), origin,
           "number the features 0, 1, 2, ...");
  // What is learned takes memory for each column, so that a large number claimed by few entries is refused.
  constexpr int64_t always_fine = 1 << 20, largest_ratio = 1024;
  const auto entries = static_cast<int64_t>(rows.column.size());
  if (columns > always_fine && columns / largest_ratio > entries)
    refuse(fmt::format("{} entries claim to be {} x {} features", entries, rows.begin.size() - 1, columns),
           origin, "check the number of features and their indices");
  SparseRows out;
  out.column.reserve(rows.column.size());
  out.value.reserve(rows.value.size());
  std::vector<int64_t> order;
  for (size_t v = 0; v + 1 < rows.begin.size(); ++v) {
    order.resize(static_cast<size_t>(rows.begin[v + 1] - rows.begin[v]));
    std::iota(order.begin(), order.end(), rows.begin[v]);
    const auto before = [&](int64_t a, int64_t b) { return rows.column[a] < rows.column[b]; };
    if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
    for (const int64_t k : order) {
      if (rows.value[k] == 0) continue;
      if (static_cast<int64_t>(out.column.size()) > out.begin.back() && out.column.back() == rows.column[k])
        refuse(fmt::format("row {} has column {} twice", v, rows.column[k]), origin,
               "call .sum_duplicates() before saving");
      out.column.push_back(rows.column[k]);
      out.value.push_back(rows.value[k]);
    }
    out.begin.push_back(static_cast<int64_t>(out.column.size()));
  }
  return out;
}

}  // namespace eignn
