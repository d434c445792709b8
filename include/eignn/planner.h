// Which solver `auto` takes, and what each would cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/solver.h"

namespace eignn {

/// What a training step reads of the equilibrium.
enum class Reads {
  labelled_rows,  // Z at the labelled nodes
  all_nodes,      // Z or its moments at all nodes: batch normalisation, several graphs in a step
  scores_only     // f = B Z at the labelled nodes and nothing else: the plain head
};

/// The problem that a solver is chosen for.
///
///     PlanRequest request{S};
///     request.width = 64;
///     std::cout << plan_solver(request).solver;
struct PlanRequest {
  const Propagation& S;
  SolverOptions options = {};  // precision, device, γ, tolerance, and whether the features stay
  int64_t width = 1;           // m, of the equilibrium itself: an encoder's outputs where there is one
  int64_t outputs = 8;         // columns of B
  Reads reads = Reads::labelled_rows;
  int64_t trained = -1;    // nodes that a training step reads; -1: half of them
  int64_t evaluated = -1;  // nodes that the evaluation after it reads; -1: as many as are trained on
  int64_t hops = -1;  // the longest way from a node to the nearest one with features; -1: the longest path
  double filled = 1;  // share of X that is not zero
  int64_t equilibria = 1;  // solved side by side, each with an F of its own
  int64_t epochs = 300;    // over which the preparation must pay
};

/// What one solver would take, estimated for two CPU cores. Ratios matter, the times themselves depend on the
/// machine.
struct Price {
  std::string solver;
  std::string path;          // "series", "iteration", …: the way this solver would go; empty: it has one
  double preparation_s = 0;  // before the first epoch
  double epoch_ms = 0;       // a training step and the evaluation after it
  std::string refused;       // why it is out of the question; empty: it is not

  double seconds(int64_t epochs) const {
    return preparation_s + 1e-3 * static_cast<double>(epochs) * epoch_ms;
  }
};

/// What `auto` chooses, and why, in a sentence for people.
struct Plan {
  std::string solver;
  std::string reason;
  bool out_of_reach = false;  // the way is so long that only direct keeps what arrives over it
  std::vector<Price> prices;  // the cheapest first, those refused last; empty on a GPU
};

/// The solver with the lowest price for `request.epochs` epochs, among those that fit into memory and keep
/// what arrives over `request.hops` hops.
Plan plan_solver(const PlanRequest& request);

}  // namespace eignn
