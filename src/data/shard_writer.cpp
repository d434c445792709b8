// Arcs are sorted by their tails on disk (arc_sorter.h) and written; as they are written they are sorted by
// their heads, which gives the in_ arrays. Where these turn out to be the same, they are removed.
#include "data/shard_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "data/arc_sorter.h"
#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/edge_weights.h"
#include "data/mapped_file.h"
#include "data/npy_stream.h"
#include "data/readers.h"
#include "data/text_lines.h"
#include "data/toml.h"
#include "eignn/interrupt.h"
#include "graph/content_hash.h"

namespace eignn {

namespace {

constexpr int64_t most_nodes_of_format = std::numeric_limits<int32_t>::max();

class FolderWriter {
 public:
  FolderWriter(const StreamedDataset& set, const std::string& path, const ShardOptions& options)
      : set_(set), nodes_(set.nodes), options_(options), folder_(path) {
    for (int64_t k = 0; k <= options.shards; ++k)
      first_row_.push_back(k * nodes_.nodes() / options.shards);  // both below 2^31
  }

  ShardSummary write() {
    write_arcs();
    write_features();
    write_node_arrays();
    write_header();
    folder_.commit();
    return {nodes_.name, nodes_.format, nodes_.nodes(),  in_file_,  arcs_,     nodes_.features.shape[1],
            classes(),   split_count(), options_.shards, weighted_, symmetric_};
  }

 private:
  // ---- arcs

  void write_arcs() {
    std::unique_ptr<ArcSorter> by_tail;
    set_.each_arcs([&](const ArcPiece& piece) {
      const ArcList& arcs = piece.arcs;
      if (arcs.source.empty()) return;
      if (!by_tail) {
        weighted_ = !arcs.weight.empty();
        by_tail = new_sorter("by-tail");
      }
      check_interrupt();
      for (size_t k = 0; k < arcs.source.size(); ++k) {
        check_range(piece, k);
        by_tail->add(arcs.source[k], arcs.target[k], weighted_ ? arcs.weight[k] : 1);
      }
      in_file_ += arcs.counted_in_file();
    });
    if (!by_tail) by_tail = new_sorter("by-tail");
    const std::unique_ptr<ArcSorter> by_head = new_sorter("by-head");
    write_rows("", *by_tail, [&](const SortedArc& arc) {
      by_head->add(arc.target, arc.source, arc.weight);
      ++arcs_;
    });
    by_tail.reset();
    write_rows("in_", *by_head, [](const SortedArc&) {});
    symmetric_ = in_arrays_are_the_same();
    for (const std::string& name : arc_arrays()) {
      for (int64_t k = 0; k < options_.shards; ++k) {
        const std::string in = file("in_" + name, k);
        if (symmetric_ && std::remove(in.c_str()) != 0) refuse_file("write", in, errno);
      }
    }
  }

  std::unique_ptr<ArcSorter> new_sorter(const char* name) const {
    return std::make_unique<ArcSorter>(folder_.path(name), options_.memory / 2, weighted_);
  }

  void check_range(const ArcPiece& piece, size_t k) const {
    for (const int64_t id : {piece.arcs.source[k], piece.arcs.target[k]}) {
      if (id < 0 || id >= nodes_.nodes()) {
        refuse(fmt::format("an arc names node {}, but there are {} nodes", id, nodes_.nodes()),
               piece.where(k), fmt::format("use ids >= 0 and < {}", nodes_.nodes()));
      }
    }
  }

  std::vector<std::string> arc_arrays() const {
    return weighted_ ? std::vector<std::string>{"indptr", "indices", "weight"}
                     : std::vector<std::string>{"indptr", "indices"};
  }

  template <class See>
  void write_rows(const std::string& prefix, ArcSorter& sorter, const See& see) {
    SortedArc arc = {};
    bool more = sorter.next(&arc);
    std::vector<int64_t> offset(1);
    std::vector<int32_t> target(1);
    for (int64_t k = 0; k < options_.shards; ++k) {
      NpyStream indptr(file(prefix + "indptr", k), ElementType::int64, {}),
          indices(file(prefix + "indices", k), ElementType::int32, {});
      std::optional<NpyStream> weight;
      if (weighted_) weight.emplace(file(prefix + "weight", k), ElementType::float64, std::vector<int64_t>{});
      check_interrupt();
      offset[0] = 0;
      indptr.append(offset);
      for (int64_t v = first_row_[k]; v < first_row_[k + 1]; ++v) {
        for (; more && arc.source == v; more = sorter.next(&arc)) {
          see(arc);
          target[0] = static_cast<int32_t>(arc.target);
          indices.append(target);
          if (weight) weight->append(&arc.weight, sizeof arc.weight);
          ++offset[0];
        }
        indptr.append(offset);
      }
      const bool in = !prefix.empty();  // these follow from the others
      finish(indptr, !in);
      finish(indices, !in);
      if (weight) finish(*weight, !in);
    }
  }

  bool in_arrays_are_the_same() const {
    for (const std::string& name : arc_arrays()) {
      for (int64_t k = 0; k < options_.shards; ++k) {
        const MappedFile out(file(name, k), MappedFile::Read::parts),
            in(file("in_" + name, k), MappedFile::Read::parts);
        if (out.bytes() != in.bytes()) return false;
      }
    }
    return true;
  }

  // ---- features

  void write_features() {
    if (nodes_.entries) return write_entries(*nodes_.entries);
    const Array& features = nodes_.features;
    const size_t row_bytes = static_cast<size_t>(features.shape[1]) * item_size(features.type);
    int64_t shard = -1, row = 0;
    std::optional<NpyStream> file;
    set_.each_features([&](const unsigned char* rows, int64_t count) {
      Array piece;
      piece.shape = {count, features.shape[1]};
      piece.type = features.type;
      piece.bytes.assign(rows, rows + static_cast<size_t>(count) * row_bytes);
      piece.origin = features.origin;
      check_finite(piece, row);
      check_interrupt();
      for (int64_t done = 0; done < count;) {
        if (!file || row == first_row_[shard + 1]) {
          if (file) finish(*file);
          ++shard;
          file.emplace(this->file("features", shard), features.type, std::vector<int64_t>{features.shape[1]});
        }
        const int64_t some = std::min(count - done, first_row_[shard + 1] - row);
        file->append(piece.bytes.data() + static_cast<size_t>(done) * row_bytes,
                     static_cast<size_t>(some) * row_bytes);
        done += some;
        row += some;
      }
    });
    if (file) finish(*file);
  }

  void write_entries(const SparseRows& rows) {
    for (int64_t k = 0; k < options_.shards; ++k) {
      const int64_t first = first_row_[k], last = first_row_[k + 1], from = rows.begin[first],
                    to = rows.begin[last];
      std::vector<int64_t> offsets(rows.begin.begin() + first, rows.begin.begin() + last + 1);
      for (int64_t& offset : offsets) offset -= from;
      const std::vector<int32_t> columns(rows.column.begin() + from, rows.column.begin() + to);
      write_array("features_indptr", k, ElementType::int64, {}, offsets.data(), offsets.size());
      write_array("features_indices", k, ElementType::int32, {}, columns.data(), columns.size());
      write_array("features_data", k, ElementType::float64, {}, rows.value.data() + from,
                  static_cast<size_t>(to - from));
    }
  }

  // ---- what each node has one of

  void write_node_arrays() {
    std::vector<uint8_t> parts(static_cast<size_t>(nodes_.nodes() * split_count()), 0);
    for (int64_t s = 0; s < split_count(); ++s) {
      const NodeSplit& split = nodes_.splits[s];
      uint8_t code = 0;
      for (const auto* part : {&split.train, &split.val, &split.test}) {
        ++code;
        for (const int64_t v : *part) parts[static_cast<size_t>(v * split_count() + s)] = code;
      }
    }
    for (int64_t k = 0; k < options_.shards; ++k) {
      const auto first = static_cast<size_t>(first_row_[k]),
                 count = static_cast<size_t>(first_row_[k + 1]) - first;
      if (nodes_.multi_label()) {
        const auto c = static_cast<size_t>(nodes_.classes);
        write_array("labels", k, ElementType::uint8, {nodes_.classes}, &nodes_.label_sets[first * c],
                    count * c);
      } else {
        const std::vector<int32_t> labels(nodes_.labels.begin() + first_row_[k],
                                          nodes_.labels.begin() + first_row_[k + 1]);
        write_array("labels", k, ElementType::int32, {}, labels.data(), count);
      }
      if (!nodes_.known.empty())
        write_array("labels_known", k, ElementType::boolean, {}, &nodes_.known[first], count);
      if (!nodes_.graph_of.empty())
        write_array("graph_id", k, ElementType::int64, {}, &nodes_.graph_of[first], count);
      const auto s = static_cast<size_t>(split_count());
      if (s > 0) write_array("split", k, ElementType::uint8, {split_count()}, &parts[first * s], count * s);
    }
  }

  template <class T>
  void write_array(const char* name, int64_t shard, ElementType type, std::vector<int64_t> row_shape,
                   const T* values, size_t count) {
    NpyStream out(file(name, shard), type, std::move(row_shape));
    out.append(values, count * sizeof(T));
    finish(out);
  }

  // ---- shards.toml

  void write_header() {
    const auto truth = [](bool value) { return value ? "true" : "false"; };
    std::string text = "# A data set of eignn by shards of nodes: docs/data.md, \"The sharded format\".\n";
    const auto line = [&](const char* name, const auto& value) {
      text += fmt::format("{} = {}\n", name, value);
    };
    line("format", 1);
    line("nodes", nodes_.nodes());
    line("arcs", arcs_);
    line("arcs_in_file", in_file_);
    line("features", nodes_.features.shape[1]);
    line("classes", classes());
    line("splits", split_count());
    line("weighted", truth(weighted_));
    line("symmetric", truth(symmetric_));
    line("sparse_features", truth(nodes_.entries.has_value()));
    line("label_sets", truth(nodes_.multi_label()));
    line("labels_known", truth(!nodes_.known.empty()));
    line("several_graphs", truth(!nodes_.graph_of.empty()));
    line("first_row", fmt::format("[{}]", fmt::join(first_row_, ", ")));
    line("content", toml_string(content_.hex()));
    write_file_atomically(folder_.path("shards.toml"), text);
  }

  std::string file(const std::string& name, int64_t shard) const {
    return folder_.path(fmt::format("{}.{}.npy", name, shard));
  }

  void finish(NpyStream& stream, bool counts = true) {
    const std::string hash = stream.finish();
    if (counts) content_.add(hash.data(), hash.size());
  }

  int64_t classes() const { return nodes_.classes; }
  int64_t split_count() const { return static_cast<int64_t>(nodes_.splits.size()); }

  const StreamedDataset& set_;
  const RawDataset& nodes_;
  ShardOptions options_;
  AtomicFolder folder_;
  std::vector<int64_t> first_row_;
  ContentHash content_;
  int64_t in_file_ = 0, arcs_ = 0;
  bool weighted_ = false, symmetric_ = false;
};

}  // namespace

std::function<void(const TakeRows&)> rows_in_memory(Array features) {
  const auto held = std::make_shared<const Array>(std::move(features));
  return [held](const TakeRows& take) {
    constexpr int64_t together = 1 << 16;
    const int64_t rows = held->shape[0],
                  row_bytes = static_cast<int64_t>(item_size(held->type)) * held->shape[1];
    for (int64_t v = 0; v < rows; v += together)
      take(held->bytes.data() + v * row_bytes, std::min(together, rows - v));
  };
}

StreamedDataset streamed(RawDataset set) {
  StreamedDataset out;
  const auto arcs = std::make_shared<const ArcList>(std::exchange(set.arcs, {}));
  out.each_arcs = [arcs, path = set.path](const TakeArcs& take) {
    take({*arcs, [&](size_t k) { return Where(path, fmt::format("arc {}, counted from 0", k)); }});
  };
  set.arcs.nodes = arcs->nodes;
  Array described;
  described.shape = set.features.shape;
  described.type = set.features.type;
  described.origin = set.features.origin;
  if (!set.entries) out.each_features = rows_in_memory(std::exchange(set.features, described));
  out.nodes = std::move(set);
  return out;
}

ShardSummary write_sharded(const StreamedDataset& set, const std::string& path, const ShardOptions& options) {
  if (set.nodes.format == tables_format) {
    refuse("tables have names, gaps and categories, and this format has none", set.nodes.path,
           "use the tables as they are");
  }
  if (!set.nodes.is_labelled() || set.nodes.is_regression())
    refuse("no classes or labels", set.nodes.path, "add labels: this format has classes");
  check(set.nodes);
  const int64_t n = set.nodes.nodes();
  if (n > most_nodes_of_format) {
    throw ResourceError(fmt::format("{} nodes are more than {}", n, most_nodes_of_format), path,
                        "take a part of the graph");
  }
  if (options.shards < 1 || options.shards > n) {
    throw ArgumentError("shards", fmt::format("{} shards of {}", options.shards, counted(n, "node")),
                        "give a number from 1 to the number of nodes");
  }
  if (options.memory < ShardOptions::least_memory) {
    throw ArgumentError("memory", fmt::format("{} bytes are too few to sort arcs in", options.memory),
                        fmt::format("give {} bytes or more", ShardOptions::least_memory));
  }
  const double features = set.nodes.entries
                              ? 12 * static_cast<double>(set.nodes.entries->column.size())
                              : static_cast<double>(n) * static_cast<double>(set.nodes.features.shape[1]) *
                                    static_cast<double>(item_size(set.nodes.features.type));
  require_space_for_file(path, features + 4 * static_cast<double>(n), "the data set");
  return FolderWriter(set, path, options).write();
}

namespace {

// What convert_to_shards() makes of a reader's set.
ShardSummary write_from_memory(RawDataset set, const std::string& path, const ShardOptions& options) {
  take_weights(set.arcs, options.weights, set.path);
  check(set);
  return write_sharded(streamed(std::move(set)), path, options);
}

}  // namespace

ShardSummary convert_to_shards(const std::string& dataset, const std::string& path,
                               const ShardOptions& options) {
  const Reader& reader = reader_of(dataset);
  if (reader.stream == nullptr) return write_from_memory(read_dataset_file(dataset), path, options);
  return write_sharded(reader.stream(dataset, options.weights), path, options);
}

ShardSummary convert_to_shards(const OwnGraphFiles& files, const std::string& path,
                               const ShardOptions& options) {
  return write_sharded(stream_own_graph(files, options.weights), path, options);
}

}  // namespace eignn
