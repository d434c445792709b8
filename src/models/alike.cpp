#include "models/alike.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "equilibrium/fingerprint.h"
#include "graph/unique_components.h"

namespace eignn {

namespace {

// Whether the rows of X at these nodes are equal byte for byte: a fingerprint alone proves nothing.
bool equal_rows(const torch::Tensor& X, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const size_t row = static_cast<size_t>(X.size(1)) * X.element_size();
  const auto* bytes = static_cast<const unsigned char*>(X.data_ptr());
  const auto at = [&](int64_t v) { return bytes + static_cast<size_t>(v) * row; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](int64_t u, int64_t v) { return std::memcmp(at(u), at(v), row) == 0; });
}

}  // namespace

AlikeNodes alike_nodes(const Propagation& S, const torch::Tensor& X) {
  const auto x = X.detach().to(torch::kCPU).contiguous();
  AlikeNodes out;
  std::vector<int64_t> first_like(S.nodes);
  for (const ComponentKind& kind : unique_components(S)) {
    std::multimap<std::string, const std::vector<int64_t>*> known;  // by fingerprint
    for (const auto& nodes : kind.instances) {
      const std::string key = fingerprint(x, nodes);
      const auto [first, last] = known.equal_range(key);
      const auto twin =
          std::find_if(first, last, [&](const auto& k) { return equal_rows(x, *k.second, nodes); });
      const std::vector<int64_t>& like = twin == last ? nodes : *twin->second;
      for (size_t k = 0; k < nodes.size(); ++k) first_like[nodes[k]] = like[k];
      if (twin != last) continue;
      known.emplace(key, &nodes);
      out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
    }
  }
  std::sort(out.nodes.begin(), out.nodes.end());
  for (int64_t first : first_like)
    out.like.push_back(std::lower_bound(out.nodes.begin(), out.nodes.end(), first) - out.nodes.begin());
  return out;
}

}  // namespace eignn
