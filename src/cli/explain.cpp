#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <optional>
#include <utility>

#include "cli/cluster.h"
#include "cli/flags.h"
#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "equilibrium/stopwatch.h"
#include "explain/explainer.h"
#include "report/explanation_files.h"
#include "report/line_plot.h"
#include "report/table.h"
#include "run/child_process.h"
#include "run/provenance.h"
#include "run/restored_run.h"
#include "run/training_record.h"

namespace eignn::cli {

namespace {

// What is shown of a list: `top` of it, or all where that is 0.
size_t shown(const ExplainFlags& flags, size_t all) {
  return flags.top == 0 ? all : std::min(all, static_cast<size_t>(flags.top));
}

std::string signed_number(double x) {
  return x == 0 ? "0" : fmt::format("{:+.4g}", x);
}

std::string times_power(int64_t exponent) {
  return exponent == 0 ? "" : fmt::format(", all numbers times 2^{}", exponent);
}

Json begin_json(const ExplainFlags& flags, const RestoredRun& restored) {
  return {{"checkpoint", flags.checkpoint},
          {"dataset", restored.config.dataset},
          {"model", name(restored.config.model)},
          {"solver", restored.model->solver_name()}};
}

void end_json(Json& json) {
  json["version"] = version();
  json["commit"] = built_commit();
  print_json(json);
}

// ---- one score

Json explanation_json(const ExplainFlags& flags, const RestoredRun& restored, const Explanation& why) {
  Json json = begin_json(flags, restored);
  json.update(eignn::explanation_json(why, restored.named(), static_cast<size_t>(flags.top)));
  return json;
}

// The rest of a list that is not shown, as its last row.
template <class Part>
double rest_of(const std::vector<Part>& parts, size_t from) {
  double sum = 0;
  for (size_t t = from; t < parts.size(); ++t) sum += parts[t].contribution;
  return sum;
}

void print_explanation(const ExplainFlags& flags, const RestoredRun& restored, const Explanation& why) {
  const Dataset& data = restored.named();
  fmt::print("{} of {}, node {}, {} {}{}: score {:.6g} = {:.6g} constant {:+.6g} of {}{}\n",
             name(restored.config.model), restored.config.dataset, data.node_name(why.node),
             data.is_regression() ? "target" : "class", data.class_name(why.class_number),
             why.predicted && !data.is_regression() ? " (predicted)" : "", why.score, why.constant,
             why.sum - why.constant, counted(static_cast<int64_t>(why.nodes.size()), "node"),
             times_power(why.exponent));
  switch (why.kind) {
    case ContributionKind::exact:
      fmt::print("exact: without a node's features the score has its contribution less; remainder {:.1e}\n",
                 why.remainder);
      break;
    case ContributionKind::normalised:
      fmt::print(
          "additive but not exact: all are divided by the norm of z, which depends on them too; "
          "remainder {:.1e}\n",
          why.remainder);
      break;
    case ContributionKind::first_order:
      fmt::print("first-order: gradient times input; what is not linear remains: {:.4g}\n", why.remainder);
      break;
  }
  const size_t nodes = shown(flags, why.nodes.size()), features = shown(flags, why.features.size());
  std::vector<std::vector<std::string>> rows;
  for (size_t t = 0; t < nodes; ++t)
    rows.push_back({data.node_name(why.nodes[t].node),
                    why.nodes[t].hops < 0 ? "-" : std::to_string(why.nodes[t].hops),
                    signed_number(why.nodes[t].contribution)});
  if (nodes < why.nodes.size())
    rows.push_back(
        {fmt::format("{} others", why.nodes.size() - nodes), "", signed_number(rest_of(why.nodes, nodes))});
  fmt::print("\n{}", format_table({"node", "hops", "contribution"}, rows));
  rows.clear();
  for (const HopContribution& hop : why.by_hop)
    rows.push_back({hop.hops < 0 ? "no path" : std::to_string(hop.hops), std::to_string(hop.nodes),
                    signed_number(hop.contribution), signed_number(hop.raising),
                    signed_number(hop.lowering)});
  // Distances that gave nothing visible are left out at the far end.
  size_t last = why.by_hop.size();
  double size = 0;
  for (const HopContribution& hop : why.by_hop) size += hop.raising - hop.lowering;
  while (last > 1 && why.by_hop[last - 1].raising - why.by_hop[last - 1].lowering <= 1e-9 * size) --last;
  const size_t beyond = rows.size() - last;
  rows.resize(last);
  fmt::print("\n{}", format_table({"hops", "nodes", "contribution", "raising", "lowering"}, rows));
  if (beyond > 0) fmt::print("{} distances beyond these give less than a billionth of it\n", beyond);
  rows.clear();
  for (size_t t = 0; t < features; ++t)
    rows.push_back({data.feature_name(why.features[t].feature), signed_number(why.features[t].contribution)});
  if (features < why.features.size())
    rows.push_back({fmt::format("{} others", why.features.size() - features),
                    signed_number(rest_of(why.features, features))});
  fmt::print("\n{}", format_table({"feature", "contribution"}, rows));
  if (why.kind != ContributionKind::first_order && std::abs(why.features_remainder) > 1e-6 * size)
    fmt::print("features are first-order behind this encoder; what is not linear in them remains: {:.4g}\n",
               why.features_remainder);
}

void explain_node(const ExplainFlags& flags, const RestoredRun& restored, Explainer& explainer, int64_t node,
                  std::optional<int64_t> class_number) {
  const Stopwatch watch;
  const Explanation why = explainer.explain(node, class_number, {flags.raw_units});
  const double seconds = watch.seconds();
  if (!restored.is_first()) return;
  if (ends_with(flags.out, ".csv")) {
    write_file_atomically(flags.out, explanation_csv(why, restored.named()));
  } else if (!flags.out.empty()) {
    std::vector<int64_t> largest;
    for (size_t t = 0; t < shown(flags, why.nodes.size()); ++t) largest.push_back(why.nodes[t].node);
    ExplanationPicture picture{
        why, restored.dataset, explainer.on_paths(largest, node), {}, explainer.directed()};
    picture.arcs = explainer.arcs_among(picture.nodes);
    write_file_atomically(
        flags.out, ends_with(flags.out, ".dot") ? explanation_dot(picture) : explanation_graphml(picture));
  }
  if (flags.json) {
    Json json = explanation_json(flags, restored, why);
    json["seconds"] = seconds;  // of the explanation alone, without reading model and data
    return end_json(json);
  }
  print_explanation(flags, restored, why);
  if (!flags.out.empty()) fmt::print("written to {}\n", flags.out);
}

// ---- edges

void explain_edges_of(const ExplainFlags& flags, const RestoredRun& restored, Explainer& explainer,
                      int64_t node, std::optional<int64_t> class_number) {
  const Dataset& data = restored.dataset;
  EdgeOptions options;
  options.keep = flags.out.empty() ? flags.top : 0;
  const EdgeExplanation edges = explainer.edges(node, class_number, options);
  if (!flags.out.empty()) write_file_atomically(flags.out, edges_csv(edges, data));
  const size_t count = shown(flags, edges.changes.size());
  if (flags.json) {
    Json json = begin_json(flags, restored);
    json["node"] = node_json(data, node);
    json["class"] = class_json(data, edges.class_number);
    json["predicted"] = edges.predicted;
    json["score"] = edges.score;
    json["directed"] = edges.directed;
    json["count"] = edges.edges;
    json["edges"] = Json::array();
    for (size_t t = 0; t < count; ++t) {
      const EdgeChange& edge = edges.changes[t];
      json["edges"].push_back({{"source", node_json(data, edge.source)},
                               {"target", node_json(data, edge.target)},
                               {"hops", edge.hops},
                               {"first_order", edge.first_order},
                               {"change", edge.change ? Json(*edge.change) : Json()}});
    }
    return end_json(json);
  }
  fmt::print("{} of {}, node {}, class {}{}: score {:.6g}; {} on it\n\n", name(restored.config.model),
             restored.config.dataset, data.node_name(node), data.class_name(edges.class_number),
             edges.predicted ? " (predicted)" : "", edges.score,
             edges.edges == 1 ? "1 edge has an effect" : fmt::format("{} edges have an effect", edges.edges));
  std::vector<std::vector<std::string>> rows;
  for (size_t t = 0; t < count; ++t) {
    const EdgeChange& edge = edges.changes[t];
    rows.push_back({fmt::format("{} {} {}", data.node_name(edge.source), edges.directed ? "->" : "--",
                                data.node_name(edge.target)),
                    std::to_string(edge.hops), signed_number(edge.first_order),
                    edge.change ? signed_number(*edge.change) : ""});
  }
  fmt::print("{}", format_table({"edge", "hops", "first order", "change without it"}, rows));
  if (!flags.out.empty())
    fmt::print("{} written to {}\n", counted(static_cast<int64_t>(edges.changes.size()), "edge"), flags.out);
}

// ---- influence

void draw_influence(const std::vector<std::pair<std::string, Influence>>& runs, const std::string& file) {
  LinePlot plot;
  plot.x_label = "hops";
  plot.y_label = "share of the influence";
  plot.log_y = true;
  plot.panels = {{"How far the models hear", {}}};
  for (const auto& [run, influence] : runs) {
    Curve curve{run, {}};
    for (const HopInfluence& hop : influence.by_hop)
      if (hop.share > 0) curve.points.emplace_back(static_cast<double>(hop.hops), hop.share);
    plot.panels[0].curves.push_back(std::move(curve));
  }
  const ChildResult svg = run_child({"gnuplot"}, gnuplot_script(plot), "/dev/null");
  if (svg.exit_code != 0 || svg.output.empty())
    throw ResourceError("no figure could be drawn", "gnuplot", "install gnuplot, or write a .csv");
  write_file_atomically(file, svg.output);
}

void explain_influence(const ExplainFlags& flags) {
  std::vector<std::string> folders = {flags.checkpoint};
  folders.insert(folders.end(), flags.beside.begin(), flags.beside.end());
  std::vector<std::pair<std::string, Influence>> runs;
  Json all = Json::array();
  for (const std::string& folder : folders) {
    const RestoredRun restored = restore_run(folder, flags.settings.given());
    const Influence found = Explainer(*restored.model, restored.dataset, restored.config)
                                .influence({flags.sample, restored.config.seed});
    Json json = {{"checkpoint", folder},
                 {"dataset", restored.config.dataset},
                 {"model", name(restored.config.model)},
                 {"sample", found.sample},
                 {"silent", found.silent},
                 {"mean_hops", found.mean_hops},
                 {"elsewhere", found.elsewhere},
                 {"by_hop", Json::array()}};
    for (const HopInfluence& hop : found.by_hop)
      json["by_hop"].push_back(
          {{"hops", hop.hops}, {"nodes", hop.nodes}, {"share", hop.share}, {"cumulative", hop.cumulative}});
    all.push_back(std::move(json));
    std::string label = name(restored.config.model);
    if (folders.size() > 1)
      for (const auto& [other, influence] : runs)
        if (other == label) label = folder;  // two of one model
    runs.emplace_back(label, found);
  }
  if (ends_with(flags.out, ".svg")) draw_influence(runs, flags.out);
  if (ends_with(flags.out, ".csv")) write_file_atomically(flags.out, influence_csv(runs));
  if (flags.json) {
    Json json = {{"runs", std::move(all)}};
    return end_json(json);
  }
  std::vector<std::string> header = {"hops", "nodes"};
  size_t rows_needed = 0;
  for (const auto& [run, influence] : runs) {
    header.push_back(run);
    header.emplace_back("in all");
    size_t last = influence.by_hop.size();  // with a share that can be seen
    while (last > 1 && influence.by_hop[last - 1].share < 5e-6) --last;
    rows_needed = std::max(rows_needed, last);
  }
  std::vector<std::vector<std::string>> rows;
  for (size_t d = 0; d < rows_needed; ++d) {
    std::vector<std::string> row = {std::to_string(d), ""};
    for (const auto& [run, influence] : runs) {
      const bool there = d < influence.by_hop.size();
      if (there) row[1] = fmt::format("{:.1f}", influence.by_hop[d].nodes);
      row.push_back(there ? percent(influence.by_hop[d].share) : "-");
      row.push_back(there ? percent(influence.by_hop[d].cumulative) : "-");
    }
    rows.push_back(std::move(row));
  }
  fmt::print("{}", format_table(header, rows));
  for (const auto& [run, influence] : runs)
    fmt::print("{}: {:.2f} hops in the mean, over {}{}{}\n", run, influence.mean_hops,
               counted(influence.sample - influence.silent, "node"),
               influence.silent > 0 ? fmt::format("; {} hear nothing", influence.silent) : "",
               influence.elsewhere > 1e-6
                   ? fmt::format("; {} comes from nodes without a path", percent(influence.elsewhere))
                   : "");
  if (!flags.out.empty()) fmt::print("written to {}\n", flags.out);
}

// About how many bytes the file of an explanation will take: a row for each node and feature, or for each
// edge; of a picture the top nodes, besides those on the paths from them.
double bytes_of_explanation(const ExplainFlags& flags, const Dataset& data) {
  constexpr double row = 30, edge = 30, shape = 200;
  if (flags.edges) return edge * static_cast<double>(data.graph.arcs());
  if (ends_with(flags.out, ".csv")) return row * static_cast<double>(data.nodes() + data.feature_count());
  return shape * static_cast<double>(shown(flags, static_cast<size_t>(data.nodes())));
}

// The numbers of the node and the class that the flags name. The first of several processes knows the names.
std::pair<int64_t, std::optional<int64_t>> named_by(const ExplainFlags& flags, const RestoredRun& restored) {
  int64_t node = 0, class_number = -1;
  restored.on_first([&] {
    node = find_node(restored.named(), flags.node);
    if (!flags.class_name.empty()) class_number = find_class(restored.named(), flags.class_name);
  });
  if (restored.ranks()) {
    node = restored.ranks()->sum(restored.is_first() ? node : 0);
    class_number = restored.ranks()->sum(restored.is_first() ? class_number : 0);
  }
  return {node, class_number < 0 ? std::nullopt : std::optional<int64_t>(class_number)};
}

void explain_as_asked(const ExplainFlags& flags, const SpreadOptions* spread) {
  constexpr double table_or_figure = 50'000;
  if (flags.influence) require_space_for_file(flags.out, table_or_figure, "eignn explain");
  if (flags.influence) return explain_influence(flags);
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given(), {}, spread);
  restored.on_first([&] {
    require_space_for_file(flags.out, bytes_of_explanation(flags, restored.named()), "eignn explain");
  });
  const auto [node, class_number] = named_by(flags, restored);
  Explainer explainer(*restored.model, restored.dataset, restored.config, units_of(*restored.trained));
  flags.edges ? explain_edges_of(flags, restored, explainer, node, class_number)
              : explain_node(flags, restored, explainer, node, class_number);
}

}  // namespace

void run_explain(const ExplainFlags& flags) {
  in_processes(flags, [&](const SpreadOptions* spread) { explain_as_asked(flags, spread); });
}

}  // namespace eignn::cli
