// load_dataset(): finds a data set by name or path, and turns what its reader returns into tensors.
#include "eignn/dataset.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "data/catalogue.h"
#include "data/random_split.h"
#include "data/readers.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"

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

Dataset to_dataset(const RawDataset& file, uint64_t seed) {
  Dataset set;
  set.name = file.name;
  set.format = file.format;
  set.graph = Graph::from_arcs(file.nodes(), file.arcs.source, file.arcs.target);
  set.arcs_in_file = static_cast<int64_t>(file.arcs.source.size());
  set.features = to_tensor(file.features).to(torch::kFloat64);
  set.classes = file.classes;
  set.graph_of = file.graph_of;
  if (file.multi_label()) {
    set.labels = torch::tensor(file.label_sets, torch::kUInt8).view({file.nodes(), file.classes});
    set.known = file.known.empty() ? torch::ones({file.nodes()}, torch::kBool)
                                   : torch::tensor(file.known, torch::kUInt8).to(torch::kBool);
  } else {
    set.labels = index_of(file.labels);
    set.known = set.labels >= 0;
  }
  for (const NodeSplit& split : file.splits)
    set.splits.push_back({labelled(split.train, set.known, "train", file.path),
                          labelled(split.val, set.known, "val", file.path),
                          labelled(split.test, set.known, "test", file.path)});
  if (set.splits.empty()) {
    set.splits.push_back(random_split(set, seed));
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

std::vector<std::vector<int64_t>> Dataset::members() const {
  std::vector<std::vector<int64_t>> out(graphs());
  for (int64_t v = 0; v < nodes(); ++v) out[graph_of.empty() ? 0 : graph_of[v]].push_back(v);
  return out;
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
                     const DataFolders& folders) {
  if (name == "chains") return chains_dataset(chains, seed);
  if (name == "karate") return karate_dataset(seed);
  if (is_dataset_name(name)) {
    Dataset set = to_dataset(read_dataset_file(require_named_set(name, folders.search)), seed);
    set.name = name;
    return set;
  }
  if (!is_dataset_path(name)) throw unknown_name("data set", "dataset", name, dataset_names());
  return to_dataset(read_dataset_file(name), seed);
}

}  // namespace eignn
