// GCNII (Chen, Wei, Huang, Ding, Li, 2020), its eq. (5):
//
//     H_0 = ReLU(X W_in + b_in)
//     H_l = ReLU( ((1-α) S H_{l-1} + α H_0) ((1-β_l) I + β_l W_l) ),   β_l = log(θ/l + 1)
//     scores = H_L W_out + b_out
//
// The matrix is EIGNN's S, as in the paper; θ is its λ. Dropout before each layer.
#include <cmath>

#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/receptive_field.h"

namespace eignn {

namespace {

class Gcnii : public GraphModel {
 public:
  Gcnii(const BaselineInputs& in, const GcniiOptions& options)
      : GraphModel(in, options.dropout), options_(options), fields_(receptive_fields(in.graphs, type_)) {
    in_ = {glorot("W_in", width_, options_.hidden), zeros("b_in", options_.hidden)};
    for (int64_t l = 0; l < options_.layers; ++l)
      W_.push_back(glorot("W" + std::to_string(l), options_.hidden, options_.hidden));
    out_ = {glorot("W_out", options_.hidden, classes_), zeros("b_out", classes_)};
  }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    const auto I = torch::eye(options_.hidden, type_);
    auto H_0 = torch::relu(in_(dropped(X)));
    auto H = dropped(H_0);  // H is only used after dropout
    const auto& rounds = fields_[g].rounds_to(rows, options_.layers);
    for (size_t l = 0; l < W_.size(); ++l) {
      const double beta = std::log(options_.theta / static_cast<double>(l + 1) + 1);
      if (rounds[l].stay) H_0 = propagate(rounds[l].stay, H_0);
      auto P = propagate(rounds[l].S, H).lerp_(H_0, options_.alpha);
      if (l + 1 == W_.size()) P = P.index_select(0, rounds[l].rows);
      H = dropped_relu(P.mm((1 - beta) * I + beta * W_[l]));
    }
    return out_(H);
  }

 private:
  GcniiOptions options_;
  std::vector<ReceptiveField> fields_;
  Linear in_, out_;
  std::vector<torch::Tensor> W_;
};

}  // namespace

std::shared_ptr<Model> make_gcnii(const BaselineInputs& inputs, const GcniiOptions& options) {
  return std::make_shared<Gcnii>(inputs, options);
}

}  // namespace eignn
