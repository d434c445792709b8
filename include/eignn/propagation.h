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
  double weight_scale = 0;  // what weights of arcs are divided by; 0: their mean, see scale_of_weights()
};

/// S = diag(left) Â diag(right), where Â = A+I (or A) has the weights of the arcs as entries. Where the arcs
/// have none, Â is not stored but for its pattern, 4 bytes an entry.
///
/// The factors are kept because the direct solver eliminates with the entries of Â and sums of them instead
/// of the rounded S.
struct Propagation {
  int64_t nodes = 0;
  std::vector<int64_t> row_begin = {0};
  std::vector<int32_t> column;  // ascending within a row; the diagonal is stored
  std::vector<double> weight;   // Â; empty: all are 1, but for the diagonal (see weight_of)
  /// Without `weight`: the entries Â_ii, which are 2 where the data has a loop and I is added; empty: all 1.
  std::vector<double> diagonal;
  std::vector<double> left, right;
  /// The row sums of diag(h) - Â: h_i - Σ_j Â_ij ≥ 0 with h = 1/(left·right), formed without subtraction: the
  /// sum of what was dropped from a row. Empty where they are not known to be non-negative (out-in on a
  /// directed graph); the direct solver must then form pivots by subtraction.
  std::vector<double> slack;
  bool symmetric = true;

  int64_t entries() const { return static_cast<int64_t>(column.size()); }
  /// The entry of Â.
  double weight_of(int64_t row, int64_t entry) const {
    if (!weight.empty()) return weight[entry];
    return diagonal.empty() || column[entry] != row ? 1 : diagonal[row];
  }
  double value(int64_t row, int64_t entry) const {
    return left[row] * weight_of(row, entry) * right[column[entry]];
  }
  Graph pattern() const;  // the arcs of Â
};

/// S for a graph. With A_ij = w/scale for the arc i → j of weight w, node j receives Σ_i z_i S_ij. Where the
/// arcs have no weights, A_ij = 1.
///
/// `undirected` symmetrises A first, with the larger of the two weights of an edge; `in` takes A as it is, so
/// that j receives from i along i → j; `out` takes Aᵀ. `sym` divides an entry by the square roots of the row
/// sums of Â at both ends, `out_in` by those of the row sum at the tail and the column sum at the head. A
/// node whose degree is zero has a zero row (and, under `sym`, a zero column). A loop in the data adds its
/// A_ii on top of I. ArgumentError for a scale that is negative or not finite, and where a weight and the
/// scale are 150 orders of magnitude apart.
Propagation make_propagation(const Graph& graph, const PropagationOptions& options = {});

/// What make_propagation() divides the weights of the arcs by: options.weight_scale, or where that is 0 their
/// mean over the distinct arcs of the data, as they were given. I has the entry 1, so that without a scale
/// weights of 1e-4 would make S the identity. 1 where the arcs have no weights.
double scale_of_weights(const Graph& graph, const PropagationOptions& options = {});

/// Throws ArgumentError where the parts of an S that was not made by make_propagation() are inconsistent:
/// lengths, offsets, columns out of range or order, numbers that are negative or not finite, `symmetric` set
/// for a matrix that is not. make_solver() and residual() call it: one pass over the entries.
void check(const Propagation& S);

Direction parse_direction(const std::string& name);          // throws ArgumentError on an unknown name
Normalisation parse_normalisation(const std::string& name);  // likewise
const char* name(Direction);
const char* name(Normalisation);

}  // namespace eignn
