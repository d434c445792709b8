#include "data/edge_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "data/text_lines.h"
#include "eignn/error.h"

namespace eignn {

void take_weights(ArcList& arcs, EdgeWeights wanted, const std::string& path, int64_t first_arc) {
  if (wanted == EdgeWeights::use && arcs.weight.empty() && !arcs.source.empty())
    throw ArgumentError("edge-weights", fmt::format("the arcs of {} have no weights", path), "leave it out");
  if (wanted == EdgeWeights::ignore || (wanted == EdgeWeights::automatic && arcs.weight_on_request)) {
    arcs.weight = {};
    return;
  }
  arcs.weight_on_request = false;
  constexpr const char* remedy = "weights are finite and not negative; or ignore them (edge-weights ignore)";
  if (!arcs.bad_weight.empty() && !arcs.weight.empty())
    refuse(arcs.bad_weight, {arcs.weight_origin, arcs.bad_weight_place}, remedy);
  for (size_t k = 0; k < arcs.weight.size(); ++k)
    if (!(arcs.weight[k] >= 0 && arcs.weight[k] <= std::numeric_limits<double>::max()))
      refuse(fmt::format("the weight of arc {} (counted from 0), {} -> {}, is {}",
                         first_arc + static_cast<int64_t>(k), arcs.source[k], arcs.target[k], arcs.weight[k]),
             arcs.weight_origin, remedy);
}

void set_weights(ArcList& arcs, const Array& weights) {
  const auto count = static_cast<int64_t>(arcs.source.size());
  const auto& shape = weights.shape;
  const bool fits = !shape.empty() && shape.size() <= 2 && shape[0] == count && weights.size() == count;
  if (!fits)
    refuse(
        fmt::format("the weights have the shape ({}), and there are {} arcs", fmt::join(shape, ", "), count),
        weights.origin, "give one weight per arc, of shape (E,)");
  arcs.weight = weights.as<double>();
  arcs.weight_origin = weights.origin;
}

}  // namespace eignn
