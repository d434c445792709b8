// The choice of the solver `auto`, and the estimated cost of each solver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/solver.h"

namespace eignn {

/// Which part of the equilibrium a training step reads.
enum class Reads {
  labelled_rows,  // Z at the labelled nodes
  all_nodes,      // Z or its moments at all nodes: batch normalisation, several graphs in a step
  scores_only     // f = B Z at the labelled nodes and nothing else: the plain head
};

/// The problem that a solver is chosen for. S must outlive the request.
///
///     PlanRequest request{S};
///     request.width = 64;
///     std::cout << plan_solver(request).solver;
struct PlanRequest {
  const Propagation& S;
  SolverOptions options = {};  // precision, device, γ, tolerance, and whether X changes
  int64_t width = 1;           // rows of F: the width of the encoder where there is one, or the rank
  bool thin = false;           // F has fewer rows than columns, so that what it makes of X changes with it
  int64_t outputs = 8;         // columns of B
  Reads reads = Reads::labelled_rows;
  int64_t trained = -1;    // nodes that a training step reads; -1: half of all nodes
  int64_t evaluated = -1;  // nodes that the evaluation after it reads; -1: as many as are trained on
  /// The largest distance to the nearest node with features, where an arc of small weight counts for the hops
  /// that lose as much of a signal; -1: the longest path.
  int64_t hops = -1;
  double density = 1;      // share of non-zero entries in X
  int64_t equilibria = 1;  // number of equilibria, each with an F of its own
  int64_t epochs = 300;    // over which the preparation is amortised
};

/// The estimated cost of one solver on two CPU cores. The ratios matter; the times depend on the machine.
struct Price {
  std::string solver;
  std::string path;          // the method it would use: "series", "iteration", …; empty: it has only one
  double preparation_s = 0;  // before the first epoch
  double epoch_ms = 0;       // a training step and the evaluation after it
  std::string refused;       // why it cannot be used; empty: it can

  double seconds(int64_t epochs) const {
    return preparation_s + 1e-3 * static_cast<double>(epochs) * epoch_ms;
  }
};

/// The choice of `auto`, with a reason in words.
struct Plan {
  std::string solver;
  std::string reason;
  bool chosen_for_range =
      false;                  // `direct` was chosen because the others lose the signal on the longest path
  std::vector<Price> prices;  // the cheapest first, those refused last; empty on a GPU
};

/// The solver with the lowest cost for `request.epochs` epochs, among those that fit into memory. Where the
/// others would lose a signal over `request.hops` hops, `direct`, unless it costs more than 20 times as much.
/// On a GPU the choice follows simpler rules.
Plan plan_solver(const PlanRequest& request);

}  // namespace eignn
