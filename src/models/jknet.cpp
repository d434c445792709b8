// JKNet (Xu, Li, Tian, Sonobe, Kawarabayashi, Jegelka, 2018): GCN layers, of which the last one sees all,
// side by side (the paper's "concatenation").
//
//     H_0 = X,   H_l = ReLU(S H_{l-1} W_l + b_l),   scores = [H_1 ‖ … ‖ H_L] W + b
//
// The matrix is EIGNN's S, as in the paper. Dropout before each layer.
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/propagate.h"

namespace eignn {

namespace {

class JkNet : public GraphModel {
 public:
  explicit JkNet(const BaselineInputs& in) : GraphModel(in), S_(make_products(in.graphs, type_)) {
    for (int64_t l = 0; l < options_.layers; ++l) {
      W_.push_back(glorot("W" + std::to_string(l), l == 0 ? width_ : options_.hidden, options_.hidden));
      b_.push_back(zeros("b" + std::to_string(l), options_.hidden));
    }
    out_ = {glorot("W_out", options_.layers * options_.hidden, classes_), zeros("b_out", classes_)};
  }

 protected:
  torch::Tensor forward(size_t g, const torch::Tensor& X) override {
    std::vector<torch::Tensor> H;
    for (size_t l = 0; l < W_.size(); ++l)
      H.push_back(torch::relu(propagate(S_[g], dropped(l == 0 ? X : H.back()).mm(W_[l])) + b_[l]));
    return out_(dropped(torch::cat(H, 1)));
  }

 private:
  std::vector<SharedProduct> S_;
  std::vector<torch::Tensor> W_, b_;
  Linear out_;
};

}  // namespace

std::shared_ptr<Model> make_jknet(const BaselineInputs& inputs) {
  return std::make_shared<JkNet>(inputs);
}

}  // namespace eignn
