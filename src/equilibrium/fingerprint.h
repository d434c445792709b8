// Finds equal rows of features by content: equal components with equal features have equal equilibria.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/content_hash.h"

namespace eignn {

/// A hash of the rows of X at these nodes; X is contiguous and on the CPU. Different rows have the same hash
/// with a probability of 2^-128.
inline std::string fingerprint(const torch::Tensor& X, const std::vector<int64_t>& nodes) {
  const size_t row = static_cast<size_t>(X.size(1)) * X.element_size();
  const auto* bytes = static_cast<const unsigned char*>(X.data_ptr());
  ContentHash hash;
  for (int64_t v : nodes) hash.add(bytes + static_cast<size_t>(v) * row, row);
  return hash.hex();
}

/// Numbers lists of nodes by the content of their rows of X, which is contiguous and on the CPU. A
/// fingerprint finds the candidates, which are then compared byte by byte.
class RowsByContent {
 public:
  using Hash = std::function<std::string(const torch::Tensor&, const std::vector<int64_t>&)>;

  explicit RowsByContent(torch::Tensor X, Hash hash = fingerprint)
      : X_(std::move(X)), hash_(std::move(hash)) {}

  /// The same number for lists with equal rows, counted from 0 in the order of first appearance. Keeps a
  /// pointer to `nodes`, which must outlive this object.
  size_t number_of(const std::vector<int64_t>& nodes) {
    std::vector<size_t>& candidates = by_hash_[hash_(X_, nodes)];
    for (const size_t c : candidates)
      if (same_rows(*first_[c], nodes)) return c;
    first_.push_back(&nodes);
    candidates.push_back(first_.size() - 1);
    return candidates.back();
  }

  /// The first list of that number.
  const std::vector<int64_t>& first(size_t number) const { return *first_[number]; }
  size_t count() const { return first_.size(); }

 private:
  bool same_rows(const std::vector<int64_t>& a, const std::vector<int64_t>& b) const {
    const size_t row = static_cast<size_t>(X_.size(1)) * X_.element_size();
    const auto* bytes = static_cast<const unsigned char*>(X_.data_ptr());
    const auto at = [&](int64_t v) { return bytes + static_cast<size_t>(v) * row; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](int64_t v, int64_t w) { return std::memcmp(at(v), at(w), row) == 0; });
  }

  torch::Tensor X_;
  Hash hash_;
  std::unordered_map<std::string, std::vector<size_t>> by_hash_;
  std::vector<const std::vector<int64_t>*> first_;
};

}  // namespace eignn
