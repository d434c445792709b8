// Warnings of data that are too thin, or too crooked, for what a run is asked to do.
#pragma once

#include <cstdint>

#include "eignn/dataset.h"
#include "eignn/options.h"

namespace eignn {

/// Calls warn() for a validation or test part with one class or fewer than 20 nodes, a class without training
/// nodes, more than 50 classes, features whose scales are apart by 1e3, and more parameters than the labels
/// can bear: a thousand for each, and a hundred thousand where the data set is one that recipes were made
/// for. `split` is the one that the run uses.
void warn_of_thin_data(const Dataset& dataset, const Split& split, const TrainConfig& config,
                       int64_t parameters);

}  // namespace eignn
