// A data set whose nodes are spread over the processes of one job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/distributed_operator.h"
#include "cluster/node_order.h"
#include "cluster/ranks.h"
#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/solver.h"
#include "train/own_nodes.h"

namespace eignn {

/// What the processes of one job share, and how.
struct SpreadOptions {
  Ranks ranks;
  std::optional<Grid> grid;                     // nothing: the fewest parts of the rows that fit into memory
  int64_t processes_here = 1;                   // on this machine
  int64_t threads = 1;                          // of this process, where the settings leave it open
  std::shared_ptr<TermsStore> terms = nullptr;  // keeps T_p(S) X at the labelled nodes; null: nothing does
  NodeOrder order = NodeOrder::given;           // in which the processes take their nodes
};

/// What a process knows of the others' nodes. The Dataset beside it has this process's own alone: their
/// features, labels and places in the splits, numbered from 0. Of one graph each process has some rows of S,
/// which has the arcs; of several graphs it has some whole, with their arcs.
struct Spread {
  explicit Spread(const SpreadOptions& options) : ranks(options.ranks), terms(options.terms) {}

  Ranks ranks;
  OwnNodes own;
  int64_t nodes = 0;                      // of all processes
  std::shared_ptr<const NodeOperator> S;  // null: whole graphs are dealt
  std::vector<int64_t> graphs;  // dealt to this process, ascending, by their numbers in the data set
  int64_t all_graphs = 1;
  std::string solver;                 // of dealt graphs: what the whole set takes
  Metric metric = Metric::accuracy;   // resolved on all nodes
  std::shared_ptr<TermsStore> terms;  // may be null
  double weight_scale = 0;            // of the weights of all arcs; 0: they have none
  std::vector<torch::Tensor>
      train_places;  // of each split: the places of the nodes here in its training part

  /// The nodes of all processes in the order of the data set, as runs of successive ones of one process.
  /// Empty where the processes have taken them in another order.
  struct Run {
    int process;
    int64_t nodes;
  };
  std::vector<Run> runs;
  std::vector<std::string> node_names;  // of all nodes, on the first process; empty: numbers
};

/// ArgumentError where this configuration cannot be trained on nodes spread over processes; the field is that
/// of the setting that stands against it.
void require_spreadable(const TrainConfig& config, int64_t features);
/// The same for a set of several graphs, which are dealt whole.
void require_dealable(const TrainConfig& config);

/// This process's part of a data set that every process has read, after prepared(): rows of one graph, or
/// some of several graphs (dealt_graphs()). DataError where they have read different ones, ArgumentError
/// where there are fewer nodes, or graphs, than processes, ResourceError where S does not fit.
Dataset spread(Dataset whole, const TrainConfig& config, const SpreadOptions& options);

/// The part of spread() for several graphs. Those that the split trains on are dealt by themselves, so that
/// the processes have about equally many entries of them, and then the others.
Dataset dealt_graphs(Dataset whole, const TrainConfig& config, const SpreadOptions& options);
/// Which process has each piece of work: the largest first, always to the one that has least.
std::vector<int> dealt(const std::vector<double>& work, int processes);

/// The settings on this process's machine: with several processes on it each has its share of the cores.
TrainConfig on_machine(TrainConfig config, const SpreadOptions* options);

/// For what a folder of shards is read: for training, which fits a transform of the features and needs a
/// split and labels, or for a model that is trained.
struct ShardReading {
  bool for_training = true;
  const FeatureTransform* trained = nullptr;  // of a trained model; null: it has none
};
/// The part of spread() for a folder of shards (data/sharded_folder.h), of which each process reads its own
/// rows alone; nothing where the configuration names other data.
std::optional<Dataset> spread_from_shards(const TrainConfig& config, const SpreadOptions& options,
                                          const ShardReading& reading = {});

/// The runs of contiguous ranges of nodes.
std::vector<Spread::Run> runs_of(const NodeRanges& ranges);

/// DataError unless this text is the same in all processes.
void require_alike(const Ranks& ranks, const std::string& what, const std::string& here,
                   const std::string& problem, const std::string& remedy);

/// The graph that a configuration names, as spread() and spread_from_shards() would take it.
struct SpreadGraph {
  std::shared_ptr<const void> owner;  // of what `rows` reads
  std::unique_ptr<RowSource> rows;
  std::string name;
  int64_t entries = 0, features = 0;  // entries: of S
  int64_t graphs = 1;
  bool in_shards = false;
};
SpreadGraph open_graph(const TrainConfig& config);

/// About the bytes of one process, beside the program's own.
struct SpreadBytes {
  double matrix = 0;    // the rows of S
  double features = 0;  // own rows, and the share of the columns
  double products = 0;  // what a product works on, the halo with it
  double states = 0;    // Z at own nodes, where it is asked for at all of them
  double reading = 0;   // while the data are read: of an ordinary data set, all of it

  double training() const { return matrix + features + products; }
};
struct SpreadSize {
  double nodes = 0, entries = 0, features = 0, bytes_of_number = 4;
  bool directed = false, weighted = false;
  double halo = -1;  // rows that a process fetches; negative: as many as it could need
};
SpreadBytes bytes_of_process(const SpreadSize& size, Grid grid);

/// The grid that is asked for, or the one that chosen_grid() takes for the memory that is free. ArgumentError
/// where it has more parts of the columns than there are features. Collective.
Grid spread_grid(double nodes, double entries, int64_t features, bool weighted, const TrainConfig& config,
                 const SpreadOptions& options);

/// The grid with the fewest parts of the rows whose processes each take at most so many bytes; rows alone
/// where none is that small. No part of the columns is without a feature.
Grid chosen_grid(const SpreadSize& size, int64_t processes, double bytes_of_each);

}  // namespace eignn
