// Training: a data set and options in, a model and its figures out.
//
//     auto data = eignn::load("texas");                                         // or a path, or tensors
//     auto run = eignn::train(data, eignn::TrainOptions{}.model(eignn::EignnOptions{}).folder("runs/texas"));
//     double test = run.result.score.test;
//     auto predictions = run.model.predict(data);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/solver.h"

namespace eignn {

struct Scores {
  double train = 0, val = 0, test = 0;
};

/// How right the kept model is at each distance from the informative node.
struct DistanceScore {
  int64_t from = 0, to = 0;  // hops, inclusive
  int64_t nodes = 0;         // test nodes there
  double accuracy = 0;
};

struct EpochReport {
  int64_t epoch = 0;
  const char* metric = "accuracy";  // what val_score is: accuracy or micro_f1
  double train_loss = 0, val_loss = 0, val_score = 0;
  double seconds = 0;  // train step + evaluation
  bool kept = false;   // these weights are the best so far
};

/// What came out of a run.
struct RunResult {
  TrainConfig config;
  std::string solver;  // the one used
  int64_t threads = 0;
  int64_t split = 0;
  int64_t epochs = 0;       // run
  int64_t best_epoch = -1;  // 0-based
  bool interrupted = false;
  std::string metric = "accuracy";  // or micro_f1, where a node has a set of labels
  Scores score, loss;               // at the kept weights
  double seconds_total = 0, seconds_per_epoch = 0, seconds_per_train_step = 0, preprocess_seconds = 0;
  int64_t peak_memory_bytes = 0;
  double weight_change = 0;  // ‖F - F₀‖ / ‖F₀‖
  std::vector<double> mu_start, mu_end;
  std::vector<DistanceScore> by_distance;
  std::optional<int64_t> non_converged_solves;  // of models whose solves may stop short
  std::string machine, version, commit;         // that made it
};

struct TrainHooks {
  std::function<void(const EpochReport&)> on_epoch;
  std::function<bool()> interrupted;  // asked after each epoch; true: save and stop
};

/// What to train and where to keep it. Everything has a default: EIGNN, no folder.
class TrainOptions {
 public:
  TrainConfig config;

  /// Which model, with its options: model(GcnOptions{}).
  TrainOptions& model(ModelOptions options) {
    config.model = std::move(options);
    return *this;
  }
  /// Any setting by its name: set("lr", "0.05"). ArgumentError for a name that the model does not read.
  TrainOptions& set(const std::string& name, const std::string& text) {
    assign(config, name, text);
    return *this;
  }
  /// The settings that a data set's recipe has for this model; those set before it was called go.
  TrainOptions& recipe(const std::string& name);
  /// Keeps the run: config.toml, metrics.jsonl, summary.json, model.safetensors, predictions.csv.
  TrainOptions& folder(std::string path) {
    run_folder = std::move(path);
    return *this;
  }
  TrainOptions& hooks(TrainHooks hooks) {
    run_hooks = std::move(hooks);
    return *this;
  }
  /// Keeps eigenbases of S between runs; it must outlive the training. Without one nothing is kept.
  TrainOptions& spectra(SpectrumStore& store) {
    spectrum_store = &store;
    return *this;
  }

  std::string run_folder;
  TrainHooks run_hooks;
  SpectrumStore* spectrum_store = nullptr;
};

/// A finished run: its figures and its model, with the weights that validation chose.
struct TrainedRun {
  RunResult result;
  TrainedModel model;
};

/// Trains on one split of the data set (config.split) and tests once. Leaves the caller's threads and random
/// generators as they were, and writes nowhere but into the folder that it was given.
///
/// Throws ArgumentError for options and data that do not fit, ConvergenceError where a loss leaves the
/// floating range, ResourceError for disk, memory and devices.
TrainedRun train(const Dataset& data, const TrainOptions& options = {});

/// The result as the JSON object of summary.json.
std::string to_json(const RunResult& result);

}  // namespace eignn
