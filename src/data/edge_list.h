#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/arc_list.h"

namespace eignn {

/// Reads an edge list in blocks of whole lines.
class EdgeListParser {
 public:
  explicit EdgeListParser(std::string origin) : origin_(std::move(origin)) {}

  /// Appends the arcs of the next block, whose first line has this number in the file; `line_of`, if it is
  /// given, gets the line of each arc.
  void parse(std::string_view block, int64_t first_line, ArcList& arcs,
             std::vector<int64_t>* line_of = nullptr);

 private:
  enum class Weights { unknown, absent, present };
  std::string origin_;
  bool first_row_ = true;  // it may name the columns
  Weights weights_ = Weights::unknown;
};

/// Reads the arcs of an edge list; it states no number of nodes.
ArcList parse_edge_list(std::string_view text, const std::string& origin);

}  // namespace eignn
