#include "models/hops.h"

#include <algorithm>

namespace eignn {

Propagation normalised_arcs(const Graph& arcs) {
  PropagationOptions options;
  options.direction = Direction::in;  // the arcs as they are
  options.normalise = arcs.is_symmetric() ? Normalisation::sym : Normalisation::out_in;
  options.self_loops = false;
  return make_propagation(arcs, options);
}

Graph exact_two_hops(const Graph& arcs) {
  Graph out;
  out.nodes = arcs.nodes;
  std::vector<int64_t> seen(arcs.nodes, -1);  // the last i from which this node was reached
  for (int64_t i = 0; i < arcs.nodes; ++i) {
    seen[i] = i;
    for (int64_t a = arcs.row_begin[i]; a < arcs.row_begin[i + 1]; ++a) seen[arcs.target[a]] = i;
    const auto first = static_cast<std::ptrdiff_t>(out.target.size());
    for (int64_t a = arcs.row_begin[i]; a < arcs.row_begin[i + 1]; ++a) {
      const int64_t between = arcs.target[a];
      for (int64_t b = arcs.row_begin[between]; b < arcs.row_begin[between + 1]; ++b) {
        if (seen[arcs.target[b]] == i) continue;
        seen[arcs.target[b]] = i;
        out.target.push_back(arcs.target[b]);
      }
    }
    std::sort(out.target.begin() + first, out.target.end());
    out.row_begin.push_back(out.arcs());
  }
  return out;
}

}  // namespace eignn
