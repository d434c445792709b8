// S with its rows, and the columns of the matrices it is multiplied by, spread over processes.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/ranks.h"
#include "cluster/row_source.h"
#include "eignn/propagation.h"
#include "equilibrium/node_operator.h"

namespace eignn {

/// How the processes share the work: so many parts of the rows times so many parts of the columns. The
/// process of rank r·columns + c has part r of the rows and part c of the columns.
struct Grid {
  int64_t rows = 1, columns = 1;
};

/// The rows of S, and of the matrices of the solvers, that each process has: contiguous ranges in the order
/// of the ranks.
struct NodeRanges {
  Grid grid;
  std::vector<int64_t> first_of_part;     // grid.rows + 1: rows of S, which the processes of a part share
  std::vector<int64_t> first_of_process;  // processes + 1: rows of everything else
};

/// Parts of about equally many entries of S; of each, equally many rows for every process. ArgumentError
/// where there are fewer nodes than processes.
NodeRanges spread_rows(const RowSource& graph, Grid grid);
/// The same with given first rows of the parts, grid.rows + 1; parts that are too small for their processes
/// get rows of their neighbours.
NodeRanges spread_rows(std::vector<int64_t> first_of_part, Grid grid);

/// Of each part of the rows: how many rows of other parts its own reach, which is what it fetches before a
/// product. Reads the graph a part at a time.
std::vector<int64_t> halo_rows(const RowSource& graph, const std::vector<int64_t>& first_of_part,
                               Direction direction);

/// The matrix S of make_propagation(), each process with its own rows, in `dtype`. No process needs more of
/// the graph than its part of the rows: degrees of other nodes are fetched. Where the columns are not split,
/// a product has the bits that one process would compute; so has every column of one that is.
std::shared_ptr<const NodeOperator> distributed_operator(const Ranks& ranks, const RowSource& graph,
                                                         const NodeRanges& ranges,
                                                         const PropagationOptions& options,
                                                         torch::Dtype dtype);

/// What make_propagation() divides weights by where no scale is given: their mean over the arcs, each of
/// which leaves a node of one process's rows. 1 where there are none.
double mean_weight(const Ranks& ranks, const RowsOfGraph& arcs);

/// What the product of one process costs, for estimates: entries, and rows of other processes.
struct ProductSize {
  int64_t rows = 0, entries = 0, fetched_rows = 0, given_rows = 0;
};
ProductSize product_size(const NodeOperator& distributed);

}  // namespace eignn
