// EIGNN (Liu, Kawaguchi, Hooi, Wang, Xiao, 2021): Z = γ g(F) Z S + X, f = head(Z). Beyond the paper there may
// be several such Z side by side, with a P or an S of their own: Z_k = γ g(F_k) Z_k S_k + H P_k.
#include <torch/nn/modules/batchnorm.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "eignn/error.h"
#include "eignn/model.h"
#include "equilibrium/tf32.h"
#include "equilibrium/torch_errors.h"
#include "models/channels.h"
#include "models/check_features.h"
#include "models/encoder.h"
#include "models/equilibrium_model.h"
#include "models/equilibrium_stack.h"
#include "models/graph_parts.h"
#include "models/residual_head.h"
#include "models/shared_batch.h"
#include "models/sparse_features.h"
#include "models/unit_rows.h"

namespace eignn {

namespace {

class Eignn : public Model, public EquilibriumModel {
 public:
  Eignn(std::vector<GraphPart> parts, const torch::Tensor& X, int64_t classes, const EignnOptions& options,
        uint64_t seed)
      : Model({X.size(0), X.size(1) - label_columns(options, classes), classes, type_of(parts),
               label_columns(options, classes)}),
        options_(options),
        norm_kind_(norm_of(options)),
        type_(type()),
        graphs_(nodes_of(parts), X.size(0), type_.device()),
        channels_(channels_of(options, 1 + parts.at(0).further.size())) {
    const int64_t m = options.encoder > 0 ? options.encoder : X.size(1);
    auto generator = at::detail::createCPUGenerator(seed);
    // Drawn in float64, so that a seed gives the same start in every precision.
    auto parameter = [&](const std::string& name, const torch::Tensor& start) {
      return register_parameter(name, start.to(type_));
    };
    for (size_t k = 0; k < channels_.size(); ++k)
      F_.push_back(parameter(channels_.size() == 1 ? "F" : "F" + std::to_string(k),
                             starting_F(options.start, rows_of_F(options, m), m, generator)));
    const int64_t width = m * static_cast<int64_t>(channels_.size());
    if (options.head == Head::residual) {
      residual_ = register_module(
          "head", std::make_shared<ResidualHead>(width, features(), classes, options, generator));
      residual_->to(type_.device(), c10::typeMetaToScalarType(type_.dtype()));
    } else {
      B_ = parameter("B", torch::randn({classes, width}, generator, torch::kFloat64) /
                              std::sqrt(static_cast<double>(width)));
    }
    if (norm_kind_ == Norm::batch) {
      norm_ = register_module("norm", torch::nn::BatchNorm1d(width));
      norm_->to(type_.device(), c10::typeMetaToScalarType(type_.dtype()));
    }
    if (norm_kind_ == Norm::layer) {
      layer_scale_ = parameter("norm_weight", torch::ones({width}, torch::kFloat64));
      layer_shift_ = parameter("norm_bias", torch::zeros({width}, torch::kFloat64));
    }
    if (options.encoder > 0) {
      const auto W = parameter("encoder_weight",
                               encoder_weight(m, features(), label_columns(options, classes), generator));
      encoder_ = Encoder(W, parameter("encoder_bias", torch::zeros({m}, torch::kFloat64)),
                         options.encoder_activation);
    }
    if (options.intercept) intercept_ = parameter("intercept", torch::zeros({classes}, torch::kFloat64));
    for (GraphPart& part : parts) {
      const auto rows = in_type(graphs_.rows_of(parts_.size(), X), type_);
      parts_.push_back({ChannelGraph(std::move(part), channels_, type_), rows, {}, {}, {}});
      parts_.back().solved.resize(F_.size());
    }
  }

  // Z is linear in X, or affine behind an encoder without an activation; batch norm in evaluation is affine,
  // since its moments are fixed.
  bool linear_in_features() const override {
    const bool affine_encoder = options_.encoder == 0 || options_.encoder_activation == Activation::none;
    return affine_encoder && options_.head != Head::residual &&
           (norm_kind_ == Norm::none || norm_kind_ == Norm::batch);
  }

  std::vector<torch::Tensor> propagation_weights() const override { return F_; }
  std::vector<torch::Tensor> summed_by_solvers() const override {
    if (sum_over_processes()) return {};  // each solves for its own graphs
    auto out = F_;
    const bool projects = options_.head == Head::plain && norm_kind_ == Norm::none && can_project();
    if (projects) out.push_back(B_);
    return out;
  }
  const char* solver_name() const override { return parts_[0].graph.solvers()[0]->name(); }
  std::optional<ErrorBound> error_bound() override {
    for (const auto& solver : parts_[0].graph.solvers())
      if (!solver->approximates()) return {};
    const torch::NoGradGuard guard;
    ErrorBound all;
    double bounds = 0, sizes = 0;
    for (Part& part : parts_) {
      const auto from = sources(part, encoder_(part.X, part.encoded));
      for (size_t k = 0; k < F_.size(); ++k) {
        const auto one = solved(part, k, from[k])->error_bound();
        if (!one) return {};
        all.eigenpairs = one->eigenpairs;
        all.next_eigenvalue = std::max(all.next_eigenvalue, one->next_eigenvalue);
        bounds += one->bound * one->bound;
        sizes += one->size * one->size;
      }
    }
    all.bound = std::sqrt(bounds);
    all.size = std::sqrt(sizes);
    return all;
  }
  double preprocess_seconds() const override {
    double seconds = 0;
    for (const Part& part : parts_)
      for (const auto& solver : part.graph.solvers()) seconds += solver->preprocess_seconds();
    return seconds;
  }
  double solve_seconds() const override {
    double seconds = projection_ ? projection_->seconds() : 0;
    for (const Part& part : parts_)
      for (const auto& solved : part.solved) seconds += solved ? solved->seconds() : 0;
    return shares_solves() && !reads_labels() ? seconds : 0;  // a step has other inputs than an evaluation
  }

  // What explanations read (models/equilibrium_model.h).

  NodePlace place_of(int64_t node) const override {
    const auto piece = graphs_.apart(torch::tensor({node}, torch::kInt64)).pieces.at(0);
    return {static_cast<int64_t>(piece.graph), piece.rows.item<int64_t>()};
  }
  torch::Tensor nodes_of(int64_t graph) const override {
    return graphs_.rows_of(static_cast<size_t>(graph), torch::arange(nodes(), torch::kInt64));
  }
  const Solver& solver_of(int64_t graph) const override { return *parts_.at(graph).graph.solvers()[0]; }
  torch::Tensor features_of(int64_t graph) const override { return parts_.at(graph).X; }
  torch::Tensor encode(const torch::Tensor& X) const override { return encoder_(X); }
  bool encoder_is_affine() const override {
    return options_.encoder == 0 || options_.encoder_activation == Activation::none;
  }
  int64_t equilibria() const override { return static_cast<int64_t>(F_.size()); }
  torch::Tensor propagation_weight(int64_t k) const override { return F_.at(k); }

  std::shared_ptr<const Equilibrium> solved_for(int64_t graph, int64_t k, const torch::Tensor& H) override {
    Part& part = parts_.at(graph);
    const torch::NoGradGuard guard;
    if (H.is_same(part.X)) return solved(part, k, sources(part, part.X)[k]);
    const ProductsInTf32 in_full(false, type_.device());
    return part.graph.solver(channels_[k]).solve(F_.at(k), sources(part, H)[k]);
  }

  bool starts_from_neighbours(int64_t k) const override { return channels_.at(k).from_neighbours; }

  ScaledRows pull_source(int64_t graph, int64_t k, const ScaledRows& W) const override {
    return parts_.at(graph).graph.pull_source(channels_.at(k), W);
  }

  std::optional<AffineHead> affine_head() const override {
    if (options_.head == Head::residual || norm_kind_ == Norm::layer) return {};
    auto [C, c] = norm_kind_ == Norm::batch ? through_running_moments()
                                            : std::make_pair(B_.t(), torch::zeros({1, classes()}, type_));
    if (intercept_.defined()) c = c + intercept_;
    return AffineHead{C, c.squeeze(0), norm_kind_ == Norm::l2};
  }

  torch::Tensor head(const torch::Tensor& z, const torch::Tensor& x) const override {
    if (const auto affine = affine_head())
      return (affine->of_unit_rows ? unit_rows(z) : z).mm(affine->slope) + affine->constant;
    const auto f = norm_kind_ == Norm::layer ? layer_normalised(z).mm(B_.t())
                                             : residual_->forward(z, x.narrow(1, 0, features()),
                                                                  [](const torch::Tensor& h) { return h; });
    return intercept_.defined() ? f + intercept_ : f;
  }

 protected:
  bool takes_sparse_features() const override { return !reads_labels(); }

  torch::Tensor do_scores(const torch::Tensor& index) override {
    const Place place = graphs_.stacked(index);
    const bool takes_part = sum_over_processes() && is_training();
    if (place.graphs.empty() && !takes_part) return torch::zeros({0, classes()}, type_);
    const auto f = scores_without_intercept(place);
    return intercept_.defined() ? f + intercept_ : f;
  }

  void do_use_features(const torch::Tensor& X) override {
    for (size_t g = 0; g < parts_.size(); ++g) parts_[g].use(in_type(graphs_.rows_of(g, X), type_));
    forget();  // they were solved for other features
    projection_ = nullptr;
  }

 private:
  using Place = GraphParts::Stacked;

  torch::Tensor scores_without_intercept(const Place& place) {
    if (options_.head == Head::residual)
      return residual_->forward(
          Z(place).plain(), X(place), [&](const torch::Tensor& h) { return dropout(h, options_.dropout); },
          sum_over_processes());
    switch (norm_kind_) {
      case Norm::none: {
        // The paper's head has no dropout.
        if (can_project()) return projected(projection(), F_[0], B_.t(), place.index);
        if (without_gradients()) return scores_through(place, B_.t());
        return Z(place).plain().mm(B_.t());
      }
      case Norm::l2: {
        // Normalisation cancels the row's exponent. There is no lower bound on ‖z‖, since a distant node's
        // row has an accurate direction even at 1e-300.
        return dropout(unit_rows(Z(place).values), options_.dropout).mm(B_.t());
      }
      case Norm::layer:
        return dropout(layer_normalised(Z(place).plain()), options_.dropout).mm(B_.t());
      case Norm::batch: {
        const auto& [weight, bias] = std::tie(norm_->weight, norm_->bias);
        if (!is_training()) {  // an affine map of z: scores = z C + c
          const auto [C, c] = through_running_moments();
          return (without_gradients() ? scores_through(place, C) : Z(place).plain().mm(C)) + c;
        }
        const auto [z, moments] = Z_with_moments(place);
        const auto slope = weight * (moments.variance + norm_->options.eps()).rsqrt();
        return dropout(torch::addcmul(bias - moments.mean * slope, z, slope), options_.dropout).mm(B_.t());
      }
    }
    return {};
  }

  torch::Tensor layer_normalised(const torch::Tensor& z) const {
    return torch::layer_norm(z, {z.size(1)}, layer_scale_, layer_shift_);
  }

  struct Part {
    ChannelGraph graph;
    torch::Tensor X;
    Encoder::Kept encoded;
    std::vector<torch::Tensor> sources_of_X;  // X P of each channel; empty: not asked for yet
    // The last solve for each F. Z depends on F and X alone, so the evaluation after a step and the next
    // training step share it.
    std::vector<std::shared_ptr<const Equilibrium>> solved;

    void use(const torch::Tensor& features) {
      X = features;
      encoded = {};
      sources_of_X.clear();
    }
  };

  // H P of each channel. Those of features that do not change are kept.
  std::vector<torch::Tensor> sources(Part& part, const torch::Tensor& H) const {
    if (!H.is_same(part.X) || H.requires_grad()) return part.graph.sources(channels_, H);
    if (part.sources_of_X.empty()) part.sources_of_X = part.graph.sources(channels_, H);
    return part.sources_of_X;
  }

  bool shares_solves() const {
    for (const auto& solver : parts_[0].graph.solvers())
      if (!solver->shares_solves()) return false;
    return true;
  }

  static torch::TensorOptions type_of(const std::vector<GraphPart>& parts) {
    const SolverOptions& options = parts.at(0).solver->options();
    return torch::dtype(options.dtype).device(options.device);
  }

  static std::vector<std::vector<int64_t>> nodes_of(const std::vector<GraphPart>& parts) {
    std::vector<std::vector<int64_t>> nodes;
    for (const GraphPart& part : parts) nodes.push_back(part.nodes);
    return nodes;
  }

  // The states of no node, of which the weights' gradients are zeros: this process has no graph of the batch,
  // and takes part in the sums of the others.
  torch::Tensor no_states() {
    const auto h = encoder_(torch::zeros({0, parts_[0].X.size(1)}, type_));
    std::vector<torch::Tensor> states;
    for (const auto& F : F_) states.push_back(h + torch::zeros({0, F.size(0)}, type_).mm(F));
    return torch::cat(states, 1);
  }

  ScaledRows Z(const Place& place) {
    if (place.graphs.empty()) return {no_states(), {}};
    if (place.graphs.size() == 1) return Z_of(parts_[place.graphs[0]], place.index);
    std::vector<torch::Tensor> below;
    for (const size_t g : place.graphs) below.push_back(Z_of(parts_[g], {}).plain());
    const auto rows = torch::cat(below, 0);
    return {place.index.defined() ? rows.index_select(0, place.index) : rows, {}};
  }

  // Batch norm with the running moments and the linear layer after it are an affine map of z: z C + c.
  std::pair<torch::Tensor, torch::Tensor> through_running_moments() const {
    const auto& [weight, bias] = std::tie(norm_->weight, norm_->bias);
    const auto slope = weight * (norm_->running_var + norm_->options.eps()).rsqrt();
    return {slope.unsqueeze(1) * B_.t(), (bias - norm_->running_mean * slope).unsqueeze(0).mm(B_.t())};
  }

  // Gradients are off, so the scores are projected without forming Z.
  bool without_gradients() const { return !torch::GradMode::is_enabled() && options_.encoder == 0; }

  // Whether f = Z Bᵀ is to be computed as a projection, without Z. That takes one graph and no gradient in X.
  // For a fixed F one Z serves every B, and a projection would repeat the solve for each.
  bool can_project() const {
    return !sum_over_processes() && parts_.size() == 1 && F_.size() == 1 && F_[0].requires_grad() &&
           options_.encoder == 0 && !(torch::GradMode::is_enabled() && parts_[0].X.requires_grad());
  }

  // The projection for the current F and B. The evaluation after a step and the next training step share it,
  // where the solver allows.
  std::shared_ptr<const Projection> projection() {
    Part& part = parts_[0];
    const bool other_pass = !shares_solves() && solved_in_training_ != is_training();
    const auto versions = std::make_pair(F_[0]._version(), B_._version());
    if (!projection_ || projection_versions_ != versions || other_pass) {
      projection_ = nullptr;  // releases its buffers before the next one allocates
      const torch::NoGradGuard guard;
      const ProductsInTf32 in_full(false, type_.device());
      projection_ = part.graph.solver(channels_[0]).project(F_[0], sources(part, part.X)[0], B_.t());
    }
    projection_versions_ = versions;
    solved_in_training_ = is_training();
    return projection_;
  }

  // Z C at this place.
  torch::Tensor scores_through(const Place& place, const torch::Tensor& C) {
    const auto blocks = C.chunk(static_cast<int64_t>(F_.size()), 0);  // the rows of C that belong to each F
    const auto of_part = [&](Part& part, const torch::Tensor& index) {
      const ProductsInTf32 in_full(false, type_.device());
      const auto from = sources(part, part.X);
      torch::Tensor sum;
      for (size_t k = 0; k < F_.size(); ++k) {
        const auto term = solved(part, k, from[k])->project(index, blocks[k]);
        sum = sum.defined() ? sum + term : term;
      }
      return sum;
    };
    if (place.graphs.size() == 1) return of_part(parts_[place.graphs[0]], place.index);
    std::vector<torch::Tensor> below;
    for (const size_t g : place.graphs) below.push_back(of_part(parts_[g], {}));
    return torch::cat(below, 0).index_select(0, place.index);
  }

  // Z at this place, and its moments over all nodes of the graphs there. Also updates the running moments.
  std::pair<torch::Tensor, Moments> Z_with_moments(const Place& place) {
    const bool one = place.graphs.size() == 1;
    const auto beside = [](const std::vector<torch::Tensor>& blocks, int64_t dim) {
      return blocks.size() == 1 ? blocks[0] : torch::cat(blocks, dim);
    };
    std::vector<torch::Tensor> z, means, variances;
    std::vector<double> sizes;
    for (const size_t g : place.graphs) {
      Part& part = parts_[g];
      const auto from = sources(part, encoder_(part.X, part.encoded));
      std::vector<torch::Tensor> blocks, mean, variance;
      for (size_t k = 0; k < F_.size(); ++k) {
        const auto [rows, moments] =
            equilibrium_with_moments(part.graph.solver(channels_[k]), F_[k], from[k],
                                     one ? place.index : torch::Tensor(), solved(part, k, from[k]));
        blocks.push_back(rows);
        mean.push_back(moments.mean);
        variance.push_back(moments.variance);
      }
      z.push_back(beside(blocks, 1));
      means.push_back(beside(mean, 0));
      variances.push_back(beside(variance, 0));
      sizes.push_back(static_cast<double>(part.graph.solvers()[0]->nodes()));
    }
    const SumOverProcesses& sum = sum_over_processes();
    if (place.graphs.empty()) {
      z.push_back(no_states());
      const auto none = z[0].sum(0);
      means.push_back(none);
      variances.push_back(none);
      sizes.push_back(0);
    }
    Moments all{means[0], variances[0]};
    double total = sizes[0];
    if (!one || sum) {
      const auto n = torch::tensor(sizes, torch::dtype(torch::kFloat64).device(type_.device()));
      all = moments_of_graphs(torch::stack(means), torch::stack(variances), n, sum, total);
    }
    update_running_moments(norm_, all, total);
    return {
        z.size() == 1 && (one || place.graphs.empty()) ? z[0] : torch::cat(z, 0).index_select(0, place.index),
        all};
  }

  ScaledRows Z_of(Part& part, const torch::Tensor& index) {
    const auto from = sources(part, encoder_(part.X, part.encoded));
    const auto state = [&](size_t k) {
      return equilibrium(part.graph.solver(channels_[k]), F_[k], from[k], index, solved(part, k, from[k]));
    };
    if (F_.size() == 1) return state(0);
    std::vector<torch::Tensor> beside;
    for (size_t k = 0; k < F_.size(); ++k) beside.push_back(state(k).plain());
    return {torch::cat(beside, 1), {}};
  }

  std::shared_ptr<const Equilibrium> solved(Part& part, size_t k, const torch::Tensor& X) {
    const int64_t version =
        std::accumulate(F_.begin(), F_.end(), int64_t{0},
                        [](int64_t sum, const torch::Tensor& F) { return sum + F._version(); });
    const bool other_pass = !shares_solves() && solved_in_training_ != is_training();
    if (solved_version_ != version || other_pass) forget();
    solved_version_ = version;
    solved_in_training_ = is_training();
    // X P is another tensor in each call where X requires a gradient.
    if (part.solved[k] && !part.solved[k]->is_of(part.graph.solver(channels_[k]), F_[k], X))
      part.solved[k] = nullptr;
    if (!part.solved[k]) {
      const torch::NoGradGuard guard;
      const ProductsInTf32 in_full(false, type_.device());
      try {
        part.solved[k] = part.graph.solver(channels_[k]).solve(F_[k], X);
      } catch (const ArgumentError& error) {
        // The features were checked when they came: what is out of range is what the encoder makes of them.
        if (options_.encoder == 0 || error.field() != "X") throw;
        throw ConvergenceError("the encoded features are not finite", "", "lower lr, or use dtype float64");
      }
    }
    return part.solved[k];
  }

  // Releases the buffers before the next solve allocates.
  void forget() {
    for (Part& part : parts_) std::fill(part.solved.begin(), part.solved.end(), nullptr);
  }

  torch::Tensor X(const Place& place) const {
    std::vector<torch::Tensor> below;
    for (const size_t g : place.graphs) below.push_back(parts_[g].X);
    if (below.empty()) return torch::zeros({0, features()}, type_);
    const auto rows = below.size() == 1 ? below[0] : torch::cat(below, 0);
    const auto at_index = place.index.defined() ? rows.index_select(0, place.index) : rows;
    return (at_index.is_sparse() ? at_index.to_dense() : at_index).narrow(1, 0, features());
  }

  EignnOptions options_;
  Norm norm_kind_;
  torch::TensorOptions type_;
  GraphParts graphs_;
  std::vector<Channel> channels_;
  std::vector<Part> parts_;       // one for each graph
  std::vector<torch::Tensor> F_;  // of each channel
  Encoder encoder_;
  torch::Tensor B_, intercept_, layer_scale_, layer_shift_;
  torch::nn::BatchNorm1d norm_{nullptr};
  std::shared_ptr<ResidualHead> residual_;
  std::shared_ptr<const Projection> projection_;  // of one F and one B
  std::pair<int64_t, int64_t> projection_versions_;
  int64_t solved_version_ = -1;
  bool solved_in_training_ = false;
};

std::shared_ptr<Model> made_eignn(std::vector<GraphPart> parts, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed) {
  if (parts.empty())
    throw ArgumentError("graphs", "there is no graph to learn from", "give at least one node");
  if (!parts[0].solver) throw ArgumentError("solver", "a graph has no solver", "make one with make_solver");
  const SolverOptions& first = parts[0].solver->options();
  check(options);
  // A stack without an encoder adds states to features.
  check_features(X, first.dtype, /*sparse=*/options.encoder > 0 || !is_stack(options));
  check_classes(classes);
  const auto check_solver = [&](const Solver* solver, const std::vector<int64_t>& nodes) {
    if (!solver) throw ArgumentError("solver", "a graph has no solver", "make one with make_solver");
    check_graph_size(solver->propagation().nodes, nodes, X);
    if (solver->options().dtype != first.dtype || solver->options().device != first.device)
      throw ArgumentError("solver", "the graphs' solvers differ in precision or device",
                          "make them with the same options");
  };
  for (const GraphPart& part : parts) {
    check_solver(part.solver.get(), part.nodes);
    for (const auto& solver : part.further) check_solver(solver.get(), part.nodes);
    if (part.further.size() != parts[0].further.size())
      throw ArgumentError("solver", "the graphs have different numbers of directions",
                          "give each a solver for every direction");
  }
  const int64_t labels = label_columns(options, classes);
  if (labels > 0 && X.is_sparse())
    throw ArgumentError("label-inputs", "labels are not input beside sparse features",
                        "give dense features, or leave label-inputs off");
  const auto read = labels > 0 ? torch::cat({X, torch::zeros({X.size(0), labels}, X.options())}, 1) : X;
  std::shared_ptr<Model> model;
  if (is_stack(options))
    model = make_equilibrium_stack(std::move(parts), read, classes, options, seed);
  else
    model = std::make_shared<Eignn>(std::move(parts), read, classes, options, seed);
  if (labels > 0) model->use_features(X);
  return model;
}

}  // namespace

std::shared_ptr<Model> make_eignn(std::vector<GraphPart> parts, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed) {
  return with_our_errors("make_eignn",
                         [&] { return made_eignn(std::move(parts), X, classes, options, seed); });
}

std::shared_ptr<Model> make_eignn(std::unique_ptr<Solver> solver, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed) {
  std::vector<GraphPart> parts;
  parts.push_back({{}, std::move(solver), {}});
  return make_eignn(std::move(parts), X, classes, options, seed);
}

}  // namespace eignn
