#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eignn {

/// A graph as networkx's node-link JSON has it. An id is a whole number >= 0, or ~k for `texts[k]`.
struct NodeLinkGraph {
  static constexpr uint8_t not_stated = 2;

  std::vector<int64_t> ids;        ///< of the nodes, in the file's order, each once
  std::vector<uint8_t> val, test;  ///< of the nodes: 0, 1, or `not_stated`
  std::vector<int64_t> source;     ///< of the links: ids or positions, which the caller decides
  std::vector<int64_t> target;     ///< as long as `source`
  bool links_are_named_edges = false;
  std::vector<std::string> texts;  ///< each once

  int64_t nodes() const { return static_cast<int64_t>(ids.size()); }
  /// An id as the key of a JSON object, in which a number and its text are the same.
  std::string spelled(int64_t id) const;
};

/// Reads node-link JSON; `origin` names it in messages.
NodeLinkGraph parse_node_link(std::string_view text, const std::string& origin);

}  // namespace eignn
