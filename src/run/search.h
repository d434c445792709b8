// Grid search by validation.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "run/run_set.h"

namespace eignn {

/// What to try. The file is TOML: a setting of `eignn train` with a list of values is tried with each of
/// them, all lists together span the grid; a single value holds for all points. Three names are the search's
/// own:
///
///     splits = [0, 1]         # the mean validation figure over these judges; all splits when not given
///     finalists = 4           # the best so many are judged again on all splits; 0: there is one judgement
///     screening-epochs = 150  # epochs at most in the first judgement; 0: as many as in the second
///
///     gamma = [0.8, 1.0]
///     lr = [1e-3, 1e-2]
struct SearchPlan {
  std::vector<TrainConfig> points;
  std::vector<std::string> varied;  // the settings that have several values, in the file's order
  std::vector<int64_t> splits;      // empty: all
  int64_t finalists = 0;
  int64_t screening_epochs = 0;
};

/// `base` is what the points have in common; the settings in `given` (the command line's) win over the file.
/// Points that mean the same (out-in on a symmetrised graph is sym) are tried once. DataError for a file
/// that makes no sense.
SearchPlan parse_search(const std::string& toml, const TrainConfig& base, const std::set<std::string>& given,
                        const std::string& origin);

struct SearchResult {
  ResultJson trials;            // of every point: settings, validation figures by split, their mean
  TrainConfig best;             // by the mean validation figure; no test figure is read before
  std::vector<RunResult> runs;  // the best point's, on the splits of the last judgement
};

/// What became of a job of a search.
struct Trial {
  RunResult result;
  std::string failure;  // why there is no result; empty: there is one
};
using OnTrial = std::function<void(size_t, const Trial&)>;
/// Runs jobs and returns what became of them, in the jobs' order. `on_done` is called after each.
using RunAll = std::function<std::vector<Trial>(const std::vector<Job>& jobs, const OnTrial& on_done)>;
/// Runs the jobs one by one or `parallel` at a time (run_jobs); a job that fails does not end the others.
RunAll each_by_itself(int64_t parallel, const JobRunner& runner);

/// `split_count` is the data set's. Runs are kept under folder/trials/NNN/split-K, those of a shorter first
/// judgement under folder/screening (when there is a folder). A run that fails (no convergence, a loss that
/// is not finite) is recorded with its message, and its point is out.
SearchResult run_search(const SearchPlan& plan, int64_t split_count, const std::string& folder,
                        const RunAll& run_all,
                        const std::function<void(size_t done, size_t all, const Trial&)>& on_done);

}  // namespace eignn
