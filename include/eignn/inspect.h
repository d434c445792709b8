// What there is to know of a graph or a data set before a model is trained on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/planner.h"
#include "eignn/train.h"

namespace eignn {

/// Of arcs that have weights.
struct WeightFacts {
  double min = 0, max = 0;  // over the distinct arcs
  double scale = 1;         // what they are divided by: scale_of_weights()
};

struct GraphFacts {
  int64_t nodes = 0;
  int64_t arcs_in_file = 0;  // with repeats
  int64_t arcs = 0;          // distinct
  int64_t loops = 0;
  int64_t undirected_edges = 0;  // pairs of nodes that an arc joins
  int64_t components = 0;        // weakly connected
  int64_t isolated = 0;          // nodes without a neighbour
  std::optional<WeightFacts> weights;
};

/// Features and labels.
struct LabelFacts {
  struct SplitSizes {
    int64_t train = 0, val = 0, test = 0;
  };

  int64_t features = 0, classes = 0;
  bool multi_label = false;
  bool regression = false;  // numbers to predict: no classes are counted or looked up
  int64_t unknown_labels = 0;
  std::vector<int64_t> class_counts;
  std::optional<double> edge_homophily, node_homophily;  // where a node has one label
  int64_t duplicate_nodes = 0;  // nodes that repeat an earlier node's features, label and neighbours
  std::vector<SplitSizes> splits;
  /// On the test nodes of the first split: the score of the training labels looked up by equal features, and
  /// that of the most frequent class. The metric is accuracy, or micro_f1 where a node has a set of labels.
  double look_up_score = 0, most_frequent_class = 0;
};

/// What the solver truncated would leave out, over all graphs: ‖Z - Z_exact‖_F ≤ gain · left_out · ‖X‖_F for
/// any F.
struct TruncationFacts {
  int64_t eigenpairs = 0;
  double next_eigenvalue = 0;  // |λ| of the largest that is left out
  double gain = 0;             // b/(1 - b) with b = γ |λ|
  /// ‖X - Q Qᵀ X‖_F / ‖X‖_F, where the equilibrium is on the features themselves.
  std::optional<double> left_out;
};

struct Inspection {
  std::string dataset, format;  // empty for a bare graph
  int64_t graphs = 1;
  GraphFacts graph;
  std::optional<LabelFacts> labels;  // of a data set
  struct Range {
    double min = 0, max = 0;
  };
  std::optional<Range> spectrum;              // of S, where it is symmetric
  std::optional<ReductionFacts> reduction;    // with partition or coarsen
  std::optional<TruncationFacts> truncation;  // for EIGNN with the solver truncated
  std::optional<Plan> plan;                   // for EIGNN: which solver it would take and why
  std::vector<ColumnReport> columns;          // of tables: what was read, and what a run would do with it
  std::vector<std::string> warnings;
};

/// `config` says how S is made of the arcs and for which model and head the solver is planned.
Inspection inspect(const Dataset& data, const TrainConfig& config = {});

/// A graph without features; the solver is planned for config.feature_dim of them. `arcs_in_file` counts
/// repeats that the graph no longer has.
Inspection inspect(const Graph& graph, const TrainConfig& config = {}, int64_t arcs_in_file = -1);

/// As the JSON object that the command line prints.
std::string to_json(const Inspection& inspection);

}  // namespace eignn
