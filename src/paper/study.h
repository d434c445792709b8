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
  std::map<std::string, std::string> settings;  // override the recipe; include the model
  std::optional<double> paper = {};             // the paper's figure
};

/// The quantity that is read from the results of the runs.
struct Measure {
  std::function<double(const RunResult&)> figure;
  std::string label;  // "test accuracy, %"
  double scale = 100;
};

/// Two series that the paper tests against each other, and its result.
struct TestedPair {
  std::string a, b, paper;
};

struct Study {
  std::string name, title, text;
  std::vector<std::string> models;
  std::string x_label;
  std::vector<int64_t> lengths, quick_lengths;  // empty: the points do not depend on lengths
  int64_t seeds = 1, quick_seeds = 1;
  Measure measure = {[](const RunResult& run) { return run.score.test; }, "test accuracy, %", 100};
  bool timed = false;  // one run at a time
  std::function<std::vector<StudyPoint>(const std::vector<std::string>& models,
                                        const std::vector<int64_t>& lengths)>
      points;
  std::vector<Claim> claims;
  std::vector<TestedPair> pairs;
  std::vector<int64_t> loss_lengths = {};                 // loss curves of seed 0 at these
  std::function<void(ResultJson& points)> complete = {};  // adds points that are derived from others
};

/// The settings of chains with so many nodes and classes; `directed`: a node receives along the arcs only.
std::map<std::string, std::string> chain_settings(const std::string& model, int64_t length, int64_t classes,
                                                  bool directed);

/// Sets the number of a model's layers, or of its steps along the graph, to the length of the chains. Models
/// without a depth are unchanged.
void deepen(std::map<std::string, std::string>& settings, int64_t length);

/// Calls act("directed", true), then act("undirected", false), for the two panels of the studies on chains.
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

/// Runs the jobs that are not finished yet. The result has `points` (mean, std, every run with its command),
/// `tests`, `claims` and `loss_curves`.
ResultJson run_study(const Study& study, const ReproduceOptions& options, const JobRunner& runner,
                     const OnRun& on_run);

std::vector<LinePlot> study_plots(const Study& study, const ResultJson& results);
std::string study_page(const Study& study, const ResultJson& results,
                       const std::vector<std::string>& figures);
std::string study_outcome(const ResultJson& results);

/// The study as an entry of reproductions().
Reproduction as_reproduction(Study study);

/// The studies of chains.cpp, depth.cpp, efficiency.cpp and noise.cpp.
std::vector<Study> chain_studies();
std::vector<Study> depth_studies();
Study efficiency_study();
Study noise_study();

}  // namespace eignn
