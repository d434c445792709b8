// MLP: layers that use a node's own features only.
//
//     h_0 = x,   h_l = ReLU(W_l h_{l-1} + b_l),   scores = W_L h_{L-1} + b_L;   dropout before each layer
//
// The graph is not used.
#include "models/baselines.h"
#include "models/graph_model.h"

namespace eignn {

namespace {

class Mlp : public GraphModel {
 public:
  Mlp(const BaselineInputs& in, const MlpOptions& options)
      : GraphModel(in, options.dropout), options_(options) {
    for (int64_t l = 0, from = width_; l < options_.layers; ++l) {
      const bool last = l + 1 == options_.layers;
      const int64_t to = last ? classes_ : options_.hidden;
      layers_.push_back({glorot("W" + std::to_string(l), from, to), zeros("b" + std::to_string(l), to)});
      from = to;
    }
  }

  bool linear_in_features() const override { return options_.layers == 1; }

 protected:
  torch::Tensor forward(size_t, const Features& X, const torch::Tensor& rows) override {
    auto h = layers_[0](dropped(X)).index_select(0, rows);
    for (size_t l = 1; l < layers_.size(); ++l) h = layers_[l](dropped_relu(h));
    return h;
  }

 private:
  MlpOptions options_;
  std::vector<Linear> layers_;
};

}  // namespace

std::shared_ptr<Model> make_mlp(const BaselineInputs& inputs, const MlpOptions& options) {
  return std::make_shared<Mlp>(inputs, options);
}

}  // namespace eignn
