// The published algorithm as its users have it: bench/published.py, a transcription into plain PyTorch.
#pragma once

#include "cli/bench.h"

namespace eignn::cli {

/// Times it under the system's own python3, on one symmetric graph, and adds to a comparison `transcription`
/// ({step_ms, epoch_ms, preprocess_s, torch}) and the ratios of its epoch to ours and of published's to its
/// own. Nothing on a GPU, and a warning where python3 has no PyTorch.
void add_transcription(Json& comparison, const TrainConfig& config, const Dataset& dataset, int64_t threads);

/// A line for each comparison that has one.
void print_transcriptions(const std::vector<std::pair<std::string, Json>>& rows);

}  // namespace eignn::cli
