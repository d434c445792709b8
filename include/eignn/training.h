// Training: one configuration, one call, one summary.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/model.h"

namespace eignn {

/// Everything that fixes a run. The names are those of the flags and of config.toml; see visit() in
/// train/config.h for the list with its help texts.
struct TrainConfig {
  // data
  std::string dataset = "chains";
  int64_t chain_length = 100;
  int64_t chains_per_class = 20;
  int64_t num_classes = 2;
  int64_t feature_dim = 100;
  double noise = 0;
  std::string split = "0";
  std::string feature_norm = "none";
  int64_t train_graphs = 0;  // of a set of several graphs; 0: all
  // propagation
  std::string direction = "undirected";
  std::string normalise = "sym";
  std::string self_loops = "on";
  // model
  std::string model = "eignn";
  std::string head = "plain";
  std::string start = "xavier";
  double gamma = 0.8;
  double epsilon = 1e-12;
  double dropout = 0;
  int64_t encoder = 0;
  int64_t equilibria = 1;
  int64_t width = 256;
  int64_t blocks = 2;
  int64_t hidden = 64;
  int64_t layers = 2;
  int64_t heads = 8;
  int64_t output_heads = 1;
  int64_t hops = 10;
  double alpha = 0.1;
  double theta = 1;
  double kappa = 0.9;
  double tolerance = 3e-6;
  int64_t max_iterations = 300;
  int64_t implicit_layers = 1;
  int64_t samples = 25;
  int64_t samples_second = 10;
  // optimisation
  double lr = 0.01;
  double lr_propagation = -1;  // -1: as lr
  double weight_decay = 5e-4;
  double weight_decay_propagation = -1;  // -1: as weight_decay
  int64_t epochs = 2000;
  int64_t patience = 200;
  std::string stopping = "loss";
  std::string schedule = "constant";
  double clip = 0;           // 0: gradients as they are
  int64_t batch_graphs = 2;  // where a data set has several graphs
  // machine
  std::string solver = "auto";
  std::string device = "cpu";
  std::string dtype = "float32";
  std::string tf32 = "off";
  int64_t threads = 0;  // 0: all cores
  uint64_t seed = 0;
};

/// Fills what the caller did not set (`given` holds the names of what was) from the model's recipe for this
/// data set, or from the one called `recipe` (ArgumentError when the model has none of that name). Returns
/// the model and the topmost table that was applied, "gcn/texas", or "" when there was none.
std::string apply_recipe(TrainConfig& config, const std::set<std::string>& given,
                         const std::string& recipe = {});

/// Fills what the caller did not set from `name = value` lines (a config.toml); returns the names set by
/// either. DataError for a line or a name that makes no sense; `origin` names the text in messages.
std::set<std::string> apply_toml(TrainConfig& config, const std::string& toml,
                                 const std::set<std::string>& given, const std::string& origin);

/// Throws UsageError for names that do not exist and values out of range.
void validate(const TrainConfig& config);

/// The data set as the models see it: read or generated, features normalised.
Dataset load_dataset(const TrainConfig& config);
/// The propagation matrix this configuration asks for.
Propagation make_propagation(const Dataset& dataset, const TrainConfig& config);
SolverOptions solver_options(const TrainConfig& config);
/// The model with its starting weights.
std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& config, SpectrumStore* store);

/// Threads of libtorch and of the BLAS, for all that follows; 0: all cores. Returns the number in use.
int64_t use_threads(int64_t threads);
/// Those that the configuration asks for. Where a GPU does the work 0 is one: what is left for the CPU is
/// small problems, which more threads slow down.
int64_t use_threads(const TrainConfig& config);

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

struct TrainSummary {
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
};

struct TrainHooks {
  std::function<void(const EpochReport&)> on_epoch;
  std::function<bool()> interrupted;  // asked after each epoch; true: save and stop
};

/// Trains on one split. With `folder` the run is kept there (config.toml, metrics.jsonl, summary.json,
/// model.safetensors, predictions.csv); with `resume` the run in `folder` goes on where it stopped, to the
/// result it would have had. `loaded` may be what load_dataset(config) returns, to read it once for many
/// runs.
TrainSummary train(const TrainConfig& config, const std::string& folder = {}, bool resume = false,
                   const TrainHooks& hooks = {}, const Dataset* loaded = nullptr);

/// The summary as the JSON object of summary.json.
std::string to_json(const TrainSummary& summary);

}  // namespace eignn
