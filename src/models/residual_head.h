// The head for PPI: a deep network with residual blocks on a node's equilibrium state and features.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

#include "eignn/model.h"

namespace eignn {

/// W (out, in) ~ U(-1/√in, 1/√in), float64: libtorch's initialisation of a linear layer, drawn from our
/// generator.
torch::Tensor uniform_weight(int64_t out, int64_t in, at::Generator generator);

/// The columns of labels behind the features that an EIGNN with these options reads.
inline int64_t label_columns(const EignnOptions& options, int64_t classes) {
  return options.label_inputs ? classes : 0;
}

/// The weight of an encoder of `features` and, behind them, `labels` columns, each drawn as a weight of its
/// own: a label counts as much as it would without features.
torch::Tensor encoder_weight(int64_t out, int64_t features, int64_t labels, at::Generator generator);

///     h = ELU(BN(W₀ z + W_r x)),   h ← dropout(ELU(BN(W_k h + h))),   f = W h + b
///
/// With `sum` the rows are those of one process among several that share a batch.
class ResidualHead : public torch::nn::Module {
 public:
  ResidualHead(int64_t z_width, int64_t x_width, int64_t classes, const EignnOptions& options,
               at::Generator generator);

  torch::Tensor forward(const torch::Tensor& z, const torch::Tensor& x,
                        const std::function<torch::Tensor(const torch::Tensor&)>& dropout,
                        const SumOverProcesses& sum = {});

 private:
  torch::Tensor W_z_, W_x_, W_out_, b_out_;
  std::vector<torch::Tensor> W_;
  std::vector<torch::nn::BatchNorm1d> norm_;  // one before the blocks, one in each
};

}  // namespace eignn
