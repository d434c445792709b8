// The opponents in plain PyTorch, bench/*.py: the published algorithm, and a GCN.
#pragma once

#include "cli/bench.h"

namespace eignn::cli {

/// Times it with the system's python3, on one symmetric graph, and adds to a comparison `transcription`
/// ({step_ms, epoch_ms, preprocess_s, torch}), the ratio of its epoch to ours, and that of published's epoch
/// to its own. Does nothing on a GPU, and warns where python3 has no PyTorch.
void add_transcription(Json& comparison, const TrainConfig& config, const Dataset& dataset, int64_t threads);

/// Runs such a script with the system's python3 on one split of this problem, its files in a folder that is
/// the script's first argument, and returns the object that it prints. Null where python3 has no PyTorch,
/// with a warning.
Json run_torch_script(const char* script, const char* its_name, const TrainConfig& config,
                      const Dataset& dataset, const std::vector<std::string>& further_arguments);

/// Prints a line for each comparison that has a transcription.
void print_transcriptions(const std::vector<std::pair<std::string, Json>>& rows);

}  // namespace eignn::cli
