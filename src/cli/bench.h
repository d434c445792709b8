// What the benchmarks against the published algorithm share: flags, one comparison, its table.
#pragma once

#include "run/child_process.h"
#include "cli/common.h"

namespace eignn::cli {

void add_bench_chains(CLI::App& bench);
void add_bench_heterophilic(CLI::App& bench);
void add_bench_planner(CLI::App& bench);
void add_bench_ppi(CLI::App& bench);
void add_bench_scaling(CLI::App& bench);

struct BenchFlags {
  SettingFlags settings;
  TrainConfig config;  // of our side; the other differs in the solver alone
  int64_t blocks = 0, check_epochs = 3;
  bool json = false, no_memory = false, no_python = false;
  std::vector<int64_t> batch_runs;  // sizes of batches to measure too
};
/// Applies the settings that were given to `config`.
void take_settings(BenchFlags& flags);

/// --solver, --dtype, --device, --threads, --seed, --blocks, --check-epochs, --no-memory, --batch-runs,
/// --json
void add_bench_flags(CLI::App& command, BenchFlags& flags);

/// --no-python, where there is a transcription to time (cli/transcription.h).
void add_python_flag(CLI::App& command, BenchFlags& flags);

/// Threads, precision, device, machine, commit, seed.
Json bench_provenance(const TrainConfig& config);

/// Where both sides must agree, and for how long.
struct AgreementCheck {
  TrainConfig config;
  const Dataset& dataset;
  int64_t epochs;
};

/// Ours beside published: {ours, published, epoch_ratio, step_ratio, preprocess_ratio, blocks, rates, floor,
/// …_over_floor, batched, losses, losses_agree}. Each side is trained for `score_epochs` epochs or more, and
/// `score` names what its test nodes are judged by.
Json compare_with_published(const BenchFlags& flags, const TrainConfig& config, const Dataset& dataset,
                            const AgreementCheck& check, const char* score, int64_t score_epochs = 1);

/// Two tables for people: times beside the floor, then preprocessing, memory and the check; each comparison
/// is a row that begins with its name. `accuracies` adds them to the second.
void print_comparisons(const Json& provenance, const std::vector<std::pair<std::string, Json>>& rows,
                       bool accuracies = false);

/// ConvergenceError when a comparison's losses differ: its times are then of two different computations.
void require_agreement(const std::vector<std::pair<std::string, Json>>& rows);

/// The JSON object that a child printed; ResourceError when it failed or printed none.
Json parse_child(const ChildResult& result, const std::string& what);

}  // namespace eignn::cli
