// SGC (Wu, Souza, Zhang, Fifty, Yu, Weinberger, 2019), its eq. (8): GCN without activations, so that its
// weights merge into one matrix.
//
//     scores = S^K X W + b,   K = `hops`
//
// The matrix is EIGNN's S, as in the paper. S^K X is computed once, unless X requires a gradient.
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/propagate.h"

namespace eignn {

namespace {

class Sgc : public GraphModel {
 public:
  Sgc(const BaselineInputs& in, const SgcOptions& options)
      : GraphModel(in, 0),
        options_(options),
        S_(make_products(in.graphs, type_)),
        smoothed_(in.graphs.size()) {
    W_ = glorot("W", width_, classes_);
    b_ = zeros("b", classes_);
  }

  bool linear_in_features() const override { return true; }

 protected:
  bool equal_components_stay_equal() const override { return true; }

  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    if (X.dense().requires_grad()) return torch::addmm(b_, smooth(g, X.dense()).index_select(0, rows), W_);
    if (!smoothed_[g].defined()) smoothed_[g] = smooth(g, X.dense());
    return torch::addmm(b_, smoothed_[g].index_select(0, rows), W_);
  }
  void features_changed() override { std::fill(smoothed_.begin(), smoothed_.end(), torch::Tensor()); }

 private:
  SgcOptions options_;
  torch::Tensor smooth(size_t g, torch::Tensor H) const {
    for (int64_t k = 0; k < options_.hops; ++k) H = propagate(S_[g], H);
    return H;
  }

  std::vector<SharedProduct> S_;
  std::vector<torch::Tensor> smoothed_;  // S^K X of each graph; undefined: not computed yet
  torch::Tensor W_, b_;
};

}  // namespace

std::shared_ptr<Model> make_sgc(const BaselineInputs& inputs, const SgcOptions& options) {
  return std::make_shared<Sgc>(inputs, options);
}

}  // namespace eignn
