// The graph files: an integer array (E, 2), one arc (source, target) per row, 0-based, as .npy or as the
// member `edges` of a .npz; the weights of its arcs may be beside it, as the member `edge_weight`, or beside
// a file edges.npy as edge_weight.npy; Matrix Market (matrix_market.cpp); edge lists (edge_list.cpp). The
// first bytes say which it is: a zip header, NumPy's, %%MatrixMarket, or anything else; the extension does
// not count.
#include "data/graph_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "data/atomic_file.h"
#include "data/edge_list.h"
#include "data/edge_weights.h"
#include "data/folder_files.h"
#include "data/gzip_file.h"
#include "data/mapped_array.h"
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

// The file of the weights beside edges.npy.
std::optional<std::string> weights_beside(const std::string& path) {
  const std::filesystem::path file = path;
  std::string weights = (file.parent_path() / "edge_weight.npy").string();
  if (file.filename() == "edges.npy" && file_exists(weights)) return weights;
  return std::nullopt;
}

ArcList read_npy_edges(const std::string& content, const std::string& path) {
  ArcList arcs = arcs_of_edges(parse_npy(content, path));
  if (const auto weights = weights_beside(path)) set_weights(arcs, read_npy(*weights));
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

namespace {

void each_arcs_of_text(const std::string& path, EdgeWeights weights, const TakeArcs& take) {
  TextBlocks blocks(path);
  EdgeListParser parser(path);
  int64_t before = 0;
  while (blocks.next()) {
    ArcList arcs;
    std::vector<int64_t> lines;
    parser.parse(blocks.block(), blocks.first_line(), arcs, &lines);
    take_weights(arcs, weights, path, before);
    take({arcs, [&](size_t k) { return Where(path, fmt::format("line {}", lines[k])); }});
    before += static_cast<int64_t>(arcs.source.size());
  }
}

void each_arcs_of_array(const std::string& path, EdgeWeights weights, const TakeArcs& take) {
  const MappedArray edges(path);
  arcs_of_edges(edges.rows(0, 0));  // refuses what is no array of arcs
  std::optional<MappedArray> weight;
  if (const auto file = weights_beside(path)) weight.emplace(*file);
  if (weight && (weight->rows() != edges.rows() || weight->row_bytes() != item_size(weight->type()))) {
    refuse(fmt::format("the weights have the shape ({}), and there are {} arcs",
                       fmt::join(weight->shape(), ", "), edges.rows()),
           weight->path(), "give one weight per arc, of shape (E,)");
  }
  constexpr int64_t together = 1 << 16;
  for (int64_t first = 0; first < edges.rows(); first += together) {
    const int64_t last = std::min(edges.rows(), first + together);
    ArcList arcs = arcs_of_edges(edges.rows(first, last));
    if (weight) set_weights(arcs, weight->rows(first, last));
    take_weights(arcs, weights, path, first);
    take({arcs, [&](size_t k) {
            return Where(path, fmt::format("arc {}, counted from 0", first + static_cast<int64_t>(k)));
          }});
    edges.forget(first, last);
  }
}

}  // namespace

void each_arcs(const std::string& path, EdgeWeights weights, const TakeArcs& take) {
  std::string start(64, '\0'), format;
  if (const FileHandle file = open_for_reading(path); has_end(file)) {  // a pipe cannot be read twice
    start.resize(std::fread(start.data(), 1, start.size(), file.get()));
    format = format_of(start);
  }
  if (format == "edges") return each_arcs_of_text(path, weights, take);
  if (format == "npy" && MappedArray::can_map(path)) return each_arcs_of_array(path, weights, take);
  ArcList arcs = read_graph(path, format);
  take_weights(arcs, weights, path);
  take({arcs, [&](size_t k) { return Where(path, fmt::format("arc {}, counted from 0", k)); }});
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
