// What the models share: dropout, and the names of their parts.
#include "eignn/model.h"

#include <torch/torch.h>

#include "eignn/error.h"
#include "graph/nearest_name.h"
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

Head parse_head(const std::string& text) {
  return parse_name<Head>(text, "head", "head", {Head::plain, Head::l2, Head::batch_norm, Head::residual});
}

Start parse_start(const std::string& text) {
  return parse_name<Start>(text, "start of F", "start", {Start::xavier, Start::orthogonal});
}

const char* name(Head head) {
  switch (head) {
    case Head::plain:
      return "plain";
    case Head::l2:
      return "l2";
    case Head::batch_norm:
      return "batch-norm";
    case Head::residual:
      return "residual";
  }
  return "";
}

const char* name(Start start) {
  return start == Start::xavier ? "xavier" : "orthogonal";
}

}  // namespace eignn
