// Argument checks that the models' factory functions share.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace eignn {

/// ArgumentError unless X is a dense matrix of real numbers, of at least one row and one column, all of them
/// finite in this type. With `sparse` it may be a sparse tensor (COO, coalesced) without a gradient.
void check_features(const torch::Tensor& X, const torch::TensorOptions& type, bool sparse = false);

void check_classes(int64_t classes);

/// ArgumentError unless a graph of `size` nodes fits these rows of X; an empty list stands for all rows.
void check_graph_size(int64_t size, const std::vector<int64_t>& nodes, const torch::Tensor& X);

}  // namespace eignn
