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

}  // namespace

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
