// The paper's tables, run again and set beside the paper's figures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paper/reproduction.h"

namespace eignn {

/// A figure of the paper, in percent; the standard deviation is over ten splits where it is given.
struct PaperFigure {
  double mean = 0;
  std::optional<double> std;
};

/// One row of a table: the recipe for a data set and a model, with some settings of its own.
struct ExperimentRow {
  std::string label;
  std::string dataset;
  std::map<std::string, std::string> settings;  // on top of the recipe
  std::optional<PaperFigure> paper;
  std::string remark;  // what the reader must know of this figure
  std::string model = "eignn";
};

struct Experiment {
  std::string name, title;
  std::vector<ExperimentRow> rows;
  std::string text;  // what holds for the whole table
};

/// The tables: "heterophilic" and "ppi".
const std::vector<Experiment>& table_experiments();

/// The rows that were asked for, EIGNN's where no model is named; ArgumentError for one that the experiment
/// does not have.
std::vector<ExperimentRow> rows_of(const Experiment& experiment, const ReproduceOptions& options);

/// A row's runs, split by split for each seed, in folders of their own.
struct RowRuns {
  std::vector<Job> jobs;
  std::vector<RunResult> results;  // in the jobs' order
};
/// Runs what is not finished yet of all these rows, as one set of jobs.
std::vector<RowRuns> run_rows(const std::vector<ExperimentRow>& rows, const ReproduceOptions& options,
                              const JobRunner& runner, const OnRun& on_run);
/// What a list of runs calls the row: "Texas, gcn".
std::string full_label(const std::string& label, const std::string& model);
/// Of a run's result what a table is checked by.
ResultJson short_form(const RunResult& run);

/// Runs what is not finished yet and returns the table's JSON, without its provenance.
ResultJson reproduce(const Experiment& experiment, const ReproduceOptions& options, const JobRunner& runner,
                     const OnRun& on_run);

/// The page for people: ours, the paper's, the difference, its significance, and how it was made.
std::string to_markdown(const Experiment& experiment, const ResultJson& table);

/// The experiment as an entry of the table of experiments.
Reproduction as_reproduction(const Experiment& experiment);

}  // namespace eignn
