#include "report/graph_view.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "data/atomic_file.h"
#include "data/csv.h"
#include "eignn/error.h"
#include "eignn/explain.h"
#include "equilibrium/spectral/spectrum.h"
#include "train/assemble.h"

namespace eignn {

namespace {

constexpr size_t shown_classes = 5;  // a node's likeliest ones

// predictions.csv, for the nodes that are shown.
struct PredictionTable {
  std::vector<std::string> name, part, label, predicted;
  std::vector<std::vector<std::pair<size_t, double>>> likeliest;  // class and probability
  std::vector<std::string> classes;                               // of the columns of probabilities
};

// `place` has for each node where it is shown; -1: it is not.
PredictionTable read_predictions(const std::string& path, const std::vector<int64_t>& place, size_t shown) {
  const std::string text = read_whole_file(path);
  CsvReader rows(text, path);
  const size_t name = rows.need("node"), part = rows.need("split"), label = rows.need("label"),
               predicted = rows.need("predicted");
  PredictionTable out;
  std::vector<size_t> columns;
  for (size_t c = predicted + 1; c < rows.names().size(); ++c) {
    const std::string& column = rows.names()[c];
    if (column.rfind("predicted", 0) == 0 || column.empty() || column[0] != 'p') break;
    columns.push_back(c);
    out.classes.push_back(column.rfind("p_", 0) == 0 ? column.substr(2) : column.substr(1));
  }
  for (auto* list : {&out.name, &out.part, &out.label, &out.predicted}) list->resize(shown);
  out.likeliest.resize(shown);
  size_t node = 0;
  for (; rows.next(); ++node) {
    if (node >= place.size() || place[node] < 0) continue;
    const auto at = static_cast<size_t>(place[node]);
    out.name[at] = rows.field(name);
    out.part[at] = rows.field(part);
    out.label[at] = rows.field(label);
    out.predicted[at] = rows.field(predicted);
    auto& likeliest = out.likeliest[at];
    for (size_t k = 0; k < columns.size(); ++k) likeliest.emplace_back(k, rows.number(columns[k]));
    const size_t kept = std::min(shown_classes, likeliest.size());
    std::partial_sort(likeliest.begin(), likeliest.begin() + static_cast<std::ptrdiff_t>(kept),
                      likeliest.end(), [](const auto& a, const auto& b) {
                        return a.second != b.second ? a.second > b.second : a.first < b.first;
                      });
    likeliest.resize(kept);
  }
  if (node != place.size())
    throw DataError(path, "", fmt::format("it has {} nodes, and the data have {}", node, place.size()),
                    "name the data of the run, or leave the graph out");
  return out;
}

int64_t busiest_node(const Graph& undirected) {
  int64_t best = 0;
  const auto degree = [&](int64_t v) { return undirected.row_begin[v + 1] - undirected.row_begin[v]; };
  for (int64_t v = 1; v < undirected.nodes; ++v)
    if (degree(v) > degree(best)) best = v;
  return best;
}

// The eigenvalues of S in equal bins of [-1, 1]; null where they are not real or take too long.
ResultJson spectrum_json(const Dataset& data, const TrainConfig& config, int64_t largest) {
  if (!config.is_eignn() || data.reduction) return {};
  const auto members = weak_components(data.graph).members();
  for (const auto& component : members)
    if (static_cast<int64_t>(component.size()) > largest) return {};
  const Propagation S = make_propagation(data, config);
  if (!S.symmetric) return {};
  const auto lambda = Spectrum(S, torch::kFloat64, torch::kCPU, nullptr).lambda.contiguous();
  constexpr size_t bins = 80;
  std::array<int64_t, bins> count = {};
  const double* value = lambda.data_ptr<double>();
  for (int64_t i = 0; i < lambda.numel(); ++i) {
    const double at = std::floor((value[i] + 1) / 2 * bins);
    ++count[static_cast<size_t>(std::clamp(at, 0.0, bins - 1.0))];
  }
  return {{"from", -1.0},
          {"to", 1.0},
          {"counts", count},
          {"min", lambda.min().item<double>()},
          {"max", lambda.max().item<double>()}};
}

}  // namespace

std::vector<int64_t> nearest_nodes(const Graph& undirected, int64_t node, int64_t count) {
  std::vector<int64_t> order = {node};
  std::vector<bool> seen(static_cast<size_t>(undirected.nodes), false);
  seen[static_cast<size_t>(node)] = true;
  for (size_t at = 0; at < order.size() && static_cast<int64_t>(order.size()) < count; ++at)
    for (int64_t e = undirected.row_begin[order[at]];
         e < undirected.row_begin[order[at] + 1] && static_cast<int64_t>(order.size()) < count; ++e) {
      const int64_t next = undirected.target[e];
      if (seen[static_cast<size_t>(next)]) continue;
      seen[static_cast<size_t>(next)] = true;
      order.push_back(next);
    }
  return order;
}

ResultJson graph_view(const CollectedRun& run, const Dataset& raw, const GraphViewOptions& options) {
  const Graph undirected = raw.graph.symmetrised();
  const int64_t n = undirected.nodes;
  const bool whole = n <= options.whole;
  std::vector<int64_t> nodes(static_cast<size_t>(n));
  std::iota(nodes.begin(), nodes.end(), 0);
  int64_t middle = -1;
  if (!options.node.empty()) middle = find_node(raw, options.node);
  if (!whole) {
    if (middle < 0) middle = busiest_node(undirected);
    nodes = nearest_nodes(undirected, middle, options.neighbourhood);
  }
  std::vector<int64_t> place(static_cast<size_t>(n), -1);
  for (size_t i = 0; i < nodes.size(); ++i) place[static_cast<size_t>(nodes[i])] = static_cast<int64_t>(i);
  ResultJson edges = ResultJson::array();
  for (const int64_t v : nodes)
    for (int64_t e = undirected.row_begin[v]; e < undirected.row_begin[v + 1]; ++e) {
      const int64_t u = undirected.target[e];
      if (u <= v || place[static_cast<size_t>(u)] < 0) continue;
      edges.push_back(place[static_cast<size_t>(v)]);
      edges.push_back(place[static_cast<size_t>(u)]);
    }
  PredictionTable table = read_predictions(run.folder + "/predictions.csv", place, nodes.size());
  ResultJson likeliest = ResultJson::array();
  for (const auto& row : table.likeliest) {
    ResultJson flat = ResultJson::array();
    for (const auto& [k, p] : row) {
      flat.push_back(k);
      flat.push_back(std::round(p * 1e4) / 1e4);
    }
    likeliest.push_back(std::move(flat));
  }
  return {{"run", run.name},
          {"dataset", run.result.config.dataset},
          {"task", raw.is_regression() ? "regression"
                   : raw.multi_label() ? "labels"
                                       : "classes"},
          {"nodes", n},
          {"edges_in_all", undirected.undirected_edges()},
          {"whole", whole},
          {"middle", middle < 0 ? ResultJson() : ResultJson(place[static_cast<size_t>(middle)])},
          {"names", std::move(table.name)},
          {"part", std::move(table.part)},
          {"label", std::move(table.label)},
          {"predicted", std::move(table.predicted)},
          {"classes", std::move(table.classes)},
          {"likeliest", std::move(likeliest)},
          {"edges", std::move(edges)},
          {"spectrum", spectrum_json(raw, run.result.config, options.largest_decomposed)}};
}

}  // namespace eignn
