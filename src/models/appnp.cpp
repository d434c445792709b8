// APPNP (Klicpera, Bojchevski, Günnemann, 2019), its eq. (4): a network on each node's own features, then K
// steps of personalised PageRank.
//
//     H = ReLU(X W_1 + b_1) W_2 + b_2,   Z_0 = H,   Z_k = (1-α) S Z_{k-1} + α H,   scores = Z_K
//
// The matrix is EIGNN's S, as in the paper. Dropout before both layers, and on S's entries in every step.
#include "models/baselines.h"
#include "models/edges.h"
#include "models/graph_model.h"
#include "models/propagate.h"

namespace eignn {

namespace {

class Appnp : public GraphModel {
 public:
  Appnp(const BaselineInputs& in, const AppnpOptions& options)
      : GraphModel(in, options.dropout), options_(options), S_(make_products(in.graphs, type_)) {
    for (const GraphMatrix& graph : in.graphs) edges_.push_back(edges_of(*graph.S, type_));
    first_ = {glorot("W0", width_, options_.hidden), zeros("b0", options_.hidden)};
    second_ = {glorot("W1", options_.hidden, classes_), zeros("b1", classes_)};
  }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    const auto H = second_(dropped_relu(first_(dropped(X))));
    auto Z = H;
    for (int64_t k = 0; k < options_.hops; ++k) Z = torch::lerp(step(g, Z), H, options_.alpha);
    return Z.index_select(0, rows);
  }

 private:
  AppnpOptions options_;
  torch::Tensor step(size_t g, const torch::Tensor& Z) {
    if (!is_training() || options_.dropout == 0) return propagate(S_[g], Z);
    return weighted_sum(edges_[g], dropped(edges_[g].value), Z.unsqueeze(1)).squeeze(1);
  }

  std::vector<SharedProduct> S_;
  std::vector<Edges> edges_;  // S as a list of entries, for dropout on them
  Linear first_, second_;
};

}  // namespace

std::shared_ptr<Model> make_appnp(const BaselineInputs& inputs, const AppnpOptions& options) {
  return std::make_shared<Appnp>(inputs, options);
}

}  // namespace eignn
