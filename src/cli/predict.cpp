#include <fmt/format.h>
#include <torch/torch.h>

#include "cli/restored.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "run/run_folder.h"
#include "train/metrics.h"

#include "cli/flags.h"

namespace eignn::cli {

namespace {

using Flags = PredictFlags;

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

void work(const CLI::App& command, const Flags& flags) {
  require_flags(command, {"--checkpoint", "--out"});
  const bool csv = ends_with(flags.out, ".csv");
  if (!csv && !ends_with(flags.out, ".npy"))
    throw UsageError(fmt::format(
        "the ending says the format, and '{}' has none of them (--out); use .csv or .npy", flags.out));
  const Restored restored = restore(command, flags.settings, flags.checkpoint);
  const auto f = scores_of(*restored.model, on_device(restored, torch::arange(restored.dataset.nodes())));
  if (csv) {
    write_predictions_csv(flags.out, restored.dataset, restored.dataset.splits[restored.split], f);
  } else {
    write_npy(flags.out, probabilities(f, restored.dataset.multi_label()));
  }
  fmt::print("{} nodes written to {}\n", restored.dataset.nodes(), flags.out);
}

}  // namespace

void run_predict(const CLI::App& command, const PredictFlags& flags) {
  work(command, flags);
}

}  // namespace eignn::cli
