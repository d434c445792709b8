// The paper's experiments by name: what each runs, and how its page is written.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "report/line_plot.h"
#include "run/run_set.h"

namespace eignn {

struct ReproduceOptions {
  bool quick = false;
  int64_t seeds = 0;  // runs of everything, with the seeds 0, 1, …; 0: the experiment's own number
  std::vector<std::string> models;  // empty: the experiment's own choice
  std::vector<std::string> rows;    // of a table, only these; empty: all
  std::vector<int64_t> lengths;     // of chains; empty: the experiment's own
  std::string runs;                 // the folder that keeps the runs
  int64_t parallel = 1;
  std::map<std::string, std::string> settings;  // of the machine and the like, for all runs
};

/// A run has ended, or was found finished.
struct RunReport {
  std::string label;
  size_t done = 0, all = 0;
  double seconds_left = -1;  // at the pace so far; negative: not known
  const RunResult& run;
  std::string text = {};  // what there is to say, in the place of the run's figures
};
/// May be called by several threads, one at a time; an exception ends the experiment.
using OnRun = std::function<void(const RunReport&)>;

struct Reproduction {
  std::string name, title;
  std::vector<std::string> models;      // that --models may name
  std::vector<std::string> all_models;  // what `reproduce all` runs; empty: the experiment's own choice
  bool has_rows = false, has_lengths = false;
  bool timed = false;        // one run at a time, with all threads
  bool keep_models = false;  // the runs' weights and predictions stay
  std::string runs_of;       // the experiment whose runs it works on; empty: it has its own
  /// DataError when a data set is missing; nothing is run.
  std::function<void(const ReproduceOptions&)> check;
  /// Runs what is not finished yet and returns the results, without their provenance.
  std::function<ResultJson(const ReproduceOptions&, const JobRunner&, const OnRun&)> run;
  std::function<std::vector<LinePlot>(const ResultJson&)> plots;
  /// The page for people; `figures` are the files that were drawn.
  std::function<std::string(const ResultJson&, const std::vector<std::string>& figures)> page;
  /// One line for the index.
  std::function<std::string(const ResultJson&)> outcome;
};

/// In the order in which `reproduce all` runs them.
const std::vector<Reproduction>& reproductions();
/// ArgumentError for a name that none has; "all" is named among the known ones.
const Reproduction& reproduction(const std::string& name);

/// ArgumentError for a model, rows or lengths that the experiment does not have.
void check_options(const Reproduction& experiment, const ReproduceOptions& options);

/// "Made by …": the command, and the commits and machines of the runs.
std::string made_by(const ResultJson& results, const std::vector<ResultJson>& runs);

/// A line of the index for each: its title with a link to `page`, and its outcome.
struct IndexEntry {
  std::string title, page, outcome;
};
std::string index_page(const std::vector<IndexEntry>& entries);

}  // namespace eignn
