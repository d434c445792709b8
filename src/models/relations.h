// Geom-GCN's neighbourhoods and how they are split by direction in the plane.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// u → v for the nodes u of v's component nearer to v than ρ, which is as large as lets there be as many such
/// pairs as arcs.
Graph structural_neighbours(const Graph& arcs, const torch::Tensor& position);

/// The entries of S by the quadrant in which the sender lies, seen from the receiver: four matrices with the
/// sum S. A node that lies where the receiver does is in the first.
std::vector<Propagation> by_quadrant(const Propagation& S, const torch::Tensor& position);

}  // namespace eignn
