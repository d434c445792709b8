// An edge list: text, one arc per line, the source and then the target, 0-based, with a blank, a tab or one
// comma between them. From # or % to the end of the line is a comment. Empty lines, CRLF and a byte order
// mark are fine.
//
//   # two arcs
//   0 1
//   1,2    # with a comma
#include "data/edge_list.h"

#include "data/text_lines.h"

namespace eignn {
namespace {

std::string_view without_comment(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && line[end] != '#' && line[end] != '%') ++end;
  return line.substr(0, end);
}

int64_t take_node(const TextLines& lines, std::string_view* rest) {
  const std::string_view word = take_word(rest, ',');
  const int64_t node =
      lines.whole_number(word, "write two 0-based node ids, and # before titles and comments");
  if (node < 0) lines.refuse("negative node id " + quote(word), "node ids start at 0");
  return node;
}

}  // namespace

ArcList parse_edge_list(std::string_view text, const std::string& origin) {
  ArcList arcs;
  TextLines lines(text, origin);
  while (lines.next()) {
    std::string_view rest = without_comment(lines.line());
    skip_blanks(&rest);
    if (rest.empty()) continue;
    arcs.source.push_back(take_node(lines, &rest));
    skip_blanks(&rest);
    if (!rest.empty() && rest.front() == ',') rest.remove_prefix(1);
    arcs.target.push_back(take_node(lines, &rest));
    skip_blanks(&rest);
    if (!rest.empty()) {
      lines.refuse("more than two columns: " + quote(rest),
                   "remove weights and other columns; arcs have none here");
    }
  }
  return arcs;
}

}  // namespace eignn
