// SSE (Dai, Kozareva, Dai, Smola, Song, 2018): the embedding of a node is the steady state of a learnt
// update, reached by damped updates of randomly drawn nodes (its eqs. (4), (5) and algorithm 2).
//
//     T(h)_v = W_1 tanh(W_2 [x_v ‖ Σ_u S_uv [h_u ‖ x_u]] + b),   h_v ← (1-α) h_v + α T(h)_v
//     scores = V_2 ReLU(V_1 T(h) + c_1) + c_2
//
// In training `hops` updates of a random half of the nodes lead from h = 0 to near the steady state, and the
// gradient is that of the last application of T, as in the paper. In evaluation every update is of all nodes,
// without random draws, and the gradient goes through all updates.
//
// Two things differ from the paper, which keeps h between training steps and sums over neighbours without
// weights. Here each step starts from 0, so that weights and seed determine the result, and the sum is
// weighted by EIGNN's S, so that nodes of high degree do not saturate tanh.
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/propagate.h"

namespace eignn {

namespace {

class Sse : public GraphModel {
 public:
  Sse(const BaselineInputs& in, const SseOptions& options)
      : GraphModel(in, options.dropout), options_(options), S_(make_products(in.graphs, type_)) {
    const int64_t h = options_.hidden;
    W_own_ = glorot("W_own", width_, h);
    W_heard_ = glorot("W_heard", width_, h);
    W_state_ = glorot("W_state", h, h);
    b_ = zeros("b", h);
    W_ = glorot("W", h, h);
    first_ = {glorot("V0", h, h), zeros("c0", h)};
    second_ = {glorot("V1", h, classes_), zeros("c1", classes_)};
  }

 protected:
  bool equal_components_stay_equal() const override { return false; }

  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    // The part of T that does not depend on h.
    const auto C = X.mm(W_own_) + propagate(S_[g], X.mm(W_heard_)) + b_;
    const auto T = [&](const torch::Tensor& h) {
      return torch::tanh(C + propagate(S_[g], h.mm(W_state_))).mm(W_);
    };
    const auto state = is_training() ? drawn_state(T, C.sizes()) : full_state(T, C.sizes());
    return second_(dropped_relu(first_(dropped(T(state).index_select(0, rows)))));
  }

 private:
  SseOptions options_;
  template <class Update>
  torch::Tensor full_state(const Update& T, c10::IntArrayRef sizes) const {
    auto h = torch::zeros(sizes, type_);
    for (int64_t k = 0; k < options_.hops; ++k) h = torch::lerp(h, T(h), options_.alpha);
    return h;
  }

  template <class Update>
  torch::Tensor drawn_state(const Update& T, c10::IntArrayRef sizes) {
    const torch::NoGradGuard guard;
    auto h = torch::zeros(sizes, type_);
    for (int64_t k = 0; k < options_.hops; ++k) {
      const auto drawn =
          torch::empty({sizes[0], 1}, type_.device(torch::kCPU)).bernoulli_(0.5, dropout_generator_);
      h = h + options_.alpha * drawn.to(type_.device()) * (T(h) - h);
    }
    return h;
  }

  std::vector<SharedProduct> S_;
  torch::Tensor W_own_, W_heard_, W_state_, b_, W_;  // T's
  Linear first_, second_;
};

}  // namespace

std::shared_ptr<Model> make_sse(const BaselineInputs& inputs, const SseOptions& options) {
  return std::make_shared<Sse>(inputs, options);
}

}  // namespace eignn
