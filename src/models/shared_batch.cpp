#include "models/shared_batch.h"

#include <torch/torch.h>

#include <algorithm>

namespace eignn {

namespace {

struct HeldSum : torch::CustomClassHolder {
  SumOverProcesses sum;
};

class SumFunction : public torch::autograd::Function<SumFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& here,
                               const c10::intrusive_ptr<HeldSum>& holder) {
    context->saved_data["sum"] = c10::IValue::make_capsule(holder);
    return holder->sum(here);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["sum"].toCapsule();
    return {static_cast<HeldSum&>(*capsule).sum(gradients[0]), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor summed(const torch::Tensor& here, const SumOverProcesses& sum) {
  if (!sum) return here;
  const auto holder = c10::make_intrusive<HeldSum>();
  holder->sum = sum;
  return SumFunction::apply(here, holder);
}

// The variances within the graphs, and that of their means.
Moments moments_of_graphs(const torch::Tensor& means, const torch::Tensor& variances,
                          const torch::Tensor& nodes, const SumOverProcesses& sum, double& total) {
  const auto all = summed(nodes.sum().reshape({1}), sum);
  total = all.item<double>();
  const auto n = nodes.unsqueeze(1), m = means.to(torch::kFloat64);
  const auto mean = summed((n * m).sum(0), sum) / total;
  const auto variance =
      summed((n * (variances.to(torch::kFloat64) + (m - mean).square())).sum(0), sum) / total;
  return {mean.to(means.scalar_type()), variance.to(means.scalar_type())};
}

void update_running_moments(torch::nn::BatchNorm1d& norm, const Moments& moments, double rows) {
  const torch::NoGradGuard guard;
  const double momentum = norm->options.momentum().value();
  norm->running_mean.lerp_(moments.mean, momentum);
  norm->running_var.lerp_(moments.variance * (rows / std::max(rows - 1, 1.0)), momentum);
  norm->num_batches_tracked += 1;
}

torch::Tensor shared_batch_norm(torch::nn::BatchNorm1d& norm, const torch::Tensor& x,
                                const SumOverProcesses& sum) {
  const auto rows = torch::full({1}, static_cast<double>(x.size(0)), torch::kFloat64);
  const double total = summed(rows, sum).item<double>();
  const auto mean = (summed(x.sum(0, /*keepdim=*/false, torch::kFloat64), sum) / total).to(x.scalar_type());
  const auto from_mean = x - mean;
  const auto variance = (summed(from_mean.square().sum(0, /*keepdim=*/false, torch::kFloat64), sum) / total)
                            .to(x.scalar_type());
  update_running_moments(norm, {mean, variance}, total);
  return torch::addcmul(norm->bias, from_mean, norm->weight * (variance + norm->options.eps()).rsqrt());
}

}  // namespace eignn
