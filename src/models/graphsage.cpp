// GraphSAGE (Hamilton, Ying, Leskovec, 2017), its algorithm 1 with the mean aggregator and two layers:
//
//     h_v ← ReLU(W [h_v ‖ mean of h_u over v's neighbours u] + b),   h_v ← h_v/‖h_v‖,   scores = B h_v + c
//
// In training the first layer averages over `samples` neighbours of each node and the second over
// `samples-second` (the paper's S₁ = 25 and S₂ = 10), drawn in every step without replacement (all where
// there are fewer). In evaluation both average over all neighbours.
//
// Only the pattern of S is used, without the diagonal.
#include "models/baselines.h"
#include "models/edges.h"
#include "models/graph_model.h"
#include "models/hops.h"
#include "models/propagate.h"
#include "models/unit_rows.h"

namespace eignn {

namespace {

class GraphSage : public GraphModel {
 public:
  GraphSage(const BaselineInputs& in, const GraphsageOptions& options)
      : GraphModel(in, options.dropout), options_(options) {
    for (const GraphMatrix& graph : in.graphs)
      edges_.push_back(edges_of(normalised_arcs(neighbours(*graph.S)), type_));
    for (const auto& edges : edges_) mean_.push_back(sampled_mean_weights(edges, 0, start_).to(type_));
    const int64_t h = options_.hidden;
    for (const auto& [k, from] : {std::pair<std::string, int64_t>{"0", width_}, {"1", h}})
      layers_.push_back({glorot("W_self" + k, from, h), glorot("W_mean" + k, from, h), zeros("b" + k, h)});
    out_ = {glorot("W_out", h, classes_), zeros("b_out", classes_)};
  }

 protected:
  bool equal_components_stay_equal() const override {
    return GraphModel::equal_components_stay_equal() && options_.samples == 0 && options_.samples_second == 0;
  }

  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    const auto H = layer(g, layers_[0], options_.samples, dropped(X));
    return out_(dropped(layer(g, layers_[1], options_.samples_second, dropped(H)).index_select(0, rows)));
  }

 private:
  GraphsageOptions options_;
  struct Layer {
    torch::Tensor W_self, W_mean, b;
  };

  template <class States>
  torch::Tensor layer(size_t g, const Layer& l, int64_t samples, const States& H) {
    const auto weights = is_training() && samples > 0
                             ? sampled_mean_weights(edges_[g], samples, dropout_generator_).to(type_)
                             : mean_[g];
    const auto mean = weighted_sum(edges_[g], weights, H.mm(l.W_mean).unsqueeze(1)).squeeze(1);
    return unit_rows(torch::relu(H.mm(l.W_self) + mean + l.b));
  }

  std::vector<Edges> edges_;         // of each graph
  std::vector<torch::Tensor> mean_;  // the arc weights of the mean over all neighbours
  std::vector<Layer> layers_;
  Linear out_;
};

}  // namespace

std::shared_ptr<Model> make_graphsage(const BaselineInputs& inputs, const GraphsageOptions& options) {
  return std::make_shared<GraphSage>(inputs, options);
}

}  // namespace eignn
