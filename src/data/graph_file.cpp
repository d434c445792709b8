// The graph files: an integer array (E, 2), one arc (source, target) per row, 0-based, as .npy or as the
// member `edges` of a .npz; the weights of its arcs may be beside it, as the member `edge_weight`, or beside
// a file edges.npy as edge_weight.npy; Matrix Market (matrix_market.cpp); edge lists (edge_list.cpp). The
// first bytes say which it is: a zip header, NumPy's, %%MatrixMarket, or anything else; the extension does
// not count.
#include "data/graph_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string_view>

#include "data/atomic_file.h"
#include "data/edge_list.h"
#include "data/edge_weights.h"
#include "data/folder_files.h"
#include "data/matrix_market.h"
#include "data/npz.h"
#include "data/text_lines.h"
#include "eignn/error.h"

namespace eignn {
namespace {

std::string format_of(std::string_view content) {
  const auto starts_with = [&](std::string_view prefix) {
    return content.substr(0, prefix.size()) == prefix;
  };
  if (starts_with("PK\x03\x04") || starts_with("PK\x05\x06")) return "npz";
  if (is_npy(content)) return "npy";
  content = without_byte_order_mark(content);
  return starts_with("%%MatrixMarket") ? "mtx" : "edges";
}

bool is_whole(ElementType type) {
  return type != ElementType::boolean && type != ElementType::float32 && type != ElementType::float64;
}

ArcList read_npz_edges(const std::string& path) {
  const NpzReader archive(path);
  ArcList arcs = arcs_of_edges(archive.read("edges"));
  if (archive.has("edge_weight")) set_weights(arcs, archive.read("edge_weight"));
  return arcs;
}

ArcList read_npy_edges(const std::string& content, const std::string& path) {
  ArcList arcs = arcs_of_edges(parse_npy(content, path));
  const std::filesystem::path file = path;
  const std::string weights = (file.parent_path() / "edge_weight.npy").string();
  if (file.filename() == "edges.npy" && file_exists(weights)) set_weights(arcs, read_npy(weights));
  return arcs;
}

}  // namespace

ArcList read_graph(const std::string& path, const std::string& format) {
  if (format != "" && format != "npz" && format != "npy" && format != "mtx" && format != "edges") {
    throw ArgumentError("graph-format", fmt::format("unknown graph format {}", quote(format)),
                        "use npz, npy, mtx or edges");
  }
  if (format == "npz") return read_npz_edges(path);
  const std::string content = read_whole_file(path);
  const std::string actual = format.empty() ? format_of(content) : format;
  if (actual == "npz") return read_npz_edges(path);
  if (actual == "npy") return read_npy_edges(content, path);
  return actual == "mtx" ? parse_matrix_market(content, path) : parse_edge_list(content, path);
}

ArcList arcs_of_edges(const Array& edges) {
  if (!is_whole(edges.type)) {
    refuse(fmt::format("edges have dtype {}, not whole numbers", name(edges.type)), edges.origin,
           "save them with .astype(np.int64)");
  }
  if (edges.shape.size() != 2 || edges.shape[1] != 2) {
    refuse(fmt::format("edges have the shape ({}), not (E, 2)", fmt::join(edges.shape, ", ")), edges.origin,
           "save one row (source, target) per arc");
  }
  const std::vector<int64_t> ids = edges.as<int64_t>();
  ArcList arcs;
  arcs.source.reserve(ids.size() / 2);
  arcs.target.reserve(ids.size() / 2);
  for (size_t i = 0; i < ids.size(); i += 2) {
    arcs.source.push_back(ids[i]);
    arcs.target.push_back(ids[i + 1]);
  }
  return arcs;
}

void check_node_range(const ArcList& arcs, int64_t n, const std::string& path) {
  if (arcs.nodes >= 0 && arcs.nodes != n) {
    refuse(fmt::format("the graph has {} nodes, but {} are expected", arcs.nodes, n), path,
           "give one row of features per node");
  }
  for (size_t k = 0; k < arcs.source.size(); ++k) {
    for (const int64_t id : {arcs.source[k], arcs.target[k]}) {
      if (id >= 0 && id < n) continue;
      refuse(fmt::format("arc {} (counted from 0) names node {}, but there are {} nodes", k, id, n), path,
             fmt::format("use ids >= 0 and < {}", n));
    }
  }
}

}  // namespace eignn
