// Neighbourhoods at an exact distance.
#pragma once

#include "eignn/propagation.h"

namespace eignn {

/// D_out^-1/2 A D_in^-1/2 of these arcs; on a symmetric graph D^-1/2 A D^-1/2. No loops are added.
Propagation normalised_arcs(const Graph& arcs);

/// i → j where j is at distance exactly two from i: a path of two arcs leads there, j ≠ i, and there is no
/// arc i → j. `arcs` has no loops.
Graph exact_two_hops(const Graph& arcs);

}  // namespace eignn
