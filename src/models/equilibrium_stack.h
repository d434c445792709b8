// Layers of equilibria, and what surrounds them.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "eignn/model.h"

namespace eignn {

/// The model of make_eignn() for more than one layer, and for layers without an equilibrium. The arguments
/// are checked there.
std::shared_ptr<Model> make_equilibrium_stack(std::vector<GraphPart> parts, const torch::Tensor& X,
                                              int64_t classes, const EignnOptions& options, uint64_t seed);

}  // namespace eignn
