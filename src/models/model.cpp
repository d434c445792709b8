// What the models share: dropout.
#include "eignn/model.h"

#include <torch/torch.h>

#include "models/dropout_mask.h"

namespace eignn {

Model::Model() : dropout_generator_(at::detail::createCPUGenerator(0)) {}

void Model::seed_dropout(uint64_t seed) {
  dropout_generator_.set_current_seed(seed);
  if (torch::cuda::is_available()) torch::cuda::manual_seed(seed);
}

torch::Tensor Model::dropout(const torch::Tensor& x, double p) {
  if (!is_training() || p == 0) return x;
  if (x.is_cuda()) return torch::dropout(x, p, /*train=*/true);  // masks made on the device, where they serve
  return x * dropout_mask(x.sizes(), x.options(), p, dropout_generator_);
}

}  // namespace eignn
