#include "models/residual_head.h"

#include "models/shared_batch.h"

namespace eignn {

torch::Tensor uniform_weight(int64_t out, int64_t in, at::Generator generator) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  return torch::empty({out, in}, torch::kFloat64).uniform_(-bound, bound, generator);
}

torch::Tensor encoder_weight(int64_t out, int64_t features, int64_t labels, at::Generator generator) {
  const auto of_features = uniform_weight(out, features, generator);
  return labels == 0 ? of_features : torch::cat({of_features, uniform_weight(out, labels, generator)}, 1);
}

ResidualHead::ResidualHead(int64_t z_width, int64_t x_width, int64_t classes, const EignnOptions& options,
                           at::Generator generator) {
  const int64_t width = options.width;
  W_z_ = register_parameter("W_z", uniform_weight(width, z_width, generator));
  W_x_ = register_parameter("W_x", uniform_weight(width, x_width, generator));
  for (int64_t k = 0; k <= options.blocks; ++k)
    norm_.push_back(register_module("norm" + std::to_string(k), torch::nn::BatchNorm1d(width)));
  for (int64_t k = 0; k < options.blocks; ++k)
    W_.push_back(register_parameter("W" + std::to_string(k), uniform_weight(width, width, generator)));
  W_out_ = register_parameter("W_out", uniform_weight(classes, width, generator));
  b_out_ = register_parameter("b_out", torch::zeros({classes}, torch::kFloat64));
}

torch::Tensor ResidualHead::forward(const torch::Tensor& z, const torch::Tensor& x,
                                    const std::function<torch::Tensor(const torch::Tensor&)>& dropout,
                                    const SumOverProcesses& sum) {
  const auto norm = [&](size_t k, const torch::Tensor& h) {
    return sum && is_training() ? shared_batch_norm(norm_[k], h, sum) : norm_[k](h);
  };
  auto h = torch::elu(norm(0, z.mm(W_z_.t()) + x.mm(W_x_.t())));
  for (size_t k = 0; k < W_.size(); ++k) h = dropout(torch::elu(norm(k + 1, torch::addmm(h, h, W_[k].t()))));
  return torch::addmm(b_out_, h, W_out_.t());
}

}  // namespace eignn
