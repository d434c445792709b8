#include <fmt/format.h>
#include <torch/torch.h>

#include "cli/flags.h"
#include "data/tensor_bytes.h"
#include "run/restored_run.h"
#include "run/run_folder.h"
#include "train/metrics.h"

namespace eignn::cli {

void run_predict(const PredictFlags& flags) {
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given());
  const Dataset& dataset = restored.dataset;
  const auto f = scores_of(*restored.model, restored.on_device(torch::arange(dataset.nodes())));
  if (flags.out.back() == 'v')  // .csv or .npy, as the check of the flags has seen
    write_predictions_csv(flags.out, dataset, dataset.splits[restored.split], f);
  else
    write_npy(flags.out, probabilities(f, dataset.multi_label()));
  fmt::print("{} nodes written to {}\n", dataset.nodes(), flags.out);
}

}  // namespace eignn::cli
