#include "models/relations.h"

#include <torch/torch.h>

#include <algorithm>

namespace eignn {

Graph structural_neighbours(const Graph& arcs, const torch::Tensor& position) {
  const auto at = position.accessor<double, 2>();
  const auto distance2 = [&](int64_t u, int64_t v) {
    const double x = at[u][0] - at[v][0], y = at[u][1] - at[v][1];
    return x * x + y * y;
  };
  const auto components = weak_components(arcs).members();
  std::vector<double> all;  // of each pair once
  for (const auto& members : components)
    for (size_t a = 0; a < members.size(); ++a)
      for (size_t b = 0; b < a; ++b) all.push_back(distance2(members[a], members[b]));
  const auto wanted = static_cast<size_t>(arcs.arcs() - arcs.loops()) / 2;
  if (wanted == 0 || all.empty()) return Graph::from_arcs(arcs.nodes, {}, {});
  const auto nth = all.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, all.size()) - 1);
  std::nth_element(all.begin(), nth, all.end());
  const double rho2 = *nth;
  std::vector<int64_t> source, target;
  for (const auto& members : components)
    for (const int64_t u : members)
      for (const int64_t v : members)
        if (u != v && distance2(u, v) <= rho2) {
          source.push_back(u);
          target.push_back(v);
        }
  return Graph::from_arcs(arcs.nodes, source, target);
}

std::vector<Propagation> by_quadrant(const Propagation& S, const torch::Tensor& position) {
  const auto at = position.accessor<double, 2>();
  std::vector<Propagation> out(4);
  for (Propagation& part : out) {
    part.nodes = S.nodes;
    part.left = S.left;
    part.right = S.right;
    part.symmetric = false;
  }
  for (int64_t i = 0; i < S.nodes; ++i) {
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      const int64_t j = S.column[e];
      const int quadrant = 2 * (at[i][0] > at[j][0] ? 1 : 0) + (at[i][1] > at[j][1] ? 1 : 0);
      out[quadrant].column.push_back(static_cast<int32_t>(j));
      out[quadrant].weight.push_back(S.weight_of(i, e));
    }
    for (Propagation& part : out) part.row_begin.push_back(part.entries());
  }
  return out;
}

}  // namespace eignn
