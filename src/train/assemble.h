// Makes data set, propagation matrix, solver options and model from a configuration.
#pragma once

#include <memory>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"
#include "eignn/solver.h"
#include "train/feature_transform.h"

namespace eignn {

/// The data set that the configuration names, after prepared().
Dataset load_dataset(const TrainConfig& config);
/// The same before prepared(), with as many drawn splits as the configuration asks for. `columns` are those
/// of the model that will read the data, where there is one already.
Dataset load_raw_dataset(const TrainConfig& config, std::vector<TrainedColumn> columns = {});
/// A data set as the models take it: its features transformed, and with `train-graphs` applied to the splits.
/// The transformation is `transform`, or one that is fitted on the training nodes of config.split (of the
/// first split where it is `all`); data that have been transformed already keep their features. The graph is
/// reduced as the configuration says (graph_reduction.h), by `kept` where that fits.
Dataset prepared(Dataset data, const TrainConfig& config, const FeatureTransform* transform = nullptr,
                 const std::shared_ptr<const GraphReduction>& kept = nullptr);
/// How many features prepared() makes of these data; with `structure`, which takes time, so many at most.
int64_t prepared_feature_count(const Dataset& raw, const TrainConfig& config);
/// Whether the features that prepared() makes depend on the split.
bool features_depend_on_split(const Dataset& raw, const TrainConfig& config);
/// S for the configured direction, normalisation and self-loops.
Propagation make_propagation(const Dataset& dataset, const TrainConfig& config);
/// The configuration with the scale that the weights of these arcs have in training, which a checkpoint
/// keeps: on another graph the same weight must mean the same. Unchanged where the arcs have no weights.
TrainConfig with_weight_scale(const Dataset& dataset, TrainConfig config);
SolverOptions solver_options(const TrainConfig& config);
/// The model with its initial weights, on a data set after prepared().
std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& config, SpectrumStore* store);

}  // namespace eignn
