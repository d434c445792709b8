// A figure of the paper: one quantity over another (accuracy over the length of chains) for several models.
#pragma once

#include <optional>

#include "paper/claims.h"
#include "paper/reproduction.h"

namespace eignn {

/// Runs of one setting that differ by their seed: a point of a curve.
struct StudyPoint {
  std::string panel, series;
  double x = 0;
  std::string x_text;
  std::map<std::string, std::string> settings;  // on top of the recipe; the model among them
  std::optional<double> paper = {};             // the paper's figure
};

/// What is read from the runs' results.
struct Measure {
  std::function<double(const RunResult&)> figure;
  std::string label;  // "test accuracy, %"
  double scale = 100;
};

/// Two series that the paper tests against each other, and what it found.
struct TestedPair {
  std::string a, b, paper;
};

struct Study {
  std::string name, title, text;
  std::vector<std::string> models;
  std::string x_label;
  std::vector<int64_t> lengths, quick_lengths;  // empty: it has points of its own
  int64_t seeds = 1, quick_seeds = 1;
  Measure measure = {[](const RunResult& run) { return run.score.test; }, "test accuracy, %", 100};
  bool timed = false;  // one run at a time
  std::function<std::vector<StudyPoint>(const std::vector<std::string>& models,
                                        const std::vector<int64_t>& lengths)>
      points;
  std::vector<Claim> claims;
  std::vector<TestedPair> pairs;
  std::vector<int64_t> loss_lengths = {};                 // loss curves of seed 0 at these
  std::function<void(ResultJson& points)> complete = {};  // adds points that follow from others
};

/// The settings of chains with so many nodes and classes; `directed`: a node hears along the arcs.
std::map<std::string, std::string> chain_settings(const std::string& model, int64_t length, int64_t classes,
                                                  bool directed);

/// Makes a model as deep as chains are long: its layers, or its steps along the graph. Models without a depth
/// stay as they are.
void deepen(std::map<std::string, std::string>& settings, int64_t length);

/// Calls with ("directed", true), then ("undirected", false): the panels of the studies on chains.
template <class Act>
void for_both_directions(Act act) {
  act("directed", true);
  act("undirected", false);
}

/// A job: a point, a seed and its folder.
struct StudyJob {
  size_t point;
  Job job;
};
std::vector<StudyJob> study_jobs(const Study& study, const ReproduceOptions& options);

/// Runs what is not finished yet. The result has `points` (mean, std, every run with its command), `tests`,
/// `claims` and `loss_curves`.
ResultJson run_study(const Study& study, const ReproduceOptions& options, const JobRunner& runner,
                     const OnRun& on_run);

std::vector<LinePlot> study_plots(const Study& study, const ResultJson& results);
std::string study_page(const Study& study, const ResultJson& results,
                       const std::vector<std::string>& figures);
std::string study_outcome(const ResultJson& results);

/// The study as an entry of the table of experiments.
Reproduction as_reproduction(Study study);

/// Each family's studies.
std::vector<Study> chain_studies();
std::vector<Study> depth_studies();
Study efficiency_study();
Study noise_study();

}  // namespace eignn
