// A data set as a folder of arrays by rows of nodes, of which any range of nodes can be read alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/npy.h"
#include "data/raw_dataset.h"
#include "data/sparse_rows.h"

namespace eignn {

class MappedArray;

/// What shards.toml says (sharded_folder.cpp has the format).
struct ShardHeader {
  int64_t nodes = 0, arcs = 0;  // distinct arcs
  int64_t arcs_in_file = 0;     // before duplicates were merged
  int64_t features = 0, classes = 0, splits = 0;
  bool weighted = false;         // arcs have weights
  bool symmetric = false;        // each arc has a reverse of the same weight
  bool sparse_features = false;  // features are lists of entries
  bool label_sets = false;       // a node has a set of labels rather than one
  bool labels_known = false;     // and some sets may be unknown
  bool several_graphs = false;
  std::vector<int64_t> first_row = {0};  // shard k has the nodes first_row[k] … first_row[k+1]-1
  std::string content;                   // a hash of all arrays: two folders with the same are the same

  int64_t shards() const { return static_cast<int64_t>(first_row.size()) - 1; }
};

/// Which arcs of a node its row has. `both` is what an undirected graph has: i → j and j → i for every arc,
/// with the larger of the two weights (Graph::symmetrised).
enum class ArcEnds { out, in, both };

/// The rows of a few nodes of a graph, as Graph has those of all: row k has the entries begin[k] …
/// begin[k+1]-1, whose targets ascend.
struct GraphRows {
  std::vector<int64_t> begin = {0};
  std::vector<int32_t> target;
  std::vector<double> weight;  // empty: all are 1
};

/// Opens a folder and reads ranges of its nodes. The arrays are mapped into memory when they are first used,
/// so that a range costs its own bytes, whatever the size of the folder. Every range is checked when it is
/// read: DataError, with the file, for offsets that fall, for targets out of range or order, for weights,
/// labels and features that are none. May be used by several threads.
///
///     ShardedFolder folder("papers");
///     const auto part = folder.equal_parts(8);
///     GraphRows rows = folder.rows(part[3], part[4], ArcEnds::both);
class ShardedFolder {
 public:
  /// Reads shards.toml alone.
  explicit ShardedFolder(const std::string& path);
  ~ShardedFolder();
  ShardedFolder(const ShardedFolder&) = delete;
  ShardedFolder& operator=(const ShardedFolder&) = delete;

  const std::string& path() const { return path_; }
  const ShardHeader& header() const { return header_; }
  int64_t nodes() const { return header_.nodes; }

  // Each takes the nodes first … last-1; ArgumentError{"rows"} where they are no range of nodes.

  GraphRows rows(int64_t first, int64_t last, ArcEnds ends = ArcEnds::out) const;
  /// (last - first, features), in the files' number type. Of sparse features the shape alone.
  Array features(int64_t first, int64_t last) const;
  /// The entries of sparse features; nothing where they are dense.
  std::optional<SparseRows> feature_entries(int64_t first, int64_t last) const;
  std::vector<int64_t> labels(int64_t first, int64_t last) const;        // empty where there are sets
  std::vector<uint8_t> label_sets(int64_t first, int64_t last) const;    // row by row; empty without sets
  std::vector<uint8_t> labels_known(int64_t first, int64_t last) const;  // of sets; empty: all are
  std::vector<int64_t> graph_of(int64_t first, int64_t last) const;      // empty: there is one graph
  /// The nodes of this range in each split, by their numbers in the whole graph. A part may be empty here.
  std::vector<NodeSplit> splits(int64_t first, int64_t last) const;

  /// The number of arcs that leave, reach, or do either (out and in counted apart, `both`) to the nodes
  /// before this one, 0 … nodes.
  int64_t arcs_before(int64_t node, ArcEnds ends = ArcEnds::out) const;
  /// First nodes of ranges with about equally many arcs and nodes together: parts + 1 ascending numbers from
  /// 0 to nodes. Without reading more than a few offsets. ArgumentError{"parts"} unless 1 ≤ parts ≤ nodes.
  std::vector<int64_t> equal_parts(int64_t parts, ArcEnds ends = ArcEnds::both) const;

  /// Lets the system drop the pages of these nodes' arcs and features that were read: the next range that
  /// needs them reads them from the disk again.
  void forget(int64_t first, int64_t last) const;

 private:
  struct Piece;  // a range of rows within one shard
  template <class Take>
  void each_piece(int64_t first, int64_t last, const Take& take) const;
  const MappedArray& array(const char* name, int64_t shard) const;
  const MappedArray& offsets(const char* name, int64_t shard) const;
  int64_t arcs_before(const char* name, int64_t node) const;
  GraphRows directed_rows(int64_t first, int64_t last, bool in) const;
  Array rows_of(const char* name, int64_t width, int64_t first, int64_t last) const;

  std::string path_;
  ShardHeader header_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<std::string, std::unique_ptr<MappedArray>> arrays_;
  mutable std::map<std::string, std::vector<int64_t>> arcs_of_shards_;
};

/// The whole set in memory.
RawDataset read_sharded(const std::string& path);

}  // namespace eignn
