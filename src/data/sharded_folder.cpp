// The sharded format: a folder of arrays by rows of nodes, so that any range of nodes can be read alone, and
// no file need hold more than a part of the set. Shard k has the rows of the nodes first_row[k] …
// first_row[k+1]-1, r of them, in files whose names end in .k.npy:
//
//   indptr     (r+1,) int64       offsets into indices, from 0
//   indices    (a,) int32         the heads of the arcs that leave each node: ascending, none twice
//   weight     (a,) float64       optional: the weight of each arc, positive and finite
//   in_indptr, in_indices, in_weight    the same for the arcs that reach each node, with their tails; absent
//                                 where each arc has a reverse of the same weight (symmetric)
//   features   (r, d) numbers     any number type, finite, the same type in all shards; or, in its place:
//   features_indptr (r+1,), features_indices (e,), features_data (e,)    a sparse matrix in CSR
//   labels     (r,) integers      0, 1, …, or -1 where it is not known; or (r, c) 0 and 1
//   labels_known    (r,) bool     optional: false where a set of labels is not known
//   graph_id   (r,) integers      optional: the graph of each node, 0, 1, …
//   split      (r, s) uint8       optional: of each node in each split: 0 in none of the parts, 1 to train
//   on,
//                                 2 to validate, 3 to test
//
// All are in C order and little endian. shards.toml says how they belong together:
//
//   format = 1
//   nodes = 1000
//   arcs = 4000                   distinct arcs
//   arcs_in_file = 4100           before duplicates were merged
//   features = 16
//   classes = 3
//   splits = 1
//   weighted = false              there is weight
//   symmetric = true              there are no in_ arrays
//   sparse_features = false
//   label_sets = false            labels is (r, c)
//   labels_known = false          there is labels_known
//   several_graphs = false        there is graph_id
//   first_row = [0, 500, 1000]
//   content = "…"                 a hash of all arrays: two folders with the same are the same
//
// shard_writer.cpp writes it.
#include "data/sharded_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <utility>

#include "data/atomic_file.h"
#include "data/dense_features.h"
#include "data/folder_files.h"
#include "data/mapped_array.h"
#include "data/readers.h"
#include "data/text_lines.h"
#include "data/toml.h"

namespace eignn {
namespace {

constexpr const char* header_name = "shards.toml";
constexpr const char* convert_again = "convert the data again";

std::string header_path(const std::string& folder) {
  return (std::filesystem::path(folder) / header_name).string();
}

// The settings of shards.toml, each exactly once.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path)
      : path_(path), settings_(parse_toml_settings(read_small_file(path), path)) {}

  int64_t number(const char* name, int64_t least, int64_t most) {
    const TomlSetting& setting = find(name);
    return number(setting, setting.single(path_), least, most);
  }

  std::vector<int64_t> numbers(const char* name, int64_t least, int64_t most) {
    const TomlSetting& setting = find(name);
    if (!setting.is_list) refuse(fmt::format("{} is no list", name), where(setting), convert_again);
    std::vector<int64_t> out;
    for (const std::string& text : setting.values) out.push_back(number(setting, text, least, most));
    return out;
  }

  bool truth(const char* name) {
    const TomlSetting& setting = find(name);
    const std::string& text = setting.single(path_);
    if (text != "true" && text != "false") {
      refuse(fmt::format("{} is {}, neither true nor false", name, quote(text)), where(setting),
             convert_again);
    }
    return text == "true";
  }

  std::string text(const char* name) { return find(name).single(path_); }

  void finish() const {
    for (const TomlSetting& setting : settings_) {
      if (std::find(taken_.begin(), taken_.end(), setting.name) == taken_.end())
        refuse("unknown setting " + quote(setting.name), where(setting), convert_again);
    }
  }

 private:
  const TomlSetting& find(const char* name) {
    taken_.emplace_back(name);
    for (const TomlSetting& setting : settings_)
      if (setting.name == name) return setting;
    refuse(fmt::format("{} is missing", name), path_, convert_again);
  }

  int64_t number(const TomlSetting& setting, const std::string& text, int64_t least, int64_t most) const {
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || stop != end || value < least || value > most) {
      refuse(fmt::format("{} is {}, no whole number from {} to {}", setting.name, quote(text), least, most),
             where(setting), convert_again);
    }
    return value;
  }

  Where where(const TomlSetting& setting) const { return {path_, setting.place}; }

  std::string path_;
  std::vector<TomlSetting> settings_;
  std::vector<std::string> taken_;
};

ShardHeader read_header(const std::string& path) {
  HeaderReader file(path);
  const int64_t most = std::numeric_limits<int64_t>::max(), most_nodes = std::numeric_limits<int32_t>::max();
  if (const int64_t format = file.number("format", 1, most); format != 1) {
    refuse(fmt::format("format {}, and this program reads format 1", format), path,
           "read it with the version that wrote it");
  }
  ShardHeader h;
  h.nodes = file.number("nodes", 1, most_nodes);
  constexpr int64_t most_arcs = int64_t{1} << 60;  // sums of two stay in range
  h.arcs = file.number("arcs", 0, most_arcs);
  h.arcs_in_file = file.number("arcs_in_file", h.arcs, most);
  h.features = file.number("features", 1, most_nodes);
  h.classes = file.number("classes", 1, most_nodes);
  h.splits = file.number("splits", 0, most_nodes);
  h.weighted = file.truth("weighted");
  h.symmetric = file.truth("symmetric");
  h.sparse_features = file.truth("sparse_features");
  h.label_sets = file.truth("label_sets");
  h.labels_known = file.truth("labels_known");
  h.several_graphs = file.truth("several_graphs");
  h.first_row = file.numbers("first_row", 0, h.nodes);
  h.content = file.text("content");
  file.finish();
  const auto& rows = h.first_row;
  if (rows.size() < 2 || rows.front() != 0 || rows.back() != h.nodes ||
      std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) != rows.end())
    refuse(fmt::format("first_row does not ascend from 0 to {}", h.nodes), path, convert_again);
  return h;
}

// Â row by row: the union of two ascending rows, with the larger of two weights.
void merge_rows(const GraphRows& a, const GraphRows& b, GraphRows& out) {
  const bool weighted = !a.weight.empty() || !b.weight.empty();
  for (size_t v = 0; v + 1 < a.begin.size(); ++v) {
    int64_t i = a.begin[v], j = b.begin[v];
    const int64_t i_end = a.begin[v + 1], j_end = b.begin[v + 1];
    while (i < i_end || j < j_end) {
      const bool take_a = j == j_end || (i < i_end && a.target[i] <= b.target[j]),
                 take_b = i == i_end || (j < j_end && b.target[j] <= a.target[i]);
      out.target.push_back(take_a ? a.target[i] : b.target[j]);
      if (weighted) {
        out.weight.push_back(take_a && take_b ? std::max(a.weight[i], b.weight[j])
                             : take_a         ? a.weight[i]
                                              : b.weight[j]);
      }
      i += take_a ? 1 : 0;
      j += take_b ? 1 : 0;
    }
    out.begin.push_back(static_cast<int64_t>(out.target.size()));
  }
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

// The rows first … last-1 of a shard, by their positions in it.
struct ShardedFolder::Piece {
  int64_t shard, first, last;
  int64_t first_node;  // the first row in the whole graph
};

ShardedFolder::ShardedFolder(const std::string& path)
    : path_(path), header_(read_header(header_path(path))) {}

ShardedFolder::~ShardedFolder() = default;

template <class Take>
void ShardedFolder::each_piece(int64_t first, int64_t last, const Take& take) const {
  if (first < 0 || first > last || last > nodes()) {
    throw ArgumentError("rows", fmt::format("{} to {} is no range of {} nodes", first, last, nodes()),
                        "give two numbers that ascend, from 0 to the number of nodes");
  }
  const auto& begin = header_.first_row;
  auto shard = std::upper_bound(begin.begin(), begin.end(), first) - begin.begin() - 1;
  for (int64_t v = first; v < last; ++shard) {
    const int64_t stop = std::min(last, begin[shard + 1]);
    take(Piece{shard, v - begin[shard], stop - begin[shard], v});
    v = stop;
  }
}

const MappedArray& ShardedFolder::array(const char* name, int64_t shard) const {
  const std::string file = fmt::format("{}.{}.npy", name, shard);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& entry = arrays_[file];
  if (!entry) entry = std::make_unique<MappedArray>((std::filesystem::path(path_) / file).string());
  return *entry;
}

// Offsets of the rows of a shard; those that are read are checked in turn.
const MappedArray& ShardedFolder::offsets(const char* name, int64_t shard) const {
  const MappedArray& begin = array(name, shard);
  const int64_t rows = header_.first_row[shard + 1] - header_.first_row[shard];
  if (begin.shape() != std::vector<int64_t>{rows + 1}) {
    refuse(fmt::format("the shape ({}), not ({},)", fmt::join(begin.shape(), ", "), rows + 1), begin.path(),
           convert_again);
  }
  if (const int64_t zero = begin.values<int64_t>(0, 1)[0]; zero != 0)
    refuse(fmt::format("the first offset is {}, not 0", zero), begin.path(), convert_again);
  return begin;
}

namespace {

// The offsets of some rows and what they point into.
struct Offsets {
  std::vector<int64_t> at;
  int64_t first() const { return at.front(); }
  int64_t last() const { return at.back(); }
};

Offsets read_offsets(const MappedArray& begin, int64_t first, int64_t last, int64_t entries) {
  Offsets out{begin.values<int64_t>(first, last + 1)};
  if (out.first() < 0 || out.last() > entries || !std::is_sorted(out.at.begin(), out.at.end())) {
    refuse(
        fmt::format("the offsets of the rows {} to {} fall, or leave the {} entries", first, last, entries),
        begin.path(), convert_again);
  }
  return out;
}

void require_one_each(const MappedArray& values, int64_t entries) {
  if (values.shape() != std::vector<int64_t>{entries}) {
    refuse(fmt::format("the shape ({}), not ({},)", fmt::join(values.shape(), ", "), entries), values.path(),
           convert_again);
  }
}

}  // namespace

GraphRows ShardedFolder::directed_rows(int64_t first, int64_t last, bool in) const {
  in = in && !header_.symmetric;
  GraphRows out;
  each_piece(first, last, [&](const Piece& piece) {
    const MappedArray& target = array(in ? "in_indices" : "indices", piece.shard);
    require_one_each(target, target.rows());
    const MappedArray& begin = offsets(in ? "in_indptr" : "indptr", piece.shard);
    const Offsets at = read_offsets(begin, piece.first, piece.last, target.rows());
    const int64_t before = out.begin.back() - at.first();
    for (size_t v = 1; v < at.at.size(); ++v) out.begin.push_back(at.at[v] + before);
    append(out.target, target.values<int32_t>(at.first(), at.last()));
    for (size_t v = 1; v < at.at.size(); ++v) {
      for (int64_t e = at.at[v - 1], past = -1; e < at.at[v]; ++e) {
        const int64_t id = out.target[e + before];
        if (id <= past || id >= nodes()) {
          refuse(fmt::format("the row of node {} does not hold distinct ids from 0 to {}, ascending",
                             piece.first_node + static_cast<int64_t>(v) - 1, nodes() - 1),
                 target.path(), convert_again);
        }
        past = id;
      }
    }
    if (!header_.weighted) return;
    const MappedArray& weight = array(in ? "in_weight" : "weight", piece.shard);
    require_one_each(weight, target.rows());
    const std::vector<double> values = weight.values<double>(at.first(), at.last());
    for (const double w : values) {
      if (!(w > 0 && w <= std::numeric_limits<double>::max()))
        refuse(fmt::format("{} is no weight of an arc", w), weight.path(), convert_again);
    }
    append(out.weight, values);
  });
  return out;
}

GraphRows ShardedFolder::rows(int64_t first, int64_t last, ArcEnds ends) const {
  if (ends != ArcEnds::both || header_.symmetric) return directed_rows(first, last, ends == ArcEnds::in);
  const GraphRows leave = directed_rows(first, last, false), reach = directed_rows(first, last, true);
  GraphRows out;
  out.begin.reserve(leave.begin.size());
  out.target.reserve(leave.target.size() + reach.target.size());
  if (header_.weighted) out.weight.reserve(leave.weight.size() + reach.weight.size());
  merge_rows(leave, reach, out);
  return out;
}

// An array with a row of `width` elements for each node; width 0: one number for each node.
Array ShardedFolder::rows_of(const char* name, int64_t width, int64_t first, int64_t last) const {
  Array out;
  out.shape = {last - first};
  if (width > 0) out.shape.push_back(width);
  out.type = array(name, 0).type();
  out.origin = (std::filesystem::path(path_) / fmt::format("{}.*.npy", name)).string();
  each_piece(first, last, [&](const Piece& piece) {
    const MappedArray& from = array(name, piece.shard);
    std::vector<int64_t> shape = out.shape;
    shape[0] = header_.first_row[piece.shard + 1] - header_.first_row[piece.shard];
    if (from.shape() != shape) {
      refuse(fmt::format("the shape ({}), not ({})", fmt::join(from.shape(), ", "), fmt::join(shape, ", ")),
             from.path(), convert_again);
    }
    if (from.type() != out.type) {
      refuse(fmt::format("{} here and {} in shard 0", eignn::name(from.type()), eignn::name(out.type)),
             from.path(), convert_again);
    }
    const std::string_view bytes = from.bytes(piece.first, piece.last);
    out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
  });
  return out;
}

Array ShardedFolder::features(int64_t first, int64_t last) const {
  if (!header_.sparse_features) {
    Array out = rows_of("features", header_.features, first, last);
    check_finite(out, first);
    return out;
  }
  Array out;
  each_piece(first, last, [](const Piece&) {});
  out.shape = {last - first, header_.features};
  out.origin = path_;
  return out;
}

std::optional<SparseRows> ShardedFolder::feature_entries(int64_t first, int64_t last) const {
  if (!header_.sparse_features) return std::nullopt;
  SparseRows out;
  each_piece(first, last, [&](const Piece& piece) {
    const MappedArray& column = array("features_indices", piece.shard);
    require_one_each(column, column.rows());
    const Offsets at =
        read_offsets(offsets("features_indptr", piece.shard), piece.first, piece.last, column.rows());
    const int64_t before = out.begin.back() - at.first();
    for (size_t v = 1; v < at.at.size(); ++v) out.begin.push_back(at.at[v] + before);
    append(out.column, column.values<int64_t>(at.first(), at.last()));
    const MappedArray& value = array("features_data", piece.shard);
    require_one_each(value, column.rows());
    append(out.value, value.values<double>(at.first(), at.last()));
    for (size_t k = out.column.size() - static_cast<size_t>(at.last() - at.first()); k < out.column.size();
         ++k) {
      if (out.column[k] < 0 || out.column[k] >= header_.features) {
        refuse(fmt::format("an entry in column {} of {}", out.column[k], header_.features), column.path(),
               convert_again);
      }
      if (!std::isfinite(out.value[k])) {
        refuse(fmt::format("a feature in column {} is not a finite number", out.column[k]), value.path(),
               "clean the data first");
      }
    }
  });
  return sorted_rows(std::move(out), header_.features, path_);
}

std::vector<int64_t> ShardedFolder::labels(int64_t first, int64_t last) const {
  if (header_.label_sets) return {};
  const Array read = rows_of("labels", 0, first, last);
  std::vector<int64_t> out = read.as<int64_t>();
  for (size_t k = 0; k < out.size(); ++k) {
    if (out[k] < -1 || out[k] >= header_.classes) {
      refuse(fmt::format("node {} has the label {}", first + static_cast<int64_t>(k), out[k]), read.origin,
             fmt::format("use 0 to {}, or -1 where it is not known", header_.classes - 1));
    }
  }
  return out;
}

std::vector<uint8_t> ShardedFolder::label_sets(int64_t first, int64_t last) const {
  if (!header_.label_sets) return {};
  const Array read = rows_of("labels", header_.classes, first, last);
  std::vector<uint8_t> out = read.as<uint8_t>();
  for (const uint8_t value : out)
    if (value > 1) refuse(fmt::format("{} in a set of labels", value), read.origin, "use 0 and 1");
  return out;
}

std::vector<uint8_t> ShardedFolder::labels_known(int64_t first, int64_t last) const {
  if (!header_.labels_known) return {};
  return rows_of("labels_known", 0, first, last).nonzero();
}

std::vector<int64_t> ShardedFolder::graph_of(int64_t first, int64_t last) const {
  if (!header_.several_graphs) return {};
  const Array read = rows_of("graph_id", 0, first, last);
  std::vector<int64_t> out = read.as<int64_t>();
  for (const int64_t id : out) {
    if (id < 0 || id >= nodes()) {
      refuse(fmt::format("the graph {} among {} nodes", id, nodes()), read.origin,
             "number the graphs from 0");
    }
  }
  return out;
}

std::vector<NodeSplit> ShardedFolder::splits(int64_t first, int64_t last) const {
  if (header_.splits == 0) return {};
  const Array read = rows_of("split", header_.splits, first, last);
  std::vector<NodeSplit> out(static_cast<size_t>(header_.splits));
  const std::vector<uint8_t> part = read.as<uint8_t>();
  for (int64_t v = first; v < last; ++v) {
    for (size_t s = 0; s < out.size(); ++s) {
      std::vector<int64_t>* const parts[] = {nullptr, &out[s].train, &out[s].val, &out[s].test};
      const uint8_t which = part[static_cast<size_t>(v - first) * out.size() + s];
      if (which > 3) {
        refuse(fmt::format("node {} is in part {}", v, which), read.origin,
               "use 0 for none, 1 to train on, 2 to validate, 3 to test");
      }
      if (which > 0) parts[which]->push_back(v);
    }
  }
  return out;
}

int64_t ShardedFolder::arcs_before(const char* name, int64_t node) const {
  if (node == 0) return 0;
  const auto& begin = header_.first_row;
  // The shard that holds the node before, so that the last node of all has one.
  const auto shard = std::upper_bound(begin.begin(), begin.end(), node - 1) - begin.begin() - 1;
  const auto end_of = [&](int64_t k, int64_t row) {
    const int64_t value = offsets(name, k).values<int64_t>(row, row + 1)[0];
    if (value < 0 || value > header_.arcs) {
      refuse(fmt::format("the offset {} among {} arcs", value, header_.arcs), offsets(name, k).path(),
             convert_again);
    }
    return value;
  };
  std::vector<int64_t> sums;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    sums = arcs_of_shards_[name];
  }
  if (sums.empty()) {
    sums = {0};
    for (int64_t k = 0; k < header_.shards(); ++k) {
      sums.push_back(sums.back() + end_of(k, begin[k + 1] - begin[k]));  // neither is more than all arcs
      if (sums.back() > header_.arcs) {
        refuse(fmt::format("more arcs than the {} that shards.toml states", header_.arcs), path_,
               convert_again);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    arcs_of_shards_[name] = sums;
  }
  return sums[shard] + end_of(shard, node - begin[shard]);
}

int64_t ShardedFolder::arcs_before(int64_t node, ArcEnds ends) const {
  if (node < 0 || node > nodes()) {
    throw ArgumentError("node", fmt::format("{} is no node of {}, nor their end", node, nodes()),
                        "give a number from 0 to the number of nodes");
  }
  const bool one_way = header_.symmetric || ends == ArcEnds::out;
  int64_t count = ends == ArcEnds::in && !one_way ? 0 : arcs_before("indptr", node);
  if (!one_way) count += arcs_before("in_indptr", node);
  return count;
}

std::vector<int64_t> ShardedFolder::equal_parts(int64_t parts, ArcEnds ends) const {
  if (parts < 1 || parts > nodes()) {
    throw ArgumentError("parts", fmt::format("{} parts of {} nodes", parts, nodes()),
                        "give a number from 1 to the number of nodes");
  }
  const auto work_before = [&](int64_t node) {
    return static_cast<double>(arcs_before(node, ends)) + static_cast<double>(node);
  };
  const double all = work_before(nodes());
  std::vector<int64_t> out = {0};
  for (int64_t k = 1; k < parts; ++k) {
    const double wanted = all * static_cast<double>(k) / static_cast<double>(parts);
    // Each part gets a node at least.
    int64_t low = out.back() + 1, high = nodes() - (parts - k);
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (work_before(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    out.push_back(low);
  }
  out.push_back(nodes());
  return out;
}

void ShardedFolder::forget(int64_t first, int64_t last) const {
  each_piece(first, last, [&](const Piece& piece) {
    for (const bool in : {false, true}) {
      if (in && header_.symmetric) continue;
      const MappedArray &begin = offsets(in ? "in_indptr" : "indptr", piece.shard),
                        &target = array(in ? "in_indices" : "indices", piece.shard);
      const Offsets at = read_offsets(begin, piece.first, piece.last, target.rows());
      target.forget(at.first(), at.last());
      begin.forget(piece.first, piece.last + 1);
      if (header_.weighted) array(in ? "in_weight" : "weight", piece.shard).forget(at.first(), at.last());
    }
    if (!header_.sparse_features) array("features", piece.shard).forget(piece.first, piece.last);
  });
}

RawDataset read_sharded(const std::string& path) {
  const ShardedFolder folder(path);
  const ShardHeader& header = folder.header();
  const int64_t n = header.nodes;
  RawDataset set;
  set.name = name_of_path(path);
  set.format = "sharded folder";
  set.path = path;
  set.arcs.nodes = n;
  set.arcs.arcs_in_file = header.arcs_in_file;
  // A range at a time, so that the graph is not in memory twice.
  for (int64_t v = 0, step = std::max<int64_t>(1, n / 64); v < n; v += step) {
    const int64_t end = std::min(n, v + step);
    const GraphRows rows = folder.rows(v, end);
    for (int64_t k = 0; k < end - v; ++k) {
      set.arcs.source.insert(set.arcs.source.end(), static_cast<size_t>(rows.begin[k + 1] - rows.begin[k]),
                             v + k);
    }
    set.arcs.target.insert(set.arcs.target.end(), rows.target.begin(), rows.target.end());
    append(set.arcs.weight, rows.weight);
    folder.forget(v, end);
  }
  if (static_cast<int64_t>(set.arcs.source.size()) != header.arcs) {
    refuse(fmt::format("{} arcs, and shards.toml states {}", set.arcs.source.size(), header.arcs), path,
           convert_again);
  }
  set.features = folder.features(0, n);
  if (auto entries = folder.feature_entries(0, n)) {
    const size_t listed = entries->column.size() * (sizeof(int32_t) + sizeof(double));
    take_listed_features(set, std::move(*entries), listed);
  }
  set.classes = header.classes;
  set.labels = folder.labels(0, n);
  set.label_sets = folder.label_sets(0, n);
  set.known = folder.labels_known(0, n);
  set.graph_of = folder.graph_of(0, n);
  set.splits = folder.splits(0, n);
  check(set);
  return set;
}

namespace {

bool is_sharded(const std::string& path) {
  return file_exists(header_path(path));
}

}  // namespace

const Reader sharded_reader = {"sharded folder", "shards.toml", is_sharded, read_sharded};

}  // namespace eignn
