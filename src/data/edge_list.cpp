// An edge list: text, one arc per line, the source and then the target, 0-based, with a blank, a tab or one
// comma between them. A third column has the weights of the arcs; if one arc has a weight, all have. From #
// or % to the end of the line is a comment. Empty lines, CRLF and a byte order mark are fine. The first line
// may name the columns: all names begin with a letter.
//
//   source,target,weight
//   # two arcs
//   0 1 2.5
//   1,2,1e-3    # with commas
#include "data/edge_list.h"

#include "data/text_lines.h"

namespace eignn {
namespace {

std::string_view without_comment(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && line[end] != '#' && line[end] != '%') ++end;
  return line.substr(0, end);
}

// How many columns the line names: words that begin with a letter or _ (perhaps quoted), as no number does.
// 0 where it is no line of names, or of one name.
int named_columns(std::string_view line) {
  for (int columns = 1;; ++columns) {
    std::string_view word = take_word(&line, ',');
    if (!word.empty() && word.front() == '"') word.remove_prefix(1);
    if (word.empty()) return 0;
    const char c = word.front();
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return 0;
    skip_blanks(&line);
    if (line.empty()) return columns > 1 ? columns : 0;
    if (line.front() == ',') line.remove_prefix(1);
  }
}

constexpr int most_columns = 3;  // with the weight

// Skips the separator after a column. Anything after the last one is refused.
void end_column(const TextLines& lines, std::string_view* rest, bool last) {
  skip_blanks(rest);
  if (last && !rest->empty())
    lines.refuse("more than three columns: " + quote(*rest),
                 "keep source, target and, if there is one, the weight");
  if (!rest->empty() && rest->front() == ',') rest->remove_prefix(1);
}

void skip_names(const TextLines& lines, std::string_view rest) {
  for (int column = 1; column <= most_columns; ++column) {
    take_word(&rest, ',');
    end_column(lines, &rest, column == most_columns);
  }
}

int64_t take_node(const TextLines& lines, std::string_view* rest) {
  const std::string_view word = take_word(rest, ',');
  const int64_t node =
      lines.whole_number(word, "write two 0-based node ids, and # before titles and comments");
  if (node < 0) lines.refuse("negative node id " + quote(word), "node ids start at 0");
  return node;
}

// A negative weight, or one beyond the floating range, is noted rather than refused: the weights may not be
// wanted.
double take_weight(const TextLines& lines, std::string_view word, ArcList* arcs) {
  double weight = 0;
  const std::string problem =
      lines.parse_weight(word, "write the weight as a number such as 0.5 or 2e-3", &weight);
  if (!problem.empty() && arcs->bad_weight.empty()) {
    arcs->bad_weight = problem;
    arcs->bad_weight_place = lines.place();
  }
  return weight;
}

}  // namespace

void EdgeListParser::parse(std::string_view block, int64_t first_line, ArcList& arcs,
                           std::vector<int64_t>* line_of) {
  arcs.weight_origin = origin_;
  TextLines lines(block, origin_, first_line);
  while (lines.next()) {
    std::string_view rest = without_comment(lines.line());
    skip_blanks(&rest);
    if (rest.empty()) continue;
    const bool is_header = first_row_ && named_columns(rest) > 0;
    first_row_ = false;
    if (is_header) {
      skip_names(lines, rest);
      continue;
    }
    arcs.source.push_back(take_node(lines, &rest));
    end_column(lines, &rest, false);
    arcs.target.push_back(take_node(lines, &rest));
    if (line_of != nullptr) line_of->push_back(lines.number());
    skip_blanks(&rest);
    if (rest.empty()) {
      if (weights_ == Weights::present)
        lines.refuse("this arc has no weight, and those before it have", "give each a weight");
      weights_ = Weights::absent;
      continue;
    }
    if (weights_ == Weights::absent) {
      lines.refuse("more than two columns, where the first arc has two: " + quote(rest),
                   "give every arc a weight, or none");
    }
    weights_ = Weights::present;
    end_column(lines, &rest, false);
    arcs.weight.push_back(take_weight(lines, take_word(&rest, ','), &arcs));
    end_column(lines, &rest, true);
  }
}

ArcList parse_edge_list(std::string_view text, const std::string& origin) {
  ArcList arcs;
  EdgeListParser(origin).parse(text, 1, arcs);
  return arcs;
}

}  // namespace eignn
