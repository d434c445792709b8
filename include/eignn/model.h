// Models as the trainer knows them, and EIGNN.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eignn/options.h"
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

/// EIGNN: Z = γ g(F) Z S + X, then a head. F is m×m, B classes×m, no bias. γ, ε and the precision are those
/// of the solver that it is given.
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

/// One of several disjoint graphs: its nodes (rows of X, ascending; empty: all of them) and its matrix.
struct GraphMatrix {
  std::vector<int64_t> nodes;
  std::shared_ptr<const Propagation> S;
};

/// A model that EIGNN is compared with, by its options. ArgumentError for graphs that overlap or do not fit
/// X, and for an X that is not finite. Only the graphs that an index names are worked on.
///
///     auto model = make_baseline(GcnOptions{}, {{{}, S}}, X, classes, torch::kFloat32, /*seed=*/0);
std::shared_ptr<Model> make_baseline(const ModelOptions& options, const std::vector<GraphMatrix>& graphs,
                                     const torch::Tensor& X, int64_t classes,
                                     const torch::TensorOptions& type, uint64_t seed);

}  // namespace eignn
