#include "graph/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace eignn {

namespace {
// Levenshtein's distance, one row of the table at a time.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])}));
  }
  return row.back();
}
}  // namespace

std::string nearest_name(const std::string& given, const std::vector<std::string>& known) {
  std::string best;
  size_t distance =
      std::min(given.size(), std::max<size_t>(2, given.size() / 2) + 1);  // some letters must agree
  for (const std::string& name : known) {
    const size_t d = edit_distance(given, name);
    if (d < distance) {
      distance = d;
      best = name;
    }
  }
  return best;
}

ArgumentError unknown_name(const std::string& what, const std::string& field, const std::string& given,
                           const std::vector<std::string>& known) {
  const std::string near = nearest_name(given, known);
  return {field, fmt::format("unknown {} '{}'", what, given),
          fmt::format("{}known: {}", near.empty() ? "" : fmt::format("did you mean {}? ", near),
                      fmt::join(known, ", "))};
}

}  // namespace eignn
