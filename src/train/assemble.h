// Makes data set, propagation matrix, solver options and model from a configuration.
#pragma once

#include <memory>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"
#include "eignn/solver.h"

namespace eignn {

/// The data set that the configuration names, after prepared().
Dataset load_dataset(const TrainConfig& config);
/// A data set as the models take it: with the configured feature normalisation, and with `train-graphs`
/// applied to the splits.
Dataset prepared(Dataset data, const TrainConfig& config);
/// S for the configured direction, normalisation and self-loops.
Propagation make_propagation(const Dataset& dataset, const TrainConfig& config);
SolverOptions solver_options(const TrainConfig& config);
/// The model with its initial weights, on a data set after prepared().
std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& config, SpectrumStore* store);

}  // namespace eignn
