#include "data/mask_splits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/text_lines.h"

namespace eignn {
namespace {

// (k, n) masks as k rows.
std::vector<std::vector<uint8_t>> read_masks(const NamedArrays& arrays, const std::string& name,
                                             int64_t nodes) {
  const Array masks = arrays.read(name);
  const auto& shape = masks.shape;
  if (shape.empty() || shape.size() > 2 || shape.back() != nodes)
    refuse(fmt::format("the shape ({}), not (k, {})", fmt::join(shape, ", "), nodes), masks.origin,
           "save it in that shape");
  const std::vector<uint8_t> flags = masks.nonzero();
  std::vector<std::vector<uint8_t>> rows;
  for (auto row = flags.begin(); row != flags.end(); row += nodes) rows.emplace_back(row, row + nodes);
  return rows;
}

}  // namespace

std::vector<NodeSplit> read_mask_splits(const NamedArrays& arrays, int64_t nodes) {
  std::vector<NodeSplit> splits;
  if (!arrays.has("train_masks") && !arrays.has("val_masks") && !arrays.has("test_masks")) return splits;
  const auto train = read_masks(arrays, "train_masks", nodes);
  const auto val = read_masks(arrays, "val_masks", nodes);
  const auto test = read_masks(arrays, "test_masks", nodes);
  if (train.size() != val.size() || train.size() != test.size())
    refuse(
        fmt::format("{} train masks, {} val masks and {} test masks", train.size(), val.size(), test.size()),
        arrays.path(), "give as many of each");
  for (size_t k = 0; k < train.size(); ++k)
    splits.push_back(
        split_of_masks(train[k], val[k], test[k], nodes, Where(arrays.path(), fmt::format("split {}", k))));
  return splits;
}

}  // namespace eignn
