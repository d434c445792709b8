#include "report/columns_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eignn {

namespace {

using Line = std::array<std::string, 5>;

size_t characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

bool is_feature(const ColumnReport& column) {
  return column.role == ColumnRole::numbers || column.role == ColumnRole::category;
}

std::string joined(const std::string& a, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : "; ") + b;
}

}  // namespace

std::string columns_table(const std::vector<ColumnReport>& columns) {
  constexpr size_t most_features = 30;
  std::vector<Line> lines = {{"file", "column", "kind", "gaps", ""}};
  size_t features = 0;
  for (const ColumnReport& column : columns) {
    if (is_feature(column) && ++features > most_features) continue;
    lines.push_back({column.file, column.column, name(column.role),
                     column.gaps > 0 ? std::to_string(column.gaps) : "",
                     joined(column.note, column.treatment)});
  }
  if (features > most_features)
    lines.push_back({"", fmt::format("… and {} features more", features - most_features), "", "", ""});
  std::array<size_t, 5> width = {};
  for (const Line& line : lines)
    for (size_t k = 0; k < line.size(); ++k) width[k] = std::max(width[k], characters(line[k]));
  std::string out;
  for (const Line& line : lines) {
    std::string row;
    for (size_t k = 0; k < line.size(); ++k) {
      const std::string blanks(width[k] - characters(line[k]), ' ');
      row += k == 3 ? blanks + line[k] : line[k] + blanks;  // the gaps are numbers
      row += "  ";
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

}  // namespace eignn
