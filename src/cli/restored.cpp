#include "cli/restored.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "run/checkpoint.h"
#include "train/config.h"
#include "train/trainer.h"

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
  // The data and the machine alone: a command's own --epsilon is none of the model's.
  const auto texts = to_strings(flags);
  const auto take = [&](const char* name, const auto&, const char*) {
    if (command.count(std::string("--") + name) > 0) assign(out.config, name, texts.at(name));
  };
  visit_data(flags, take);
  visit_machine(flags, take);
  validate(out.config);
  use_threads(out.config);
  out.dataset = load_dataset(out.config);
  if (out.config.split == "all") out.config.split = "0";
  out.split = split_number(out.config, out.dataset);
  out.cache = std::make_unique<SpectrumCache>();
  out.model = restore_model(checkpoint, out.dataset, out.config, out.cache.get(), path);
  return out;
}

torch::Tensor on_device(const Restored& restored, const torch::Tensor& tensor) {
  return tensor.to(restored.model->parameters()[0].device());
}

}  // namespace eignn::cli
