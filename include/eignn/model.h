// The interface of all models, and the functions that make them.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eignn/options.h"
#include "eignn/solver.h"

namespace eignn {

/// Labels that a model reads beside the features, each class, label or number in a column of its own
/// (EignnOptions::label_inputs).
struct LabelInputs {
  torch::Tensor nodes;  // int64 (k,): the nodes whose label is known, each once
  torch::Tensor rows;   // (k, classes): what is input of each; other nodes have zeros
  torch::Tensor half;   // int64 (k,), 0 or 1: nodes of one half are scored with the labels of the other
};

/// Adds up a tensor over the processes that share a batch of graphs; collective.
using SumOverProcesses = std::function<torch::Tensor(const torch::Tensor&)>;

/// The interface through which training, checkpoints and commands use a model. The public functions check
/// their arguments and call the model's own do_… functions.
class Model : public torch::nn::Module {
 public:
  /// Scores (index.size(0), classes) at these nodes; dropout is applied while is_training(). ArgumentError
  /// unless the index is int64, one-dimensional, on the model's device and in range.
  torch::Tensor scores(const torch::Tensor& index);

  /// Replaces the features (n, features) of all nodes; X is converted to the model's type and device. Where X
  /// requires a gradient, scores() is differentiable in it. Must be called again after X was changed in
  /// place. ArgumentError for another shape and for numbers that are not finite in the model's precision.
  void use_features(const torch::Tensor& X);

  /// Whether the model reads labels too. Until use_labels() none is input.
  bool reads_labels() const { return shape_.label_columns > 0; }
  /// The labels that may be input from now on. In evaluation mode a node without one is scored with all of
  /// them, and a node with one with those of the other half, so that none is scored with its own.
  /// ArgumentError for a model that reads no labels and for rows that do not fit it.
  void use_labels(const LabelInputs& labels);
  /// What use_labels() was given; nothing before.
  std::optional<LabelInputs> labels() const;
  /// For a step of training: only the labels at these places (int64, on the CPU) of LabelInputs are input.
  /// In training mode scores() throws an ArgumentError for a node whose own label is input.
  void show_labels(const torch::Tensor& places);
  /// Inputs the labels with which this node is scored in evaluation mode, for callers that read a model's
  /// states rather than its scores. Returns 0 where these are all labels, 1 or 2 where they are a half.
  int64_t show_labels_for(int64_t node);

  /// From now on a node is one of a finer graph, whose nodes are merged into those that the model was made
  /// with: scores() gives it the scores of its cluster, and use_features() takes a row for it, and gives each
  /// cluster the mean over its nodes. `cluster_of` is int64 (finer nodes,) with values in 0 … nodes()-1, each
  /// of which occurs; ArgumentError for anything else, and for a model that has clusters already.
  void predict_by_clusters(const torch::Tensor& cluster_of);
  bool has_clusters() const { return cluster_of_.defined(); }

  int64_t nodes() const { return shape_.nodes; }
  int64_t features() const { return shape_.features; }
  int64_t classes() const { return shape_.classes; }
  /// The type of the weights and the device they are on.
  const torch::TensorOptions& type() const { return shape_.type; }

  /// Whether in evaluation mode the scores are an affine function of the features in which nodes depend on
  /// each other only along the graph.
  virtual bool linear_in_features() const { return false; }

  /// To be called after each step of the optimiser: projects the weights onto the set that the model
  /// requires.
  virtual void after_step() {}

  /// The number of solves so far that did not reach their tolerance; nothing for a model without such solves.
  virtual std::optional<int64_t> non_converged_solves() const { return {}; }

  /// Seeds the dropout masks of one epoch, so that a resumed run draws the same ones. The caller's random
  /// generators are not used. `rows` (int64): where the nodes of the epoch are spread over processes, the
  /// places of this one's among all, so that each has its rows of one mask.
  void seed_dropout(uint64_t seed, const torch::Tensor& rows = {});

  /// The same for one batch of an epoch.
  void use_dropout_rows(const torch::Tensor& rows) { dropout_rows_ = rows; }

  /// Where the graphs of a batch are in several processes: batch norms take their moments over all of them.
  /// In training each process then asks for scores at its own nodes of every batch, perhaps none.
  void share_batches(SumOverProcesses sum) { sum_over_processes_ = std::move(sum); }

  /// The propagation weights (EIGNN's F), which may have a learning rate of their own.
  virtual std::vector<torch::Tensor> propagation_weights() const { return {}; }
  /// Where nodes are spread over processes: the parameters whose gradients solvers have added up over all
  /// nodes. Those of the others are of this process's nodes after a backward pass.
  virtual std::vector<torch::Tensor> summed_by_solvers() const { return {}; }

  /// How far the states of all nodes may be from the equilibria of the weights at hand, where the solver
  /// approximates them (solver truncated) and the model is one layer of equilibria; nothing otherwise.
  virtual std::optional<ErrorBound> error_bound() { return {}; }

  virtual const char* solver_name() const { return "none"; }
  virtual double preprocess_seconds() const { return 0; }
  /// The seconds of the last solve, if the next training step or evaluation reuses it; 0 otherwise.
  virtual double solve_seconds() const { return 0; }

 protected:
  struct Shape {
    int64_t nodes, features, classes;
    torch::TensorOptions type;
    int64_t label_columns = 0;  // behind the features of what do_use_features() is given
  };
  explicit Model(const Shape& shape);

  /// Whether X may be a sparse tensor.
  virtual bool takes_sparse_features() const { return false; }
  virtual torch::Tensor do_scores(const torch::Tensor& index) = 0;
  virtual void do_use_features(const torch::Tensor& X) = 0;

  /// Empty where one process has all graphs.
  const SumOverProcesses& sum_over_processes() const { return sum_over_processes_; }

  torch::Tensor dropout(const torch::Tensor& x, double p);
  at::Generator dropout_generator_;  // on the CPU, for numbers that a model draws there

 private:
  // An index whose range was checked. Reading the range from a GPU makes the host wait, and training uses the
  // same few indices in every epoch.
  struct CheckedIndex {
    torch::Tensor index;
    int64_t version;
  };
  void check_index(const torch::Tensor& index);
  // The clusters of an index, each once, and the place of each entry's among them.
  struct Clusters {
    torch::Tensor index;
    int64_t version;
    torch::Tensor clusters, place;
  };
  Clusters clusters_of(const torch::Tensor& index);

  struct Labels {
    LabelInputs given;    // on the model's device
    torch::Tensor group;  // int64 (n,): 0 for a node without a label, else 1 + its half
    torch::Tensor shown;  // bool (n,): the nodes whose label is input now
    int64_t shown_for;    // the group for which these labels are; -1: for a step of training
  };
  void show(const torch::Tensor& places, int64_t group);
  void show_for_group(int64_t group);
  torch::Tensor with_label_columns() const;
  torch::Tensor scores_with_labels(const torch::Tensor& index);

  Shape shape_;
  torch::Tensor dropout_rows_;  // undefined: all of the mask
  SumOverProcesses sum_over_processes_;
  std::optional<Labels> labels_;
  torch::Tensor X_;                 // the features alone, where the model reads labels too
  at::Generator device_generator_;  // undefined on a CPU
  std::vector<CheckedIndex> checked_;
  torch::Tensor cluster_of_, cluster_sizes_;  // (nodes,), (clusters,); undefined: each node for itself
  std::vector<Clusters> kept_clusters_;
};

/// EIGNN: Z = γ g(F) Z S + X P, then a head, or a stack of such equilibria (see EignnOptions). F is m×m, B
/// classes×m, no bias but with `intercept`. γ, ε, the precision and the device are those of the solver. X is
/// (n, m), of any real type; without an encoder in a stack dense, otherwise dense or sparse (COO, coalesced).
/// `seed` determines the initial weights. ArgumentError for a missing solver, an X that does not fit its
/// graph or is not finite, and less than one class.
///
///     auto model = make_eignn(std::move(solver), X, classes, {}, /*seed=*/0);
///     auto f = model->scores(index);
std::shared_ptr<Model> make_eignn(std::unique_ptr<Solver> solver, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed);

/// One of several disjoint graphs: its nodes (rows of X, ascending) and a solver for it.
struct GraphPart {
  std::vector<int64_t> nodes;
  std::unique_ptr<Solver> solver;
  /// Solvers for further directions, alike in all graphs: each has equilibria of its own, beside the others.
  std::vector<std::unique_ptr<Solver>> further = {};
};
/// The same for several graphs, with solvers of equal precision and device; scores() solves only the graphs
/// that have nodes in the index.
std::shared_ptr<Model> make_eignn(std::vector<GraphPart> parts, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed);

/// One of several disjoint graphs: its nodes (rows of X, ascending; empty: all of them) and its matrix.
struct GraphMatrix {
  std::vector<int64_t> nodes;
  std::shared_ptr<const Propagation> S;
};

/// Whether a model takes the weights of arcs as they are in S. GAT, H2GCN and GraphSAGE see only which arcs
/// there are; MLP sees no arcs at all, and counts as one that misses nothing.
bool reads_edge_weights(const ModelOptions& options);

/// A baseline model, chosen by the type of its options. `type` is the precision and the device. ArgumentError
/// for EignnOptions, for graphs that overlap or do not fit X, and for an X that is not finite. scores()
/// computes only the graphs that have nodes in the index.
///
///     auto model = make_baseline(GcnOptions{}, {{{}, S}}, X, classes, torch::kFloat32, /*seed=*/0);
std::shared_ptr<Model> make_baseline(const ModelOptions& options, const std::vector<GraphMatrix>& graphs,
                                     const torch::Tensor& X, int64_t classes,
                                     const torch::TensorOptions& type, uint64_t seed);

}  // namespace eignn
