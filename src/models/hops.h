// Neighbourhoods at an exact distance.
#pragma once

#include "eignn/propagation.h"

namespace eignn {

/// D_out^-1/2 A D_in^-1/2 of these arcs; on a symmetric graph D^-1/2 A D^-1/2. No loops are added.
Propagation normalised_arcs(const Graph& arcs);

/// i → j where two arcs lead from i to j, and neither one arc nor none does. `arcs` has no loops.
Graph exact_two_hops(const Graph& arcs);

}  // namespace eignn
