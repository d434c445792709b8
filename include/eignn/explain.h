// Why a node has its score: what each node of its graph, at any distance, and each feature gave to it; how
// far a model hears; what an edge is worth. docs/explain.md has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/dataset.h"

namespace eignn {

/// How contributions are meant.
enum class ContributionKind {
  exact,  // the score changes by exactly this when a node's features go; EIGNN's plain and batch-norm head
  normalised,  // they add up to the score, but taking one away changes the norm that all are divided by
  first_order  // gradient times input
};
const char* name(ContributionKind kind);

struct NodeContribution {
  int64_t node = 0;
  int64_t hops = -1;  // on the shortest path to the explained node along the arcs of S; -1: there is none
  double contribution = 0;
};

struct FeatureContribution {
  int64_t feature = 0;      // behind the model's features, those of a label input (Dataset::feature_name)
  double contribution = 0;  // of this feature at all nodes
};

/// All nodes at one distance.
struct HopContribution {
  int64_t hops = 0, nodes = 0;
  double contribution = 0;
  double raising = 0, lowering = 0;  // the sums of its positive and of its negative parts
};

/// One score of one node, as a sum.
///
/// Where the score leaves the floating range, as it does after hundreds of hops, `exponent` is not 0: all
/// numbers here are to be multiplied by 2^exponent.
struct Explanation {
  int64_t node = 0;
  int64_t class_number = 0;  // of a class, a label or a number to predict
  bool predicted = true;     // the class was not named, and is the likeliest
  ContributionKind kind = ContributionKind::exact;
  bool exact = false;           // of nodes
  bool features_exact = false;  // of features: the encoder, if there is one, is affine too
  bool raw_units = false;  // zero is the zero of the data; otherwise that of the features the model reads
  int64_t exponent = 0;
  double score = 0;
  double constant = 0;                        // the score when all features are zero
  double sum = 0;                             // of the constant and all nodes' contributions
  double remainder = 0;                       // score - sum: round-off where `exact`
  double features_remainder = 0;              // what the features' contributions leave of the nodes'
  std::vector<NodeContribution> nodes;        // those with a path to the node, the largest first
  std::vector<FeatureContribution> features;  // all of them, the largest first
  std::vector<HopContribution> by_hop;        // by distance; -1, where there is something, comes last
};

struct ExplainOptions {
  /// A feature's zero is that of the data as they were before a standardisation, not the training mean.
  bool raw_units = false;
};

/// Explains the score of a class at a node; without a class that of the predicted one (of sets of labels the
/// likeliest). ArgumentError for a node or a class that does not exist (fields "node" and "class"), and for
/// data that do not fit the model.
///
///     auto model = eignn::load_model("runs/texas");
///     auto why = eignn::explain(model, eignn::load("texas"), 17);
///     why.nodes[0].contribution;   // of the node that gave most
Explanation explain(const TrainedModel& model, const Dataset& data, int64_t node,
                    std::optional<int64_t> class_number = {}, const ExplainOptions& options = {});

/// The node of this name; where nodes have no names, or none of them is a number, a number is one too.
/// ArgumentError{node} where there is none.
int64_t find_node(const Dataset& data, const std::string& name_or_number);
/// The class of this name, in the same way; ArgumentError{class}.
int64_t find_class(const Dataset& data, const std::string& name_or_number);

struct InfluenceOptions {
  int64_t sample = 200;  // nodes, drawn without replacement; all where there are fewer
  uint64_t seed = 0;
};

/// The mean share of the influence that nodes at this distance have.
struct HopInfluence {
  int64_t hops = 0;
  double nodes = 0;  // at this distance, the mean over the sample
  double share = 0, cumulative = 0;
};

/// How far a model hears. The influence of node u on node v is Σ_j |∂f_v/∂x_uj| for the class that is
/// predicted at v; the shares of all u add up to 1.
struct Influence {
  int64_t sample = 0;
  int64_t silent = 0;    // nodes of the sample whose score does not depend on any feature: left out
  double mean_hops = 0;  // Σ hops · share
  double elsewhere = 0;  // the share of nodes from which no path leads here, as in Geom-GCN
  std::vector<HopInfluence> by_hop;
};

/// Of any model. ArgumentError for a sample below 1.
Influence influence(const TrainedModel& model, const Dataset& data, const InfluenceOptions& options = {});

/// What would become of the score without an edge: undirected ones go in both directions, degrees are
/// computed again. Loops are not listed.
struct EdgeChange {
  int64_t source = 0, target = 0;
  int64_t hops = 0;              // of the end that is nearer to the node
  double first_order = 0;        // the derivative: minus the weight times ∂f/∂weight
  std::optional<double> change;  // the change itself, by a solve without the edge
};

struct EdgeExplanation {
  int64_t node = 0, class_number = 0;
  bool predicted = true;
  bool directed = false;
  double score = 0;
  int64_t edges = 0;                // that have an effect
  std::vector<EdgeChange> changes;  // the largest first
};

struct EdgeOptions {
  int64_t exact = 10;  // solve without each of so many, the largest
  int64_t keep = 0;    // list so many; 0: all
};

/// EIGNN alone. ArgumentError as for explain(), and for another model (field "model").
EdgeExplanation explain_edges(const TrainedModel& model, const Dataset& data, int64_t node,
                              std::optional<int64_t> class_number = {}, const EdgeOptions& options = {});

}  // namespace eignn
