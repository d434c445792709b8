// Which nodes of a data set one process has.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/dataset.h"

namespace eignn {

class OwnNodes {
 public:
  OwnNodes() = default;
  /// first, first+1, …, last-1.
  OwnNodes(int64_t first, int64_t last) : first_(first), count_(last - first) {}
  /// These, of so many, in their order here.
  OwnNodes(std::vector<int64_t> nodes, int64_t all);

  int64_t count() const { return count_; }
  /// The number of an own node among all.
  int64_t number(int64_t own) const {
    return nodes_.empty() ? first_ + own : nodes_[static_cast<size_t>(own)];
  }
  /// The own place of a node; -1 for another's.
  int64_t place(int64_t node) const;

  /// Own rows of a matrix with a row for each node; a copy, so that the others can be released. Undefined
  /// stays undefined.
  torch::Tensor rows(const torch::Tensor& of_all) const;
  template <class T>
  std::vector<T> slice(const std::vector<T>& of_all) const {
    std::vector<T> out;
    if (of_all.empty()) return out;
    out.reserve(static_cast<size_t>(count_));
    for (int64_t v = 0; v < count_; ++v) out.push_back(of_all[static_cast<size_t>(number(v))]);
    return out;
  }
  /// Of a list of nodes: the places in it of own nodes, and these nodes by their own numbers, in its order.
  torch::Tensor places_in(const torch::Tensor& nodes) const;
  torch::Tensor of(const torch::Tensor& nodes) const;
  Split of(const Split& split) const { return {of(split.train), of(split.val), of(split.test)}; }

  /// What a data set says of own nodes alone: features, labels, names, splits and distances. No arcs.
  Dataset part_of(Dataset whole) const;

 private:
  torch::Tensor own_numbers(const torch::Tensor& nodes) const;

  int64_t first_ = 0, count_ = 0;
  std::vector<int64_t> nodes_;  // empty: from first_ on
  torch::Tensor place_;         // int64 of each node; undefined with nodes_ empty
};

}  // namespace eignn
