// H2GCN (Zhu, Yan, Zhao, Heimann, Akoglu, Koutra, 2020), its eqs. (5)-(7): a node's own embedding is kept
// separate from those of its neighbours, and neighbours at distance one from those at distance two.
//
//     R_0 = ReLU(X W_e),   R_k = [S_1 R_{k-1} ‖ S_2 R_{k-1}],   scores = [R_0 ‖ … ‖ R_K] W_c,   K = --layers
//
// EIGNN's S gives its pattern alone: S_1 and S_2 are the neighbourhoods at distance exactly one and two,
// without self-loops, normalised by D^-1/2 at both ends (a directed graph: D_out^-1/2 A D_in^-1/2). Dropout
// before the last layer.
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/hops.h"
#include "models/propagate.h"

namespace eignn {

namespace {

class H2gcn : public GraphModel {
 public:
  H2gcn(const BaselineInputs& in, const H2gcnOptions& options)
      : GraphModel(in, options.dropout), options_(options) {
    for (const GraphMatrix& graph : in.graphs) {
      const Graph one = neighbours(*graph.S);
      S1_.push_back(make_product(normalised_arcs(one), type_));
      S2_.push_back(make_product(normalised_arcs(exact_two_hops(one)), type_));
    }
    W_embed_ = glorot("W_e", width_, options_.hidden);
    const int64_t widths = (int64_t{1} << (options_.layers + 1)) - 1;  // 1 + 2 + … + 2^K
    W_ = glorot("W_c", widths * options_.hidden, classes_);
  }

 protected:
  bool equal_components_stay_equal() const override { return true; }

  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    std::vector<torch::Tensor> R = {torch::relu(X.mm(W_embed_))};
    for (int64_t k = 0; k < options_.layers; ++k)
      R.push_back(torch::cat({propagate(S1_[g], R.back()), propagate(S2_[g], R.back())}, 1));
    for (auto& of_round : R) of_round = of_round.index_select(0, rows);
    return dropped(torch::cat(R, 1)).mm(W_);
  }

 private:
  H2gcnOptions options_;
  std::vector<SharedProduct> S1_, S2_;  // of each graph
  torch::Tensor W_embed_, W_;
};

}  // namespace

std::shared_ptr<Model> make_h2gcn(const BaselineInputs& inputs, const H2gcnOptions& options) {
  return std::make_shared<H2gcn>(inputs, options);
}

}  // namespace eignn
