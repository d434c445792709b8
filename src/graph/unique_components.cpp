#include "graph/unique_components.h"

#include <algorithm>
#include <map>

#include "graph/content_hash.h"

namespace eignn {

namespace {

Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes,
                       const std::vector<int64_t>& place) {
  Propagation part;
  part.nodes = static_cast<int64_t>(nodes.size());
  part.symmetric = S.symmetric;
  for (int64_t v : nodes) {
    for (int64_t e = S.row_begin[v]; e < S.row_begin[v + 1]; ++e) {
      part.column.push_back(place[S.column[e]]);
      part.weight.push_back(S.weight[e]);
    }
    part.row_begin.push_back(part.entries());
    part.left.push_back(S.left[v]);
    part.right.push_back(S.right[v]);
    if (!S.slack.empty()) part.slack.push_back(S.slack[v]);
  }
  return part;
}

}  // namespace

Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes) {
  std::vector<int64_t> place(S.nodes, -1);
  for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int64_t>(k);
  return restricted(S, nodes, place);
}

std::vector<ComponentKind> unique_components(const Propagation& S) {
  auto components = weak_components(S.pattern()).members();
  std::stable_sort(components.begin(), components.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<int64_t> place(S.nodes);
  for (const auto& nodes : components)
    for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int64_t>(k);

  std::vector<ComponentKind> kinds;
  std::map<std::string, size_t> known;
  for (auto& nodes : components) {
    Propagation part = restricted(S, nodes, place);
    const auto [at, fresh] = known.emplace(content_hash(part), kinds.size());
    if (fresh) kinds.push_back({std::move(part), {}});
    kinds[at->second].instances.push_back(std::move(nodes));
  }
  return kinds;
}

}  // namespace eignn
