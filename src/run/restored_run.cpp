#include "run/restored_run.h"

#include <torch/torch.h>

#include "eignn/error.h"
#include "run/checkpoint.h"
#include "train/assemble.h"
#include "train/trainer.h"

namespace eignn {

RestoredRun restore_run(const std::string& path, const std::map<std::string, std::string>& settings) {
  const TrainedModel trained = load_model(path);
  RestoredRun out;
  out.config = trained.config();
  assign(out.config, settings);
  validate(out.config);
  out.execution = std::make_unique<Execution>(out.config);
  out.dataset = load_dataset(out.config);
  if (out.config.split == "all") out.config.split = "0";
  out.split = split_number(out.config, out.dataset);
  out.cache = std::make_unique<SpectrumCache>();
  out.model = restore_model(trained, out.dataset, out.config, out.cache.get(), path);
  return out;
}

torch::Tensor RestoredRun::on_device(const torch::Tensor& tensor) const {
  return tensor.to(model->type().device());
}

}  // namespace eignn
