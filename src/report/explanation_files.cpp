#include "report/explanation_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/csv.h"
#include "data/utf8.h"
#include "run/predictions_csv.h"

namespace eignn {

namespace {

// A string of the dot language. Only quotes and backslashes have a meaning there, and line breaks are written
// out.
std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

// Text of an XML element. Control characters cannot be written in XML 1.0 at all, nor can bytes that are not
// UTF-8.
std::string xml_text(const std::string& text) {
  constexpr const char* unknown = "\xEF\xBF\xBD";  // U+FFFD
  const bool readable = is_utf8(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '\n' || c == '\r' || c == '\t')
      out += fmt::format("&#{};", byte);
    else if (byte < 0x20 || (byte >= 0x80 && !readable))
      out += unknown;
    else
      out += c;
  }
  return out;
}

std::map<int64_t, NodeContribution> by_node(const ExplanationPicture& picture) {
  std::map<int64_t, NodeContribution> out;
  for (const int64_t v : picture.nodes) out[v] = {v, -1, 0};
  for (const NodeContribution& part : picture.explanation.nodes)
    if (const auto at = out.find(part.node); at != out.end()) at->second = part;
  return out;
}

// Blue for what raises the score, red for what lowers it, white for nothing: "#rrggbb".
std::string colour_of(double contribution, double largest) {
  const double strength = largest > 0 ? std::sqrt(std::abs(contribution) / largest) : 0;
  const auto mixed = [&](int full) { return static_cast<int>(std::lround(255 + strength * (full - 255))); };
  return contribution >= 0 ? fmt::format("#{:02x}{:02x}{:02x}", mixed(0x4c), mixed(0x9b), mixed(0xd6))
                           : fmt::format("#{:02x}{:02x}{:02x}", mixed(0xe0), mixed(0x6c), mixed(0x55));
}

ResultJson hops_json(int64_t hops) {
  return hops < 0 ? ResultJson() : ResultJson(hops);
}

}  // namespace

ResultJson node_json(const Dataset& dataset, int64_t node) {
  return dataset.node_names.empty() ? ResultJson(node) : ResultJson(dataset.node_name(node));
}

ResultJson class_json(const Dataset& dataset, int64_t k) {
  return dataset.class_names.empty() ? ResultJson(k) : ResultJson(dataset.class_name(k));
}

ResultJson feature_json(const Dataset& dataset, int64_t j) {
  const bool numbered = dataset.columns.empty() && j < dataset.feature_count();
  return numbered ? ResultJson(j) : ResultJson(dataset.feature_name(j));
}

ResultJson explanation_json(const Explanation& why, const Dataset& data, size_t top) {
  const auto shown = [&](size_t all) { return top == 0 ? all : std::min(all, top); };
  ResultJson json = {{"node", node_json(data, why.node)},
                     {"class", class_json(data, why.class_number)},
                     {"predicted", why.predicted},
                     {"score", why.score},
                     {"constant", why.constant},
                     {"kind", name(why.kind)},
                     {"exact", why.exact},
                     {"features_exact", why.features_exact},
                     {"units", why.raw_units ? "raw" : "model"},
                     {"exponent", why.exponent},
                     {"sum", why.sum},
                     {"remainder", why.remainder},
                     {"features_remainder", why.features_remainder},
                     {"reached", why.nodes.size()},
                     {"nodes", ResultJson::array()},
                     {"features", ResultJson::array()},
                     {"by_hop", ResultJson::array()}};
  for (size_t t = 0; t < shown(why.nodes.size()); ++t)
    json["nodes"].push_back({{"node", node_json(data, why.nodes[t].node)},
                             {"hops", hops_json(why.nodes[t].hops)},
                             {"contribution", why.nodes[t].contribution}});
  for (size_t t = 0; t < shown(why.features.size()); ++t)
    json["features"].push_back({{"feature", feature_json(data, why.features[t].feature)},
                                {"contribution", why.features[t].contribution}});
  for (const HopContribution& hop : why.by_hop)
    json["by_hop"].push_back({{"hops", hops_json(hop.hops)},
                              {"nodes", hop.nodes},
                              {"contribution", hop.contribution},
                              {"raising", hop.raising},
                              {"lowering", hop.lowering}});
  return json;
}

ResultJson picture_json(const ExplanationPicture& picture) {
  ResultJson out = {{"nodes", ResultJson::array()}, {"arcs", ResultJson::array()}};
  std::map<int64_t, size_t> place;
  for (const auto& [v, part] : by_node(picture)) {
    place.emplace(v, place.size());
    out["nodes"].push_back({{"node", node_json(picture.dataset, v)},
                            {"hops", hops_json(part.hops)},
                            {"contribution", part.contribution}});
  }
  for (const auto& [source, target] : picture.arcs)
    out["arcs"].push_back({place.at(source), place.at(target)});
  return out;
}

std::string explanation_csv(const Explanation& why, const Dataset& dataset) {
  std::string csv = fmt::format("part,name,hops,contribution\nconstant,,,{:.17g}\n", why.constant);
  for (const NodeContribution& part : why.nodes)
    csv += fmt::format("node,{},{},{:.17g}\n", csv_field(dataset.node_name(part.node)),
                       part.hops < 0 ? "" : std::to_string(part.hops), part.contribution);
  for (const FeatureContribution& part : why.features)
    csv += fmt::format("feature,{},,{:.17g}\n", csv_field(dataset.feature_name(part.feature)),
                       part.contribution);
  return csv;
}

std::string explanation_dot(const ExplanationPicture& picture) {
  const auto parts = by_node(picture);
  double largest = 0;
  for (const auto& [v, part] : parts) largest = std::max(largest, std::abs(part.contribution));
  std::string dot = fmt::format("{} explanation {{\n  node [style=filled, fontname=\"sans-serif\"];\n",
                                picture.directed ? "digraph" : "graph");
  for (const auto& [v, part] : parts)
    dot += fmt::format("  n{} [label={}, tooltip=\"{:+.4g}\", fillcolor=\"{}\"{}];\n", v,
                       dot_string(picture.dataset.node_name(v)), part.contribution,
                       colour_of(part.contribution, largest),
                       v == picture.explanation.node ? ", penwidth=3" : "");
  for (const auto& [source, target] : picture.arcs)
    dot += fmt::format("  n{} {} n{};\n", source, picture.directed ? "->" : "--", target);
  return dot + "}\n";
}

std::string explanation_graphml(const ExplanationPicture& picture) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n"
      "  <key id=\"hops\" for=\"node\" attr.name=\"hops\" attr.type=\"long\"/>\n"
      "  <key id=\"contribution\" for=\"node\" attr.name=\"contribution\" attr.type=\"double\"/>\n"
      "  <key id=\"explained\" for=\"node\" attr.name=\"explained\" attr.type=\"boolean\"/>\n";
  xml += fmt::format("  <graph id=\"explanation\" edgedefault=\"{}\">\n",
                     picture.directed ? "directed" : "undirected");
  for (const auto& [v, part] : by_node(picture)) {
    xml += fmt::format("    <node id=\"n{}\"><data key=\"label\">{}</data>", v,
                       xml_text(picture.dataset.node_name(v)));
    if (part.hops >= 0) xml += fmt::format("<data key=\"hops\">{}</data>", part.hops);
    xml += fmt::format("<data key=\"contribution\">{:.17g}</data><data key=\"explained\">{}</data></node>\n",
                       part.contribution, v == picture.explanation.node);
  }
  for (const auto& [source, target] : picture.arcs)
    xml += fmt::format("    <edge source=\"n{}\" target=\"n{}\"/>\n", source, target);
  return xml + "  </graph>\n</graphml>\n";
}

std::string edges_csv(const EdgeExplanation& edges, const Dataset& dataset) {
  std::string csv = "source,target,hops,first_order,change\n";
  for (const EdgeChange& edge : edges.changes)
    csv += fmt::format("{},{},{},{:.17g},{}\n", csv_field(dataset.node_name(edge.source)),
                       csv_field(dataset.node_name(edge.target)), edge.hops, edge.first_order,
                       edge.change ? fmt::format("{:.17g}", *edge.change) : "");
  return csv;
}

std::string influence_csv(const std::vector<std::pair<std::string, Influence>>& runs) {
  std::string csv = "run,hops,nodes,share,cumulative\n";
  for (const auto& [run, influence] : runs)
    for (const HopInfluence& hop : influence.by_hop)
      csv += fmt::format("{},{},{:.9g},{:.9g},{:.9g}\n", csv_field(run), hop.hops, hop.nodes, hop.share,
                         hop.cumulative);
  return csv;
}

}  // namespace eignn
