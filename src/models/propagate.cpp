#include "models/propagate.h"

#include <utility>

#include "models/backward_state.h"

namespace eignn {

namespace {

class PropagateFunction : public torch::autograd::Function<PropagateFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& H,
                               const BackwardStatePtr<SharedProduct>& S) {
    save_for_backward(context, S);
    return S->value->gather(H);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {saved_for_backward<SharedProduct>(context)->scatter(gradients[0]), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor propagate(const SharedProduct& S, const torch::Tensor& H) {
  return PropagateFunction::apply(H, backward_state(S));
}

SharedProduct make_product(std::shared_ptr<const Propagation> S, const torch::TensorOptions& type) {
  return std::make_shared<SparseProduct>(std::move(S), c10::typeMetaToScalarType(type.dtype()),
                                         type.device());
}

SharedProduct make_product(const Propagation& S, const torch::TensorOptions& type) {
  return make_product(std::make_shared<const Propagation>(S), type);
}

std::vector<SharedProduct> make_products(const std::vector<GraphMatrix>& graphs,
                                         const torch::TensorOptions& type) {
  std::vector<SharedProduct> out;
  for (const GraphMatrix& graph : graphs) out.push_back(make_product(graph.S, type));
  return out;
}

Graph neighbours(const Propagation& S) {
  Graph out;
  out.nodes = S.nodes;
  for (int64_t i = 0; i < S.nodes; ++i) {
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e)
      if (S.column[e] != i) out.target.push_back(S.column[e]);
    out.row_begin.push_back(out.arcs());
  }
  return out;
}

}  // namespace eignn
