// The propagation matrix S of Z = γ g Z S + X, in a form that keeps its degrees exact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

enum class Direction { undirected, in, out };  // along which arcs a node receives; see make_propagation
enum class Normalisation { sym, out_in };

struct PropagationOptions {
  Direction direction = Direction::undirected;   // the paper's assumption
  Normalisation normalise = Normalisation::sym;  // D^-1/2 (A+I) D^-1/2
  bool self_loops = true;                        // A+I rather than A
};

/// S = diag(left) Â diag(right), where Â = A+I (or A) has small integers as entries.
///
/// The factors are kept because the direct solver eliminates with the exact integers of Â instead of the
/// rounded S.
struct Propagation {
  int64_t nodes = 0;
  std::vector<int64_t> row_begin = {0};
  std::vector<int64_t> column;  // ascending within a row; the diagonal is stored
  std::vector<double> weight;   // Â: 1, or 2 on the diagonal where the data has a loop and I is added
  std::vector<double> left, right;
  /// The row sums of diag(h) - Â: h_i - Σ_j Â_ij ≥ 0 with h = 1/(left·right). Empty where they are not known
  /// to be non-negative (out-in on a directed graph); the direct solver must then form pivots by subtraction.
  std::vector<double> slack;
  bool symmetric = true;

  int64_t entries() const { return static_cast<int64_t>(column.size()); }
  double value(int64_t row, int64_t entry) const { return left[row] * weight[entry] * right[column[entry]]; }
  Graph pattern() const;  // the arcs of Â
};

/// S for a graph. With A_ij = 1 for the arc i → j, node j receives Σ_i z_i S_ij.
///
/// `undirected` symmetrises A first; `in` takes A as it is, so that j receives from i along i → j; `out`
/// takes Aᵀ. `sym` divides an entry by the square roots of the row sums of Â at both ends, `out_in` by those
/// of the row sum at the tail and the column sum at the head. A node whose degree is zero has a zero row
/// (and, under `sym`, a zero column). Duplicate arcs count once; a loop in the data adds 1 on top of I.
Propagation make_propagation(const Graph& graph, const PropagationOptions& options = {});

/// Throws ArgumentError where the parts of an S that was not made by make_propagation() are inconsistent:
/// lengths, offsets, columns out of range or order, numbers that are negative or not finite, `symmetric` set
/// for a matrix that is not. make_solver() and residual() call it: one pass over the entries.
void check(const Propagation& S);

Direction parse_direction(const std::string& name);          // throws ArgumentError on an unknown name
Normalisation parse_normalisation(const std::string& name);  // likewise
const char* name(Direction);
const char* name(Normalisation);

}  // namespace eignn
