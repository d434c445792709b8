// A search as a set of jobs: who runs them, and what is kept.
#pragma once

#include <string>
#include <vector>

#include "eignn/search.h"
#include "run/disk_estimate.h"
#include "run/run_set.h"

namespace eignn {

/// What became of a job of a search.
struct Trial {
  RunResult result;
  std::string failure;  // the error's message; empty: there is a result
  double seconds = 0;   // that an automatic search's trial took until it failed
};
using OnTrial = std::function<void(size_t, const Trial&)>;
/// Runs jobs and returns their outcomes in the jobs' order. `on_done` is called after each.
using RunAll = std::function<std::vector<Trial>(const std::vector<Job>& jobs, const OnTrial& on_done)>;
/// Runs the jobs that are not finished yet, `parallel` at a time. A ConvergenceError of a job is its result:
/// it is recorded in the job's folder, not tried again, and does not end the others. Other errors end the
/// search.
RunAll run_individually(int64_t parallel, const JobRunner& runner);

/// `split_count` is the number of splits of the data set. Runs are kept under folder/trials/NNN/split-K,
/// those of a shortened first round under folder/screening (when there is a folder). A run that fails (no
/// convergence, a loss that is not finite) is recorded with its message and disqualifies its point.
///
/// The folder is made and locked for this one search until its end, when it has trials.json and best.toml.
/// `settings`, when given, is what the runs have in common: it is written to search.toml, and DataError where
/// that file says something else, since results of different settings would be mixed.
SearchResult run_search(const SearchPlan& plan, int64_t split_count, const std::string& folder,
                        const RunAll& run_all,
                        const std::function<void(size_t done, size_t all, const Trial&)>& on_done,
                        const std::string& settings = {});

/// ResourceError where the disk has no room for the runs of this search that are not finished; `raw` are the
/// data of its points before prepared().
void require_space_for_search(const SearchPlan& plan, const Dataset& raw, const std::string& folder,
                              const ManyRuns& how);

/// The trials as the array of trials.json.
ResultJson trials_json(const std::vector<SearchTrial>& trials);

}  // namespace eignn
