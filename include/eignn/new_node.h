// One node more than a data set has, as a person describes it.
#pragma once

#include <string>
#include <vector>

#include "eignn/dataset.h"

namespace eignn {

/// A node to add. Its features are texts as in a table; an empty text, NA, NaN and null say that a value is
/// not known.
struct NewNode {
  struct Feature {
    std::string column, text;
  };
  struct Neighbour {
    std::string node;  // its name, or its number where nodes have no names
    double weight = 1;
  };
  std::string name = "new";
  std::vector<Feature> features;
  std::vector<Neighbour> neighbours;
};

/// `data` with this node as its last one, and arcs to and from each neighbour; its label is not known, and it
/// is in no part of a split. ArgumentError with the field "node" for a feature that is missing, not known or
/// no number where numbers are needed, and "neighbours" for a node that does not exist.
///
///     auto more = eignn::with_node(data, {"Ada", {{"age", "33"}, {"city", "Rome"}}, {{"Bob"},
///     {"Eve", 2.5}}}); auto p = model.predict(more).probabilities[more.nodes() - 1];
Dataset with_node(const Dataset& data, const NewNode& node);

/// A new node in one line for its features and one for its neighbours: "age=33,city=Rome" and "Bob,Eve:2.5".
/// Commas and colons of names stand between double quotes, as in a table; where features have no names their
/// values may stand alone, "0.5,1,0". ArgumentError with the fields of with_node().
NewNode parse_node(const Dataset& data, const std::string& features, const std::string& neighbours);

}  // namespace eignn
