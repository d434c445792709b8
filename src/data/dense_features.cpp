#include "data/dense_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/text_lines.h"

namespace eignn {
namespace {

bool fits_bytes(const Array& array) {
  const auto whole = [](auto value) {
    return value >= 0 && value <= 255 && value == static_cast<uint8_t>(value);
  };
  if (array.type == ElementType::boolean || array.type == ElementType::uint8) return true;
  if (array.type == ElementType::float32 || array.type == ElementType::float64) {
    const auto values = array.as<double>();
    return std::all_of(values.begin(), values.end(), whole);
  }
  if (array.type == ElementType::uint64) {
    const auto values = array.as<uint64_t>();
    return std::all_of(values.begin(), values.end(), whole);
  }
  const auto values = array.as<int64_t>();
  return std::all_of(values.begin(), values.end(), whole);
}

}  // namespace

Array zero_features(int64_t rows, int64_t columns, ElementType type, size_t listed_bytes,
                    const std::string& origin) {
  constexpr size_t always_fine = size_t{64} << 20;
  constexpr size_t largest = size_t{8} << 30;
  constexpr size_t largest_ratio = 4096;  // film has 34; a bag of a million words, forty a node, 4000
  Array zeros;
  zeros.shape = {rows, columns};
  zeros.type = type;
  zeros.origin = origin;
  const auto size = byte_count(type, zeros.shape);
  if (!size || *size > largest)
    refuse(fmt::format("{} x {} features do not fit into 8 GiB", rows, columns), origin,
           "keep the features that matter, or reduce their number first");
  if (*size > always_fine && *size / largest_ratio > listed_bytes)
    refuse(fmt::format("{} bytes claim to be {} x {} features", listed_bytes, rows, columns), origin,
           "check the number of features and their indices");
  zeros.bytes.resize(*size);
  return zeros;
}

void take_listed_features(RawDataset& set, SparseRows rows, size_t listed_bytes) {
  const int64_t n = set.features.shape[0], columns = set.features.shape[1];
  const auto entries = static_cast<int64_t>(rows.column.size());
  if (stay_sparse(n, columns, entries)) {
    set.entries = std::move(rows);
    return;
  }
  set.features = zero_features(n, columns, ElementType::float64, listed_bytes, set.features.origin);
  auto* cells = reinterpret_cast<double*>(set.features.bytes.data());
  for (int64_t v = 0; v < n; ++v) {
    for (int64_t k = rows.begin[v]; k < rows.begin[v + 1]; ++k)
      cells[v * columns + rows.column[k]] = rows.value[k];
  }
}

Array as_bytes_if_exact(Array array) {
  if (array.type == ElementType::uint8 || !fits_bytes(array)) return array;
  const auto values = array.as<double>();
  array.type = ElementType::uint8;
  array.bytes.resize(values.size());
  std::transform(values.begin(), values.end(), array.bytes.begin(),
                 [](double value) { return static_cast<uint8_t>(value); });
  return array;
}

}  // namespace eignn
