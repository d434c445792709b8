#include "explain/hearing.h"

namespace eignn {

Hearing::Hearing(const Propagation& S) : S_(S) {
  if (!S.symmetric) heard_ = S.pattern().transposed();
}

std::vector<int64_t> Hearing::hops_to(int64_t node) const {
  std::vector<int64_t> next;
  return hops_to(node, next);
}

std::vector<int64_t> Hearing::hops_to(int64_t node, std::vector<int64_t>& next) const {
  const auto& begin = S_.symmetric ? S_.row_begin : heard_.row_begin;
  const auto& heard = S_.symmetric ? S_.column : heard_.target;
  std::vector<int64_t> hops(S_.nodes, -1), order = {node};
  next.assign(S_.nodes, -1);
  hops[node] = 0;
  for (size_t head = 0; head < order.size(); ++head) {
    const int64_t v = order[head];
    for (int64_t e = begin[v]; e < begin[v + 1]; ++e) {
      const int64_t u = heard[e];
      if (hops[u] >= 0) continue;
      hops[u] = hops[v] + 1;
      next[u] = v;
      order.push_back(u);
    }
  }
  return hops;
}

}  // namespace eignn
