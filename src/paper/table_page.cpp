// The pages of the tables: the paper's grid with ours over theirs, then every row with its matrix and its
// head.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "paper/reproduce.h"
#include "run/statistics.h"

namespace eignn {

namespace {

std::string label_of(const ResultJson& row) {
  return full_label(row["label"].get<std::string>(), row["model"].get<std::string>());
}

std::string plus_minus(const ResultJson& figure) {
  const double mean = figure.at("mean").get<double>();
  const bool single = figure.value("runs_count", 2) == 1;  // one run has no spread
  return figure.contains("std") && !single
             ? fmt::format("{:.2f} ± {:.2f}", mean, figure.at("std").get<double>())
             : fmt::format("{:.2f}", mean);
}

std::string setting(const ResultJson& row, const char* name, const std::string& otherwise) {
  if (!row.contains("settings") || !row["settings"].contains(name)) return otherwise;
  const ResultJson& value = row["settings"][name];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Whether the model multiplies by S as the settings make it.
bool sees_S(const std::string& model) {
  static const std::vector<std::string> models = {"eignn", "ignn",  "ignn-finite", "gcn",   "sgc",
                                                  "sse",   "appnp", "ppnp",        "jknet", "gcnii"};
  return std::find(models.begin(), models.end(), model) != models.end();
}

// One row or none of a model on a data set: the stated equation's, where there are several.
std::vector<const ResultJson*> rows_on(const ResultJson& table, const std::string& dataset) {
  std::vector<const ResultJson*> out;
  for (const ResultJson& row : table.at("rows")) {
    if (row["dataset"] == dataset && (row["model"] != "eignn" || matrix_of(row) == "stated"))
      out.push_back(&row);
  }
  return out;
}

std::string ordinal(int64_t place) {
  return fmt::format("{}{}", place, place == 1 ? "st" : place == 2 ? "nd" : place == 3 ? "rd" : "th");
}

// The data sets that the paper has figures for, by their labels, in the order of the rows.
std::vector<std::pair<std::string, std::string>> compared_sets(const ResultJson& table) {
  std::vector<std::pair<std::string, std::string>> sets;
  for (const ResultJson& row : table.at("rows")) {
    if (!row.contains("paper")) continue;
    const auto dataset = row["dataset"].get<std::string>();
    if (std::none_of(sets.begin(), sets.end(), [&](const auto& set) { return set.second == dataset; }))
      sets.emplace_back(row["label"].get<std::string>(), dataset);
  }
  return sets;
}

// Which head EIGNN had, where it was not the paper's.
std::string head_remark(const Rank& rank) {
  return rank.head == "f = B Z" ? "" : fmt::format(", head: {}", rank.head);
}

// "On the stated graph EIGNN is 2nd of 10 on Texas (83.51) …".
std::string ranks_sentence(const ResultJson& table) {
  std::vector<std::string> places;
  for (const auto& [label, dataset] : compared_sets(table)) {
    const Rank rank = rank_of_eignn(table, dataset);
    if (rank.place > 0) {
      places.push_back(fmt::format("{} of {} on {} ({:.2f} %{})", ordinal(rank.place), rank.models, label,
                                   rank.mean, head_remark(rank)));
    }
  }
  if (places.empty()) return "";
  return fmt::format("On the stated graph EIGNN is {}", fmt::join(places, ", "));
}

// Rows of EIGNN on another matrix than the stated one, with what that is.
std::string variants_sentence(const ResultJson& table) {
  std::vector<std::string> variants;
  for (const ResultJson& row : table.at("rows")) {
    if (row["model"] == "eignn" && row.contains("settings") && matrix_of(row) != "stated") {
      variants.push_back(
          fmt::format("{:.2f} % on {}", row["mean"].get<double>(), row["label"].get<std::string>()));
    }
  }
  if (variants.empty()) return "";
  return fmt::format("; on the directed matrices that validation chose for it alone, it has {}",
                     fmt::join(variants, ", "));
}

// Who is ahead of EIGNN on the stated matrix.
std::string ranks_list(const ResultJson& table) {
  std::string out;
  for (const auto& [label, dataset] : compared_sets(table)) {
    const Rank rank = rank_of_eignn(table, dataset);
    if (rank.place == 0 || rank.models < 2) continue;
    out += fmt::format("- {}: {} of {} with {:.2f} %{}", label, ordinal(rank.place), rank.models, rank.mean,
                       head_remark(rank));
    if (!rank.ahead.empty()) out += fmt::format("; behind {}", fmt::join(rank.ahead, ", "));
    out += ".\n";
  }
  if (out.empty()) return "";
  return "## Where EIGNN ranks on the stated graph\n\nAll models start from the same undirected graph; no "
         "row of another matrix counts here.\n\n" +
         out + "\n";
}

// The paper's table, with ours over theirs. Rows of EIGNN on another matrix have a line of their own.
std::string grid(const ResultJson& table) {
  const auto sets = compared_sets(table);
  if (sets.size() < 2) return "";
  std::vector<std::pair<std::string, bool>> lines;  // a model, and whether it is EIGNN's variants
  for (const ResultJson& row : table.at("rows")) {
    const std::pair<std::string, bool> line = {row["model"].get<std::string>(),
                                               row["model"] == "eignn" && matrix_of(row) != "stated"};
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  std::string out = "## The paper's grid, ours over theirs\n\n| model |";
  std::string rule = "| --- |";
  for (const auto& [label, dataset] : sets) {
    out += fmt::format(" {} |", label);
    rule += " --- |";
  }
  out += "\n" + rule + "\n";
  for (const auto& [model, variant] : lines) {
    out += fmt::format("| {} |", variant ? "eignn, variant chosen by validation" : model);
    for (const auto& set : sets) {
      std::string cell = "-";
      for (const ResultJson& row : table.at("rows")) {
        if (row["dataset"] == set.second && row["model"] == model && row.contains("paper") &&
            (model == "eignn" && matrix_of(row) != "stated") == variant)
          cell = plus_minus(row) + "<br>" + plus_minus(row["paper"]);
      }
      out += fmt::format(" {} |", cell);
    }
    out += "\n";
  }
  return out + "\n";
}

double median_of_runs(const ResultJson& row, const char* key) {
  std::vector<double> values;
  for (const ResultJson& run : row["runs"])
    if (run.contains(key) && run[key].is_number()) values.push_back(run[key].get<double>());
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The times of a table whose paper has times: medians over a row's runs.
std::string times(const Experiment& experiment, const ResultJson& table) {
  const bool has_times = std::any_of(experiment.rows.begin(), experiment.rows.end(),
                                     [](const ExperimentRow& row) { return row.paper_epoch_s.has_value(); });
  if (!has_times) return "";
  std::string out =
      "\n## Seconds\n\nAnother machine than the paper's (an RTX 2080 Ti), so that the ratios between the "
      "models "
      "compare and the seconds do not.\n\n| model | ours: an epoch | paper | ours: preprocessing | paper | "
      "machine "
      "|\n| --- | --- | --- | --- | --- | --- |\n";
  const auto paper = [](const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.2f}", *seconds) : std::string("-");
  };
  for (const ResultJson& row : table.at("rows")) {
    for (const ExperimentRow& known : experiment.rows) {
      if (known.label == row["label"] && known.model == row["model"]) {
        out +=
            fmt::format("| {} | {:.3g} | {} | {:.3g} | {} | {} |\n", known.model,
                        median_of_runs(row, "seconds_per_epoch"), paper(known.paper_epoch_s),
                        median_of_runs(row, "preprocess_seconds"), paper(known.paper_preprocess_s),
                        row["runs"][0]["machine"].is_string() ? row["runs"][0]["machine"].get<std::string>()
                                                              : std::string("not noted"));
      }
    }
  }
  return out;
}

}  // namespace

std::string matrix_of(const ResultJson& row) {
  const std::string model = row["model"].get<std::string>();
  if (model == "mlp") return "none";
  if (!sees_S(model)) return "its own";
  const std::string direction = setting(row, "direction", "undirected"),
                    normalise = setting(row, "normalise", "sym"), source = setting(row, "source", "own");
  const bool loops = setting(row, "self-loops", "on") == "on";
  if (direction == "undirected" && normalise == "sym" && loops && source == "own") return "stated";
  std::string out = direction == "undirected" ? direction : fmt::format("directed ({})", direction);
  out += fmt::format(", {}, {}", normalise, loops ? "self-loops" : "no self-loops");
  if (source != "own") out += fmt::format(", source {}", source);
  return out;
}

std::string head_of(const ResultJson& row) {
  if (row["model"] != "eignn") return "its own";
  const std::string head = setting(row, "head", "plain"), norm = setting(row, "norm", "none"),
                    dropout = setting(row, "dropout", "0.0"), count = setting(row, "equilibria", "1");
  std::string out = count == "1" ? "" : count + " equilibria, ";
  if (head == "residual") {
    return out + fmt::format("{} residual blocks of width {}", setting(row, "blocks", "?"),
                             setting(row, "width", "?"));
  }
  const std::string normed = head == "batch-norm" || norm == "batch" ? "batch norm"
                             : head == "l2" || norm == "l2"          ? "length one"
                             : norm == "layer"                       ? "layer norm"
                                                                     : "";
  if (!normed.empty()) out += normed + ", ";
  if (std::stod(dropout) > 0) out += fmt::format("dropout {}, ", dropout);
  return out + (out.empty() ? "f = B Z" : "linear");
}

Rank rank_of_eignn(const ResultJson& table, const std::string& dataset) {
  Rank rank;
  auto rows = rows_on(table, dataset);
  std::stable_sort(rows.begin(), rows.end(), [](const ResultJson* a, const ResultJson* b) {
    return (*a)["mean"].get<double>() > (*b)["mean"].get<double>();
  });
  rank.models = static_cast<int64_t>(rows.size());
  for (const ResultJson* row : rows) {
    const double mean = (*row)["mean"].get<double>();
    if ((*row)["model"] == "eignn") {
      rank.place = static_cast<int64_t>(rank.ahead.size()) + 1;
      rank.mean = mean;
      rank.head = head_of(*row);
      return rank;
    }
    rank.ahead.push_back(fmt::format("{} {:.2f}", (*row)["model"].get<std::string>(), mean));
  }
  rank.ahead.clear();
  return rank;
}

std::string to_markdown(const Experiment& experiment, const ResultJson& table) {
  const std::string ranks = ranks_sentence(table);
  std::string out = fmt::format("# {}\n\n{}", experiment.title, experiment.question);
  if (!ranks.empty()) out += fmt::format(" {}{}.", ranks, variants_sentence(table));
  out += fmt::format("\n\n{}\n\n", experiment.text);
  if (table.at("quick").get<bool>())
    out += "**A quick run: fewer splits, graphs or epochs than the paper's.**\n\n";
  out += grid(table) + ranks_list(table);
  out +=
      "## Every row\n\nS is the matrix that the model sees: *stated* is D^-1/2 (A+I) D^-1/2 of the "
      "undirected graph, "
      "with self-loops; *its own* is made from the same graph as the model's paper defines it. The head is "
      "what "
      "stands between EIGNN's states and its scores; *f = B Z* is the paper's.\n\n"
      "| data set | model | S | head | ours | paper | difference | p | validation | runs |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::string remarks;
  for (const ResultJson& row : table.at("rows")) {
    const bool compared = row.contains("paper");
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} | {} |\n",
                       row["label"].get<std::string>(), row["model"].get<std::string>(), matrix_of(row),
                       head_of(row), plus_minus(row), compared ? plus_minus(row["paper"]) : "-",
                       compared ? fmt::format("{:+.2f}", row["difference"].get<double>()) : "-",
                       row.contains("p") && !row["p"].is_null() ? p_text(row["p"].get<double>()) : "-",
                       row["val_mean"].get<double>(), row["runs_count"].get<int64_t>());
    if (row.contains("remark"))
      remarks += fmt::format("- {}: {}.\n", label_of(row), row["remark"].get<std::string>());
  }
  if (!remarks.empty()) out += "\n" + remarks;
  out += times(experiment, table);
  out += "\n## Test figures of each run, in percent\n\n";
  for (const ResultJson& row : table.at("rows")) {
    std::vector<std::string> figures;
    for (const ResultJson& run : row["runs"]) {
      figures.push_back(
          fmt::format("{:.2f}", 100 * run["test_" + row["metric"].get<std::string>()].get<double>()));
    }
    out += fmt::format("- {}: {}\n", label_of(row), fmt::join(figures, ", "));
  }
  std::vector<ResultJson> runs;
  for (const ResultJson& row : table.at("rows"))
    for (const ResultJson& run : row["runs"]) runs.push_back(run);
  return out + "\n" + made_by(table, runs);
}

}  // namespace eignn
