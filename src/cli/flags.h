// The flags of every command. Nothing here needs libtorch: the front of the program (front.cpp) parses them,
// answers --help and refuses what is wrong before the engine is loaded.
#pragma once

#include "cli/common.h"
#include "data/own_graph.h"
#include "eignn/options.h"

namespace eignn::cli {

struct TrainFlags {
  SettingFlags settings;
  TrainConfig config;  // what they come to
  std::string out, resume, config_file, search_file, recipe, failure_file;
  int64_t jobs = 1, batch_runs = 0;
  bool json = false;
};

struct EvaluateFlags {
  SettingFlags settings;
  std::string checkpoint;
  bool json = false;
};

struct PredictFlags {
  SettingFlags settings;
  std::string checkpoint, out;
};

struct AttackFlags {
  SettingFlags settings;
  std::string checkpoint, method, targets = "each", objective = "loss", out;
  std::vector<double> epsilons;
  double step = 0;
  int64_t steps = 15;
  uint64_t noise_seed = 0;
  bool no_certificate = false, json = false;
};

struct SolveFlags {
  std::string graph, graph_format, features, weight, out, exponents, cotangent, grad_weight, grad_features,
      grad_exponents;
  SettingFlags settings;
  bool json = false;
};

struct InspectFlags {
  SettingFlags settings;
  TrainConfig config;
  std::string graph, graph_format, checkpoint;
  bool json = false;
};

struct ConvertFlags {
  std::string dataset, out;
  OwnGraphFiles files;
  bool json = false;
};

struct ReproduceFlags {
  std::string name, models, rows, lengths, out = "results", runs = "runs/reproduce";
  SettingFlags settings;
  int64_t seeds = 0, jobs = 0;
  bool quick = false, json = false;
};

struct FetchFlags {
  std::vector<std::string> names;
  std::string to, mirror;
  bool list = false, json = false;
};

struct BenchFlags {
  SettingFlags settings;
  TrainConfig config;  // of our side; the other differs in the solver alone
  int64_t blocks = 0, check_epochs = 3;
  bool json = false, no_memory = false, no_python = false;
  std::vector<int64_t> batch_runs;  // sizes of batches to measure too
};

struct BenchChainsFlags : BenchFlags {
  std::vector<std::string> sizes;
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

struct BenchScalingFlags {
  SettingFlags settings;
  TrainConfig config;
  std::string axis = "all", point, plot;
  std::vector<std::string> solvers;  // all when none is given
  int64_t up_to = 1'000'000;
  bool quick = false, json = false;
};

// What the commands do. The engine has them; in the front they say that the engine is needed.
void run_train(TrainFlags& flags);
void run_evaluate(const CLI::App& command, const EvaluateFlags& flags);
void run_predict(const CLI::App& command, const PredictFlags& flags);
void run_attack(const CLI::App& command, const AttackFlags& flags);
void run_solve(const SolveFlags& flags);
void run_inspect(InspectFlags& flags);
void run_convert(const CLI::App& command, const ConvertFlags& flags);
void run_reproduce(const CLI::App& command, const ReproduceFlags& flags);
void run_fetch(FetchFlags& flags);
void run_bench_chains(BenchChainsFlags& flags);
void run_bench_heterophilic(const CLI::App& command, BenchHeterophilicFlags& flags);
void run_bench_planner(BenchPlannerFlags& flags);
void run_bench_ppi(BenchFlags& flags);
void run_bench_scaling(BenchScalingFlags& flags);
void run_bench_peak_memory();

}  // namespace eignn::cli
