// A data set whose nodes are spread over the processes of one job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/distributed_operator.h"
#include "cluster/ranks.h"
#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/solver.h"

namespace eignn {

/// What the processes of one job share, and how.
struct SpreadOptions {
  Ranks ranks;
  std::optional<Grid> grid;                     // nothing: the fewest parts of the rows that fit into memory
  int64_t processes_here = 1;                   // on this machine
  int64_t threads = 1;                          // of this process, where the settings leave it open
  std::shared_ptr<TermsStore> terms = nullptr;  // keeps T_p(S) X at the labelled nodes; null: nothing does
};

/// What a process knows of the others' nodes. The Dataset beside it has this process's own alone: their
/// features, labels and places in the splits, numbered from 0, and no arcs, which are in S.
struct Spread {
  Spread(Ranks among, NodeRanges spread, std::shared_ptr<TermsStore> store)
      : ranks(std::move(among)), ranges(std::move(spread)), terms(std::move(store)) {}

  Ranks ranks;
  NodeRanges ranges;
  std::shared_ptr<const NodeOperator> S;
  Metric metric = Metric::accuracy;   // resolved on all nodes
  std::shared_ptr<TermsStore> terms;  // may be null
  double weight_scale = 0;            // of the weights of all arcs; 0: they have none
  std::vector<torch::Tensor>
      train_places;  // of each split: the places of the nodes here in its training part

  int64_t nodes() const { return ranges.first_of_process.back(); }
};

/// ArgumentError where this configuration cannot be trained on nodes spread over processes; the field is that
/// of the setting that stands against it.
void require_spreadable(const TrainConfig& config, int64_t features);

/// This process's part of a data set that every process has read, after prepared(). DataError where they have
/// read different ones, ArgumentError where there are fewer nodes than processes, ResourceError where S does
/// not fit.
Dataset spread(Dataset whole, const TrainConfig& config, const SpreadOptions& options);

/// The same of a folder of shards (data/sharded_folder.h), of which each process reads its own rows alone;
/// nothing where the configuration names other data.
std::optional<Dataset> spread_from_shards(const TrainConfig& config, const SpreadOptions& options);

/// The graph that a configuration names, as spread() and spread_from_shards() would take it.
struct SpreadGraph {
  std::shared_ptr<const void> owner;  // of what `rows` reads
  std::unique_ptr<RowSource> rows;
  std::string name;
  int64_t entries = 0, features = 0;  // entries: of S
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
