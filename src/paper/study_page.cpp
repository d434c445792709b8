// The pages of the studies: tables, the paper's statements, tests.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "paper/study.h"
#include "run/statistics.h"

namespace eignn {

namespace {

std::string plus_minus(const ResultJson& point) {
  std::string out = fmt::format("{:.2f}", point["mean"].get<double>());
  if (point["runs_count"].get<int64_t>() > 1) out += fmt::format(" ± {:.2f}", point["std"].get<double>());
  if (point.contains("paper")) out += fmt::format(" ({:.2f})", point["paper"].get<double>());
  return out;
}

// A Markdown table with a row for each x and a column for each name; `cell` gives the text.
template <class Cell>
std::string table_over_x(const std::string& x_label, const std::map<double, std::string>& xs,
                         const std::vector<std::string>& columns, Cell cell) {
  std::string out = fmt::format("| {} | {} |\n|", x_label, fmt::join(columns, " | "));
  for (size_t k = 0; k <= columns.size(); ++k) out += " --- |";
  out += "\n";
  for (const auto& [x, text] : xs) {
    out += fmt::format("| {} |", text);
    for (const auto& column : columns) out += fmt::format(" {} |", cell(column, x, text));
    out += "\n";
  }
  return out;
}

std::string panel_tables(const Study& study, const ResultJson& points) {
  std::string out;
  for (const auto& panel : names_of(points, "panel")) {
    out += fmt::format("## {}, {}\n\n{}\n", study.measure.label, panel,
                       table_over_x(study.x_label, xs_of(points), names_of(points, "series"),
                                    [&](const std::string& series, double x, const std::string&) {
                                      const ResultJson* point = find_point(points, panel, series, x);
                                      return point ? plus_minus(*point) : std::string("-");
                                    }));
  }
  return out;
}

std::string comparisons(int64_t count) {
  return fmt::format("{} comparison{}", count, count == 1 ? "" : "s");
}

std::string verdict_text(const ResultJson& panel) {
  const auto list = [&](const char* key) { return panel.value(key, std::vector<std::string>()); };
  const auto breaches = list("breaches"), evidence = list("evidence"), controls = list("controls");
  const auto points = panel["points"].get<int64_t>();
  std::string out = fmt::format(" On {} graphs it ", panel["panel"].get<std::string>());
  if (!breaches.empty()) {
    out +=
        fmt::format("fails in {} of {}: {}", breaches.size(), comparisons(points), fmt::join(breaches, "; "));
  } else if (!controls.empty()) {
    out += fmt::format("is not shown: it holds in {}, but the control has the same with nothing to show: {}",
                       comparisons(points), fmt::join(controls, "; "));
  } else {
    out += fmt::format("holds, in {}", comparisons(points));
    if (!evidence.empty()) out += fmt::format(": {}", fmt::join(evidence, "; "));
  }
  return out + ".";
}

std::string claims_text(const ResultJson& claims) {
  std::string out = "## The paper's statements beside these figures\n\n";
  for (const ResultJson& claim : claims) {
    out += fmt::format("- **{}**", claim["text"].get<std::string>());
    if (claim["panels"].empty()) out += " Not run here.";
    for (const ResultJson& panel : claim["panels"]) out += verdict_text(panel);
    out += "\n";
  }
  return out + "\n";
}

std::string column_of(const std::string& a, const std::string& b) {
  return a + " against " + b;
}

std::string test_cell(const ResultJson& test) {
  if (test["p"].is_null()) return "-";
  const std::string p = p_text(test["p"].get<double>());
  if (!test.contains("meets") || test["meets"].is_null()) return p;
  return p + (test["meets"].get<bool>() ? ", met" : ", **not met**");
}

// Where the paper's level is met, panel by panel.
std::string levels_text(const ResultJson& tests, const TestedPair& pair) {
  std::string out;
  for (const auto& panel : names_of(tests, "panel")) {
    int64_t tested = 0;
    std::vector<std::string> missed;
    for (const ResultJson& test : tests) {
      if (test["panel"] != panel || test["a"] != pair.a || test["b"] != pair.b || test["meets"].is_null())
        continue;
      ++tested;
      if (!test["meets"].get<bool>()) {
        missed.push_back(
            fmt::format("{} (p = {})", test["x_text"].get<std::string>(), p_text(test["p"].get<double>())));
      }
    }
    if (tested == 0) continue;
    out += missed.empty()
               ? fmt::format(" On {} graphs ours meet it at all {}.", panel, tested)
               : fmt::format(" On {} graphs ours meet it at {} of {}, not at {}.", panel,
                             tested - static_cast<int64_t>(missed.size()), tested, fmt::join(missed, ", "));
  }
  return out;
}

std::string tests_text(const Study& study, const ResultJson& results) {
  const ResultJson& tests = results["tests"];
  if (tests.empty()) return "";
  std::string out =
      "## Welch's t-tests\n\np between the series of runs; - where there is a single run. Where the paper "
      "names a "
      "level, *met* says that the first is ahead of the second with a p below it.\n\n";
  for (const auto& panel : names_of(tests, "panel")) {
    std::vector<std::string> columns;
    for (const TestedPair& pair : study.pairs) columns.push_back(column_of(pair.a, pair.b));
    const auto cell = [&](const std::string& column, double, const std::string& text) -> std::string {
      for (const ResultJson& test : tests) {
        if (test["panel"] == panel && test["x_text"] == text &&
            column_of(test["a"].get<std::string>(), test["b"].get<std::string>()) == column)
          return test_cell(test);
      }
      return "-";
    };
    out += fmt::format("{}:\n\n{}\n", panel,
                       table_over_x(study.x_label, xs_of(results["points"]), columns, cell));
  }
  for (const TestedPair& pair : study.pairs) {
    out += fmt::format("- The paper, {}: {}.{}\n", column_of(pair.a, pair.b), pair.paper,
                       levels_text(tests, pair));
  }
  return out + "\n";
}

// For models that iterate: how many of their solves did not reach the tolerance.
std::string solves_text(const ResultJson& points) {
  std::string out;
  for (const ResultJson& point : points) {
    if (point.value("non_converged_solves", int64_t{0}) > 0) {
      out += fmt::format("- {}, {} at {}: {} in {} run{}\n", point["panel"].get<std::string>(),
                         point["series"].get<std::string>(), point["x_text"].get<std::string>(),
                         point["non_converged_solves"].get<int64_t>(), point["runs_count"].get<int64_t>(),
                         point["runs_count"].get<int64_t>() == 1 ? "" : "s");
    }
  }
  const bool counted = std::any_of(points.begin(), points.end(),
                                   [](const ResultJson& p) { return p.contains("non_converged_solves"); });
  if (!counted) return "";
  return "## Solves that stopped short of their tolerance\n\n" +
         (out.empty() ? std::string("None: every fixed point was reached.\n") : out) + "\n";
}

// "At chain length 200 (directed / undirected) EIGNN has 100.00 / 100.00 %, IGNN 54.78 / 54.63 %".
std::string headline_text(const Study& study, const ResultJson& points) {
  const auto xs = xs_of(points);
  if (xs.empty()) return "";
  auto x = std::prev(xs.end());
  for (auto at = xs.begin(); at != xs.end(); ++at)
    if (at->second == study.headline_x) x = at;
  const auto panels = names_of(points, "panel");
  std::string out;
  for (const auto& [series, name] : study.headline) {
    std::vector<std::string> means;
    for (const auto& panel : panels) {
      if (const ResultJson* point = find_point(points, panel, series, x->first))
        means.push_back(fmt::format("{:.2f}", (*point)["mean"].get<double>()));
    }
    if (means.size() != panels.size()) continue;
    out += out.empty() ? fmt::format("At {} {} ({}) {} has ", study.x_label, x->second,
                                     fmt::join(panels, " / "), name)
                       : fmt::format(", {} ", name);
    out += fmt::format("{} {}", fmt::join(means, " / "), study.measure.unit);
  }
  return out;
}

}  // namespace

std::string study_page(const Study& study, const ResultJson& results,
                       const std::vector<std::string>& figures) {
  const std::string headline = headline_text(study, results.at("points"));
  std::string outcome = study_outcome(results);
  if (!headline.empty()) outcome[0] = 'o';
  std::string out = fmt::format("# {}\n\n{} {}{}{}.\n\n{}\n\n", study.title, study.question, headline,
                                headline.empty() ? "" : "; ", outcome, study.text);
  if (results.at("quick").get<bool>()) out += "**A quick run: fewer points or seeds than the paper's.**\n\n";
  if (results.contains("epochs"))
    out += fmt::format("**Training was cut at {} epochs.**\n\n", results["epochs"].get<std::string>());
  for (const std::string& figure : figures) out += fmt::format("![{}]({})\n\n", study.title, figure);
  const ResultJson& points = results.at("points");
  out += panel_tables(study, points) + claims_text(results.at("claims")) + tests_text(study, results) +
         solves_text(points);
  std::vector<ResultJson> runs;
  for (const ResultJson& point : points)
    for (const ResultJson& run : point["runs"]) runs.push_back(run);
  return out + made_by(results, runs);
}

std::string study_outcome(const ResultJson& results) {
  struct Count {
    int64_t checked = 0, holding = 0, not_shown = 0;
  };
  std::vector<std::pair<std::string, Count>> panels;
  for (const ResultJson& claim : results.at("claims")) {
    for (const ResultJson& panel : claim["panels"]) {
      const auto name = panel["panel"].get<std::string>();
      auto at =
          std::find_if(panels.begin(), panels.end(), [&](const auto& entry) { return entry.first == name; });
      if (at == panels.end()) at = panels.insert(panels.end(), {name, {}});
      ++at->second.checked;
      if (panel["verdict"] == "holds") ++at->second.holding;
      if (panel["verdict"] == "not shown") ++at->second.not_shown;
    }
  }
  if (panels.empty()) return "Of the paper's statements none was checked";
  std::string out;
  for (const auto& [name, count] : panels) {
    out += fmt::format("{} {} of {} {} on {} graphs", out.empty() ? "Of the paper's statements" : ",",
                       count.holding, count.checked, count.holding == 1 ? "holds" : "hold", name);
    if (count.not_shown > 0) out += fmt::format(" ({} not shown)", count.not_shown);
  }
  return out;
}

}  // namespace eignn
