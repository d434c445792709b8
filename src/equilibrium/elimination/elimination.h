// The symbolic half of the direct solver: which entries the factors have, and which entry each update
// changes.
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
  // Eliminating k updates the entry between its a-th and b-th later position, for all a < b: pair_slot has
  // the slots of these entries in the order of (a, b), from pair_begin[k] on.
  std::vector<int64_t> pair_begin;
  std::vector<int32_t> pair_slot;

  std::vector<double> diagonal;  // Â_kk
  std::vector<double> h;      // 1/(left·right), as row sum + slack where there is a slack: no cancellation
  std::vector<double> slack;  // see Propagation; empty: pivots must be formed by subtraction
  std::vector<double> left, right;

  // Â by columns: the entries Â_ji through which node i receives, for Z S.
  std::vector<int64_t> incoming_begin;
  std::vector<int32_t> incoming;
  std::vector<double> incoming_weight;

  int64_t slots() const { return static_cast<int64_t>(later.size()); }
};

/// The cost of an elimination for one shift, as its fill-reducing order determines it.
struct EliminationCost {
  int64_t slots = 0;   // entries of L below the diagonal
  double updates = 0;  // pairs updated in the numeric phase

  static EliminationCost unaffordable(int64_t nodes);  // above every limit
};

/// Computes an ordering on trial, which takes seconds at most. A graph with more than 250 000 edges outside
/// trees and paths is not ordered but reported as unaffordable.
EliminationCost estimate_elimination(const Propagation& S);

/// Throws ResourceError when the factors for that many shifts would exceed `memory_limit` bytes.
Elimination analyse_elimination(const Propagation& S, int64_t shifts = 8, int64_t bytes_per_number = 8,
                                double memory_limit = 8e9);

}  // namespace eignn
