#include "equilibrium/elimination/ordering.h"

#include <algorithm>
#include <set>

#include "eignn/error.h"

#ifdef EIGNN_HAVE_AMD
#include <amd.h>
#endif

namespace eignn {

std::vector<int64_t> minimum_degree_order(const Graph& symmetric) {
  const int64_t n = symmetric.nodes;
  std::vector<std::set<int64_t>> neighbours(n);
  for (int64_t v = 0; v < n; ++v)
    for (int64_t a = symmetric.row_begin[v]; a < symmetric.row_begin[v + 1]; ++a)
      if (symmetric.target[a] != v) neighbours[v].insert(symmetric.target[a]);

  std::set<std::pair<size_t, int64_t>> by_degree;
  for (int64_t v = 0; v < n; ++v) by_degree.emplace(neighbours[v].size(), v);

  std::vector<int64_t> order;
  order.reserve(n);
  // With more entries in cliques the factors are too dense for a better order to matter.
  constexpr double most_entries = 2e7;
  double entries = 0;
  while (!by_degree.empty() && entries < most_entries) {
    const int64_t v = by_degree.begin()->second;
    by_degree.erase(by_degree.begin());
    order.push_back(v);
    entries += static_cast<double>(neighbours[v].size()) * static_cast<double>(neighbours[v].size());
    // The neighbours of an eliminated node become a clique.
    for (int64_t w : neighbours[v]) {
      by_degree.erase({neighbours[w].size(), w});
      neighbours[w].erase(v);
      for (int64_t u : neighbours[v])
        if (u != w) neighbours[w].insert(u);
      by_degree.emplace(neighbours[w].size(), w);
    }
    neighbours[v].clear();
  }
  for (const auto& rest : by_degree) order.push_back(rest.second);
  return order;
}

std::vector<int64_t> fill_reducing_order(const Graph& symmetric) {
#ifdef EIGNN_HAVE_AMD
  if (symmetric.arcs() == 0) return minimum_degree_order(symmetric);  // AMD takes no empty pattern
  static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "amd_l must take 64-bit indices");
  std::vector<SuiteSparse_long> begin(symmetric.row_begin.begin(), symmetric.row_begin.end());
  std::vector<SuiteSparse_long> target(symmetric.target.begin(), symmetric.target.end());
  std::vector<SuiteSparse_long> order(symmetric.nodes);
  const auto status =
      amd_l_order(symmetric.nodes, begin.data(), target.data(), order.data(), nullptr, nullptr);
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED)
    throw ResourceError("the graph could not be ordered", "AMD", "it may need more memory than there is");
  return {order.begin(), order.end()};
#else
  return minimum_degree_order(symmetric);
#endif
}

}  // namespace eignn
