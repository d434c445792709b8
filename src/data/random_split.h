#pragma once

#include "eignn/dataset.h"

namespace eignn {

/// A random order of 0 … n-1 that the seed and the number of the split fix.
torch::Tensor permutation(int64_t n, uint64_t seed, uint64_t number = 0);

/// 60 % to train, 20 % to validate, 20 % to test: of the labelled nodes of each class, or of the labelled
/// nodes where they have sets of labels or numbers, or of the graphs where there are several. DataError when
/// there are too few for one in each part.
Split random_split(const Dataset& set, uint64_t seed, uint64_t number = 0);

/// Adds to a data set with one drawn split those with the numbers 1 … count-1. ArgumentError (field "drawn")
/// for data that have splits of their own.
void draw_splits(Dataset& set, int64_t count, uint64_t seed);

}  // namespace eignn
