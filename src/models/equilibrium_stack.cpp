// A stack of equilibria. With H_0 = encoder(X), layer l = 1 … L is
//
//     Z_k = γ g(F_lk) Z_k S_k + H_{l-1} P_k     for each channel k (models/channels.h)
//     H_l = dropout(ReLU(norm(W_l [Z_1 | Z_2 | …] + b_l) + H_{l-1}))
//
// and f = B jump(H_1, …, H_L) + c. The sum with H_{l-1} is there with `skip` and equal widths. After the last
// layer there is no ReLU unless `jump` reads all layers. A single layer has no W_1: its B reads the states,
// as in the paper. The states of a layer without equilibria are H_{l-1} itself.
//
// The gradient goes through each equilibrium by its adjoint. A layer costs a solve for each channel, forward
// and backward, and the products with W_l.
#include "models/equilibrium_stack.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/torch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "eignn/error.h"
#include "models/channels.h"
#include "models/encoder.h"
#include "models/graph_parts.h"
#include "models/residual_head.h"
#include "models/sparse_features.h"
#include "models/unit_rows.h"

namespace eignn {

namespace {

class LayerWeights : public torch::nn::Module {
 public:
  // `mixed`: the width after W_l; 0: there is no W_l.
  LayerWeights(const EignnOptions& options, size_t channels, int64_t from, int64_t mixed,
               const torch::TensorOptions& type, at::Generator generator) {
    for (size_t k = 0; k < channels; ++k)
      F.push_back(
          register_parameter(channels == 1 ? "F" : "F" + std::to_string(k),
                             starting_F(options.start, rows_of_F(options, from), from, generator).to(type)));
    const int64_t states = from * std::max<int64_t>(1, static_cast<int64_t>(channels));
    width = mixed > 0 ? mixed : states;
    if (mixed > 0) {
      W = register_parameter("W", uniform_weight(mixed, states, generator).to(type));
      b = register_parameter("b", torch::zeros({mixed}, type));
    }
    const Norm norm = norm_of(options);
    if (norm == Norm::batch) {
      batch = register_module("norm", torch::nn::BatchNorm1d(width));
      batch->to(type.device(), c10::typeMetaToScalarType(type.dtype()));
    }
    if (norm == Norm::layer) {
      scale = register_parameter("norm_weight", torch::ones({width}, type));
      shift = register_parameter("norm_bias", torch::zeros({width}, type));
    }
  }

  std::vector<torch::Tensor> F;  // of each channel
  int64_t width;                 // of the layer's output
  torch::Tensor W, b;            // undefined where there is none
  torch::nn::BatchNorm1d batch{nullptr};
  torch::Tensor scale, shift;  // of the layer norm
};

class EquilibriumStack : public Model {
 public:
  EquilibriumStack(std::vector<GraphPart> parts, const torch::Tensor& X, int64_t classes,
                   const EignnOptions& options, uint64_t seed)
      : Model({X.size(0), X.size(1) - label_columns(options, classes), classes, type_of(parts),
               label_columns(options, classes)}),
        options_(options),
        norm_(norm_of(options)),
        graphs_(nodes_of(parts), X.size(0), type().device()),
        channels_(channels_of(options, 1 + parts.at(0).further.size())) {
    auto generator = at::detail::createCPUGenerator(seed);
    int64_t width = X.size(1);
    if (options.encoder > 0) {
      width = options.encoder;
      const auto W = register_parameter(
          "encoder_weight",
          encoder_weight(width, features(), label_columns(options, classes), generator).to(type()));
      encoder_ = Encoder(W, register_parameter("encoder_bias", torch::zeros({width}, type())),
                         options.encoder_activation);
    }
    const bool mixes = options.layers > 1;
    for (int64_t l = 1; l <= options.layers; ++l) {
      layers_.push_back(
          register_module("layer" + std::to_string(l),
                          std::make_shared<LayerWeights>(options, channels_.size(), width,
                                                         mixes ? options.hidden : 0, type(), generator)));
      width = layers_.back()->width;
    }
    if (options.head == Head::residual) {
      residual_ = register_module(
          "head", std::make_shared<ResidualHead>(width, features(), classes, options, generator));
      residual_->to(type().device(), c10::typeMetaToScalarType(type().dtype()));
    } else {
      const int64_t read = options.jump == Jump::concat ? width * options.layers : width;
      B_ = register_parameter("B", (torch::randn({classes, read}, generator, torch::kFloat64) /
                                    std::sqrt(static_cast<double>(read)))
                                       .to(type()));
    }
    if (options.intercept) intercept_ = register_parameter("intercept", torch::zeros({classes}, type()));
    for (GraphPart& part : parts) parts_.emplace_back(std::move(part), channels_, type());
    do_use_features(X);
  }

  // Without equilibria and with one layer there is nothing but the head between features and scores.
  bool linear_in_features() const override {
    const bool affine_encoder = options_.encoder == 0 || options_.encoder_activation == Activation::none;
    return options_.layers == 1 && affine_encoder && !residual_ &&
           (norm_ == Norm::none || norm_ == Norm::batch);
  }

  std::vector<torch::Tensor> propagation_weights() const override {
    std::vector<torch::Tensor> all;
    for (const auto& layer : layers_) all.insert(all.end(), layer->F.begin(), layer->F.end());
    return all;
  }
  const char* solver_name() const override {
    return channels_.empty() ? "none" : parts_[0].solvers()[0]->name();
  }
  double preprocess_seconds() const override {
    double seconds = 0;
    for (const ChannelGraph& part : parts_)
      for (const auto& solver : part.solvers()) seconds += solver->preprocess_seconds();
    return seconds;
  }

 protected:
  bool takes_sparse_features() const override { return options_.encoder > 0 && !reads_labels(); }

  torch::Tensor do_scores(const torch::Tensor& index) override {
    const auto [graphs, rows] = graphs_.stacked(index);
    if (graphs.empty()) return torch::zeros({0, classes()}, type());
    std::vector<torch::Tensor> below;
    for (const size_t g : graphs) below.push_back(encoder_(X_[g].X, X_[g].encoded));
    auto H = stacked(below);
    std::vector<torch::Tensor> heard;  // what the last linear map reads, at the index
    for (size_t l = 0; l < layers_.size(); ++l) {
      const bool last = l + 1 == layers_.size();
      // Batch norm reads all nodes, and so does another layer.
      const bool at_index = last && norm_ != Norm::batch;
      const auto select = [&](const torch::Tensor& t) { return t.index_select(0, rows); };
      auto out = normalised(*layers_[l],
                            mixed(*layers_[l], states(graphs, l, H, at_index ? rows : torch::Tensor())));
      if (options_.skip && out.size(1) == H.size(1)) out = out + (at_index ? select(H) : H);
      if (!last || (options_.jump != Jump::last && layers_.size() > 1)) out = torch::relu(out);
      if (!last || norm_ != Norm::none || layers_.size() > 1) out = dropout(out, options_.dropout);
      if (last || options_.jump != Jump::last) heard.push_back(at_index ? out : select(out));
      H = out;
    }
    const auto f =
        residual_ ? residual_->forward(heard[0], dense_rows(X_of(graphs), rows).narrow(1, 0, features()),
                                       [&](const torch::Tensor& h) { return dropout(h, options_.dropout); })
                  : jumped(heard).mm(B_.t());
    return intercept_.defined() ? f + intercept_ : f;
  }

  void do_use_features(const torch::Tensor& X) override {
    X_.clear();
    for (size_t g = 0; g < parts_.size(); ++g) X_.push_back({in_type(graphs_.rows_of(g, X), type()), {}});
  }

 private:
  static torch::TensorOptions type_of(const std::vector<GraphPart>& parts) {
    const SolverOptions& options = parts.at(0).solver->options();
    return torch::dtype(options.dtype).device(options.device);
  }

  static std::vector<std::vector<int64_t>> nodes_of(const std::vector<GraphPart>& parts) {
    std::vector<std::vector<int64_t>> nodes;
    for (const GraphPart& part : parts) nodes.push_back(part.nodes);
    return nodes;
  }

  // A graph's features, and H_0 of them.
  struct GraphFeatures {
    torch::Tensor X;
    Encoder::Kept encoded;
  };

  static torch::Tensor stacked(const std::vector<torch::Tensor>& below) {
    return below.size() == 1 ? below[0] : torch::cat(below, 0);
  }

  torch::Tensor X_of(const std::vector<size_t>& graphs) const {
    std::vector<torch::Tensor> below;
    for (const size_t g : graphs) below.push_back(X_[g].X);
    return stacked(below);
  }

  static torch::Tensor dense_rows(const torch::Tensor& X, const torch::Tensor& rows) {
    const auto at = X.index_select(0, rows);
    return at.is_sparse() ? at.to_dense() : at;
  }

  // [Z_1 | Z_2 | …] of layer l for H, whose rows are those of these graphs, one below the other; at `rows`
  // or, where that is undefined, at all of them.
  torch::Tensor states(const std::vector<size_t>& graphs, size_t l, const torch::Tensor& H,
                       const torch::Tensor& rows) {
    if (channels_.empty()) return rows.defined() ? H.index_select(0, rows) : H;
    const bool one = graphs.size() == 1;
    std::vector<torch::Tensor> below;
    int64_t first = 0;
    for (const size_t g : graphs) {
      const int64_t n = graphs_.nodes(g);
      const auto from = parts_[g].sources(channels_, one ? H : H.narrow(0, first, n));
      std::vector<torch::Tensor> beside;
      for (size_t k = 0; k < channels_.size(); ++k)
        beside.push_back(
            state(parts_[g].solver(channels_[k]), layers_[l]->F[k], from[k], one ? rows : torch::Tensor()));
      below.push_back(beside.size() == 1 ? beside[0] : torch::cat(beside, 1));
      first += n;
    }
    if (one) return below[0];
    const auto all = torch::cat(below, 0);
    return rows.defined() ? all.index_select(0, rows) : all;
  }

  static torch::Tensor state(Solver& solver, const torch::Tensor& F, const torch::Tensor& H,
                             const torch::Tensor& rows) {
    try {
      return equilibrium(solver, F, H, rows).plain();
    } catch (const ArgumentError& error) {
      // The features were checked when they came: what is out of range is what the layers make of them.
      if (error.field() != "X") throw;
      throw ConvergenceError("the states between two layers are not finite", "",
                             "lower lr, or use dtype float64");
    }
  }

  static torch::Tensor mixed(const LayerWeights& layer, const torch::Tensor& Z) {
    return layer.W.defined() ? torch::addmm(layer.b, Z, layer.W.t()) : Z;
  }

  torch::Tensor normalised(LayerWeights& layer, const torch::Tensor& x) const {
    switch (norm_) {
      case Norm::none:
        return x;
      case Norm::l2:
        return unit_rows(x);
      case Norm::batch:
        return layer.batch->forward(x);
      case Norm::layer:
        return torch::layer_norm(x, {x.size(1)}, layer.scale, layer.shift);
    }
    return x;
  }

  torch::Tensor jumped(const std::vector<torch::Tensor>& heard) const {
    if (heard.size() == 1) return heard[0];
    if (options_.jump == Jump::concat) return torch::cat(heard, 1);
    return torch::stack(heard).amax(0);
  }

  EignnOptions options_;
  Norm norm_;
  GraphParts graphs_;
  std::vector<Channel> channels_;
  std::vector<ChannelGraph> parts_;  // one for each graph
  std::vector<GraphFeatures> X_;     // likewise
  std::vector<std::shared_ptr<LayerWeights>> layers_;
  Encoder encoder_;
  torch::Tensor B_, intercept_;
  std::shared_ptr<ResidualHead> residual_;
};

}  // namespace

std::shared_ptr<Model> make_equilibrium_stack(std::vector<GraphPart> parts, const torch::Tensor& X,
                                              int64_t classes, const EignnOptions& options, uint64_t seed) {
  return std::make_shared<EquilibriumStack>(std::move(parts), X, classes, options, seed);
}

}  // namespace eignn
