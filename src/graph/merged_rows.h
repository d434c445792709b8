// Rows of a graph whose arcs are read both ways.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// Calls put(target, weight) for the targets of node v in either graph, ascending and each once, with the
/// larger of two weights. With graph.transposed() as `turned`, this is the row of graph.symmetrised().
template <class Put>
void merge_row(const Graph& graph, const Graph& turned, int64_t v, const Put& put) {
  int64_t a = graph.row_begin[v], b = turned.row_begin[v];
  const int64_t a_end = graph.row_begin[v + 1], b_end = turned.row_begin[v + 1];
  while (a < a_end && b < b_end) {
    const int64_t i = graph.target[a], j = turned.target[b];
    if (i < j)
      put(i, graph.weight_of(a++));
    else if (j < i)
      put(j, turned.weight_of(b++));
    else
      put(i, std::max(graph.weight_of(a++), turned.weight_of(b++)));
  }
  for (; a < a_end; ++a) put(static_cast<int64_t>(graph.target[a]), graph.weight_of(a));
  for (; b < b_end; ++b) put(static_cast<int64_t>(turned.target[b]), turned.weight_of(b));
}

}  // namespace eignn
