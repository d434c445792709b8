// A data set of which no process reads more than its own rows.
#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>
#include <numeric>

#include "data/sharded_folder.h"
#include "data/sparse_tensor.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "train/assemble.h"
#include "train/feature_transform.h"
#include "train/metrics.h"
#include "train/spread.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {

ArcEnds ends_of(RowEnds ends) {
  return ends == RowEnds::out ? ArcEnds::out : ends == RowEnds::in ? ArcEnds::in : ArcEnds::both;
}

class RowsInShards : public RowSource {
 public:
  RowsInShards(const ShardedFolder& folder, bool weighted) : folder_(folder), weighted_(weighted) {}

  int64_t nodes() const override { return folder_.nodes(); }
  bool weighted() const override { return weighted_; }
  bool symmetric() const override { return folder_.header().symmetric; }
  RowsOfGraph rows(int64_t first, int64_t last, RowEnds ends) const override {
    GraphRows rows = folder_.rows(first, last, ends_of(ends));
    folder_.forget(first, last);
    if (!weighted_) rows.weight.clear();
    return {first, std::move(rows.begin), std::move(rows.target), std::move(rows.weight)};
  }
  std::vector<int64_t> equal_parts(int64_t parts) const override { return folder_.equal_parts(parts); }

 private:
  const ShardedFolder& folder_;
  bool weighted_;
};

// Those of the labelled nodes, by their numbers here.
torch::Tensor labelled(const std::vector<int64_t>& nodes, int64_t first, const torch::Tensor& known) {
  const auto index = torch::tensor(nodes, torch::kInt64) - first;
  return index.masked_select(known.index_select(0, index)).contiguous();
}

void read_labels(const ShardedFolder& folder, int64_t first, int64_t last, Dataset& here) {
  const ShardHeader& header = folder.header();
  here.classes = header.classes;
  if (header.classes == 0) {
    here.why_unlabelled = "the shards have no labels";
    return;
  }
  if (header.label_sets) {
    here.labels =
        torch::tensor(folder.label_sets(first, last), torch::kUInt8).view({last - first, header.classes});
    const auto known = folder.labels_known(first, last);
    here.known = known.empty() ? torch::ones({last - first}, torch::kBool)
                               : torch::tensor(known, torch::kUInt8).to(torch::kBool);
  } else {
    here.labels = torch::tensor(folder.labels(first, last), torch::kInt64);
    here.known = here.labels >= 0;
  }
}

// Fitted on the training nodes of all processes, as one process would.
std::shared_ptr<const FeatureTransform> fitted(const Dataset& here, const torch::Tensor& train,
                                               FeatureNorm norm, const Ranks& ranks) {
  Dataset rows;
  rows.name = here.name;
  rows.features = here.features;
  if (!FeatureTransform::depends_on_training(here, norm))
    return std::make_shared<FeatureTransform>(FeatureTransform::fit(rows, {}, norm));
  rows.features =
      ranks.rows_everywhere(dense_matrix(here.features, "the scaling of each column").index_select(0, train));
  rows.graph = Graph::from_arcs(rows.features.size(0), {}, {});
  return std::make_shared<FeatureTransform>(
      FeatureTransform::fit(rows, torch::arange(rows.features.size(0)), norm));
}

Metric metric_of(const Dataset& here, const TrainConfig& c, const Ranks& ranks) {
  if (c.metric != Metric::automatic || here.multi_label() || here.classes != 2 || !here.labels.defined())
    return resolved_metric(c.metric, here);
  const double known = ranks.sum(here.known.sum().item<double>()),
               first = ranks.sum(here.labels.eq(0).sum().item<double>());
  return is_unbalanced(known, first) ? Metric::roc_auc : Metric::accuracy;
}

}  // namespace

SpreadGraph open_graph(const TrainConfig& c) {
  SpreadGraph out;
  out.in_shards = std::filesystem::exists(c.dataset + "/shards.toml");
  if (out.in_shards) {
    const auto folder = std::make_shared<ShardedFolder>(c.dataset);
    const ShardHeader& header = folder->header();
    const bool weighted = header.weighted && c.edge_weights != EdgeWeights::ignore;
    out.name = name_of_path(c.dataset);
    out.entries = folder->arcs_before(header.nodes, ArcEnds::both) + header.nodes;
    out.features = header.features;
    out.rows = std::make_unique<RowsInShards>(*folder, weighted);
    out.owner = folder;
    return out;
  }
  const auto data = std::make_shared<Dataset>(load_dataset(c));
  out.name = data->name;
  out.entries = data->graph.symmetrised().arcs() + data->nodes();
  out.features = data->feature_count();
  out.graphs = data->graphs();
  out.rows = rows_in_memory(data->graph);
  out.owner = data;
  return out;
}

std::optional<Dataset> spread_from_shards(const TrainConfig& c, const SpreadOptions& options,
                                          const ShardReading& reading) {
  const Ranks& ranks = options.ranks;
  const std::string header_path = c.dataset + "/shards.toml";
  if (!ranks.of_first(static_cast<double>(std::filesystem::exists(header_path)))) return {};
  const ShardedFolder folder(c.dataset);
  const ShardHeader& header = folder.header();
  require_alike(ranks, c.dataset, header.content, "the processes have read different data",
                "give all of them the same files");
  require_spreadable(c, header.features);
  if (header.several_graphs) {
    throw ArgumentError(
        "dataset",
        fmt::format("{} has several graphs, which are dealt whole, and shards cut them", c.dataset),
        "give the data as they were before the conversion");
  }
  if (options.order != NodeOrder::given) {
    throw ArgumentError("order", "the nodes of shards, of which no process has all, keep their order",
                        "leave it out, or bring the data into that order before they are converted");
  }
  if (c.structure)
    throw ArgumentError("structure", "features of the graph cannot be spread over processes", "leave it off");
  if (reading.for_training && header.splits == 0) {
    throw DataError(c.dataset, "splits", "the shards have no split, and drawing one takes all labels",
                    "give splits to the data before they are converted");
  }
  const bool weighted = header.weighted && c.edge_weights != EdgeWeights::ignore;
  const RowsInShards graph(folder, weighted);
  const Grid grid =
      spread_grid(static_cast<double>(header.nodes),
                  static_cast<double>(folder.arcs_before(header.nodes, ArcEnds::both) + header.nodes),
                  header.features, weighted, c, options);
  const NodeRanges ranges = spread_rows(graph, grid);
  auto out = std::make_shared<Spread>(options);
  const auto rank = static_cast<size_t>(ranks.rank());
  const int64_t first = ranges.first_of_process[rank], last = ranges.first_of_process[rank + 1];
  out->own = OwnNodes(first, last);
  out->nodes = header.nodes;
  out->runs = runs_of(ranges);
  PropagationOptions propagation = c.propagation;
  if (weighted) {
    propagation.weight_scale = out->weight_scale =
        c.propagation.weight_scale > 0 ? c.propagation.weight_scale
                                       : mean_weight(ranks, graph.rows(first, last, RowEnds::out));
  }
  out->S = distributed_operator(ranks, graph, ranges, propagation, torch_dtype(c.dtype));

  Dataset here;
  here.name = name_of_path(c.dataset);
  here.format = "sharded";
  here.graph = Graph::from_arcs(last - first, {}, {});
  here.arcs_in_file = header.arcs_in_file;
  here.first_node = first;
  if (auto entries = folder.feature_entries(first, last)) {
    here.features = sparse_tensor(*entries, {last - first, header.features});
  } else {
    here.features = to_tensor(folder.features(first, last)).to(torch::kFloat64);
  }
  folder.forget(first, last);
  read_labels(folder, first, last, here);
  if (here.labels.defined()) {
    for (const NodeSplit& split : folder.splits(first, last)) {
      here.splits.push_back({labelled(split.train, first, here.known), labelled(split.val, first, here.known),
                             labelled(split.test, first, here.known)});
      const auto counts = ranks.all(here.splits.back().train.numel());
      const int64_t before = std::accumulate(counts.begin(), counts.begin() + ranks.rank(), int64_t{0});
      out->train_places.push_back(torch::arange(before, before + here.splits.back().train.numel()));
      for (const auto& [part, name] : {std::pair(here.splits.back().train, "train"),
                                       {here.splits.back().val, "val"},
                                       {here.splits.back().test, "test"}}) {
        if (reading.for_training && ranks.sum(part.numel()) == 0)
          throw DataError(c.dataset, "", fmt::format("no node of {} has a label", name), "label some");
      }
    }
  }
  out->metric = here.labels.defined() ? metric_of(here, c, ranks) : Metric::accuracy;
  const size_t split = c.split.empty() || c.split == "all" ? 0 : std::stoul(c.split);
  if (reading.trained != nullptr) {
    here.transform = std::make_shared<FeatureTransform>(*reading.trained);
  } else {
    here.transform = fitted(
        here,
        here.splits.empty() ? torch::Tensor() : here.splits.at(std::min(split, here.splits.size() - 1)).train,
        c.feature_norm, ranks);
  }
  here.features = here.transform->apply(here);
  here.spread = std::move(out);
  return here;
}

}  // namespace eignn
