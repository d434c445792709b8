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
  std::string key = "test_accuracy";  // its name in a run's JSON
  std::string unit = "%";
};

/// The paper's result of a test: p below `p` at every x of the range.
struct TestedLevel {
  double p;
  Range range = {};
};
/// Two series that the paper tests against each other, the one that it finds ahead first, and its words.
struct TestedPair {
  std::string a, b, paper;
  std::optional<TestedLevel> level = {};  // empty: the paper names no p
};

struct Study {
  std::string name, title;
  std::string question;                                       // the page's first sentence
  std::vector<std::pair<std::string, std::string>> headline;  // series of the second, and their names there
  std::string headline_x;                                     // where; the last x when empty or not run
  std::optional<double> chance = {};                          // the score of a guess, drawn as a line
  std::string text;                                           // how it was done
  std::vector<std::string> models;
  std::string x_label;
  std::vector<int64_t> lengths, quick_lengths;  // empty: the points do not depend on lengths
  int64_t seeds = 1, quick_seeds = 1;
  Measure measure = {[](const RunResult& run) { return run.score.test; }, "test accuracy, %"};
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

/// Makes the tests and the verdicts on the claims anew from the points.
void renew_study(const Study& study, ResultJson& results);

std::vector<LinePlot> study_plots(const Study& study, const ResultJson& results);
std::string study_page(const Study& study, const ResultJson& results,
                       const std::vector<std::string>& figures);
std::string study_outcome(const ResultJson& results);

/// The names of the points' panels or series, in the order of the points.
std::vector<std::string> names_of(const ResultJson& points, const char* key);
/// The x of the points with their texts.
std::map<double, std::string> xs_of(const ResultJson& points);
/// nullptr where there is none.
const ResultJson* find_point(const ResultJson& points, const std::string& panel, const std::string& series,
                             double x);

/// The study as an entry of reproductions().
Reproduction as_reproduction(Study study);

/// The studies of chains.cpp, depth.cpp, efficiency.cpp and noise.cpp.
std::vector<Study> chain_studies();
std::vector<Study> depth_studies();
Study efficiency_study();
Study noise_study();

}  // namespace eignn
