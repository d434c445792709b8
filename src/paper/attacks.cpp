#include "paper/attacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <mutex>

#include "data/atomic_file.h"
#include "data/catalogue.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/spectrum_cache.h"
#include "paper/reproduce.h"
#include "run/checkpoint.h"
#include "run/provenance.h"
#include "run/statistics.h"
#include "train/assemble.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// Liu, Kawaguchi, Hooi, Wang, Xiao, "EIGNN: Efficient Infinite-Depth Graph Neural Networks", NeurIPS 2021:
// accuracy under attack on the universities, FGSM 1e-4, 1e-3, 1e-2, then PGD.
const std::map<std::pair<std::string, std::string>, std::vector<AttackFigure>>& paper() {
  static const std::map<std::pair<std::string, std::string>, std::vector<AttackFigure>> all = {
      {{"cornell", "eignn"},
       {{85.13, 5.57}, {84.05, 5.59}, {72.70, 6.56}, {85.13, 5.57}, {84.05, 5.59}, {73.24, 6.45}}},
      {{"cornell", "h2gcn"},
       {{79.46, 5.16}, {26.49, 8.62}, {2.16, 2.36}, {82.97, 5.27}, {65.13, 9.00}, {25.68, 8.65}}},
      {{"cornell", "ignn"},
       {{61.08, 3.66}, {60.54, 4.22}, {57.30, 5.51}, {61.07, 3.66}, {60.54, 4.22}, {57.84, 5.16}}},
      {{"texas", "eignn"},
       {{84.33, 5.77}, {83.79, 5.26}, {74.59, 4.05}, {84.33, 5.77}, {83.79, 5.27}, {75.14, 4.32}}},
      {{"texas", "h2gcn"},
       {{81.35, 6.22}, {39.79, 9.05}, {7.30, 7.74}, {84.86, 5.57}, {70.54, 6.89}, {36.22, 7.57}}},
      {{"texas", "ignn"},
       {{57.84, 5.16}, {57.28, 5.64}, {53.51, 5.10}, {57.84, 5.16}, {57.30, 5.64}, {53.51, 5.10}}},
      {{"wisconsin", "eignn"},
       {{86.67, 6.19}, {84.90, 6.45}, {70.00, 6.73}, {86.67, 6.19}, {85.10, 6.34}, {71.96, 6.76}}},
      {{"wisconsin", "h2gcn"},
       {{83.53, 4.04}, {47.84, 6.51}, {4.12, 3.66}, {84.90, 3.62}, {77.25, 4.13}, {38.04, 6.52}}},
      {{"wisconsin", "ignn"},
       {{53.53, 4.39}, {53.14, 4.06}, {47.26, 3.77}, {53.53, 4.39}, {53.14, 4.06}, {47.84, 3.53}}}};
  return all;
}

std::string plus_minus(double mean, double std) {
  return fmt::format("{:.2f} ± {:.2f}", mean, std);
}

// The text of a figure {mean, std, runs}.
std::string mean_cell(const ResultJson& figure) {
  const double mean = figure.at("mean").get<double>();
  return figure.at("runs").size() == 1 ? fmt::format("{:.2f}", mean)
                                       : plus_minus(mean, figure.at("std").get<double>());
}

ResultJson json_of(const std::vector<double>& values) {
  const MeanOfRuns m = mean_of_runs(values);
  return {{"mean", m.mean}, {"std", m.std}, {"ci95", m.ci95}, {"runs", values}};
}

ResultJson json_of(const AttackRow& row) {
  ResultJson out = {{"dataset", row.dataset}, {"model", row.model}, {"clean", json_of(row.clean)}};
  for (size_t a = 0; a < row.under.size(); ++a) {
    const AttackSeries& series = row.under[a];
    ResultJson under = {{"attack", paper_attacks()[a].label}, {"each", json_of(series.each)}};
    if (!series.all.empty()) under["all"] = json_of(series.all);
    if (!series.certified.empty()) under["certified"] = json_of(series.certified);
    if (const auto figure = paper_attack_figure(row.dataset, row.model, a))
      under["paper"] = {{"mean", figure->mean}, {"std", figure->std}};
    out["attacks"].push_back(under);
  }
  return out;
}

AttackRow row_of(const ResultJson& json) {
  AttackRow row;
  row.dataset = json.at("dataset").get<std::string>();
  row.model = json.at("model").get<std::string>();
  const auto runs = [](const ResultJson& of, const char* key) {
    return of.contains(key) ? of.at(key).at("runs").get<std::vector<double>>() : std::vector<double>();
  };
  row.clean = runs(json, "clean");
  for (const ResultJson& under : json.at("attacks"))
    row.under.push_back({runs(under, "each"), runs(under, "all"), runs(under, "certified")});
  return row;
}

// The row in the file, if that was made for these attacks by this commit and is not older than the weights.
std::optional<AttackRow> kept_row(const std::string& kept, const std::string& model) {
  namespace fs = std::filesystem;
  if (!fs::exists(kept) || (fs::exists(model) && fs::last_write_time(model) > fs::last_write_time(kept)))
    return {};
  try {
    const auto json = ResultJson::parse(read_whole_file(kept));
    if (json.at("commit") != built_commit() || json.at("attacks").size() != paper_attacks().size()) return {};
    for (size_t a = 0; a < paper_attacks().size(); ++a)
      if (json.at("attacks")[a].at("attack") != paper_attacks()[a].label) return {};
    return row_of(json);
  } catch (const ResultJson::exception&) {
    return {};  // a damaged file is made again
  }
}

// | data set | model | clean | FGSM 1e-4 | … with cell(attack[key]) for each attack of a row.
template <class Cell>
std::string markdown_table(const ResultJson& rows, const char* key, const Cell& cell) {
  std::string out = "| data set | model | clean |", rule = "| --- | --- | --- |";
  for (const PaperAttack& attack : paper_attacks()) {
    out += fmt::format(" {} |", attack.label);
    rule += " --- |";
  }
  out += "\n" + rule + "\n";
  for (const ResultJson& row : rows) {
    out += fmt::format("| {} | {} | {} |", row["dataset"].get<std::string>(), row["model"].get<std::string>(),
                       mean_cell(row["clean"]));
    for (const ResultJson& under : row["attacks"])
      out += fmt::format(" {} |", under.contains(key) ? cell(under[key]) : "-");
    out += "\n";
  }
  return out;
}

int64_t orderings_met(const ResultJson& table) {
  return std::count_if(table.at("orderings").begin(), table.at("orderings").end(),
                       [](const ResultJson& o) { return o.at("met").get<bool>(); });
}

bool any_has(const ResultJson& rows, const char* key) {
  for (const ResultJson& row : rows)
    for (const ResultJson& under : row["attacks"])
      if (under.contains(key)) return true;
  return false;
}

}  // namespace

const std::vector<PaperAttack>& paper_attacks() {
  static const std::vector<PaperAttack> all = [] {
    const std::vector<std::pair<const char*, double>> sizes = {
        {"1e-4", 1e-4}, {"1e-3", 1e-3}, {"1e-2", 1e-2}};
    std::vector<PaperAttack> out;
    for (const AttackMethod method : {AttackMethod::fgsm, AttackMethod::pgd})
      for (const auto& [text, epsilon] : sizes) {
        AttackOptions options;
        options.method = method;
        options.epsilon = epsilon;
        options.step = epsilon / 10;
        options.steps = 15;
        out.push_back({fmt::format("{} {}", method == AttackMethod::fgsm ? "FGSM" : "PGD", text), options});
      }
    return out;
  }();
  return all;
}

std::optional<AttackFigure> paper_attack_figure(const std::string& dataset, const std::string& model,
                                                size_t attack) {
  const auto at = paper().find({dataset, model});
  if (at == paper().end()) return {};
  return at->second.at(attack);
}

AttackRow attack_checkpoint(const std::string& path, bool all_rows) {
  const TrainedModel trained = load_model(path);
  const TrainConfig& config = trained.config();
  const Execution execution(config);
  SpectrumCache cache;
  const Dataset dataset = load_dataset(config);
  const auto model = restore_model(trained, dataset, config, &cache, path);
  Attacker attacker(*model, dataset, dataset.splits[split_number(config, dataset)].test);
  AttackRow row;
  row.dataset = config.dataset;
  row.model = name(config.model);
  for (const PaperAttack& attack : paper_attacks()) {
    AttackOptions options = attack.options;
    const AttackReport each = attacker.run(options);
    row.clean = {100 * each.clean_accuracy()};
    AttackSeries under;
    under.each = {100 * each.accuracy()};
    if (const auto certified = each.certified_accuracy()) under.certified = {100 * *certified};
    if (all_rows) {
      options.targets = AttackTargets::all;
      options.certify = false;
      under.all = {100 * attacker.run(options).accuracy()};
    }
    row.under.push_back(under);
  }
  return row;
}

AttackRow attack_run(const std::string& folder) {
  const std::string kept = folder + "/attacks.json", model = folder + "/model.safetensors";
  if (const auto row = kept_row(kept, model)) return *row;
  const AttackRow row = attack_checkpoint(folder);
  ResultJson json = json_of(row);
  json["commit"] = built_commit();
  write_file_atomically(kept, json.dump(1) + "\n");
  return row;
}

void add_split(AttackRow& row, const AttackRow& split) {
  if (row.under.empty()) {
    row = split;
    return;
  }
  if (split.dataset != row.dataset || split.model != row.model)
    throw ArgumentError("split",
                        fmt::format("{} on {} stands among runs of {} on {}", split.model, split.dataset,
                                    row.model, row.dataset),
                        "attack each by itself");
  const auto add = [](std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  add(row.clean, split.clean);
  for (size_t a = 0; a < row.under.size(); ++a) {
    add(row.under[a].each, split.under.at(a).each);
    add(row.under[a].all, split.under[a].all);
    add(row.under[a].certified, split.under[a].certified);
  }
}

AttackTable attack_table(std::vector<AttackRow> rows) {
  AttackTable table;
  table.rows = std::move(rows);
  for (size_t i = 0; i < table.rows.size(); ++i)
    for (size_t j = i + 1; j < table.rows.size(); ++j) {
      if (table.rows[i].dataset != table.rows[j].dataset) continue;
      for (size_t a = 0; a < paper_attacks().size(); ++a) {
        const AttackRow *ahead = &table.rows[i], *behind = &table.rows[j];
        auto figure = paper_attack_figure(ahead->dataset, ahead->model, a),
             other = paper_attack_figure(behind->dataset, behind->model, a);
        if (!figure || !other || figure->mean == other->mean) continue;
        if (figure->mean < other->mean) {
          std::swap(ahead, behind);
          std::swap(figure, other);
        }
        AttackOrdering ordering{
            ahead->dataset, paper_attacks()[a].label, ahead->model, behind->model, *figure, *other};
        ordering.ours_ahead = mean_of_runs(ahead->under.at(a).each).mean;
        ordering.ours_behind = mean_of_runs(behind->under.at(a).each).mean;
        ordering.met = ordering.ours_ahead > ordering.ours_behind;
        table.orderings.push_back(ordering);
      }
    }
  return table;
}

ResultJson to_json(const AttackTable& table) {
  ResultJson json = {{"rows", ResultJson::array()}, {"orderings", ResultJson::array()}};
  for (const AttackRow& row : table.rows) json["rows"].push_back(json_of(row));
  for (const AttackOrdering& o : table.orderings)
    json["orderings"].push_back({{"dataset", o.dataset},
                                 {"attack", o.attack},
                                 {"ahead", o.ahead},
                                 {"behind", o.behind},
                                 {"paper", {o.paper_ahead.mean, o.paper_behind.mean}},
                                 {"ours", {o.ours_ahead, o.ours_behind}},
                                 {"met", o.met}});
  return json;
}

namespace {

// What was asked, and what came out.
std::string opening(const ResultJson& table) {
  std::string out =
      "How accurate do EIGNN, H2GCN and IGNN stay when each test node's features are changed a little "
      "against it?";
  std::map<std::string, std::array<int64_t, 2>> by_attack;  // orderings: all, met
  for (const ResultJson& o : table.at("orderings")) {
    auto& [all, met] = by_attack[o["attack"].get<std::string>()];
    ++all;
    met += o["met"].get<bool>();
  }
  std::string attacks;
  for (const PaperAttack& attack : paper_attacks()) {
    if (const auto at = by_attack.find(attack.label); at != by_attack.end()) {
      attacks += fmt::format("{}{} of {} under {}", attacks.empty() ? "" : ", ", at->second[1], at->second[0],
                             attack.label);
    }
  }
  if (!attacks.empty()) {
    out +=
        fmt::format(" Of the {} orderings of models that follow from the paper's table {} are ours too: {}.",
                    table.at("orderings").size(), orderings_met(table), attacks);
  }
  return out + "\n\n";
}

}  // namespace

std::string attack_page(const ResultJson& table, const std::string& provenance) {
  const ResultJson& rows = table.at("rows");
  std::string out =
      "# Attacks on the features\n\n" + opening(table) +
      "Accuracy in percent, mean ± standard deviation over the splits. Each correctly classified test node "
      "is attacked by itself, in its own normalised row, without clipping or a random start; misclassified "
      "test nodes count as wrong. PGD takes 15 steps of a tenth of ε. Definitions: docs/attacks.md.\n\n";
  if (table.value("quick", false)) out += "**A quick run: fewer splits and epochs than the paper's.**\n\n";
  out += "## Ours\n\n" + markdown_table(rows, "each", mean_cell);
  out += "\n## The paper's\n\n" + markdown_table(rows, "paper", [](const ResultJson& figure) {
           return plus_minus(figure["mean"].get<double>(), figure["std"].get<double>());
         });
  out += "\nThe column of clean accuracy is ours in every table.\n";
  if (any_has(rows, "certified"))
    out +=
        "\n## Certified\n\nThe share of test nodes whose class no perturbation of their row within ε can "
        "take, by proof; only models that are linear in the features have it.\n\n" +
        markdown_table(rows, "certified", mean_cell);
  if (any_has(rows, "all"))
    out += "\n## All rows perturbed at once\n\n" + markdown_table(rows, "all", mean_cell);
  const ResultJson& orderings = table.at("orderings");
  if (!orderings.empty()) {
    out += fmt::format(
        "\n## The paper's orderings\n\n{} of {} are met: our means are in the paper's order.\n\n"
        "| data set | attack | ordering | paper | ours | |\n| --- | --- | --- | --- | --- | --- |\n",
        orderings_met(table), orderings.size());
    for (const ResultJson& o : orderings)
      out += fmt::format("| {} | {} | {} > {} | {:.2f}, {:.2f} | {:.2f}, {:.2f} | {} |\n",
                         o["dataset"].get<std::string>(), o["attack"].get<std::string>(),
                         o["ahead"].get<std::string>(), o["behind"].get<std::string>(),
                         o["paper"][0].get<double>(), o["paper"][1].get<double>(), o["ours"][0].get<double>(),
                         o["ours"][1].get<double>(), o["met"].get<bool>() ? "met" : "not met");
  }
  if (!provenance.empty()) out += "\n" + provenance + "\n";
  return out;
}

namespace {

const std::vector<std::string> attacked_models = {"eignn", "h2gcn", "ignn"};

// The rows of the table of heterophilic graphs that the paper attacks.
Experiment attacked() {
  Experiment out;
  out.name = "attacks";
  out.title = "Attacks on the features";
  for (const Experiment& table : table_experiments())
    for (const ExperimentRow& row : table.rows)
      if (paper_attack_figure(row.dataset, row.model, 0)) out.rows.push_back(row);
  return out;
}

std::vector<ExperimentRow> rows_to_attack(ReproduceOptions options) {
  if (options.models.empty()) options.models = attacked_models;
  return rows_of(attacked(), options);
}

// The accuracy under the strongest attacks, for progress messages.
std::string brief(const AttackRow& row) {
  std::string out;
  for (const size_t a : {paper_attacks().size() / 2 - 1, paper_attacks().size() - 1})
    out += fmt::format("{}{} leaves {:.2f} %", out.empty() ? "" : ", ", paper_attacks()[a].label,
                       row.under[a].each.at(0));
  return out;
}

ResultJson attack_rows(const ReproduceOptions& options, const JobRunner& runner, const OnRun& on_run) {
  const auto rows = rows_to_attack(options);
  const auto trained = run_rows(rows, options, runner, on_run);
  std::vector<std::pair<size_t, size_t>> places;  // row and run
  std::vector<std::vector<AttackRow>> of_runs(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    of_runs[r].resize(trained[r].jobs.size());
    for (size_t k = 0; k < trained[r].jobs.size(); ++k) places.emplace_back(r, k);
  }
  std::mutex reporting;
  size_t done = 0;
  in_parallel(places.size(), options.parallel, [&](size_t p) {
    const auto [r, k] = places[p];
    AttackRow row = attack_run(trained[r].jobs[k].folder);
    const std::lock_guard<std::mutex> lock(reporting);
    of_runs[r][k] = std::move(row);
    if (on_run)
      on_run({full_label(rows[r].label, rows[r].model) + ", attacked", ++done, places.size(), -1,
              trained[r].results[k], brief(of_runs[r][k])});
  });
  std::vector<AttackRow> attacked_rows(rows.size());
  ResultJson runs = ResultJson::array();
  for (const auto& [r, k] : places) {
    add_split(attacked_rows[r], of_runs[r][k]);
    runs.push_back({{"dataset", rows[r].dataset}, {"model", rows[r].model}});
    runs.back().update(short_form(trained[r].results[k]));
  }
  ResultJson out = {{"experiment", "attacks"}, {"quick", options.quick}};
  out.update(to_json(attack_table(std::move(attacked_rows))));
  out["runs"] = runs;
  return out;
}

}  // namespace

Reproduction attacks_reproduction() {
  Reproduction out;
  out.name = "attacks";
  out.title = "Attacks on the features";
  out.models = out.all_models = attacked_models;
  out.has_rows = out.keep_models = true;
  out.runs_of = "heterophilic";
  out.check = [](const ReproduceOptions& options) {
    for (const ExperimentRow& row : rows_to_attack(options)) require_named_set(row.dataset);
  };
  out.run = attack_rows;
  out.plots = [](const ResultJson&) { return std::vector<LinePlot>(); };
  out.page = [](const ResultJson& table, const std::vector<std::string>&) {
    return attack_page(table, made_by(table, table.at("runs").get<std::vector<ResultJson>>()));
  };
  out.outcome = [](const ResultJson& table) {
    return fmt::format("{} of {} orderings of the paper are met", orderings_met(table),
                       table.at("orderings").size());
  };
  return out;
}

}  // namespace eignn
