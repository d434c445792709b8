#include "graph/unique_components.h"

#include <algorithm>
#include <map>

namespace eignn {

namespace {

Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes,
                       const std::vector<int64_t>& place) {
  Propagation part;
  part.nodes = static_cast<int64_t>(nodes.size());
  part.symmetric = S.symmetric;
  for (int64_t v : nodes) {
    for (int64_t e = S.row_begin[v]; e < S.row_begin[v + 1]; ++e) {
      part.column.push_back(static_cast<int32_t>(place[S.column[e]]));
      if (!S.weight.empty()) part.weight.push_back(S.weight[e]);
    }
    part.row_begin.push_back(part.entries());
    part.left.push_back(S.left[v]);
    part.right.push_back(S.right[v]);
    if (!S.diagonal.empty()) part.diagonal.push_back(S.diagonal[v]);
    if (!S.slack.empty()) part.slack.push_back(S.slack[v]);
  }
  return part;
}

bool same_matrix(const Propagation& a, const Propagation& b) {
  return a.nodes == b.nodes && a.symmetric == b.symmetric && a.row_begin == b.row_begin &&
         a.column == b.column && a.weight == b.weight && a.diagonal == b.diagonal && a.left == b.left &&
         a.right == b.right && a.slack == b.slack;
}

}  // namespace

Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes) {
  std::vector<int64_t> place(S.nodes, -1);
  for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int64_t>(k);
  return restricted(S, nodes, place);
}

std::vector<ComponentKind> unique_components(const Propagation& S,
                                             const std::function<std::string(const Propagation&)>& hash) {
  auto components = weak_components(S.pattern()).members();
  std::stable_sort(components.begin(), components.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<int64_t> place(S.nodes);
  for (const auto& nodes : components)
    for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int64_t>(k);

  std::vector<ComponentKind> kinds;
  std::map<std::string, std::vector<size_t>> by_hash;  // several kinds where hashes collide
  for (auto& nodes : components) {
    Propagation part = restricted(S, nodes, place);
    std::vector<size_t>& candidates = by_hash[hash(part)];
    auto known = std::find_if(candidates.begin(), candidates.end(),
                              [&](size_t kind) { return same_matrix(kinds[kind].S, part); });
    if (known == candidates.end()) {
      known = candidates.insert(candidates.end(), kinds.size());
      kinds.push_back({std::move(part), {}});
    }
    kinds[*known].instances.push_back(std::move(nodes));
  }
  return kinds;
}

}  // namespace eignn
