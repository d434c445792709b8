#pragma once

#include "eignn/dataset.h"

namespace eignn {

/// A random order of 0 … n-1 that the seed fixes.
torch::Tensor permutation(int64_t n, uint64_t seed);

/// 60 % to train, 20 % to validate, 20 % to test: of the labelled nodes of each class, or of the labelled
/// nodes where they have sets of labels, or of the graphs where there are several. DataError when there are
/// too few for one in each part.
Split random_split(const Dataset& set, uint64_t seed);

}  // namespace eignn
