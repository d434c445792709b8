// From a configuration to the things it names.
#pragma once

#include <memory>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"
#include "eignn/solver.h"

namespace eignn {

/// The data set that the configuration names, prepared().
Dataset load_dataset(const TrainConfig& config);
/// A data set as the models see it: features normalised, and of several graphs those to train on.
Dataset prepared(Dataset data, const TrainConfig& config);
/// The propagation matrix this configuration asks for.
Propagation make_propagation(const Dataset& dataset, const TrainConfig& config);
SolverOptions solver_options(const TrainConfig& config);
/// The model with its starting weights, on a prepared data set.
std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& config, SpectrumStore* store);

}  // namespace eignn
