#include "cli/restored.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "run/checkpoint.h"
#include "run/run_set.h"
#include "train/assemble.h"
#include "train/config.h"
#include "train/trainer.h"

namespace eignn::cli {

Restored restore(const CLI::App& command, const SettingFlags& settings, const std::string& path) {
  require_flags(command, {"--checkpoint"});
  if (is_interrupted_run(path))
    throw DataError(path, "", "this run is not finished",
                    fmt::format("go on with: eignn train --resume {}", path));
  const TrainedModel trained = load_model(path);
  Restored out;
  out.config = trained.config();
  assign(out.config, settings.given());
  validate(out.config);
  out.execution = std::make_unique<Execution>(out.config);
  out.dataset = load_dataset(out.config);
  if (out.config.split == "all") out.config.split = "0";
  out.split = split_number(out.config, out.dataset);
  out.cache = std::make_unique<SpectrumCache>();
  out.model = restore_model(trained, out.dataset, out.config, out.cache.get(), path);
  return out;
}

torch::Tensor on_device(const Restored& restored, const torch::Tensor& tensor) {
  return tensor.to(restored.model->parameters()[0].device());
}

}  // namespace eignn::cli
