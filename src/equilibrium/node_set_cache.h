// A cache of what was derived from sets of nodes (train, validation, test).
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace eignn {

/// The last few sets requested, the latest at the end. A set is recognised by its tensor and version, or by
/// its content. References are valid until the next call.
template <class Value>
class NodeSetCache {
 public:
  struct Entry {
    torch::Tensor given;  // as it came
    int64_t version;
    torch::Tensor nodes;  // its content then
    Value value;
  };

  explicit NodeSetCache(size_t most) : most_(most) {}

  /// The value of these nodes, which become the latest set; null where they are not cached.
  Value* find(const torch::Tensor& index) {
    if (Value* same = find_tensor(index)) return same;
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return e.nodes.sizes() == index.sizes() && e.nodes.equal(index);
    });
    if (found == entries_.end()) return nullptr;
    found->given = index;
    found->version = index._version();
    return latest(found);
  }
  /// The same by the tensor alone.
  Value* find_tensor(const torch::Tensor& index) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return e.given.is_same(index) && e.version == index._version();
    });
    return found == entries_.end() ? nullptr : latest(found);
  }

  /// Adds an index that find() did not find; drops the oldest set where there would be too many.
  Value& add(const torch::Tensor& index, Value value) {
    if (entries_.size() == most_) drop_oldest();
    entries_.push_back({index, index._version(), index.clone(), std::move(value)});
    return entries_.back().value;
  }

  void drop_oldest() { entries_.erase(entries_.begin()); }
  void clear() { entries_.clear(); }
  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Value* latest(typename std::vector<Entry>::iterator found) {
    std::rotate(found, found + 1, entries_.end());
    return &entries_.back().value;
  }

  size_t most_;
  std::vector<Entry> entries_;
};

}  // namespace eignn
