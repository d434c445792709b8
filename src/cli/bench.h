// Shared by the benchmarks against the published algorithm: flags, a comparison, its table.
#pragma once

#include "cli/flags.h"
#include "eignn/train.h"
#include "run/child_process.h"

namespace eignn::cli {

/// Threads, precision, device, machine, commit, seed.
Json bench_provenance(const TrainConfig& config);

/// The problem on which the losses of both algorithms must agree, and the number of epochs.
struct AgreementCheck {
  TrainConfig config;
  const Dataset& dataset;
  int64_t epochs;
};

/// Compares ours with published: {ours, published, epoch_ratio, step_ratio, preprocess_ratio, blocks, rates,
/// floor, …_over_floor, batched, losses, losses_agree}. Each is trained for at least `score_epochs` epochs,
/// and `score` is the key of its test score.
Json compare_with_published(const BenchFlags& flags, const TrainConfig& config, const Dataset& dataset,
                            const AgreementCheck& check, const char* score, int64_t score_epochs = 1);

/// Prints two tables: times and the floor, then preprocessing, memory and the difference of losses. Each
/// comparison is a row that begins with its name. `accuracies` adds the test accuracies to the second table.
void print_comparisons(const Json& provenance, const std::vector<std::pair<std::string, Json>>& rows,
                       bool accuracies = false);

/// ConvergenceError when the losses of a comparison differ, since its times then compare different
/// computations.
void require_agreement(const std::vector<std::pair<std::string, Json>>& rows);

/// The JSON object that a child printed; ResourceError when it failed or printed none.
Json parse_child(const ChildResult& result, const std::string& what);

}  // namespace eignn::cli
