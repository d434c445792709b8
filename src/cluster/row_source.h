// The rows of a graph from where they are: in memory, or in files of which a range can be read alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "eignn/graph.h"
#include "eignn/propagation.h"

namespace eignn {

/// Rows first, first+1, … of a graph: row k has the entries begin[k] … begin[k+1]-1, whose targets ascend.
struct RowsOfGraph {
  int64_t first = 0;
  std::vector<int64_t> begin = {0};
  std::vector<int32_t> target;  // by their numbers in the whole graph
  std::vector<double> weight;   // empty: all are 1

  int64_t rows() const { return static_cast<int64_t>(begin.size()) - 1; }
};

/// Which arcs a row has: those that leave the node, those that reach it, or both with the larger weight of
/// the two directions (Graph::symmetrised).
enum class RowEnds { out, in, both };

class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t nodes() const = 0;
  virtual bool weighted() const = 0;
  /// Whether each arc has a reverse of the same weight.
  virtual bool symmetric() const = 0;
  virtual RowsOfGraph rows(int64_t first, int64_t last, RowEnds ends) const = 0;
  /// parts + 1 ascending numbers from 0 to nodes(): ranges with about equally many entries, rows of `both`,
  /// and at least one row each.
  virtual std::vector<int64_t> equal_parts(int64_t parts) const = 0;
};

/// The rows of a graph in memory, which must outlive it.
std::unique_ptr<RowSource> rows_in_memory(const Graph& graph);

/// Ranges of rows with about equal numbers of rows and entries together, none empty: parts + 1 numbers.
/// `entries_before` has the entries before each row and all of them at the end.
std::vector<int64_t> equal_ranges(const std::vector<int64_t>& entries_before, int64_t parts);

}  // namespace eignn
