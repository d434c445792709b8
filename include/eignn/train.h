// Training: from a data set and options to a model and its results.
//
//     auto data = eignn::load("texas");                                         // or a path, or tensors
//     auto run = eignn::train(data, eignn::TrainOptions{}.model(eignn::EignnOptions{}).folder("runs/texas"));
//     double test = run.result.score.test;
//     auto predictions = run.model.predict(data);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/scores.h"
#include "eignn/solver.h"

namespace eignn {

struct Scores {
  double train = 0, val = 0, test = 0;
};

/// The accuracy of the kept model at test nodes of some distances from the informative node.
struct DistanceScore {
  int64_t from = 0, to = 0;  // hops, inclusive
  int64_t nodes = 0;         // test nodes at these distances
  double accuracy = 0;
};

struct EpochReport {
  int64_t epoch = 0;
  const char* metric = "accuracy";  // of val_score
  double train_loss = 0, val_loss = 0, val_score = 0;
  double seconds = 0;  // train step + evaluation
  bool kept = false;   // whether these weights are the best so far
};

/// How far the probabilities of the kept model can be believed. `temperature` divides the scores; it was
/// fitted on the validation nodes. The expected calibration errors are of the test nodes, without it and with
/// it.
struct Calibration {
  double temperature = 1, error = 0, error_with_temperature = 0;
};

/// Prediction sets that were calibrated on nodes which training, stopping and the temperature never saw. The
/// truth is in the set with probability 1 - alpha or more for nodes that are exchangeable with the
/// calibration nodes, and for no others.
struct ConformalResult {
  double alpha = 0;
  int64_t calibration_nodes = 0;
  /// Classes with 1 - p at most this are in the set; of numbers, the half-width of the interval in deviations
  /// of the training targets. Infinite where the calibration nodes are too few for this alpha.
  double threshold = 0;
  double test_coverage = 0, mean_size = 0;  // mean_size: classes in a set, or the width of an interval
};

/// What the settings `partition` or `coarsen` left out of the graph.
enum class ReductionKind { partition, coarsening };
struct ReductionFacts {
  ReductionKind kind = ReductionKind::partition;
  int64_t groups = 0;           // parts, or clusters
  int64_t least = 0, most = 0;  // nodes of the smallest and of the largest
  int64_t edges = 0;            // of the graph: pairs of nodes that an arc joins
  int64_t lost_edges = 0;       // those between parts, which are dropped; those within a cluster
  double lost_weight = 0;       // their share of the weight of all edges
};
/// One line for people.
std::string in_words(const ReductionFacts& facts);

/// What a run is about to do, when everything is read and prepared.
struct RunStart {
  std::string solver, metric;
  int64_t threads = 0, parameters = 0, train = 0, val = 0, test = 0;
  double preprocess_seconds = 0;
  std::optional<ReductionFacts> reduction;  // with partition or coarsen
};

/// The result of a run.
struct RunResult {
  TrainConfig config;
  std::string solver;  // the one used
  int64_t threads = 0;
  int64_t split = 0;
  int64_t epochs = 0;       // run
  int64_t best_epoch = -1;  // 0-based
  bool interrupted = false;
  std::string metric = "accuracy";  // that stopping by score goes by (TrainConfig::metric)
  Scores score, loss;               // at the kept weights; a score that is not defined is NaN
  /// Every metric, of each part.
  struct Parts {
    PartScores train, val, test;
  } parts;
  /// Of a prediction that knows the training labels and no node, on the test nodes. Its accuracy is the share
  /// of the majority's class, its errors are those of predicting the mean.
  PartScores constant;
  std::optional<Calibration> calibration;    // of classes
  std::optional<ConformalResult> conformal;  // with TrainConfig::conformal
  double seconds_total = 0, seconds_per_epoch = 0, seconds_per_train_step = 0, preprocess_seconds = 0;
  int64_t peak_memory_bytes = 0;
  double weight_change = 0;  // ‖F - F₀‖ / ‖F₀‖
  std::vector<double> mu_start, mu_end;
  std::vector<DistanceScore> by_distance;
  std::optional<int64_t> non_converged_solves;  // for models whose solves may not converge
  std::optional<ReductionFacts> reduction;      // with partition or coarsen
  std::optional<ErrorBound> error_bound;        // of the solver truncated, at the kept weights
  std::vector<ColumnReport> columns;            // of tables: what was read, and what was done with it
  std::string machine, version, commit;         // on which and by which it was made
};

struct TrainHooks {
  /// Called once the data are read and prepared, before the first epoch.
  std::function<void(const Dataset&)> on_data;
  std::function<void(const EpochReport&)> on_epoch;
  std::function<bool()> interrupted;  // called after each epoch; true: save the run in its folder and stop
  std::function<void(const RunStart&)> on_start;  // called once, before the first epoch
};

/// What to train and where to keep it. Defaults: EIGNN, no folder.
class TrainOptions {
 public:
  TrainConfig config;

  /// The model and its options: model(GcnOptions{}).
  TrainOptions& model(ModelOptions options) {
    config.model = std::move(options);
    return *this;
  }
  /// Sets any setting by its name: set("lr", "0.05"). ArgumentError for a name that the model does not read,
  /// and for a text that does not fit. train() warns of one that has no effect beside the others.
  TrainOptions& set(const std::string& name, const std::string& text) {
    assign(config, name, text);
    named_settings.insert(name);
    return *this;
  }
  /// Applies the settings that this model's recipe has for the data set `name`; they overwrite those set
  /// before.
  TrainOptions& recipe(const std::string& name);
  /// Keeps the run in this folder: config.toml, metrics.jsonl, summary.json, model.safetensors,
  /// predictions.csv.
  TrainOptions& folder(std::string path) {
    run_folder = std::move(path);
    return *this;
  }
  /// Goes on with the interrupted run in this folder, to the result it would have had; its settings are those
  /// of the folder. With `epochs`, to the result that it would have had with so many at most from the start
  /// (not under the cosine schedule, whose end moves).
  TrainOptions& resume(std::string path, int64_t epochs = 0) {
    run_folder = std::move(path);
    resume_run = true;
    resumed_epochs = epochs;
    return *this;
  }
  TrainOptions& hooks(TrainHooks hooks) {
    run_hooks = std::move(hooks);
    return *this;
  }
  /// Keeps eigenbases of S between runs in `store`, which must outlive the training. Without one nothing is
  /// kept.
  TrainOptions& spectra(SpectrumStore& store) {
    spectrum_store = &store;
    return *this;
  }

  std::set<std::string> named_settings;  // those that set() was called for
  std::string run_folder;
  bool resume_run = false;
  int64_t resumed_epochs = 0;  // 0: as many as the run began with
  TrainHooks run_hooks;
  SpectrumStore* spectrum_store = nullptr;
};

/// A run's figures and its model, with the weights that validation chose; where the run was interrupted
/// (result.interrupted), chose so far, and the scores are not there.
struct TrainedRun {
  RunResult result;
  TrainedModel model;
};

/// Trains on one split of the data set (config.split) and tests once. Leaves the caller's threads and random
/// generators as they were, and writes only into the given folder.
///
/// Throws ArgumentError for options and data that do not fit, DataError for a folder that has a run already,
/// ConvergenceError where a loss leaves the floating range, ResourceError for disk, memory and devices.
TrainedRun train(const Dataset& data, const TrainOptions& options = {});

/// The result as the JSON object of summary.json.
std::string to_json(const RunResult& result);

}  // namespace eignn
