#include "cli/restored.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/metrics.h"

namespace eignn::cli {

void add_restore_flags(CLI::App& command, TrainConfig& config, std::string& checkpoint) {
  command.add_option("--checkpoint", checkpoint, "model.safetensors, or the run folder that holds it");
  add_data_flags(command, config);
  add_machine_flags(command, config);
}

Restored restore(const CLI::App& command, const TrainConfig& flags, const std::string& path) {
  require_flags(command, {"--checkpoint"});
  const Checkpoint checkpoint = read_checkpoint(path);
  Restored out;
  out.config = checkpoint.config;
  override_given(command, flags, out.config);
  validate(out.config);
  use_threads(out.config.threads);
  out.dataset = load_dataset(out.config);
  out.split = out.config.split == "all" ? 0 : std::stoll(out.config.split);
  if (out.split >= static_cast<int64_t>(out.dataset.splits.size()))
    throw UsageError(fmt::format("the data set {} has no split {} (--split); it has {}, numbered from 0",
                                 out.dataset.name, out.split, out.dataset.splits.size()));
  out.cache = std::make_unique<SpectrumCache>();
  out.model = restore_model(checkpoint, out.dataset, out.config, out.cache.get(), path);
  return out;
}

torch::Tensor scores(const Restored& restored, const torch::Tensor& nodes) {
  const torch::NoGradGuard guard;
  return restored.model->scores(nodes.to(restored.model->parameters()[0].device())).to(torch::kCPU);
}

Evaluation evaluate(const Restored& restored, const torch::Tensor& nodes) {
  const auto f = scores(restored, nodes);
  const auto labels = restored.dataset.labels.index_select(0, nodes);
  return {torch::cross_entropy_loss(f, labels).item<double>(), accuracy(f, labels)};
}

}  // namespace eignn::cli
