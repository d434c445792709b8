// Search over settings, judged by validation alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/train.h"

namespace eignn {

/// What to try. As a TOML file: a setting of a run with a list of values is tried with each of them, and all
/// lists together span the grid; a single value holds for all points. Three names are the search's own:
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

/// `base` is what the points have in common; the settings in `given` win over the file. Points that mean the
/// same (out-in on a symmetrised graph is sym) are tried once. DataError for a text that makes no sense;
/// `origin` names it.
SearchPlan parse_search(const std::string& toml, const TrainConfig& base,
                        const std::set<std::string>& given = {}, const std::string& origin = "the search");

/// What came of one point.
struct SearchTrial {
  size_t point = 0;                             // its place in SearchPlan::points
  std::map<std::string, std::string> settings;  // those of SearchPlan::varied
  std::vector<int64_t> splits;                  // of the first judgement
  std::vector<double> val, final_val;           // validation figures; final_val of finalists alone
  std::vector<double> epochs, seconds_per_epoch;
  std::string failure;  // why the point is out: it did not converge. Empty: it is not
  bool chosen = false;
};

struct SearchResult {
  std::vector<SearchTrial> trials;  // of every point
  TrainConfig best;                 // by the mean validation figure; no test figure is read before
  std::vector<RunResult> runs;      // the best point's, on the splits of the last judgement
};

struct SearchOptions {
  std::string
      folder;  // keeps every run, so that the same call goes on after an interruption; empty: nothing is kept
  TrainHooks hooks;  // of each run
};

/// Trains every point on the data and judges it by its validation figures. A point whose training does not
/// converge is out; any other error ends the search. ArgumentError for data or settings that do not fit,
/// ConvergenceError when no point converges.
///
///     auto plan = eignn::parse_search("lr = [0.01, 0.1]\ngamma = [0.8, 1.0]", config);
///     TrainConfig best = eignn::search(data, plan).best;
SearchResult search(const Dataset& data, const SearchPlan& plan, const SearchOptions& options = {});

/// A search that needs no grid. Candidates come from recipes/portfolio: for each model its recipe for the
/// data, then settings that differ in kind (sources, directions, stacks, norms), then random variants of
/// these. They are raced by successive halving: many for `first_epochs` epochs, the better ones for three
/// times as many, the best in full, with early stopping. Validation alone ranks them.
struct AutoSearch {
  /// What all candidates have in common, without a recipe; those of its settings that are in `given` are
  /// never changed.
  TrainConfig base;
  std::set<std::string> given;
  std::vector<std::string> models = {"eignn"};
  /// Ends the race. The time that counts is that of the trainings, on all splits of the winner too.
  double budget_seconds = 600;
  /// Where not 0: so many candidates in the place of a budget. The same call then tries and chooses the same
  /// on one machine.
  int64_t trials = 0;
  int64_t splits = 1;  // the mean over the first so many splits judges a candidate
  int64_t first_epochs = 30;
};

/// What came of one candidate.
struct AutoTrial {
  std::string name;                             // "eignn/stack"; "eignn/stack, varied"
  std::map<std::string, std::string> settings;  // those that differ between the candidates of its model
  struct Rung {
    int64_t epochs = 0;       // at most
    std::vector<double> val;  // the validation figure of each judged split
    double seconds = 0, seconds_per_epoch = 0;
  };
  std::vector<Rung> rungs;  // those that it reached
  std::string failure;      // why it is out: it did not converge, or was too slow for the budget
  bool chosen = false;
};

struct AutoSearchResult {
  std::vector<AutoTrial> trials;
  TrainConfig best;             // no test figure was read before it was chosen
  std::vector<RunResult> runs;  // of the best, on every split of the data
  double seconds = 0;           // of all trainings
};

/// Races the candidates on data in memory. With options.folder, everything is kept there and the same call
/// goes on after an interruption; the winner's run, or those of its splits, are then in folder/best.
/// ArgumentError for data without validation nodes, for settings that do not fit and for a budget of nothing;
/// ConvergenceError when no candidate converges.
///
///     eignn::AutoSearch race;
///     race.budget_seconds = 120;
///     TrainConfig best = eignn::search(data, race).best;
AutoSearchResult search(const Dataset& data, const AutoSearch& race, const SearchOptions& options = {});

}  // namespace eignn
