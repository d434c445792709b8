// Matrix Market, coordinate format: text; the banner, the size, one entry per line. Indices start at 1.
//
//   %%MatrixMarket matrix coordinate real general
//   % rows, columns, entries
//   3 3 2
//   1 2 0.5
//   3 1 1e-3
//
// After `matrix coordinate` comes `pattern` (no value), `real` or `integer`; then `general` or `symmetric`
// (one triangle is stored, and an entry off the diagonal stands for both arcs). Values must be numbers; they
// are the weights of the arcs for those who ask for them, and otherwise ignored: then an explicit zero is an
// arc like any other. Empty lines, % lines and CRLF are fine anywhere.
#include "data/matrix_market.h"

#include <cctype>

#include "data/text_lines.h"

namespace eignn {
namespace {

struct Banner {
  bool has_values = false;
  bool whole_values = false;
  bool symmetric = false;
};

std::string take_lower_word(std::string_view* rest) {
  std::string word(take_word(rest));
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

void expect_end(const TextLines& lines, std::string_view rest) {
  skip_blanks(&rest);
  if (!rest.empty()) lines.refuse("something follows the last column: " + quote(rest), "remove it");
}

Banner parse_banner(TextLines* lines) {
  constexpr const char* save_again = "save it with scipy.io.mmwrite from a sparse matrix";
  lines->next();
  std::string_view rest = lines->line();
  if (take_lower_word(&rest) != "%%matrixmarket") {
    lines->refuse("the first line does not start with %%MatrixMarket", save_again);
  }
  const std::string object = take_lower_word(&rest);
  if (object != "matrix") lines->refuse("the object " + quote(object) + " is not 'matrix'", save_again);
  const std::string layout = take_lower_word(&rest);
  if (layout != "coordinate") {
    lines->refuse("the format " + quote(layout) + " is not 'coordinate'", save_again);
  }
  const std::string field = take_lower_word(&rest);
  if (field != "pattern" && field != "real" && field != "integer") {
    lines->refuse("the field " + quote(field) + " is not supported", "save it as pattern, real or integer");
  }
  const std::string symmetry = take_lower_word(&rest);
  if (symmetry != "general" && symmetry != "symmetric") {
    lines->refuse("the symmetry " + quote(symmetry) + " is not supported", "save it as general or symmetric");
  }
  expect_end(*lines, rest);
  return {field != "pattern", field == "integer", symmetry == "symmetric"};
}

// Steps to the next line that holds data.
bool next_data(TextLines* lines, std::string_view* rest) {
  while (lines->next()) {
    *rest = lines->line();
    skip_blanks(rest);
    if (!rest->empty() && rest->front() != '%') return true;
  }
  return false;
}

int64_t take_size(const TextLines& lines, std::string_view* rest) {
  const int64_t size =
      lines.whole_number(take_word(rest), "the line after the comments is 'rows columns entries'");
  if (size < 0) lines.refuse("a negative size", "the line after the comments is 'rows columns entries'");
  return size;
}

int64_t take_index(const TextLines& lines, int64_t nodes, std::string_view* rest) {
  const std::string_view word = take_word(rest);
  const int64_t index = lines.whole_number(word, "write row and column as whole numbers from 1");
  if (index < 1 || index > nodes) {
    lines.refuse(fmt::format("index {} is outside 1..{}", index, nodes), "indices of a .mtx file start at 1");
  }
  return index - 1;
}

// The value as a weight. One that is negative or overflows is noted in `arcs` rather than refused, because
// values are often ignored.
double take_value(const TextLines& lines, bool whole, std::string_view word, ArcList* arcs) {
  std::string_view digits = word;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);  // from_chars takes no plus sign
  const char* end = digits.data() + digits.size();
  constexpr const char* remedy = "mend the value, or change the field to pattern";
  if (word.empty()) lines.refuse("the value is missing", "write one, or change the field to pattern");
  if (int64_t integer = 0; whole) {
    const auto [stop, error] = std::from_chars(digits.data(), end, integer);
    if (error == std::errc::invalid_argument || stop != end)
      lines.refuse(quote(word) + " is not a whole number", remedy);
  }
  double weight = 0;
  const std::string problem = lines.parse_weight(word, remedy, &weight);
  if (!problem.empty() && arcs->bad_weight.empty()) {
    arcs->bad_weight = problem;
    arcs->bad_weight_place = lines.place();
  }
  return weight;
}

}  // namespace

ArcList parse_matrix_market(std::string_view text, const std::string& origin) {
  TextLines lines(text, origin);
  const Banner banner = parse_banner(&lines);
  std::string_view rest;
  if (!next_data(&lines, &rest)) {
    lines.refuse("the file ends before the size", "copy it again: it is cut off");
  }

  ArcList arcs;
  arcs.weight_on_request = true;
  arcs.weight_origin = origin;
  arcs.nodes = take_size(lines, &rest);
  const int64_t columns = take_size(lines, &rest);
  const int64_t entries = take_size(lines, &rest);
  expect_end(lines, rest);
  if (arcs.nodes != columns) {
    lines.refuse(fmt::format("the matrix is {} x {}", arcs.nodes, columns), "a graph needs a square matrix");
  }

  int64_t count = 0;
  while (next_data(&lines, &rest)) {
    if (count++ == entries) {
      lines.refuse(fmt::format("more than the {} entries stated", entries), "mend the number of entries");
    }
    const int64_t source = take_index(lines, arcs.nodes, &rest);
    const int64_t target = take_index(lines, arcs.nodes, &rest);
    const double weight =
        banner.has_values ? take_value(lines, banner.whole_values, take_word(&rest), &arcs) : 1;
    expect_end(lines, rest);
    const auto add = [&](int64_t from, int64_t to) {
      arcs.source.push_back(from);
      arcs.target.push_back(to);
      if (banner.has_values) arcs.weight.push_back(weight);
    };
    add(source, target);
    if (banner.symmetric && source != target) add(target, source);
  }
  if (count < entries) {
    lines.refuse(fmt::format("the file ends after {} of {} entries", count, entries),
                 "copy it again, it is cut off; or mend the number of entries");
  }
  return arcs;
}

}  // namespace eignn
