// Models as the trainer knows them, and EIGNN.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eignn/solver.h"

namespace eignn {

/// What the trainer, the checkpoints and the commands ask of a model. The public functions check their
/// arguments and call the model's own do_… functions.
class Model : public torch::nn::Module {
 public:
  /// Scores (index.size(0), classes) at these nodes; dropout is on while is_training(). ArgumentError unless
  /// the index is int64, one-dimensional, on the model's device and in range.
  torch::Tensor scores(const torch::Tensor& index);

  /// Replaces the features (n, features) of all nodes from now on. Where X requires a gradient, scores() is
  /// differentiable in it. Give X again after a change in place. ArgumentError for another shape and for
  /// numbers that are not finite in the model's precision.
  void use_features(const torch::Tensor& X);

  int64_t nodes() const { return shape_.nodes; }
  int64_t features() const { return shape_.features; }
  int64_t classes() const { return shape_.classes; }
  /// The type of the weights and the device they are on.
  const torch::TensorOptions& type() const { return shape_.type; }

  /// Whether without dropout, in evaluation, the scores are an affine function of the features that couples
  /// nodes along the graph alone.
  virtual bool linear_in_features() const { return false; }

  /// Called after each step of the optimiser: brings the weights back to where the model needs them.
  virtual void after_step() {}

  /// Solves so far that stopped short of their tolerance; nothing for a model whose solves cannot.
  virtual std::optional<int64_t> non_converged_solves() const { return {}; }

  /// Dropout masks of one epoch follow from this seed alone, so that a resumed run draws the same. The
  /// caller's own random generators stay as they are.
  void seed_dropout(uint64_t seed);

  /// The weights that propagate (EIGNN's F), which may have a learning rate of their own.
  virtual std::vector<torch::Tensor> propagation_weights() const { return {}; }

  virtual const char* solver_name() const { return "none"; }
  virtual double preprocess_seconds() const { return 0; }
  /// Of the last solve, where the next training step or evaluation will not repeat it.
  virtual double solve_seconds() const { return 0; }

 protected:
  struct Shape {
    int64_t nodes, features, classes;
    torch::TensorOptions type;
  };
  explicit Model(const Shape& shape);

  virtual torch::Tensor do_scores(const torch::Tensor& index) = 0;
  virtual void do_use_features(const torch::Tensor& X) = 0;

  torch::Tensor dropout(const torch::Tensor& x, double p);
  at::Generator dropout_generator_;  // on the host, for draws that a model makes there

 private:
  // An index whose range was checked. Asking a GPU for the range makes the host wait, and a training run
  // gives the same few indices in every epoch.
  struct CheckedIndex {
    torch::Tensor index;
    int64_t version;
  };
  void check_index(const torch::Tensor& index);

  Shape shape_;
  at::Generator device_generator_;  // undefined on a CPU
  std::vector<CheckedIndex> checked_;
};

enum class Head {
  plain,       // f = B z, the paper's for the universities
  l2,          // z/‖z‖, dropout, linear: the chains
  batch_norm,  // batch norm over all nodes, dropout, linear: Wikipedia
  residual,    // ELU(BN(W₀z + W_r x)), residual blocks ELU(BN(Wh + h)), linear: PPI
};
Head parse_head(const std::string& name);
const char* name(Head head);

/// Where F starts. `xavier` is the paper's. `orthogonal` makes all eigenvalues of g equal, so that no
/// direction outruns the others on a long path; see docs/long-range.md.
enum class Start { xavier, orthogonal };
Start parse_start(const std::string& name);
const char* name(Start start);

struct EignnOptions {
  Head head = Head::plain;
  Start start = Start::xavier;
  double dropout = 0;
  int64_t encoder = 0;     // ReLU(W x + b) of this width takes the place of x in the equilibrium; 0: none
  int64_t equilibria = 1;  // side by side, each with an F of its own; the head sees all of them
  int64_t width = 256;     // residual: of the hidden layers
  int64_t blocks = 2;      // residual: how many blocks
};

/// EIGNN: Z = γ g(F) Z S + X, then a head. F is m×m, B classes×m, no bias.
///
///     auto model = make_eignn(std::move(solver), X, classes, {}, /*seed=*/0);
///     auto f = model->scores(index);
std::shared_ptr<Model> make_eignn(std::unique_ptr<Solver> solver, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed);

/// One of several disjoint graphs: its nodes (rows of X, ascending) and a solver bound to it.
struct GraphPart {
  std::vector<int64_t> nodes;
  std::unique_ptr<Solver> solver;
};
/// The same over several graphs; only those that an index names are solved.
std::shared_ptr<Model> make_eignn(std::vector<GraphPart> parts, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed);

/// What the models that EIGNN is compared with are made of; docs/models.md says which of them reads what.
struct BaselineOptions {
  Head head = Head::plain;  // ignn, ignn-finite: l2 normalises the states before the last layer
  double dropout = 0;
  int64_t hidden = 64;           // width of the hidden layers; gat: of each head
  int64_t layers = 2;            // h2gcn: rounds; ignn-finite: steps of the recurrence
  int64_t heads = 8;             // gat: side by side in the hidden layers
  int64_t output_heads = 1;      // gat: averaged in the last layer
  int64_t hops = 10;             // sgc, appnp: powers of S; sse: updates on the way to the steady state
  double alpha = 0.1;            // appnp, ppnp: teleport; gcnii: share of the first state; sse: damping
  double theta = 1;              // gcnii: β = log(θ/l + 1) in layer l
  double kappa = 0.9;            // ignn: ‖W‖∞ ≤ κ/ρ(S); 0: W goes where it will
  double tolerance = 3e-6;       // ignn: a Picard step that moves no entry by more ends a solve
  int64_t max_iterations = 300;  // ignn: and so does this many
  int64_t implicit_layers = 1;   // ignn: 1, or 5 as on PPI
  int64_t samples = 25;          // graphsage: neighbours that the first layer draws in a training step
  int64_t samples_second = 10;   // graphsage: those that the second layer draws
};

/// One of several disjoint graphs: its nodes (rows of X, ascending; empty: all of them) and its matrix.
struct GraphMatrix {
  std::vector<int64_t> nodes;
  std::shared_ptr<const Propagation> S;
};

/// A model by its name, any but eignn; ArgumentError for an unknown one, for graphs that overlap or do
/// not fit X, and for an X that is not finite. Only the graphs that an index names are worked on.
///
///     auto model = make_baseline("gcn", {{{}, S}}, X, classes, {}, torch::kFloat32, /*seed=*/0);
std::shared_ptr<Model> make_baseline(const std::string& name, const std::vector<GraphMatrix>& graphs,
                                     const torch::Tensor& X, int64_t classes, const BaselineOptions& options,
                                     const torch::TensorOptions& type, uint64_t seed);

/// eignn, then the baselines.
const std::vector<std::string>& model_names();

}  // namespace eignn
