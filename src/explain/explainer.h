// The explanations of eignn/explain.h for a model that is bound to its graph.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/explain.h"
#include "eignn/model.h"
#include "explain/hearing.h"
#include "models/equilibrium_model.h"
#include "models/fixed_model.h"
#include "train/spread.h"

namespace eignn {

/// The units in which people read a model's scores: score · scale + shift, for each number that the model
/// predicts. Empty: the scores as they are.
struct ScoreUnits {
  std::vector<double> scale, shift;
};

/// Those of a regression's data; empty for classes.
ScoreUnits units_of(const TrainedModel& trained);

/// Where the nodes are spread over processes (Dataset::spread), explain() is collective and its result is
/// whole on the first one; the other functions are for one process.
///
/// Solves once for each graph and keeps the solution, so that many nodes of one graph may be explained. The
/// model has its own features and mode again at the end.
///
///     Explainer explainer(*model, dataset, config);
///     auto why = explainer.explain(17, {}, {});
class Explainer {
 public:
  /// `data` is what the model reads, after prepared(). All three must outlive it.
  Explainer(Model& model, const Dataset& data, const TrainConfig& config, ScoreUnits units = {});

  Explanation explain(int64_t node, std::optional<int64_t> class_number, const ExplainOptions& options);
  Influence influence(const InfluenceOptions& options);
  EdgeExplanation edges(int64_t node, std::optional<int64_t> class_number, const EdgeOptions& options);

  /// `node`, the nodes of `from`, and for each of these the nodes on a shortest path to it, ascending.
  std::vector<int64_t> on_paths(const std::vector<int64_t>& from, int64_t node);
  /// The arcs of S among these nodes of one graph, loops not included; undirected ones once.
  std::vector<std::pair<int64_t, int64_t>> arcs_among(const std::vector<int64_t>& nodes);
  bool directed() const;

 private:
  // One of the disjoint graphs, as explanations need it.
  struct OneGraph {
    const Propagation* S = nullptr;
    torch::Tensor nodes;                       // int64 on the CPU: its nodes, in the order of its rows
    std::vector<int64_t> row_of;               // of each node of the data set; empty: rows are nodes
    std::unique_ptr<const Propagation> heard;  // with several directions: all arcs
    std::unique_ptr<Hearing> hearing;
    // Of an EquilibriumModel: H, and each Z.
    torch::Tensor H;
    std::vector<std::shared_ptr<const Equilibrium>> solved;
  };
  // Rows of all Z side by side, with one exponent for each row: z · 2^exponent.
  struct States {
    torch::Tensor z;                // (rows, width), in the model's precision
    std::vector<int64_t> exponent;  // of each row
  };

  OneGraph& graph_of(int64_t node);
  int64_t row_of(const OneGraph& graph, int64_t node) const;
  OneGraph& solved_graph_of(int64_t node);
  States states(const OneGraph& graph, const std::vector<int64_t>& rows) const;
  std::vector<ScaledRows> adjoints(const OneGraph& graph, const std::vector<int64_t>& rows,
                                   const torch::Tensor& y, const std::vector<int64_t>& exponents) const;
  std::vector<ScaledRows> of_features(int64_t node, std::vector<ScaledRows> W) const;
  torch::Tensor head_gradient(const OneGraph& graph, const States& at, const std::vector<int64_t>& rows,
                              const std::vector<int64_t>& classes, torch::Tensor* of_x) const;
  torch::Tensor through_encoder(const torch::Tensor& X, const torch::Tensor& W) const;
  torch::Tensor zero_features(bool raw_units) const;

  // Where nodes are spread over processes.
  int64_t all_nodes() const;
  std::vector<int64_t> rows_here(const OneGraph& graph, int64_t node) const;
  torch::Tensor summed(const torch::Tensor& here) const;
  torch::Tensor hops_together(int64_t node) const;
  void require_one_process(const char* field, const std::string& what) const;

  void check_node(int64_t node) const;
  int64_t chosen_class(const torch::Tensor& scores, std::optional<int64_t> asked) const;
  Explanation through_equilibria(int64_t node, std::optional<int64_t> asked, const ExplainOptions& options);
  Explanation by_gradient(int64_t node, std::optional<int64_t> asked, const ExplainOptions& options);
  void finish(Explanation& out, const OneGraph& graph, int64_t node, const std::vector<double>& contributions,
              const std::vector<double>& features) const;
  void list(Explanation& out, const std::vector<int64_t>& nodes, const std::vector<int64_t>& hops,
            const std::vector<double>& contributions, const std::vector<double>& features) const;
  struct Heard {
    const OneGraph* graph;
    std::vector<double> size;  // Σ_j |∂f/∂x_uj| for each row u of the graph
  };
  Heard heard_by(const std::vector<int64_t>& targets);
  Heard heard_through_equilibria(const std::vector<int64_t>& targets);
  std::vector<std::vector<int64_t>> passes(const std::vector<int64_t>& sample);
  std::string solver_for_edges() const;
  double score_on(const Graph& graph, int64_t node, int64_t class_number) const;

  FixedModel fixed_;
  Model& model_;
  EquilibriumModel* equilibria_;  // null for other models
  const Dataset& data_;
  const TrainConfig& config_;
  ScoreUnits units_;
  const Spread* spread_;               // null: there is one process
  std::vector<GraphMatrix> matrices_;  // of models that are no EquilibriumModel, made when needed
  std::map<int64_t, OneGraph> graphs_;
};

}  // namespace eignn
