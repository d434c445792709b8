// What a field of a table holds, by its text alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace eignn {

enum class CellKind {
  missing,       // nothing, or one of the words that statistics programs write for nothing
  number,        // finite
  out_of_range,  // inf, or too large or too small for a double
  grouped,       // a number with signs between its thousands, or with several points: 1,234.5
  date,          // a day, perhaps with a time of day, a month of a year, or a time of day
  marked,        // a number with a percent sign or a currency: 50%, $1.50
  word           // anything else
};

struct Cell {
  CellKind kind = CellKind::missing;
  double number = 0;
  bool comma = false, point = false;  // a number's decimal sign
  bool may_be_thousands = false;      // 1,234: read as 1.234, as a decimal comma
};

/// Reads a field; blanks around it do not count. Missing are the empty field, NA, N/A, n.a., #N/A, <NA>, NaN,
/// null in capitals or not, None as Python writes it (`none` may be a class), and a question mark. A number
/// may begin with + and have a decimal comma.
Cell read_cell(std::string_view field);

/// Whether the field is `-`, `--` or `.`, which stand for nothing in a column of numbers and may mean
/// something among words.
bool is_placeholder(std::string_view field);

}  // namespace eignn
