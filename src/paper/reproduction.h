// The paper's experiments by name: the runs of each, and its page.
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
  int64_t seeds = 0;                // repetitions, with the seeds 0, 1, …; 0: the experiment's own number
  std::vector<std::string> models;  // empty: the experiment's own choice
  std::vector<std::string> rows;    // of a table; empty: all
  std::vector<int64_t> lengths;     // of chains; empty: the experiment's own
  std::string runs;                 // the folder that keeps the runs
  int64_t parallel = 1;
  std::map<std::string, std::string> settings;  // for all runs, such as device and threads
};

/// Reports that a run has finished, now or earlier.
struct RunReport {
  std::string label;
  size_t done = 0, all = 0;
  double seconds_left = -1;  // at the pace so far; negative: not known
  const RunResult& run;
  std::string text = {};  // shown instead of the run's figures
};
/// May be called by several threads, but never at the same time. An exception ends the experiment.
using OnRun = std::function<void(const RunReport&)>;

struct Reproduction {
  std::string name, title;
  std::vector<std::string> models;      // that --models accepts
  std::vector<std::string> all_models;  // that `reproduce all` runs; empty: the experiment's own choice
  bool has_rows = false, has_lengths = false;
  bool timed = false;          // one run at a time, with all threads
  bool own_processes = false;  // each run in a process of its own, whose peak memory is the run's
  bool keep_models = false;    // keep the weights and predictions of the runs
  std::string runs_of;         // the experiment whose runs it uses; empty: its own
  /// Throws DataError when a data set is missing. Does not run anything.
  std::function<void(const ReproduceOptions&)> check;
  /// Runs the jobs that are not finished yet and returns the results, without their provenance.
  std::function<ResultJson(const ReproduceOptions&, const JobRunner&, const OnRun&)> run;
  /// Makes what follows from the runs anew, such as tests and verdicts; nothing to do when not set.
  std::function<void(ResultJson&)> renew;
  std::function<std::vector<LinePlot>(const ResultJson&)> plots;
  /// The Markdown page; `figures` are the files of the plots.
  std::function<std::string(const ResultJson&, const std::vector<std::string>& figures)> page;
  /// One line for the index.
  std::function<std::string(const ResultJson&)> outcome;
};

/// In the order in which `reproduce all` runs them.
const std::vector<Reproduction>& reproductions();
/// ArgumentError for an unknown name; its list of known names includes "all".
const Reproduction& reproduction(const std::string& name);

/// ArgumentError for a model, rows or lengths that the experiment does not have.
void check_options(const Reproduction& experiment, const ReproduceOptions& options);

/// "Made by …": the command, and the commits and machines of the runs.
std::string made_by(const ResultJson& results, const std::vector<ResultJson>& runs);

/// A line of the index: the title with a link to `page`, and the outcome. Without a page: not run yet.
struct IndexEntry {
  std::string title, page, outcome;
};
/// The name without a suffix of an experiment's files, or of the index: "noise", "noise-quick".
std::string file_stem(const std::string& name, bool quick);
std::string index_page(const std::vector<IndexEntry>& entries, bool quick);

}  // namespace eignn
