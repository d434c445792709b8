#include "models/features.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>

#include "equilibrium/sparse_kernel.h"
#include "models/backward_state.h"

namespace eignn {

namespace {

// The positions of the entries in CSR format.
struct Places {
  torch::Tensor begin, column;  // int64 (rows + 1); int32

  // `row` ascends.
  static Places of(int64_t rows, const torch::Tensor& row, const torch::Tensor& column) {
    const auto begin = torch::cat({torch::zeros({1}, torch::kInt64), row.bincount({}, rows).cumsum(0)});
    return {begin, column.to(torch::kInt32)};
  }

  int64_t rows() const { return begin.numel() - 1; }

  torch::Tensor times(const torch::Tensor& values, const torch::Tensor& W_) const {
    const auto W = W_.contiguous();
    const int64_t width = W.size(1);
    auto out = torch::empty({rows(), width}, W.options());
    const int64_t numbers = (values.numel() + rows()) * width, grain = 32768;
    AT_DISPATCH_FLOATING_TYPES(W.scalar_type(), "product of features", [&] {
      const CompressedRows<scalar_t> X{begin.data_ptr<int64_t>(), column.data_ptr<int32_t>(),
                                       values.data_ptr<scalar_t>()};
      const scalar_t* from = W.data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      at::parallel_for(0, rows(), std::max<int64_t>(1, grain * rows() / std::max<int64_t>(numbers, 1)),
                       [&](int64_t first, int64_t last) {
                         multiply_rows(X, {from, width}, width, {to, width}, first, last);
                       });
    });
    return out;
  }
};

}  // namespace

struct Features::Pattern {
  at::DimVector sizes;
  torch::Tensor flat;  // positions in the flattened X
  Places straight, transposed;
  torch::Tensor order;  // of the entries in `transposed`
};

namespace {

template <class Pattern>
class ProductFunction : public torch::autograd::Function<ProductFunction<Pattern>> {
 public:
  using Shared = std::shared_ptr<const Pattern>;

  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& W,
                               const torch::Tensor& entries, const BackwardStatePtr<Shared>& pattern) {
    save_for_backward(context, pattern);
    context->save_for_backward({entries});
    return pattern->value->straight.times(entries, W);
  }
  // Xᵀ G
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Pattern& pattern = *saved_for_backward<Shared>(context);
    const auto entries = context->get_saved_variables()[0].index_select(0, pattern.order);
    return {pattern.transposed.times(entries, gradients[0]), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

Features::Features(const torch::Tensor& X) : X_(X) {
  if (!X.is_cpu() || X.requires_grad()) return;
  const auto flat = X.flatten().nonzero().squeeze(1);
  constexpr int64_t one_in = 8;
  if (flat.numel() > X.numel() / one_in) return;
  const auto row = flat.div(X.size(1), "floor"), column = flat.remainder(X.size(1));
  const auto by_column = column.argsort(/*stable=*/true, 0, false);
  const auto ordered = [&](const torch::Tensor& t) { return t.index_select(0, by_column); };
  pattern_ =
      std::make_shared<Pattern>(Pattern{at::DimVector(X.sizes()), flat, Places::of(X.size(0), row, column),
                                        Places::of(X.size(1), ordered(column), ordered(row)), by_column});
  entries_ = X.flatten().index_select(0, flat);
}

torch::Tensor Features::dense() const {
  if (X_.defined()) return X_;
  auto X = torch::zeros(pattern_->sizes, entries_.options());
  X.view({-1}).index_copy_(0, pattern_->flat, entries_);
  return X;
}

torch::Tensor Features::mm(const torch::Tensor& W) const {
  return pattern_ ? ProductFunction<Pattern>::apply(W, entries_, backward_state(pattern_)) : X_.mm(W);
}

Features Features::changed(const std::function<torch::Tensor(const torch::Tensor&)>& change) const {
  Features out;
  if (!pattern_) {
    out.X_ = change(X_);
  } else {
    out.pattern_ = pattern_;
    out.entries_ = change(entries_);
  }
  return out;
}

}  // namespace eignn
