// The formats that data sets come in, and the one function that reads any of them (docs/data.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/raw_dataset.h"
#include "data/streamed_dataset.h"

namespace eignn {

/// One format. A new format needs a file with its reader, a declaration here and an entry in readers().
struct Reader {
  const char* name;       ///< of the format, for people
  const char* signature;  ///< the files or arrays by which it is recognised, for people
  /// Whether the file or folder at `path` has that sign. A damaged or incomplete set may have it; read() then
  /// reports what is wrong.
  bool (*recognise)(const std::string& path);
  /// DataError for whatever does not follow the format.
  RawDataset (*read)(const std::string& path);
  /// The same with what a person says of tables; null where a format has none.
  RawDataset (*read_with)(const std::string& path, const TableOptions& options) = nullptr;
  /// The same a piece at a time; null where a format must be read into memory.
  StreamedDataset (*stream)(const std::string& path, EdgeWeights weights) = nullptr;
};

extern const Reader tables_reader, own_graph_reader, compact_reader, gnn_benchmark_reader, geom_gcn_reader,
    ogb_reader, ppi_reader, graphsage_reader, musae_reader, sharded_reader;

/// All readers, in the order in which messages list them.
const std::vector<const Reader*>& readers();

/// The reader of the data set at `path`, a file or a folder, by the names and the content of the files.
/// DataError where none or more than one matches.
const Reader& reader_of(const std::string& path);

/// Reads the data set at `path`, a file or a folder. ArgumentError for options about tables where there
/// are none.
RawDataset read_dataset_file(const std::string& path, const TableOptions& options = {});

/// Whether `name` is a path rather than the name of a set: it has a slash, or such a file exists.
bool is_dataset_path(const std::string& name);

// ---- parts of the readers that parse from memory

struct GeomGcnNodes {
  Array features;                     ///< (n, d): uint8 where that is exact, else float32 or float64
  std::optional<SparseRows> entries;  ///< of the features where they stay a list (RawDataset::entries)
  std::vector<int64_t> labels;        ///< (n,)
};
/// The text of out1_node_feature_label.txt.
GeomGcnNodes parse_geom_gcn_nodes(std::string_view text, const std::string& origin);
/// The text of out1_graph_edges.txt, for a graph with `nodes` nodes.
ArcList parse_geom_gcn_edges(std::string_view text, int64_t nodes, const std::string& origin);

/// The bytes of an .npz file.
RawDataset parse_gnn_benchmark(std::string_view archive, const std::string& origin);

}  // namespace eignn
