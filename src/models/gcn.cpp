// GCN (Kipf and Welling, 2017), its eq. (9) with L layers:
//
//     H_0 = X,   H_l = ReLU(S H_{l-1} W_l + b_l),   scores = S H_{L-1} W_L + b_L;   dropout before each layer
//
// The matrix is EIGNN's S: D^-1/2 (A+I) D^-1/2, as in the paper.
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/propagate.h"

namespace eignn {

namespace {

class Gcn : public GraphModel {
 public:
  Gcn(const BaselineInputs& in, const GcnOptions& options)
      : GraphModel(in, options.dropout), options_(options), S_(make_products(in.graphs, type_)) {
    for (int64_t l = 0, from = width_; l < options_.layers; ++l) {
      const int64_t to = l + 1 == options_.layers ? classes_ : options_.hidden;
      W_.push_back(glorot("W" + std::to_string(l), from, to));
      b_.push_back(zeros("b" + std::to_string(l), to));
      from = to;
    }
  }

  bool linear_in_features() const override { return options_.layers == 1; }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    // H W is formed first, since it is only as wide as the layer.
    const auto layer = [&](size_t l, const auto& H) {  // H after dropout
      return propagate(S_[g], H.mm(W_[l])).add_(b_[l]);
    };
    auto H = layer(0, dropped(X));
    for (size_t l = 1; l < W_.size(); ++l) H = layer(l, dropped_relu(H));
    return H.index_select(0, rows);
  }

 private:
  GcnOptions options_;
  std::vector<SharedProduct> S_;  // of each graph
  std::vector<torch::Tensor> W_, b_;
};

}  // namespace

std::shared_ptr<Model> make_gcn(const BaselineInputs& inputs, const GcnOptions& options) {
  return std::make_shared<Gcn>(inputs, options);
}

}  // namespace eignn
