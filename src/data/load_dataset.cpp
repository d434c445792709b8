// load_dataset(): finds a data set by name or path, and turns what its reader returns into tensors.
#include "eignn/dataset.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "data/catalogue.h"
#include "data/edge_weights.h"
#include "data/random_split.h"
#include "data/readers.h"
#include "data/sparse_tensor.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "graph/structural_features.h"

namespace eignn {

namespace {

torch::Tensor index_of(const std::vector<int64_t>& nodes) {
  return torch::tensor(nodes, torch::kInt64);
}

// Keeps the labelled nodes: others can be neither trained on nor evaluated.
torch::Tensor labelled(const std::vector<int64_t>& nodes, const torch::Tensor& known, const char* part,
                       const std::string& path) {
  const auto index = index_of(nodes);
  const auto kept = index.masked_select(known.index_select(0, index));
  if (kept.numel() == 0)
    throw DataError(path, {}, fmt::format("no node of {} has a label", part), "label some");
  return kept;
}

// Features of a table, or of the graph where the table has none.
void take_features(const RawDataset& file, Dataset& set) {
  set.features = file.entries ? sparse_tensor(*file.entries, file.features.shape)
                              : to_tensor(file.features).to(torch::kFloat64);
  set.columns = file.columns;
  if (file.features.shape[1] > 0) return;
  add_structural_features(set);
}

// Whether each part has a labelled node.
bool is_labelled(const NodeSplit& split, const torch::Tensor& known) {
  const auto any = [&](const std::vector<int64_t>& nodes) {
    return known.index_select(0, index_of(nodes)).any().item<bool>();
  };
  return any(split.train) && any(split.val) && any(split.test);
}

Dataset to_dataset(RawDataset file, uint64_t seed, const TableOptions& tables) {
  take_weights(file.arcs, tables.edge_weights, file.path);
  Dataset set;
  set.name = file.name;
  set.format = file.format;
  set.graph = Graph::from_arcs(file.nodes(), file.arcs.source, file.arcs.target, file.arcs.weight);
  set.arcs_in_file = file.arcs.counted_in_file();
  // The list of the arcs takes four times the memory of the graph.
  ArcList without_arcs;
  without_arcs.nodes = file.nodes();
  file.arcs = std::move(without_arcs);
  set.report = std::move(file.report);
  set.node_names = std::move(file.node_names);
  set.class_names = std::move(file.class_names);
  set.why_unlabelled = file.why_unlabelled;
  take_features(file, set);
  set.classes = file.classes;
  set.graph_of = file.graph_of;
  if (!file.is_labelled()) return set;
  if (file.is_regression()) {
    set.labels = torch::tensor(file.targets, torch::kFloat64).view({file.nodes(), file.classes});
    set.known = torch::isfinite(set.labels).all(1);
  } else if (file.multi_label()) {
    set.labels = torch::tensor(file.label_sets, torch::kUInt8).view({file.nodes(), file.classes});
    set.known = file.known.empty() ? torch::ones({file.nodes()}, torch::kBool)
                                   : torch::tensor(file.known, torch::kUInt8).to(torch::kBool);
  } else {
    set.labels = index_of(file.labels);
    set.known = set.labels >= 0;
  }
  // What is read for a model that is trained needs no split.
  const bool for_a_model = !tables.trained_columns.empty();
  for (const NodeSplit& split : file.splits) {
    if (for_a_model && !is_labelled(split, set.known)) continue;
    set.splits.push_back({labelled(split.train, set.known, "train", file.path),
                          labelled(split.val, set.known, "val", file.path),
                          labelled(split.test, set.known, "test", file.path)});
  }
  if (set.splits.empty()) {
    // A table with few labels may be there to be predicted; training then says what is missing.
    try {
      set.splits.push_back(random_split(set, seed));
    } catch (const DataError&) {
      if (file.format != tables_format) throw;
      return set;
    }
    set.drawn_split = true;
  }
  return set;
}

const std::vector<std::string>& built_in_names() {
  static const std::vector<std::string> names = {"chains", "karate"};
  return names;
}

}  // namespace

int64_t Dataset::graphs() const {
  return graph_of.empty() ? 1 : *std::max_element(graph_of.begin(), graph_of.end()) + 1;
}

std::string Dataset::node_name(int64_t node) const {
  return node_names.empty() ? std::to_string(first_node + node) : node_names.at(node);
}

std::string Dataset::class_name(int64_t k) const {
  return class_names.empty() ? std::to_string(k) : class_names.at(k);
}

std::string Dataset::feature_name(int64_t column) const {
  if (column >= feature_count()) return "label " + class_name(column - feature_count());
  return columns.empty() ? std::to_string(column) : columns.at(column).name;
}

std::vector<std::vector<int64_t>> Dataset::members() const {
  std::vector<std::vector<int64_t>> out(graphs());
  for (int64_t v = 0; v < nodes(); ++v) out[graph_of.empty() ? 0 : graph_of[v]].push_back(v);
  return out;
}

void add_structural_features(Dataset& set) {
  const StructuralFeatures more = structural_features(set.graph);
  const auto width = static_cast<int64_t>(more.names.size());
  const auto added = torch::tensor(more.values, torch::kFloat64).view({set.nodes(), width});
  if (set.columns.empty())
    for (int64_t j = 0; j < set.features.size(1); ++j) set.columns.push_back({std::to_string(j), {}});
  set.features = torch::cat({dense_matrix(set.features, "structure"), added}, 1);
  for (const std::string& name : more.names) {
    set.columns.push_back({name, {}});
    set.report.push_back({"", name, ColumnRole::numbers, 0, "of the graph itself", ""});
  }
}

int64_t structural_feature_count(const Dataset& set) {
  return std::count_if(set.report.begin(), set.report.end(), [](const ColumnReport& row) {
    return row.file.empty() && row.role == ColumnRole::numbers;
  });
}

const std::vector<std::string>& dataset_names() {
  static const std::vector<std::string> names = [] {
    auto all = built_in_names();
    for (const auto& name : catalogue_names()) all.push_back(name);
    return all;
  }();
  return names;
}

bool is_dataset_name(const std::string& name) {
  const auto& names = dataset_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

DataFolders DataFolders::from_environment() {
  return {data_folders()};
}

Dataset load_dataset(const std::string& name, const ChainsOptions& chains, uint64_t seed,
                     const DataFolders& folders, const TableOptions& tables) {
  const auto& built_in = built_in_names();
  if (tables.edge_weights == EdgeWeights::use &&
      std::find(built_in.begin(), built_in.end(), name) != built_in.end())
    throw ArgumentError("edge-weights", fmt::format("the arcs of {} have no weights", name), "leave it out");
  if (name == "chains") return chains_dataset(chains, seed);
  if (name == "karate") return karate_dataset(seed);
  if (is_dataset_name(name)) {
    Dataset set =
        to_dataset(read_dataset_file(require_named_set(name, folders.search), tables), seed, tables);
    set.name = name;
    return set;
  }
  if (!is_dataset_path(name)) throw unknown_name("data set", "dataset", name, dataset_names());
  return to_dataset(read_dataset_file(name, tables), seed, tables);
}

}  // namespace eignn
