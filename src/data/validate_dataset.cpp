// Validates data sets that were made in memory. Later code indexes them without checks.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <limits>
#include <set>

#include "eignn/dataset.h"
#include "eignn/error.h"

namespace eignn {

namespace {

void require(bool holds, const std::string& field, const std::string& problem, const std::string& remedy) {
  if (!holds) throw ArgumentError(field, problem, remedy);
}

std::string shape_of(const torch::Tensor& tensor) {
  return fmt::format("({})", fmt::join(tensor.sizes().vec(), ", "));
}

// Defined, on the CPU, of this type.
void check_tensor(const torch::Tensor& tensor, torch::Dtype dtype, const std::string& field) {
  require(tensor.defined(), field, "the tensor is missing", "give one");
  require(tensor.layout() == torch::kStrided, field, "the tensor is sparse", "give a dense one");
  require(tensor.device().is_cpu(), field, fmt::format("the tensor is on {}", tensor.device().str()),
          "a data set lies on the CPU");
  require(tensor.scalar_type() == dtype, field,
          fmt::format("the tensor has the type {}", c10::toString(tensor.scalar_type())),
          fmt::format("give {}", c10::toString(dtype)));
}

void check_shape(const torch::Tensor& tensor, const std::vector<int64_t>& expected, const std::string& field,
                 const char* remedy) {
  require(tensor.sizes() == torch::IntArrayRef(expected), field,
          fmt::format("the shape is {}, not ({})", shape_of(tensor), fmt::join(expected, ", ")), remedy);
}

// The index of the first true entry; -1 when there is none.
int64_t first_of(const torch::Tensor& mask) {
  const auto found = mask.flatten().nonzero();
  return found.numel() == 0 ? -1 : found[0].item<int64_t>();
}

void check_graph(const Graph& graph) {
  const char* use_from_arcs = "make it with Graph::from_arcs";
  require(graph.nodes >= 1, "graph", fmt::format("the graph has {} nodes", graph.nodes), "give at least one");
  const auto& begin = graph.row_begin;
  require(begin.size() == static_cast<size_t>(graph.nodes) + 1, "graph",
          fmt::format("row_begin has {} entries for {} nodes", begin.size(), graph.nodes), use_from_arcs);
  require(begin.front() == 0 && begin.back() == graph.arcs(), "graph",
          fmt::format("row_begin goes from {} to {}, and there are {} arcs", begin.front(), begin.back(),
                      graph.arcs()),
          use_from_arcs);
  for (int64_t v = 0; v < graph.nodes; ++v)
    require(begin[v] <= begin[v + 1], "graph", fmt::format("the row of node {} ends before it begins", v),
            use_from_arcs);
  // After the loop above all rows are known to be within `target`.
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t k = begin[v]; k < begin[v + 1]; ++k) {
      const int64_t head = graph.target[k];
      require(head >= 0 && head < graph.nodes, "graph",
              fmt::format("an arc leads from node {} to node {} of {}", v, head, graph.nodes), use_from_arcs);
      require(k == begin[v] || graph.target[k - 1] < head, "graph",
              fmt::format("the arcs of node {} are not ascending, or one comes twice", v), use_from_arcs);
    }
  require(graph.weight.empty() || graph.weight.size() == graph.target.size(), "graph",
          fmt::format("there are {} weights for {} arcs", graph.weight.size(), graph.arcs()), use_from_arcs);
  for (const double w : graph.weight)
    require(w > 0 && w <= std::numeric_limits<double>::max(), "graph",
            fmt::format("{} is no weight of an arc", w), use_from_arcs);
}

// Values of a table: NaN is a gap, and a category has positions of its words.
void check_columns(const Dataset& set) {
  std::set<std::string> names;
  for (size_t j = 0; j < set.columns.size(); ++j) {
    const FeatureColumn& column = set.columns[j];
    require(names.insert(column.name).second, "columns", fmt::format("two have the name {}", column.name),
            "give each its own");
    const auto values = set.features.select(1, static_cast<int64_t>(j));
    auto fits = torch::isfinite(values);
    if (column.is_category())
      fits = (values >= 0)
                 .logical_and(values < static_cast<double>(column.words.size()))
                 .logical_and(values == values.floor());
    const int64_t bad = first_of(fits.logical_or(torch::isnan(values)).logical_not());
    require(bad < 0, "features",
            fmt::format("{} of node {} is no {}", column.name, bad,
                        column.is_category() ? "word of the category" : "finite number"),
            "give NaN for a gap");
  }
}

void check_features(const Dataset& set) {
  check_tensor(set.features.defined() && set.features.is_sparse() && set.features.is_coalesced()
                   ? set.features.values()
                   : set.features,
               torch::kFloat64, "features");
  require(set.features.dim() == 2 && set.features.size(0) == set.nodes(), "features",
          fmt::format("the shape is {}, and the graph has {} nodes", shape_of(set.features), set.nodes()),
          "give one row per node");
  const int64_t columns = set.features.size(1);
  require(columns >= 1, "features", "there are no columns", "give at least one feature");
  require(set.columns.empty() || static_cast<int64_t>(set.columns.size()) == columns, "columns",
          fmt::format("there are {} for {} features", set.columns.size(), columns), "describe each feature");
  if (!set.columns.empty() && !set.transform) {
    require(!set.features.is_sparse(), "features", "the columns of a table are a sparse tensor",
            "give a dense one");
    return check_columns(set);
  }
  if (set.features.is_sparse()) {
    require(torch::isfinite(set.features.values()).all().item<bool>(), "features",
            "a feature is not a finite number", "clean the data first");
    return;
  }
  const int64_t bad = first_of(torch::isfinite(set.features).logical_not());
  if (bad >= 0)
    throw ArgumentError(
        "features", fmt::format("feature {} of node {} is not a finite number", bad % columns, bad / columns),
        "clean the data first");
}

void check_labels(const Dataset& set) {
  if (!set.labels.defined() && !set.known.defined() && set.splits.empty()) return;  // to be predicted
  const int64_t n = set.nodes(), classes = set.classes;
  require(classes >= 1, "classes", fmt::format("there are {} classes", classes), "give at least one");
  check_tensor(set.known, torch::kBool, "known");
  check_shape(set.known, {n}, "known", "give one entry per node");
  require(set.labels.defined(), "labels", "the tensor is missing", "give one");
  if (set.multi_label()) {
    check_tensor(set.labels, torch::kUInt8, "labels");
    check_shape(set.labels, {n, classes}, "labels", "give one row per node and one column per class");
    const int64_t bad = first_of(set.labels > 1);
    require(bad < 0, "labels", fmt::format("label {} of node {} is not 0 or 1", bad % classes, bad / classes),
            "use 0 and 1");
    return;
  }
  if (set.is_regression()) {
    check_tensor(set.labels, torch::kFloat64, "labels");
    check_shape(set.labels, {n, classes}, "labels", "give one row per node and one column per number");
    const int64_t bad =
        first_of(torch::isfinite(set.labels).all(1).logical_or(set.known.logical_not()).logical_not());
    require(bad < 0, "labels", fmt::format("node {} is marked as known and has no finite label", bad),
            "give its numbers");
    return;
  }
  check_tensor(set.labels, torch::kInt64, "labels");
  check_shape(set.labels, {n}, "labels", "give one label per node");
  const int64_t bad = first_of((set.labels < -1).logical_or(set.labels >= classes));
  require(bad < 0, "labels", fmt::format("node {} has a label that is none of the {} classes", bad, classes),
          fmt::format("use 0 to {}, or -1 where it is not known", classes - 1));
  const int64_t empty = first_of(set.known.logical_and(set.labels < 0));
  require(empty < 0, "known", fmt::format("node {} is marked as known and has the label -1", empty),
          "give its label");
}

void check_graphs(const Dataset& set) {
  if (set.graph_of.empty()) return;
  const int64_t n = set.nodes();
  require(static_cast<int64_t>(set.graph_of.size()) == n, "graph_of",
          fmt::format("there are {} entries for {} nodes", set.graph_of.size(), n), "give one per node");
  for (int64_t v = 0; v < n; ++v)
    require(set.graph_of[v] >= 0 && set.graph_of[v] < n, "graph_of",
            fmt::format("node {} is of graph {}", v, set.graph_of[v]), "number the graphs from 0");
  if (set.reduction) return;  // parts of a graph, which arcs may join
  for (int64_t v = 0; v < n; ++v)
    for (int64_t k = set.graph.row_begin[v]; k < set.graph.row_begin[v + 1]; ++k)
      require(set.graph_of[v] == set.graph_of[set.graph.target[k]], "graph_of",
              fmt::format("an arc joins node {} of graph {} and node {} of graph {}", v, set.graph_of[v],
                          set.graph.target[k], set.graph_of[set.graph.target[k]]),
              "keep the graphs apart");
}

void check_split(const Dataset& set, size_t number) {
  const Split& split = set.splits[number];
  auto taken = torch::zeros({set.nodes()}, torch::kBool);
  for (const auto& [part, nodes] : {std::pair<const char*, const torch::Tensor*>{"train", &split.train},
                                    {"val", &split.val},
                                    {"test", &split.test}}) {
    const std::string field = fmt::format("splits[{}].{}", number, part);
    check_tensor(*nodes, torch::kInt64, field);
    require(nodes->dim() == 1, field, fmt::format("the shape is {}", shape_of(*nodes)), "give node indices");
    require(nodes->numel() > 0, field, "no node is in it", "each part needs one");
    const int64_t bad = first_of((*nodes < 0).logical_or(*nodes >= set.nodes()));
    require(bad < 0, field, fmt::format("entry {} is none of the {} nodes", bad, set.nodes()),
            fmt::format("use indices >= 0 and < {}", set.nodes()));
    const int64_t unlabelled = first_of(set.known.index_select(0, *nodes).logical_not());
    require(unlabelled < 0, field, fmt::format("the node of entry {} has no known label", unlabelled),
            "leave it out");
    const int64_t again = first_of(taken.index_select(0, *nodes));
    require(again < 0, field, fmt::format("the node of entry {} is in another part too", again),
            "put each node into one part");
    taken.index_fill_(0, *nodes, true);
    require(std::get<0>(at::_unique(*nodes)).numel() == nodes->numel(), field, "a node comes twice",
            "give each node once");
  }
}

}  // namespace

void validate(const Dataset& dataset) {
  check_graph(dataset.graph);
  check_features(dataset);
  check_labels(dataset);
  check_graphs(dataset);
  for (size_t k = 0; k < dataset.splits.size(); ++k) check_split(dataset, k);
  require(dataset.node_names.empty() || static_cast<int64_t>(dataset.node_names.size()) == dataset.nodes(),
          "node_names", fmt::format("there are {} for {} nodes", dataset.node_names.size(), dataset.nodes()),
          "give one per node, or none");
  require(dataset.class_names.empty() || static_cast<int64_t>(dataset.class_names.size()) == dataset.classes,
          "class_names",
          fmt::format("there are {} for {} classes", dataset.class_names.size(), dataset.classes),
          "give one per class, or none");
  require(dataset.distance.empty() || static_cast<int64_t>(dataset.distance.size()) == dataset.nodes(),
          "distance",
          fmt::format("there are {} entries for {} nodes", dataset.distance.size(), dataset.nodes()),
          "give one per node, or none");
}

}  // namespace eignn
