// The regret of the planner: how much slower its choice is than the fastest solver, on real and generated
// problems.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eignn/planner.h"
#include "eignn/train.h"

namespace eignn {

/// A data set and its training configuration.
struct PlannerProblem {
  std::string name;
  TrainConfig config;
  std::function<Dataset(const TrainConfig&)> load;
};

/// Some thirty problems from 34 to 100 000 nodes: the paper's data sets with their recipes, chains, paths,
/// grids, trees and random graphs, directed and undirected, with the heads plain, l2 and batch-norm, with and
/// without an encoder, γ 0.8 and 1. `quick` leaves out those that take more than a few seconds. `config`
/// gives threads, precision and seed.
std::vector<PlannerProblem> planner_problems(const TrainConfig& config, bool quick);

/// The measured times of one solver on a problem.
struct SolverTiming {
  std::string solver;
  double preparation_s = 0;  // to the end of the first epoch, less one epoch
  double epoch_ms = 0;       // a training step and the evaluation after it, median
  int64_t epochs = 0;        // timed
  std::string left_out;      // why it was not measured; empty: it was measured

  double seconds(int64_t run_epochs) const {
    return preparation_s + 1e-3 * static_cast<double>(run_epochs) * epoch_ms;
  }
};

struct PlannerRegret {
  std::string problem;
  int64_t nodes = 0, arcs = 0, width = 0;
  int64_t epochs = 0;  // of the run that the plan is for
  Plan plan;
  double planning_s = 0;
  std::vector<SolverTiming> timings;
  std::string fastest;
  double regret = 0;        // of a run: the chosen solver's seconds over those of the fastest
  double epoch_regret = 0;  // of an epoch, without preparation
};

/// Times the planner's choice and every other solver whose estimate for three epochs is within `limit_s`
/// seconds. Solvers that the planner refused, for memory or because they would lose the signal over the
/// longest path, are left out.
PlannerRegret measure_planner(const PlannerProblem& problem, double limit_s);

}  // namespace eignn
