// Geom-GCN's neighbourhoods in the plane, and the split of neighbourhoods by quadrant.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// u → v for nodes u, v of one component whose distance is at most ρ. ρ is chosen so that there are as many
/// of these arcs as the graph has (more where distances are equal).
Graph structural_neighbours(const Graph& arcs, const torch::Tensor& position);

/// The entries of S by the quadrant of the sender relative to the receiver: four matrices whose sum is S. A
/// sender at the position of the receiver counts as in the first.
std::vector<Propagation> by_quadrant(const Propagation& S, const torch::Tensor& position);

}  // namespace eignn
