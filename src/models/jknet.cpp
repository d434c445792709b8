// JKNet (Xu, Li, Tian, Sonobe, Kawarabayashi, Jegelka, 2018): GCN layers whose outputs are all concatenated
// for the last layer (the paper's "concatenation").
//
//     H_0 = X,   H_l = ReLU(S H_{l-1} W_l + b_l),   scores = [H_1 ‖ … ‖ H_L] W + b
//
// The matrix is EIGNN's S, as in the paper. Dropout before each layer.
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/receptive_field.h"

namespace eignn {

namespace {

class JkNet : public GraphModel {
 public:
  JkNet(const BaselineInputs& in, const JknetOptions& options)
      : GraphModel(in, options.dropout), options_(options), fields_(receptive_fields(in.graphs, type_)) {
    for (int64_t l = 0; l < options_.layers; ++l) {
      W_.push_back(glorot("W" + std::to_string(l), l == 0 ? width_ : options_.hidden, options_.hidden));
      b_.push_back(zeros("b" + std::to_string(l), options_.hidden));
    }
    out_ = {glorot("W_out", options_.layers * options_.hidden, classes_), zeros("b_out", classes_)};
  }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    const auto& rounds = fields_[g].rounds_to(rows, options_.layers);
    std::vector<torch::Tensor> seen;  // the output of each layer at `rows`
    auto H = dropped(X).mm(W_[0]);
    for (size_t l = 0; l < W_.size(); ++l) {
      const auto before_relu = propagate(rounds[l].S, H).add_(b_[l]);
      seen.push_back(torch::relu(before_relu.index_select(0, rounds[l].rows)));
      if (l + 1 < W_.size()) H = dropped_relu(before_relu).mm(W_[l + 1]);
    }
    return out_(dropped(torch::cat(seen, 1)));
  }

 private:
  JknetOptions options_;
  std::vector<ReceptiveField> fields_;
  std::vector<torch::Tensor> W_, b_;
  Linear out_;
};

}  // namespace

std::shared_ptr<Model> make_jknet(const BaselineInputs& inputs, const JknetOptions& options) {
  return std::make_shared<JkNet>(inputs, options);
}

}  // namespace eignn
