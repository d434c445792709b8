// The published algorithm as its users have it: bench/published.py, a transcription into plain PyTorch.
#pragma once

#include "cli/bench.h"

namespace eignn::cli {

/// {step_ms, epoch_ms, preprocess_s, torch} of `epochs` epochs on the CPU, under the system's own python3;
/// null, and a warning, when that has no PyTorch. One graph, symmetric.
Json time_transcription(const TrainConfig& config, const Dataset& dataset, int64_t threads, int64_t epochs);

/// Adds it to a comparison as `transcription`, with the ratios of its epoch to ours and of published's to its
/// own; on a GPU nothing.
void add_transcription(Json& comparison, const TrainConfig& config, const Dataset& dataset, int64_t threads);

/// A line for each comparison that has one.
void print_transcriptions(const std::vector<std::pair<std::string, Json>>& rows);

}  // namespace eignn::cli
