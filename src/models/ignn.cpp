// IGNN (Gu, Chang, Zhu, Sojoudi, El Ghaoui, 2020), its eq. (4): the state is the solution of
//
//     Z = ReLU(W Z S + Ω X S),   scores = B Z
//
// W is projected onto ‖W‖∞ ≤ κ/ρ(S) after every step, so that the solution exists and is unique (its
// theorem 4.1). The forward pass is a Picard iteration, the backward pass solves the adjoint equation
// (implicit_state.h). Solves that do not reach their tolerance are counted and reported in summary.json.
//
// The head l2 normalises each node's state to length one before the last layer. Dropout before the last
// layer.
//
// Five implicit layers, the shape for PPI: of widths 4h, 2h, 2h, h, classes with h = `hidden`, each with a
// linear skip, X_k = ELU(Z_k + X_{k-1} V_k + c_k); the last without ELU. Dropout after each but the last.
//
// IGNN-finite is the recurrence Z_k = ReLU(W Z_{k-1} S + Ω X S) from Z_0 = 0, cut after `layers` steps, with
// libtorch's own gradient. κ = 0 leaves its W free.
//
// The matrix is EIGNN's S, as in the paper.
#include <algorithm>
#include <optional>

#include "equilibrium/stopwatch.h"
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/implicit_state.h"
#include "models/unit_rows.h"

namespace eignn {

namespace {

class Ignn : public GraphModel {
 public:
  /// `steps`: steps of the recurrence for IGNN-finite; none for IGNN.
  Ignn(const BaselineInputs& in, const IgnnOptions& options, std::optional<int64_t> steps)
      : GraphModel(in, options.dropout),
        options_(options),
        steps_(steps),
        S_(make_products(in.graphs, type_)),
        counts_(std::make_shared<PicardCounts>()) {
    const Stopwatch watch;
    for (const GraphMatrix& graph : in.graphs) rho_ = std::max(rho_, spectral_radius(*graph.S));
    preprocess_seconds_ = watch.seconds();
    const int64_t h = options_.hidden;
    const bool one = options_.implicit_layers == 1;
    int64_t from = width_;
    for (const int64_t to :
         one ? std::vector<int64_t>{h} : std::vector<int64_t>{4 * h, 2 * h, 2 * h, h, classes_}) {
      const std::string k = one ? "" : std::to_string(layers_.size());
      Layer layer{glorot("W" + k, to, to), glorot("Omega" + k, from, to), {}};
      if (!one) layer.skip = {glorot("V" + k, from, to), zeros("c" + k, to)};
      layers_.push_back(layer);
      from = to;
    }
    if (one) B_ = glorot("B", h, classes_);
    Ignn::after_step();
  }

  void after_step() override {
    if (options_.kappa == 0 || rho_ == 0) return;
    const torch::NoGradGuard guard;
    for (Layer& layer : layers_) layer.W.copy_(project_rows(layer.W, options_.kappa / rho_));
  }

  const char* solver_name() const override { return steps_ ? "none" : "picard"; }
  std::optional<int64_t> non_converged_solves() const override {
    if (steps_) return {};
    return counts_->non_converged.load();
  }

 protected:
  bool equal_components_stay_equal() const override {
    return layers_.size() == 1 || GraphModel::equal_components_stay_equal();
  }

  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    if (layers_.size() == 1) {
      const auto Z = state(g, layers_[0], X).index_select(0, rows);
      return dropped(options_.head == Head::l2 ? unit_rows(Z, smallest()) : Z).mm(B_);
    }
    auto H = X.dense();
    for (const Layer& layer : layers_) {
      const bool last = &layer == &layers_.back();
      const auto sum = state(g, layer, H) + layer.skip(H);
      H = last ? sum : dropped(torch::elu(sum));
    }
    return H.index_select(0, rows);
  }

 private:
  struct Layer {
    torch::Tensor W;      // (h, h), in the paper's orientation
    torch::Tensor Omega;  // (in, h)
    Linear skip;          // used with five layers
  };

  // States with no larger entry are set to 0 instead of normalised: their gradient, which grows like 1/‖z‖,
  // would leave the floating range.
  double smallest() const { return type_.dtype() == torch::kFloat32 ? 1e-30 : 1e-290; }

  template <class States>
  torch::Tensor state(size_t g, const Layer& layer, const States& X) const {
    const auto bias = propagate(S_[g], X.mm(layer.Omega));
    if (!steps_)
      return implicit_state(S_[g], layer.W, bias, {options_.tolerance, options_.max_iterations}, counts_);
    auto Z = torch::relu(bias);
    for (int64_t k = 1; k < *steps_; ++k)
      Z = torch::relu(torch::addmm(bias, propagate(S_[g], Z), layer.W.t()));
    return Z;
  }

  IgnnOptions options_;
  std::optional<int64_t> steps_;
  std::vector<SharedProduct> S_;
  std::shared_ptr<PicardCounts> counts_;
  double rho_ = 0;  // the largest ρ(S) of all graphs
  std::vector<Layer> layers_;
  torch::Tensor B_;
};

}  // namespace

std::shared_ptr<Model> make_ignn(const BaselineInputs& inputs, const IgnnOptions& options) {
  return std::make_shared<Ignn>(inputs, options, std::nullopt);
}

std::shared_ptr<Model> make_ignn_finite(const BaselineInputs& inputs, const IgnnFiniteOptions& finite) {
  IgnnOptions options;
  options.dropout = finite.dropout;
  options.head = finite.head;
  options.hidden = finite.hidden;
  options.kappa = finite.kappa;
  return std::make_shared<Ignn>(inputs, options, finite.layers);
}

}  // namespace eignn
