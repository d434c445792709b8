#include "models/sparse_features.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/backward_state.h"

namespace eignn {

namespace {

using Shared = std::shared_ptr<const FeatureProduct>;

class FeaturesFunction : public torch::autograd::Function<FeaturesFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& W,
                               const BackwardStatePtr<Shared>& X) {
    save_for_backward(context, X);
    return X->value->times(W);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {saved_for_backward<Shared>(context)->transposed_times(gradients[0]), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor FeatureLayer::operator()(const torch::Tensor& X, const torch::Tensor& W,
                                       const torch::Tensor& b) const {
  if (!X.is_sparse()) return torch::addmm(b, X, W.t());
  auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) { return one.X.is_same(X); });
  if (known == known_.end()) {
    constexpr size_t most = 64;
    if (known_.size() == most) known_.erase(known_.begin());
    known = known_.insert(known_.end(), {X, std::make_shared<const FeatureProduct>(X)});
  }
  return FeaturesFunction::apply(W.t().contiguous(), backward_state(known->product)) + b;
}

torch::Tensor in_type(const torch::Tensor& X, const torch::TensorOptions& type) {
  if (!X.is_sparse()) return X.to(type);
  const auto values = X.values().to(type);
  return torch::sparse_coo_tensor(X.indices().to(type.device()), values, X.sizes(),
                                  values.options().layout(torch::kSparse))
      .coalesce();
}

torch::Tensor gathered_features(const Propagation& S, const torch::Tensor& X) {
  const SparseEntries entries = entries_of(X);
  // Row i of X goes to the receivers of node i; the sums are formed by coalescing.
  int64_t count = 0;
  for (int64_t i = 0; i < S.nodes; ++i)
    count += (S.row_begin[i + 1] - S.row_begin[i]) * (entries.begin[i + 1] - entries.begin[i]);
  auto place = torch::empty({2, count}, torch::kInt64);
  auto value = torch::empty({count}, torch::kFloat64);
  int64_t *row = place.data_ptr<int64_t>(), *column = row + count;
  auto* to = value.data_ptr<double>();
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t a = S.row_begin[i]; a < S.row_begin[i + 1]; ++a) {
      const double weight = S.value(i, a);
      for (int64_t e = entries.begin[i]; e < entries.begin[i + 1]; ++e) {
        *row++ = S.column[a];
        *column++ = entries.column[e];
        *to++ = weight * entries.value[e];
      }
    }
  const auto sums = torch::sparse_coo_tensor(place, value, X.sizes(), value.options().layout(torch::kSparse));
  return in_type(sums.coalesce(), X.values().options());
}

}  // namespace eignn
