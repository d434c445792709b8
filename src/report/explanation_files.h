// Explanations as files: tables for spreadsheets, pictures for Graphviz, graphs for Gephi and yEd. Names come
// from users' tables and may hold anything; each format escapes them in its own way.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/explain.h"
#include "run/result_json.h"

namespace eignn {

/// A node, a class and a feature by name where they have names, else by number.
ResultJson node_json(const Dataset& dataset, int64_t node);
ResultJson class_json(const Dataset& dataset, int64_t k);
ResultJson feature_json(const Dataset& dataset, int64_t j);

/// The explanation with its `top` nodes and features (0: all), as `explain` prints it.
ResultJson explanation_json(const Explanation& explanation, const Dataset& dataset, size_t top);

/// part,name,hops,contribution: the constant, then all nodes, then all features, the largest first. The
/// constant and the nodes add up to the score, and so do the constant and the features where they are exact.
std::string explanation_csv(const Explanation& explanation, const Dataset& dataset);

/// Some nodes of an explanation with the arcs among them (of node numbers).
struct ExplanationPicture {
  const Explanation& explanation;
  const Dataset& dataset;
  std::vector<int64_t> nodes;
  std::vector<std::pair<int64_t, int64_t>> arcs;
  bool directed = false;
};
/// For `dot -Tsvg`: nodes that raise the score are blue, those that lower it red, the explained one has a
/// thick line.
std::string explanation_dot(const ExplanationPicture& picture);
/// With `label`, `hops`, `contribution` and `explained` for each node.
std::string explanation_graphml(const ExplanationPicture& picture);

/// The same for the report page: `nodes` with `node`, `hops` and `contribution`, and `arcs`, pairs of places
/// in it.
ResultJson picture_json(const ExplanationPicture& picture);

/// source,target,hops,first_order,change; the last is empty where no solve was made.
std::string edges_csv(const EdgeExplanation& edges, const Dataset& dataset);

/// run,hops,nodes,share,cumulative.
std::string influence_csv(const std::vector<std::pair<std::string, Influence>>& runs);

}  // namespace eignn
