// bench/published.py, a transcription of the published algorithm into plain PyTorch.
#pragma once

#include "cli/bench.h"

namespace eignn::cli {

/// Times it with the system's python3, on one symmetric graph, and adds to a comparison `transcription`
/// ({step_ms, epoch_ms, preprocess_s, torch}), the ratio of its epoch to ours, and that of published's epoch
/// to its own. Does nothing on a GPU, and warns where python3 has no PyTorch.
void add_transcription(Json& comparison, const TrainConfig& config, const Dataset& dataset, int64_t threads);

/// Prints a line for each comparison that has a transcription.
void print_transcriptions(const std::vector<std::pair<std::string, Json>>& rows);

}  // namespace eignn::cli
