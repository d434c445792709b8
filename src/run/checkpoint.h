// Weights and what is needed to use them, in one safetensors file.
#pragma once

#include <map>
#include <string>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/training.h"

namespace eignn {

/// The parameters and buffers of a model by name.
std::map<std::string, torch::Tensor> state_of(const Model& model);

/// Copies by name; InputError when a name is missing or a shape differs (`where` names the file).
void load_state(Model& model, const std::map<std::string, torch::Tensor>& state, const std::string& where);

struct Checkpoint {
  TrainConfig config;
  int64_t features = 0, classes = 0;
  std::map<std::string, torch::Tensor> state;
};

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// Takes the file, or a run folder that holds model.safetensors.
Checkpoint read_checkpoint(const std::string& path);

/// The checkpoint's model on this data set; InputError when the widths do not fit.
std::shared_ptr<Model> restore_model(const Checkpoint& checkpoint, const Dataset& dataset,
                                     const TrainConfig& config, SpectrumStore* store,
                                     const std::string& where);

}  // namespace eignn
