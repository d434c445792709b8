// The paper's tables, run again and set beside the paper's figures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run_set.h"

namespace eignn {

/// A figure of the paper, in percent; the standard deviation is over ten splits where it is given.
struct PaperFigure {
  double mean = 0;
  std::optional<double> std;
};

/// One row of a table: a data set's recipe, with some settings of its own.
struct ExperimentRow {
  std::string label;
  std::string dataset;
  std::map<std::string, std::string> settings;  // on top of the recipe
  std::optional<PaperFigure> paper;
  std::string remark;  // what the reader must know of this figure
};

struct Experiment {
  std::string name, title;
  std::vector<ExperimentRow> rows;
  std::string text;  // what holds for the whole table
};

/// "heterophilic" and "ppi"; UsageError for another name.
const Experiment& experiment(const std::string& name);
std::vector<std::string> experiment_names();

struct ReproduceOptions {
  bool quick = false;             // two splits; PPI: 50 epochs
  int64_t seeds = 1;              // runs of every split, with the seeds 0, 1, …
  std::vector<std::string> rows;  // only these; empty: all
  std::string runs;               // the folder that keeps the runs
  int64_t parallel = 1;
  std::map<std::string, std::string> machine;  // settings of the machine, for all runs
};

/// Runs what is not finished yet and returns the table's JSON, without its provenance.
ResultJson reproduce(const Experiment& experiment, const ReproduceOptions& options, const JobRunner& runner,
                     const std::function<void(const std::string& label, size_t done, size_t all,
                                              const ResultJson& run)>& on_done);

/// The page for people: ours, the paper's, the difference, its significance, and how it was made.
std::string to_markdown(const Experiment& experiment, const ResultJson& table);

}  // namespace eignn
