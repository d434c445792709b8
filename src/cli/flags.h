// The flags of every command. Nothing here needs libtorch: the front of the program (main.cpp) parses them,
// answers --help and refuses what is wrong before the engine is loaded.
#pragma once

#include "cli/common.h"
#include "data/own_graph.h"
#include "eignn/attack_options.h"
#include "eignn/options.h"

namespace eignn::cli {

/// How several processes share the work.
struct GridFlag {
  std::string grid, order = "given";
  int64_t grid_rows = 0, grid_columns = 0;  // 0: chosen by memory
};

struct TrainFlags : GridFlag {
  SettingFlags settings;
  TrainConfig config;           // what they come to
  std::set<std::string> given;  // the settings that flags or --config name
  std::set<std::string> by_recipe;
  std::string recipe_used;  // "eignn/own"; empty: none
  std::string why_recipe;   // where a rule chose among several; else empty
  std::string out, resume, config_file, search_file, recipe, failure_file;
  bool config_changed = false;  // --config names a file whose digest does not match
  int64_t resumed_epochs = 0;   // of --resume; 0: as many as the run began with
  int64_t jobs = 1, batch_runs = 0, parent = 0;
  std::string budget, models;  // of --search auto
  int64_t trials = 0, splits = 1;
  double budget_seconds = 600;
  std::vector<std::string> model_list;
  bool json = false;

  bool searches_automatically() const { return search_file == "auto"; }
};

struct EvaluateFlags : GridFlag {
  SettingFlags settings;
  std::string checkpoint;
  bool json = false;
};

struct PredictFlags : GridFlag {
  SettingFlags settings;
  std::string checkpoint, out, node, neighbours;
  bool has_node = false;
  int64_t top = 0;  // 0: not asked for
  bool probabilities = false, json = false;
};

struct AttackFlags {
  SettingFlags settings;
  std::string checkpoint, method, targets = "each", objective = "loss", out;
  std::vector<double> epsilons;
  std::vector<AttackOptions> attacks;  // one for each epsilon
  double step = 0;
  int64_t steps = 15;
  uint64_t noise_seed = 0;
  bool no_certificate = false, json = false;
};

struct ExplainFlags : GridFlag {
  SettingFlags settings;
  std::string checkpoint, node, class_name, out;
  std::vector<std::string> beside;  // other runs, for --influence
  int64_t top = 20, sample = 200;
  bool influence = false, edges = false, raw_units = false, json = false;
};

struct SolveFlags {
  std::string graph, graph_format, features, weight, out, exponents, cotangent, grad_weight, grad_features,
      grad_exponents;
  SettingFlags settings;
  TrainConfig config;
  bool json = false;
};

struct InspectFlags {
  SettingFlags settings;
  TrainConfig config;
  std::string graph, graph_format, checkpoint;
  std::string recipe_used;
  int64_t ranks = 0;  // 0: not asked for
  bool json = false;
};

struct ConvertFlags {
  SettingFlags settings;
  std::string dataset, out, memory;
  int64_t shards = 0;  // 0: not asked for
  OwnGraphFiles files;
  bool json = false;
};

struct ReproduceFlags {
  std::string name, models, rows, lengths, out = "results", runs = "runs/reproduce";
  std::vector<std::string> model_list, row_list;
  std::vector<int64_t> length_list;
  SettingFlags settings;
  int64_t seeds = 0, jobs = 0;
  bool quick = false, redraw = false, json = false;
};

struct ReportFlags {
  std::vector<std::string> paths, nodes;
  SettingFlags settings;
  std::string out = "report.html";
  bool no_graphs = false, json = false;
};

struct FetchFlags {
  std::vector<std::string> names;
  std::string to, mirror;
  bool list = false, json = false;
};

struct BenchFlags {
  SettingFlags settings;
  TrainConfig config;  // of our solver; published differs in the solver only
  int64_t blocks = 0, check_epochs = 3;
  bool json = false, no_memory = false, no_python = false;
  std::vector<int64_t> batch_runs;  // sizes of batches that are measured too
};

struct BenchChainsFlags : BenchFlags {
  struct Size {
    int64_t length, per_class;
  };
  std::vector<std::string> sizes;
  std::vector<Size> parsed_sizes;
  int64_t published_epochs = 100;
};

struct BenchHeterophilicFlags : BenchFlags {
  std::vector<std::string> datasets;
};

struct BenchPlannerFlags {
  SettingFlags settings;
  TrainConfig config;
  std::vector<std::string> only;
  double limit_s = 10;
  bool quick = false, json = false;
};

struct BenchClusterFlags : GridFlag {
  SettingFlags settings;
  TrainConfig config;
  int64_t nodes = 500'000, edges = 5'000'000, features = 64, classes = 16;
  std::vector<std::string> predict;
  struct Prediction {
    std::string text;
    double nodes, edges, features, classes, labelled;
    int64_t processes;
  };
  std::vector<Prediction> predictions;
  bool json = false;
};

struct BenchStackFlags {
  SettingFlags settings;
  TrainConfig config;
  int64_t nodes = 10'000, edges = 40'000, features = 16, classes = 5, blocks = 6;
  bool no_python = false, json = false;
};

struct BenchScalingFlags {
  SettingFlags settings;
  TrainConfig config;
  std::string axis = "all", point, plot;
  std::vector<std::string> solvers;  // all when none is given
  int64_t up_to = 1'000'000;
  bool quick = false, json = false;
};

// Refuses flags that are wrong and settles what they mean: `config`, and the lists that are made of texts.
void check(TrainFlags& flags);
void check(const CLI::App& command, EvaluateFlags& flags);
void check(const CLI::App& command, PredictFlags& flags);
void check(const CLI::App& command, AttackFlags& flags);
void check(const CLI::App& command, ExplainFlags& flags);
void check(const CLI::App& command, SolveFlags& flags);
void check(InspectFlags& flags);
void check(const CLI::App& command, ReproduceFlags& flags);
void check(const ReportFlags& flags);
void check(BenchFlags& flags);
void check(BenchChainsFlags& flags);
void check(BenchHeterophilicFlags& flags);
void check(BenchPlannerFlags& flags);
void check(BenchScalingFlags& flags);
void check(BenchClusterFlags& flags);
void check(BenchStackFlags& flags);

// What the commands do once their flags are checked. The engine has most of them; in the front those say that
// the engine is needed.
void run_train(const TrainFlags& flags);
void run_evaluate(const EvaluateFlags& flags);
void run_predict(const PredictFlags& flags);
void run_attack(const AttackFlags& flags);
void run_explain(const ExplainFlags& flags);
void run_solve(const SolveFlags& flags);
void run_inspect(const InspectFlags& flags);
void run_convert(const CLI::App& command, const ConvertFlags& flags);
void run_reproduce(const ReproduceFlags& flags);
void run_report(const ReportFlags& flags);
void run_fetch(FetchFlags& flags);
void run_bench_chains(const BenchChainsFlags& flags);
void run_bench_heterophilic(const CLI::App& command, const BenchHeterophilicFlags& flags);
void run_bench_planner(const BenchPlannerFlags& flags);
void run_bench_ppi(const BenchFlags& flags);
void run_bench_scaling(const BenchScalingFlags& flags);
void run_bench_cluster(const BenchClusterFlags& flags);
void run_bench_stack(const BenchStackFlags& flags);
void run_bench_peak_memory();

}  // namespace eignn::cli
