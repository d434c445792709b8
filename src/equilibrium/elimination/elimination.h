// The symbolic half of the direct solver: which entries the factors have, and where each update lands.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// Elimination of diag(h) - a Â in a fill-reducing order, on the pattern of Â + Âᵀ. One analysis serves every
/// shift a, both triangles and the transposed system. Positions are places in the elimination order.
struct Elimination {
  int64_t nodes = 0;
  bool symmetric = true;
  std::vector<int64_t> order;     // order[k]: the node eliminated k-th
  std::vector<int64_t> position;  // its inverse

  // Column k of L (and row k of U): the positions after k that it touches, ascending.
  std::vector<int64_t> begin;
  std::vector<int32_t> later;
  // Â at those places: lower = Â[later, k], upper = Â[k, later] (0 at a fill-in); symmetric graphs keep upper
  // only.
  std::vector<double> lower, upper;
  // Eliminating k updates the entry between its a-th and b-th later position (a < b); its slot, pairs in
  // order.
  std::vector<int64_t> pair_begin;
  std::vector<int32_t> pair_slot;

  std::vector<double> diagonal;  // Â_kk
  std::vector<double> h;         // 1/(left·right), exact where the degrees are
  std::vector<double> slack;     // see Propagation; empty: pivots must be formed by subtraction
  std::vector<double> left, right;

  // Row i of Âᵀ: what reaches node i, for Z S.
  std::vector<int64_t> incoming_begin;
  std::vector<int32_t> incoming;
  std::vector<double> incoming_weight;

  int64_t slots() const { return static_cast<int64_t>(later.size()); }
};

/// What an elimination would cost for one shift, known from the ordering alone.
struct EliminationCost {
  int64_t slots = 0;   // entries of L below the diagonal
  double updates = 0;  // pairs updated in the numeric phase

  static EliminationCost unaffordable(int64_t nodes);  // more than anyone would wait for
};

/// By a trial ordering, which takes seconds at most: where a large part of the graph is neither tree nor path
/// it is not tried, and the cost said to be unaffordable.
EliminationCost estimate_elimination(const Propagation& S);

/// Throws ResourceError when the factors of that many shifts would pass `memory_limit` bytes.
Elimination analyse_elimination(const Propagation& S, int64_t shifts = 8, int64_t bytes_per_number = 8,
                                double memory_limit = 8e9);

}  // namespace eignn
