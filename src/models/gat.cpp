// GAT (Veličković, Cucurull, Casanova, Romero, Liò, Bengio, 2018), its eqs. (1)-(6), head by head:
//
//     e_ij = LeakyReLU(aᵀ[W h_i ‖ W h_j]) (slope 0.2),   α_ij = softmax over the neighbours i of j,
//     h'_j = Σ_i α_ij W h_i + b
//
// Hidden layers concatenate `heads` heads and apply ELU; the last layer averages `output-heads`. A layer
// between the first and the last that is as wide as its input adds its input (the paper's skip connection on
// PPI). Dropout before each layer and on the α.
//
// Only the pattern of S is used: a node receives from its neighbours and itself.
#include "models/baselines.h"
#include "models/edges.h"
#include "models/graph_model.h"

namespace eignn {

namespace {

class Gat : public GraphModel {
 public:
  Gat(const BaselineInputs& in, const GatOptions& options)
      : GraphModel(in, options.dropout), options_(options) {
    for (const GraphMatrix& graph : in.graphs) edges_.push_back(edges_of(*graph.S, type_, true));
    for (int64_t l = 0, from = width_; l < options_.layers; ++l) {
      const bool last = l + 1 == options_.layers;
      const int64_t heads = last ? options_.output_heads : options_.heads;
      const int64_t units = last ? classes_ : options_.hidden, to = last ? units : heads * units;
      const std::string k = std::to_string(l);
      layers_.push_back({glorot("W" + k, from, heads * units), glorot("a_from" + k, heads, units),
                         glorot("a_to" + k, heads, units), zeros("b" + k, to)});
      from = to;
    }
  }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    torch::Tensor H;
    for (size_t l = 0; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      const bool last = l + 1 == layers_.size();
      const int64_t heads = layer.a_from.size(0), units = layer.a_from.size(1);
      const auto WH = (l == 0 ? dropped(X).mm(layer.W) : dropped(H).mm(layer.W)).view({-1, heads, units});
      const auto alpha = attention(edges_[g], (WH * layer.a_from).sum(2), (WH * layer.a_to).sum(2), 0.2);
      const auto heard = weighted_sum(edges_[g], dropped(alpha), WH);
      if (last) return heard.index_select(0, rows).mean(1) + layer.b;
      auto next = heard.flatten(1) + layer.b;
      if (l > 0 && next.size(1) == H.size(1)) next = next + H;
      H = torch::elu(next);
    }
    return H;
  }

 private:
  GatOptions options_;
  struct Layer {
    torch::Tensor W, a_from, a_to, b;
  };
  std::vector<Edges> edges_;
  std::vector<Layer> layers_;
};

}  // namespace

std::shared_ptr<Model> make_gat(const BaselineInputs& inputs, const GatOptions& options) {
  return std::make_shared<Gat>(inputs, options);
}

}  // namespace eignn
