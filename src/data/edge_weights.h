// Which weights of a file's arcs are used.
#pragma once

#include <string>

#include "data/arc_list.h"
#include "data/npy.h"
#include "eignn/options.h"

namespace eignn {

/// Settles the weights of the data set or graph at `path`: drops them where they are not wanted, and
/// otherwise checks them and clears `weight_on_request`. `automatic` wants those that the format has for the
/// purpose, and not those on request. DataError, with the line where the format has lines, for a weight that
/// is negative or not finite; ArgumentError for `use` where there are none.
/// `first_arc` is the number of the first arc, where these are a piece of a file.
void take_weights(ArcList& arcs, EdgeWeights wanted, const std::string& path, int64_t first_arc = 0);

/// An array `edge_weight`, (E,) or (E, 1), as the weights of the arcs.
void set_weights(ArcList& arcs, const Array& weights);

}  // namespace eignn
