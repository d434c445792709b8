// An edge list: text, one arc per line, the source and then the target, 0-based, with a blank, a tab or one
// comma between them. From # or % to the end of the line is a comment. Empty lines, CRLF and a byte order
// mark are fine. The first line may name the two columns: both names begin with a letter.
//
//   source,target
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

// Whether the line has the names of two or more columns: words that begin with a letter or _ (perhaps
// quoted), as no node id does.
bool names_columns(std::string_view line) {
  for (int columns = 1;; ++columns) {
    std::string_view word = take_word(&line, ',');
    if (!word.empty() && word.front() == '"') word.remove_prefix(1);
    if (word.empty()) return false;
    const char c = word.front();
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return false;
    skip_blanks(&line);
    if (line.empty()) return columns > 1;
    if (line.front() == ',') line.remove_prefix(1);
  }
}

// Skips the separator. Anything after the second column is refused.
void end_column(const TextLines& lines, std::string_view* rest, bool last) {
  skip_blanks(rest);
  if (last && !rest->empty()) {
    lines.refuse("more than two columns: " + quote(*rest),
                 "remove weights and other columns; arcs have none here");
  }
  if (!rest->empty() && rest->front() == ',') rest->remove_prefix(1);
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
  bool first = true;
  while (lines.next()) {
    std::string_view rest = without_comment(lines.line());
    skip_blanks(&rest);
    if (rest.empty()) continue;
    const bool is_header = first && names_columns(rest);
    first = false;
    for (std::vector<int64_t>* column : {&arcs.source, &arcs.target}) {
      if (is_header) {
        take_word(&rest, ',');
      } else {
        column->push_back(take_node(lines, &rest));
      }
      end_column(lines, &rest, column == &arcs.target);
    }
  }
  return arcs;
}

}  // namespace eignn
