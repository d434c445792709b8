// The race behind search(data, AutoSearch), apart from who runs its jobs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "eignn/search.h"
#include "run/job_runner.h"
#include "run/search.h"

namespace eignn {

/// Runs one job, or reads what is there of it. Trial::failure says that it did not converge, or that it took
/// more than `most_seconds`.
using RunOne = std::function<Trial(const Job& job, bool keep_model, double most_seconds)>;

/// Jobs one after another in this process, on data as load_raw_dataset() returns them, which must outlive the
/// result.
RunOne one_at_a_time(const JobOptions& options, const Dataset& raw);

/// Told after each rung of each candidate.
using OnRung = std::function<void(const AutoTrial&)>;

/// Races on these data. With a folder: runs are kept under folder/trials/R/NNN/split-K, with R the rung
/// from 1. The folder is made and locked for this one search until its end, when it has trials.json,
/// best.toml and the winner's runs in best. search.toml in it says what is searched; DataError where that
/// file says something else, and ResourceError where the disk has no room.
AutoSearchResult run_auto_search(const AutoSearch& race, const Dataset& raw, const std::string& folder,
                                 const RunOne& run_one, const OnRung& on_rung = {});

/// The trials as the array of trials.json.
ResultJson trials_json(const std::vector<AutoTrial>& trials);

}  // namespace eignn
