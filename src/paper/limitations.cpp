#include "paper/limitations.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "data/atomic_file.h"
#include "data/catalogue.h"
#include "data/compact.h"
#include "eignn/checkpoint.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/spectrum_cache.h"
#include "equilibrium/stopwatch.h"
#include "graph/nearest_name.h"
#include "paper/community_graph.h"
#include "paper/reproduce.h"
#include "run/provenance.h"
#include "run/recipes.h"
#include "run/statistics.h"
#include "run/training_record.h"
#include "train/assemble.h"
#include "train/graph_reduction.h"
#include "train/plan_request.h"

namespace eignn {

namespace {

using Settings = std::map<std::string, std::string>;

Settings joined(Settings a, const Settings& b) {
  a.insert(b.begin(), b.end());
  return a;
}

// A data set and the ways to compute on it.
struct Subject {
  std::string name, dataset;
  int64_t generated;
  Settings settings;
  int64_t splits;
  std::vector<int64_t> eigenpairs, parts;
  std::vector<std::string> shares;  // of coarsen
  bool several_graphs = false;
};

std::vector<LimitationRow> rows_of_subject(const Subject& s) {
  std::vector<LimitationRow> rows;
  const auto add = [&](const std::string& way, const Settings& settings) {
    rows.push_back({s.name, way, s.dataset, s.generated, joined(settings, s.settings), s.splits, false});
  };
  add("exact", {});
  for (const int64_t k : s.eigenpairs)
    add(fmt::format("truncated, {} eigenpairs", k),
        {{"solver", "truncated"}, {"eigenpairs", std::to_string(k)}});
  for (const int64_t parts : s.parts) {
    // About ten steps an epoch; of several graphs as many as the exact way has, which takes two at a time.
    const int64_t batch = s.several_graphs ? 2 * parts : std::max<int64_t>(2, parts / 10);
    add(fmt::format("partition, {} parts", parts),
        {{"partition", std::to_string(parts)}, {"batch-graphs", std::to_string(batch)}});
  }
  for (const std::string& share : s.shares) add(fmt::format("coarsen to {}", share), {{"coarsen", share}});
  return rows;
}

// The paper's equation on a symmetric S, with epochs enough to time them and to see where a way leads.
Settings plain(const char* epochs) {
  return {{"direction", "undirected"}, {"normalise", "sym"}, {"self-loops", "on"}, {"gamma", "0.8"},
          {"epochs", epochs},          {"patience", epochs}};
}

std::vector<Subject> subjects(bool quick) {
  // Narrower than the recipe's head, so that an epoch takes seconds on two cores.
  Settings ppi = joined({{"gamma", "0.8"}, {"width", "256"}, {"blocks", "2"}}, plain(quick ? "10" : "20"));
  if (quick) ppi["train-graphs"] = "4";
  const Settings generated = {{"feature-norm", "none"}, {"encoder", "0"},         {"equilibria", "1"},
                              {"intercept", "off"},     {"head", "plain"},        {"start", "xavier"},
                              {"dropout", "0"},         {"weight-decay", "5e-4"}, {"lr", "0.02"},
                              {"stopping", "loss"}};
  std::vector<Subject> all;
  // The smallest of the 24 graphs has 591 nodes: 147 is a quarter of it.
  all.push_back({"PPI",
                 "ppi",
                 0,
                 ppi,
                 1,
                 quick ? std::vector<int64_t>{16, 64} : std::vector<int64_t>{16, 64, 147},
                 {4, 16},
                 {"0.5", "0.25"},
                 /*several_graphs=*/true});
  all.push_back({"Squirrel",
                 "squirrel",
                 0,
                 plain(quick ? "8" : "60"),
                 1,
                 {16, 64, 256, 1300},
                 {4, 16},
                 {"0.5", "0.25"}});
  all.push_back({"20 000 nodes",
                 "",
                 20'000,
                 joined(generated, plain(quick ? "60" : "150")),
                 1,
                 {16, 64, 256},
                 {20, 200},
                 {"0.5", "0.1"}});
  if (!quick)
    all.push_back({"1 000 000 nodes",
                   "",
                   1'000'000,
                   joined(generated, plain("20")),
                   1,
                   {16},  // 64 were not found in a quarter of an hour of one core
                   {100, 1000},
                   {"0.5", "0.1"}});
  return all;
}

bool knows_ranks() {
  const auto& known = known_fields();
  return std::any_of(known.begin(), known.end(),
                     [](const KnownField& field) { return field.name == "rank"; });
}

// Rank r from 4 to the number of features, under the recipe of the data set.
std::vector<LimitationRow> rank_rows(bool quick) {
  struct Set {
    const char *name, *dataset;
    std::vector<int64_t> ranks;
    Settings settings;
  };
  const Settings wikipedia = plain(quick ? "10" : "200");
  const std::vector<int64_t> few = {4, 8, 16, 32, 64, 128}, wide = {4, 16, 64, 256};
  const std::vector<Set> sets = {{"Cornell", "cornell", few, {}},
                                 {"Texas", "texas", few, {}},
                                 {"Wisconsin", "wisconsin", few, {}},
                                 {"Chameleon", "chameleon", wide, wikipedia},
                                 {"Squirrel", "squirrel", wide, wikipedia}};
  std::vector<LimitationRow> rows;
  for (const Set& set : sets) {
    Settings settings = set.settings;
    if (quick && settings.empty()) settings = {{"epochs", "100"}, {"patience", "100"}};
    // The full F of a university takes minutes a split.
    const int64_t splits = quick ? 2 : set.settings.empty() ? 5 : 3;
    for (const int64_t rank : set.ranks)
      rows.push_back({set.name, fmt::format("rank {}", rank), set.dataset, 0,
                      joined({{"rank", std::to_string(rank)}}, settings), splits, true});
    rows.push_back({set.name, "rank of all features", set.dataset, 0, settings, splits, true});
  }
  return rows;
}

std::string short_name(const LimitationRow& row) {
  std::string out;
  for (const char c : row.label()) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (kept) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!kept && !out.empty() && out.back() != '-') out += '-';
  }
  return out;
}

std::string graph_folder(const LimitationRow& row, const ReproduceOptions& options) {
  return fmt::format("{}/graphs/communities-{}", options.runs, row.generated);
}

// The generated graph is written once, and found again by the runs.
void make_graph(const LimitationRow& row, const ReproduceOptions& options) {
  const std::string folder = graph_folder(row, options);
  if (std::filesystem::exists(folder)) return;
  make_folders(options.runs + "/graphs");
  write_compact(community_graph(row.generated, 0), folder);
}

TrainConfig config_of(const LimitationRow& row, const ReproduceOptions& options) {
  TrainConfig config;
  config.dataset = row.dataset.empty() ? graph_folder(row, options) : row.dataset;
  std::set<std::string> given = {"dataset"};
  for (const auto* settings : {&row.settings, &options.settings})
    for (const auto& [name, value] : *settings) {
      assign(config, name, value);
      given.insert(name);
    }
  apply_recipe(config, given);
  validate(config);
  return config;
}

// Z of all nodes for each F, beside each other: by the configuration's solver on its parts or clusters.
torch::Tensor states(const Dataset& data, const TrainConfig& config,
                     const std::vector<torch::Tensor>& weights) {
  const SolverOptions options = [&] {
    SolverOptions own = solver_options(config);
    static SpectrumCache cache;
    own.store = &cache;
    return own;
  }();
  const auto X = model_features(data).to(options.dtype);
  const auto graphs = graph_matrices(data, config);
  const int64_t m = X.size(1);
  std::vector<torch::Tensor> all(weights.size());
  for (auto& Z : all) Z = torch::empty_like(X);
  for (const GraphMatrix& graph : graphs) {
    const auto nodes =
        graph.nodes.empty() ? torch::arange(X.size(0)) : torch::tensor(graph.nodes, torch::kInt64);
    const auto solver = make_solver(config.eignn().solver, graph.S, options, m, /*needs_all=*/true);
    const auto rows = X.index_select(0, nodes);
    for (size_t k = 0; k < weights.size(); ++k)
      all[k].index_copy_(0, nodes, solver->solve(weights[k], rows)->rows().plain());
  }
  const auto Z = torch::cat(all, 1);
  if (!data.reduction || data.reduction->is_partition()) return Z;
  return Z.index_select(0, torch::tensor(data.reduction->group_of, torch::kInt64));
}

// Z of the run's own way beside the exact one, measured once and kept in the run's folder.
double kept_state_error(const std::string& folder) {
  const std::string kept = folder + "/state_error.json", model = folder + "/model.safetensors";
  std::error_code none;
  if (std::filesystem::exists(kept, none) &&
      std::filesystem::last_write_time(kept, none) >= std::filesystem::last_write_time(model, none)) {
    const auto json = ResultJson::parse(read_whole_file(kept), nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("relative") && json["relative"].is_number())
      return json["relative"].get<double>();  // a damaged file is made again
  }
  const double error = state_error(folder);
  write_file_atomically(kept, ResultJson({{"relative", error}, {"commit", built_commit()}}).dump(1) + "\n");
  return error;
}

ResultJson number_or_null(double value) {
  return std::isfinite(value) ? ResultJson(value) : ResultJson();
}

double seconds_to_best(const RunResult& run) {
  return run.preprocess_seconds + run.seconds_per_epoch * static_cast<double>(run.best_epoch + 1);
}

ResultJson row_json(const LimitationRow& row, const std::vector<Job>& jobs,
                    const std::vector<RunResult>& runs, const std::vector<double>& errors) {
  const auto mean_of = [&](const std::function<double(const RunResult&)>& figure) {
    return mean_of_runs(figures(runs, figure)).mean;
  };
  const MeanOfRuns test = mean_of_runs(test_scores(runs));
  ResultJson json = {{"label", row.label()},
                     {"subject", row.subject},
                     {"way", row.way},
                     {"ranks", row.ranks},
                     {"metric", runs[0].metric},
                     {"mean", 100 * test.mean},
                     {"std", 100 * test.std},
                     {"val_mean", 100 * mean_of_runs(validation_scores(runs)).mean},
                     {"runs_count", runs.size()},
                     {"solver", runs[0].solver},
                     {"preprocess_seconds", mean_of(&RunResult::preprocess_seconds)},
                     {"seconds_per_epoch", mean_of(&RunResult::seconds_per_epoch)},
                     {"seconds_to_best", mean_of(seconds_to_best)},
                     {"peak_memory_bytes", mean_of([](const RunResult& run) {
                        return static_cast<double>(run.peak_memory_bytes);
                      })}};
  if (!errors.empty()) json["state_error"] = number_or_null(mean_of_runs(errors).mean);
  if (const auto& bound = runs[0].error_bound) {
    json["bound"] = number_or_null(mean_of([](const RunResult& run) { return run.error_bound->relative(); }));
    json["next_eigenvalue"] = bound->next_eigenvalue;
  }
  if (runs[0].reduction) json["reduction"] = reduction_json(*runs[0].reduction);
  json["settings"] = config_json(jobs[0].config);
  for (const char* varied : {"split", "seed"}) json["settings"].erase(varied);
  for (const RunResult& run : runs) json["runs"].push_back(short_form(run));
  return json;
}

ResultJson run_limitations(const ReproduceOptions& options, const JobRunner& runner, const OnRun& on_run) {
  const auto rows = limitation_rows(options);
  std::vector<std::vector<Job>> jobs;
  std::vector<Job> all;
  std::vector<size_t> row_of;
  std::map<std::string, std::vector<int64_t>> splits_of;  // each data set is read once
  for (const LimitationRow& row : rows) {
    if (row.dataset.empty()) make_graph(row, options);
    const TrainConfig config = config_of(row, options);
    const std::string folder =
        fmt::format("{}/{}{}", options.runs, options.quick ? "quick-" : "", short_name(row));
    claim_folder(folder, config);
    if (splits_of.count(config.dataset) == 0) splits_of[config.dataset] = all_splits(config);
    auto splits = splits_of[config.dataset];
    splits.resize(std::min(splits.size(), static_cast<size_t>(row.splits)));
    jobs.push_back(jobs_of_splits(config, splits, folder));
    for (const Job& job : jobs.back()) {
      all.push_back(job);
      row_of.push_back(jobs.size() - 1);
    }
  }
  std::vector<std::vector<RunResult>> results(rows.size());
  std::vector<std::vector<double>> errors(rows.size());
  size_t done = 0, ran = 0;
  const Stopwatch watch;
  for (size_t k = 0; k < all.size(); ++k) {
    const LimitationRow& row = rows[row_of[k]];
    const bool was_there = finished_run(all[k]).has_value();
    RunResult run = runner(all[k]);
    ran += !was_there;
    if (!row.ranks) errors[row_of[k]].push_back(kept_state_error(all[k].folder));
    ++done;
    const double left =
        ran > 0 ? watch.seconds() / static_cast<double>(ran) * static_cast<double>(all.size() - done) : -1;
    if (on_run) on_run({row.label(), done, all.size(), left, run});
    results[row_of[k]].push_back(std::move(run));
  }
  ResultJson out = {{"experiment", "limitations"}, {"quick", options.quick}, {"rows", ResultJson::array()}};
  for (size_t r = 0; r < rows.size(); ++r)
    out["rows"].push_back(row_json(rows[r], jobs[r], results[r], errors[r]));
  return out;
}

}  // namespace

std::vector<LimitationRow> limitation_rows(bool quick) {
  std::vector<LimitationRow> rows;
  for (const Subject& subject : subjects(quick))
    for (LimitationRow& row : rows_of_subject(subject)) rows.push_back(std::move(row));
  if (knows_ranks())
    for (LimitationRow& row : rank_rows(quick)) rows.push_back(std::move(row));
  return rows;
}

std::vector<LimitationRow> limitation_rows(const ReproduceOptions& options) {
  const auto all = limitation_rows(options.quick);
  if (options.rows.empty()) return all;
  std::vector<std::string> known;
  for (const LimitationRow& row : all) known.push_back(short_name(row));
  for (const std::string& name : options.rows)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw unknown_name("row of this experiment", "rows", name, known);
  std::vector<LimitationRow> chosen;
  for (const LimitationRow& row : all)
    if (std::find(options.rows.begin(), options.rows.end(), short_name(row)) != options.rows.end())
      chosen.push_back(row);
  return chosen;
}

double state_error(const std::string& folder) {
  const TrainedModel trained = load_model(folder);
  const TrainConfig& config = trained.config();
  if (config.eignn().encoder > 0 || is_stack(config.eignn()) || config.eignn().source != Source::own ||
      !config.further_directions.empty())
    throw ArgumentError("model", "only one layer of equilibria on the features themselves is compared",
                        "train one without an encoder");
  const Execution execution(config);
  const torch::NoGradGuard guard;
  TrainConfig exact = config;
  exact.partition = 0;
  exact.coarsen = 1;
  exact.eignn().solver = "auto";
  const Dataset whole = prepared(load_raw_dataset(exact, trained.tables().trained_columns), exact,
                                 trained.record()->transform ? &*trained.record()->transform : nullptr);
  const Dataset own = reduced(whole, config, trained.record()->reduction);
  std::vector<torch::Tensor> weights;
  for (const auto& [name, tensor] : trained.weights())
    if (name == "F" ||
        (name.size() > 1 && name[0] == 'F' && std::isdigit(static_cast<unsigned char>(name[1]))))
      weights.push_back(tensor.to(solver_options(config).dtype));
  const auto Z = states(own, config, weights), Z_exact = states(whole, exact, weights);
  return ((Z - Z_exact).norm() / Z_exact.norm()).item<double>();
}

Reproduction limitations_reproduction() {
  Reproduction out;
  out.name = "limitations";
  out.title = "The paper's own limitations";
  out.models = out.all_models = {"eignn"};
  out.has_rows = out.timed = out.own_processes = out.keep_models = true;
  out.check = [](const ReproduceOptions& options) {
    for (const LimitationRow& row : limitation_rows(options))
      if (!row.dataset.empty()) require_named_set(row.dataset);
  };
  out.run = run_limitations;
  out.plots = [](const ResultJson&) { return std::vector<LinePlot>(); };
  out.page = [](const ResultJson& results, const std::vector<std::string>&) {
    return limitations_page(results);
  };
  out.outcome = [](const ResultJson& results) {
    return fmt::format("time, memory, error and accuracy of {} ways to compute beside the exact one",
                       results.at("rows").size());
  };
  return out;
}

}  // namespace eignn
