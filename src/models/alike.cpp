#include "models/alike.h"

#include <algorithm>

#include "equilibrium/fingerprint.h"
#include "graph/unique_components.h"

namespace eignn {

Representatives representatives(const Propagation& S, const torch::Tensor& X) {
  const auto x = X.detach().to(torch::kCPU).contiguous();
  Representatives out;
  std::vector<int64_t> first_like(S.nodes);
  for (const ComponentKind& kind : unique_components(S)) {
    RowsByContent rows(x);
    for (const auto& nodes : kind.instances) {
      const auto& first = rows.first(rows.number_of(nodes));
      for (size_t k = 0; k < nodes.size(); ++k) first_like[nodes[k]] = first[k];
      if (&first == &nodes) out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
    }
  }
  std::sort(out.nodes.begin(), out.nodes.end());
  for (int64_t first : first_like)
    out.like.push_back(std::lower_bound(out.nodes.begin(), out.nodes.end(), first) - out.nodes.begin());
  return out;
}

}  // namespace eignn
