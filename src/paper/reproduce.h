// The paper's tables, run again and compared with the paper's figures.
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
  std::map<std::string, std::string> settings;  // override the recipe
  std::optional<PaperFigure> paper;
  std::string remark;  // a note on this figure for the page
  std::string model = "eignn";
  std::optional<double> paper_epoch_s = {}, paper_preprocess_s = {};  // the paper's times
};

struct Experiment {
  std::string name, title;
  std::vector<ExperimentRow> rows;
  std::string question;  // the page's first sentence
  std::string text;      // how it was done
};

/// The tables: "heterophilic" and "ppi".
const std::vector<Experiment>& table_experiments();

/// The rows that the options select, those of EIGNN where no model is given; ArgumentError for rows that the
/// experiment does not have.
std::vector<ExperimentRow> rows_of(const Experiment& experiment, const ReproduceOptions& options);

/// A row's runs, split by split for each seed, in folders of their own.
struct RowRuns {
  std::vector<Job> jobs;
  std::vector<RunResult> results;  // in the jobs' order
};
/// Runs the jobs of all these rows that are not finished yet, as one set.
std::vector<RowRuns> run_rows(const std::vector<ExperimentRow>& rows, const ReproduceOptions& options,
                              const JobRunner& runner, const OnRun& on_run);
/// The label of a row in a list of runs: "Texas, gcn".
std::string full_label(const std::string& label, const std::string& model);
/// The part of a run's result that a table's JSON keeps.
ResultJson short_form(const RunResult& run);

/// Runs the jobs that are not finished yet and returns the table's JSON, without its provenance.
ResultJson reproduce(const Experiment& experiment, const ReproduceOptions& options, const JobRunner& runner,
                     const OnRun& on_run);

/// The matrix that a row's model sees, by the settings of the row: "stated" for the paper's, D^-1/2 (A+I)
/// D^-1/2 of the undirected graph.
std::string matrix_of(const ResultJson& row);
/// What stands between EIGNN's states and its scores: "f = B Z".
std::string head_of(const ResultJson& row);
/// The rank of EIGNN's mean among all models of the table on this data set's stated matrix.
struct Rank {
  int64_t place = 0, models = 0;  // place 0: EIGNN was not run there
  double mean = 0;
  std::string head;
  std::vector<std::string> ahead;  // "gcn 65.99", the best first
};
Rank rank_of_eignn(const ResultJson& table, const std::string& dataset);

/// The Markdown page: our figures, the paper's, the difference, its significance, and the provenance.
std::string to_markdown(const Experiment& experiment, const ResultJson& table);

/// The experiment as an entry of reproductions().
Reproduction as_reproduction(const Experiment& experiment);

}  // namespace eignn
