// What the benchmarks against the published algorithm share: flags, one comparison, its table.
#pragma once

#include "cli/flags.h"
#include "eignn/train.h"
#include "run/child_process.h"

namespace eignn::cli {

/// Applies the settings that were given to `config`.
void take_settings(BenchFlags& flags);

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
