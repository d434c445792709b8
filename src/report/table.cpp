#include "report/table.h"

#include <algorithm>

namespace eignn {

namespace {

size_t display_width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width(header.size());
  for (size_t c = 0; c < header.size(); ++c) {
    width[c] = display_width(header[c]);
    for (const auto& row : rows) width[c] = std::max(width[c], display_width(row[c]));
  }
  std::string out;
  auto line = [&](const std::vector<std::string>& cells) {
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string padding(width[c] - display_width(cells[c]), ' ');
      out += c == 0 ? cells[c] + padding : "  " + padding + cells[c];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  line(header);
  for (const auto& row : rows) line(row);
  return out;
}

}  // namespace eignn
