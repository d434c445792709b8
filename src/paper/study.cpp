#include "paper/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "equilibrium/stopwatch.h"
#include "run/recipes.h"
#include "run/statistics.h"

namespace eignn {

namespace {

std::vector<StudyPoint> points_of(const Study& study, const ReproduceOptions& options) {
  const auto& own = options.quick ? study.quick_lengths : study.lengths;
  return study.points(options.models.empty() ? study.models : options.models,
                      options.lengths.empty() ? own : options.lengths);
}

int64_t seeds_of(const Study& study, const ReproduceOptions& options) {
  if (options.seeds > 0) return options.seeds;
  return options.quick ? study.quick_seeds : study.seeds;
}

// The point's configuration: the recipe, overridden by the point's settings, and these by those of all runs.
TrainConfig config_of(const StudyPoint& point, const ReproduceOptions& options) {
  auto settings = point.settings;
  for (const auto& [name, value] : options.settings) settings[name] = value;
  TrainConfig config;
  assign(config, settings);
  std::set<std::string> given = {"dataset"};
  for (const auto& [name, value] : settings) given.insert(name);
  apply_recipe(config, given);
  validate(config);
  return config;
}

// The folder of a point, such as directed/ignn-50. Other characters than letters, digits and dots become -.
std::string folder_of(const StudyPoint& point) {
  std::string out;
  for (const char c : fmt::format("{}/{}-{}", point.panel, point.series, point.x_text)) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.';
    if (kept) out += c;
    if (!kept && !out.empty() && out.back() != '-') out += '-';
  }
  while (out.back() == '-') out.pop_back();
  return out;
}

// The `eignn train` command of this run.
std::string command_of(const StudyPoint& point, const ReproduceOptions& options, uint64_t seed) {
  auto settings = point.settings;
  for (const auto& [name, value] : options.settings) settings[name] = value;
  std::string out = "eignn train --dataset chains";
  for (const auto& [name, value] : settings) out += fmt::format(" --{} {}", name, value);
  return out + fmt::format(" --seed {} --json", seed);
}

ResultJson number_or_null(double value) {
  return std::isfinite(value) ? ResultJson(value) : ResultJson();
}

ResultJson run_json(const RunResult& run, const std::string& command) {
  ResultJson out;
  const ResultJson whole = result_json(run);
  for (const char* key :
       {"seed", "train_accuracy", "val_accuracy", "test_accuracy", "loss", "best_epoch", "epochs",
        "seconds_total", "seconds_per_epoch", "seconds_per_train_step", "preprocess_seconds",
        "non_converged_solves", "solver", "device", "dtype", "threads", "machine", "commit"})
    if (whole.contains(key)) out[key] = whole.at(key);
  out["command"] = command;
  return out;
}

ResultJson point_json(const Study& study, const StudyPoint& point, const std::vector<RunResult>& runs,
                      const ReproduceOptions& options) {
  std::vector<double> values = figures(runs, study.measure.figure);
  for (double& value : values) value *= study.measure.scale;
  const MeanOfRuns mean = mean_of_runs(values), val = mean_of_runs(validation_scores(runs));
  ResultJson json = {{"panel", point.panel},   {"series", point.series},     {"x", point.x},
                     {"x_text", point.x_text}, {"mean", mean.mean},          {"std", mean.std},
                     {"ci95", mean.ci95},      {"val_mean", 100 * val.mean}, {"runs_count", runs.size()}};
  if (point.paper) json["paper"] = *point.paper;
  double train_loss = 0;
  int64_t stopped_short = 0;
  bool counts_solves = false;
  for (const RunResult& run : runs) {
    train_loss += run.loss.train / static_cast<double>(runs.size());
    if (!run.non_converged_solves) continue;
    counts_solves = true;
    stopped_short += *run.non_converged_solves;
  }
  json["train_loss"] = train_loss;
  if (counts_solves) json["non_converged_solves"] = stopped_short;
  for (const RunResult& run : runs)
    json["runs"].push_back(run_json(run, command_of(point, options, run.config.seed)));
  return json;
}

Series series_of(const ResultJson& point) {
  return {point["mean"].get<double>(), point["std"].get<double>(),
          static_cast<double>(point["runs_count"].get<int64_t>())};
}

// The paper's level holds at this x: whether ours meets it. Null where the paper says nothing.
ResultJson meets_level(const TestedPair& pair, double x, double mean_a, double mean_b, double p) {
  if (!pair.level || x < pair.level->range.from || x > pair.level->range.to || !std::isfinite(p)) return {};
  return mean_a > mean_b && p < pair.level->p;
}

ResultJson tests_of(const Study& study, const ResultJson& points) {
  ResultJson tests = ResultJson::array();
  for (const auto& panel : names_of(points, "panel")) {
    for (const TestedPair& pair : study.pairs) {
      for (const auto& [x, text] : xs_of(points)) {
        const ResultJson *a = find_point(points, panel, pair.a, x), *b = find_point(points, panel, pair.b, x);
        if (!a || !b) continue;
        const Series of_a = series_of(*a), of_b = series_of(*b);
        const double p = welch_p(of_a, of_b);
        tests.push_back({{"panel", panel},
                         {"a", pair.a},
                         {"b", pair.b},
                         {"x_text", text},
                         {"p", number_or_null(p)},
                         {"paper", pair.paper},
                         {"meets", meets_level(pair, x, of_a.mean, of_b.mean, p)}});
      }
    }
  }
  return tests;
}

PanelFigures figures_of(const Measure& measure, const ResultJson& points, const std::string& panel) {
  PanelFigures out;
  for (const ResultJson& point : points) {
    if (point["panel"] != panel) continue;
    PointFigure figure{point["mean"].get<double>(), point["train_loss"].get<double>(),
                       point["x_text"].get<std::string>()};
    for (const ResultJson& run : point["runs"])
      figure.runs.push_back(measure.scale * run.at(measure.key).get<double>());
    out[point["series"].get<std::string>()][point["x"].get<double>()] = std::move(figure);
  }
  return out;
}

ResultJson claims_of(const Study& study, const ResultJson& points) {
  ResultJson claims = ResultJson::array();
  for (const Claim& claim : study.claims) {
    ResultJson json = {{"text", claim.text}, {"panels", ResultJson::array()}};
    for (const auto& panel : names_of(points, "panel")) {
      const Checked checked = claim.check(figures_of(study.measure, points, panel));
      if (checked.points == 0) continue;
      json["panels"].push_back({{"panel", panel},
                                {"points", checked.points},
                                {"verdict", checked.verdict()},
                                {"breaches", checked.breaches}});
      if (!checked.evidence.empty()) json["panels"].back()["evidence"] = checked.evidence;
      if (!checked.controls.empty()) json["panels"].back()["controls"] = checked.controls;
    }
    claims.push_back(std::move(json));
  }
  return claims;
}

// The losses of a run by epoch, thinned to about two hundred points.
ResultJson loss_curve(const std::string& metrics) {
  ResultJson epochs = ResultJson::array(), train = epochs, val = epochs;
  std::vector<ResultJson> lines;
  const std::string text = read_whole_file(metrics);
  TextLines reader(text, metrics);
  while (reader.next()) lines.push_back(ResultJson::parse(reader.line()));
  const size_t step = lines.size() / 200 + 1;
  for (size_t k = 0; k < lines.size(); k += step) {
    epochs.push_back(lines[k]["epoch"]);
    train.push_back(lines[k]["train_loss"]);
    val.push_back(lines[k]["val_loss"]);
  }
  return {{"epochs", epochs}, {"train", train}, {"val", val}};
}

ResultJson loss_curves(const Study& study, const std::vector<StudyPoint>& points,
                       const std::vector<StudyJob>& jobs) {
  ResultJson curves = ResultJson::array();
  for (const StudyJob& job : jobs) {
    const StudyPoint& point = points[job.point];
    const auto& wanted = study.loss_lengths;
    const std::string metrics = job.job.folder + "/metrics.jsonl";
    if (job.job.config.seed != 0 || !std::filesystem::exists(metrics) ||
        std::find(wanted.begin(), wanted.end(), static_cast<int64_t>(point.x)) == wanted.end())
      continue;
    ResultJson curve = {{"panel", point.panel}, {"series", point.series}, {"x_text", point.x_text}};
    curve.update(loss_curve(metrics));
    curves.push_back(std::move(curve));
  }
  return curves;
}

// The name of a model as its paper writes it; of other series the name itself.
std::string shown_name(const std::string& series) {
  static const std::map<std::string, std::string> names = {
      {"eignn", "EIGNN"}, {"ignn", "IGNN"},  {"ignn-finite", "IGNN-finite"},
      {"gcn", "GCN"},     {"sgc", "SGC"},    {"gat", "GAT"},
      {"appnp", "APPNP"}, {"ppnp", "PPNP"},  {"jknet", "JKNet"},
      {"gcnii", "GCNII"}, {"h2gcn", "H2GCN"}};
  const auto at = names.find(series);
  return at == names.end() ? series : at->second;
}

// The plot's panel of that title, made where there is none yet.
PlotPanel& panel_of(LinePlot& plot, const std::string& title) {
  for (PlotPanel& panel : plot.panels)
    if (panel.title == title) return panel;
  plot.panels.push_back({title, {}});
  return plot.panels.back();
}

}  // namespace

std::vector<std::string> names_of(const ResultJson& points, const char* key) {
  std::vector<std::string> names;
  for (const ResultJson& point : points) {
    const std::string name = point.at(key).get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

const ResultJson* find_point(const ResultJson& points, const std::string& panel, const std::string& series,
                             double x) {
  for (const ResultJson& point : points)
    if (point["panel"] == panel && point["series"] == series && point["x"].get<double>() == x) return &point;
  return nullptr;
}

std::map<double, std::string> xs_of(const ResultJson& points) {
  std::map<double, std::string> xs;
  for (const ResultJson& point : points) xs[point["x"].get<double>()] = point["x_text"].get<std::string>();
  return xs;
}

std::map<std::string, std::string> chain_settings(const std::string& model, int64_t length, int64_t classes,
                                                  bool directed) {
  return {{"model", model},
          {"chain-length", std::to_string(length)},
          {"num-classes", std::to_string(classes)},
          {"direction", directed ? "in" : "undirected"}};
}

void deepen(std::map<std::string, std::string>& settings, int64_t length) {
  const std::string& model = settings.at("model");
  if (model == "appnp") settings["hops"] = std::to_string(length);
  if (model == "jknet" || model == "gcnii" || model == "ignn-finite")
    settings["layers"] = std::to_string(length);
}

std::vector<StudyJob> study_jobs(const Study& study, const ReproduceOptions& options) {
  std::vector<StudyJob> jobs;
  const auto points = points_of(study, options);
  for (size_t k = 0; k < points.size(); ++k) {
    TrainConfig config = config_of(points[k], options);
    for (int64_t seed = 0; seed < seeds_of(study, options); ++seed) {
      config.seed = static_cast<uint64_t>(seed);
      jobs.push_back({k, {config, fmt::format("{}/{}/seed-{}", options.runs, folder_of(points[k]), seed)}});
    }
  }
  return jobs;
}

ResultJson run_study(const Study& study, const ReproduceOptions& options, const JobRunner& runner,
                     const OnRun& on_run) {
  const auto points = points_of(study, options);
  const auto jobs = study_jobs(study, options);
  std::vector<Job> plain;
  std::vector<bool> was_finished;
  for (const StudyJob& job : jobs) {
    TrainConfig any_seed = job.job.config;
    any_seed.seed = 0;
    claim_folder(std::filesystem::path(job.job.folder).parent_path().string(), any_seed);
    plain.push_back(job.job);
    was_finished.push_back(finished_run(job.job).has_value());
  }
  const auto to_run = std::count(was_finished.begin(), was_finished.end(), false);
  int64_t run_now = 0;
  size_t done = 0;
  const Stopwatch watch;
  const auto runs = run_jobs(plain, options.parallel, runner, [&](size_t k, const RunResult& run) {
    ++done;
    if (!was_finished[k]) ++run_now;
    const StudyPoint& point = points[jobs[k].point];
    const double left =
        run_now > 0 ? watch.seconds() / static_cast<double>(run_now) * static_cast<double>(to_run - run_now)
                    : -1;
    if (on_run)
      on_run({fmt::format("{}, {} at {}", point.panel, point.series, point.x_text), done, jobs.size(), left,
              run});
  });
  ResultJson results = {
      {"experiment", study.name}, {"quick", options.quick}, {"seeds", seeds_of(study, options)}};
  if (options.settings.count("epochs") > 0) results["epochs"] = options.settings.at("epochs");
  results["points"] = ResultJson::array();
  for (size_t k = 0; k < points.size(); ++k) {
    std::vector<RunResult> own;
    for (size_t j = 0; j < jobs.size(); ++j)
      if (jobs[j].point == k) own.push_back(runs[j]);
    results["points"].push_back(point_json(study, points[k], own, options));
  }
  if (study.complete) study.complete(results["points"]);
  renew_study(study, results);
  results["loss_curves"] = loss_curves(study, points, jobs);
  return results;
}

void renew_study(const Study& study, ResultJson& results) {
  results["tests"] = tests_of(study, results["points"]);
  results["claims"] = claims_of(study, results["points"]);
}

std::vector<LinePlot> study_plots(const Study& study, const ResultJson& results) {
  const ResultJson& points = results.at("points");
  LinePlot main{"", study.x_label, study.measure.label, {}, !study.timed, study.timed, true, {}, {}, {}};
  for (const auto& panel : names_of(points, "panel")) {
    main.panels.push_back({panel, {}});
    for (const auto& series : names_of(points, "series")) {
      Curve curve{shown_name(series), {}};
      for (const auto& [x, text] : xs_of(points)) {
        if (const ResultJson* point = find_point(points, panel, series, x)) {
          curve.points.emplace_back(x, (*point)["mean"].get<double>());
          if (!study.timed) curve.spread.push_back((*point)["std"].get<double>());
        }
      }
      main.panels.back().curves.push_back(std::move(curve));
    }
  }
  main.highlighted = shown_name("eignn");
  if (study.chance) main.level = {"chance", *study.chance};
  if (study.lengths.empty())
    for (const auto& [x, text] : xs_of(points)) main.x_ticks.emplace_back(x, text);
  std::vector<LinePlot> plots = {main};
  if (results.at("loss_curves").empty()) return plots;
  LinePlot loss{"-loss", "epoch", "loss", {}, false, false, false, {}, {}, {}};
  for (const ResultJson& from : results["loss_curves"]) {
    const std::string title =
        fmt::format("{}, length {}", from["panel"].get<std::string>(), from["x_text"].get<std::string>());
    PlotPanel& panel = panel_of(loss, title);
    for (const char* part : {"train", "val"}) {
      Curve curve{fmt::format("{}, {}", from["series"].get<std::string>(),
                              std::string(part) == "train" ? "training" : "validation"),
                  {}};
      for (size_t k = 0; k < from["epochs"].size(); ++k)
        curve.points.emplace_back(from["epochs"][k].get<double>(), from[part][k].get<double>());
      panel.curves.push_back(std::move(curve));
    }
  }
  plots.push_back(loss);
  return plots;
}

Reproduction as_reproduction(Study study) {
  Reproduction out;
  out.name = study.name;
  out.title = study.title;
  out.models = study.models;
  out.has_lengths = !study.lengths.empty();
  out.timed = study.timed;
  out.check = [](const ReproduceOptions&) {};
  out.run = [study](const ReproduceOptions& options, const JobRunner& runner, const OnRun& on_run) {
    return run_study(study, options, runner, on_run);
  };
  out.renew = [study](ResultJson& results) { renew_study(study, results); };
  out.plots = [study](const ResultJson& results) { return study_plots(study, results); };
  out.page = [study](const ResultJson& results, const std::vector<std::string>& figures) {
    return study_page(study, results, figures);
  };
  out.outcome = study_outcome;
  return out;
}

}  // namespace eignn
