#include "experiments/attacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "eignn/error.h"
#include "eignn/spectrum_cache.h"
#include "report/statistics.h"
#include "train/checkpoint.h"
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

std::string mean_cell(const std::vector<double>& values) {
  if (values.empty()) return "-";
  const MeanOfRuns m = mean_of_runs(values);
  return values.size() == 1 ? fmt::format("{:.2f}", m.mean) : plus_minus(m.mean, m.std);
}

ResultJson json_of(const std::vector<double>& values) {
  const MeanOfRuns m = mean_of_runs(values);
  return {{"mean", m.mean}, {"std", m.std}, {"ci95", m.ci95}, {"runs", values}};
}

// | data set | model | clean | FGSM 1e-4 | … with what `cell` says of a row and an attack.
template <class Cell>
std::string markdown_table(const AttackTable& table, const Cell& cell) {
  std::string out = "| data set | model | clean |", rule = "| --- | --- | --- |";
  for (const PaperAttack& attack : paper_attacks()) {
    out += fmt::format(" {} |", attack.label);
    rule += " --- |";
  }
  out += "\n" + rule + "\n";
  for (const AttackRow& row : table.rows) {
    out += fmt::format("| {} | {} | {} |", row.dataset, row.model, mean_cell(row.clean));
    for (size_t a = 0; a < row.under.size(); ++a) out += fmt::format(" {} |", cell(row, a));
    out += "\n";
  }
  return out;
}

}  // namespace

const std::vector<PaperAttack>& paper_attacks() {
  static const std::vector<PaperAttack> all = [] {
    const std::vector<std::pair<const char*, double>> sizes = {
        {"1e-4", 1e-4}, {"1e-3", 1e-3}, {"1e-2", 1e-2}};
    std::vector<PaperAttack> out;
    for (const Method method : {Method::fgsm, Method::pgd})
      for (const auto& [text, epsilon] : sizes) {
        AttackOptions options;
        options.method = method;
        options.epsilon = epsilon;
        options.step = epsilon / 10;
        options.steps = 15;
        out.push_back({fmt::format("{} {}", method == Method::fgsm ? "FGSM" : "PGD", text), options});
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

AttackRow attack_checkpoints(const std::vector<std::string>& checkpoints, bool all_rows,
                             const std::function<void(size_t)>& on_done) {
  AttackRow row;
  row.under.resize(paper_attacks().size());
  SpectrumCache cache;
  for (size_t c = 0; c < checkpoints.size(); ++c) {
    const Checkpoint checkpoint = read_checkpoint(checkpoints[c]);
    const TrainConfig& config = checkpoint.config;
    if (c == 0) {
      row.dataset = config.dataset;
      row.model = config.model;
    }
    if (config.dataset != row.dataset || config.model != row.model)
      throw InputError(fmt::format("{} on {} among checkpoints of {} on {} ({}); attack each by itself",
                                   config.model, config.dataset, row.model, row.dataset, checkpoints[c]));
    use_threads(config);
    const Dataset dataset = load_dataset(config);
    const auto model = restore_model(checkpoint, dataset, config, &cache, checkpoints[c]);
    Attacker attacker(*model, dataset, dataset.splits[split_number(config, dataset)].test);
    for (size_t a = 0; a < row.under.size(); ++a) {
      AttackOptions options = paper_attacks()[a].options;
      const AttackReport each = attacker.run(options);
      if (a == 0) row.clean.push_back(100 * each.clean_accuracy());
      row.under[a].each.push_back(100 * each.accuracy());
      if (const auto certified = each.certified_accuracy())
        row.under[a].certified.push_back(100 * *certified);
      if (!all_rows) continue;
      options.targets = Targets::all;
      options.certify = false;
      row.under[a].all.push_back(100 * attacker.run(options).accuracy());
    }
    if (on_done) on_done(c + 1);
  }
  return row;
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
  for (const AttackRow& row : table.rows) {
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
    json["rows"].push_back(out);
  }
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

std::string attack_page(const AttackTable& table, const std::string& provenance) {
  std::string out =
      "# Attacks on the features\n\n"
      "Accuracy in percent, mean ± standard deviation over the splits. Each correctly classified test node "
      "is "
      "attacked by itself, in its own normalised row, without clipping or a random start; misclassified test "
      "nodes count as wrong. PGD takes 15 steps of a tenth of ε. Definitions: docs/attacks.md.\n\n"
      "## Ours\n\n";
  out += markdown_table(table, [](const AttackRow& row, size_t a) { return mean_cell(row.under[a].each); });
  out += "\n## The paper's\n\n";
  out += markdown_table(table, [](const AttackRow& row, size_t a) {
    const auto figure = paper_attack_figure(row.dataset, row.model, a);
    return figure ? plus_minus(figure->mean, figure->std) : std::string("-");
  });
  out += "\nThe column of clean accuracy is ours in every table.\n";
  const auto any = [&](const auto& has) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const AttackRow& row) {
      return std::any_of(row.under.begin(), row.under.end(), has);
    });
  };
  if (any([](const AttackSeries& s) { return !s.certified.empty(); })) {
    out +=
        "\n## Certified\n\nThe share of test nodes whose class no perturbation of their row within ε can "
        "take, "
        "by proof; only models that are linear in the features have it.\n\n";
    out += markdown_table(table,
                          [](const AttackRow& row, size_t a) { return mean_cell(row.under[a].certified); });
  }
  if (any([](const AttackSeries& s) { return !s.all.empty(); })) {
    out += "\n## All rows perturbed at once\n\n";
    out += markdown_table(table, [](const AttackRow& row, size_t a) { return mean_cell(row.under[a].all); });
  }
  if (!table.orderings.empty()) {
    const auto met = std::count_if(table.orderings.begin(), table.orderings.end(),
                                   [](const AttackOrdering& o) { return o.met; });
    out += fmt::format(
        "\n## The paper's orderings\n\n{} of {} are met: our means are in the paper's order.\n\n"
        "| data set | attack | ordering | paper | ours | |\n| --- | --- | --- | --- | --- | --- |\n",
        met, table.orderings.size());
    for (const AttackOrdering& o : table.orderings)
      out += fmt::format("| {} | {} | {} > {} | {:.2f}, {:.2f} | {:.2f}, {:.2f} | {} |\n", o.dataset,
                         o.attack, o.ahead, o.behind, o.paper_ahead.mean, o.paper_behind.mean, o.ours_ahead,
                         o.ours_behind, o.met ? "met" : "not met");
  }
  if (!provenance.empty()) out += "\n" + provenance + "\n";
  return out;
}

}  // namespace eignn
