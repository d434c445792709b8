// The page of results/limitations.md.
#include <fmt/format.h>

#include <algorithm>

#include "paper/limitations.h"

namespace eignn {

namespace {

std::string percent_cell(const ResultJson& row, const char* key) {
  if (!row.contains(key) || row[key].is_null()) return "-";
  return fmt::format("{:.3g} %", 100 * row[key].get<double>());
}

std::string seconds_cell(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.1f} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

std::string score_cell(const ResultJson& row) {
  const double mean = row["mean"].get<double>();
  return row["runs_count"].get<size_t>() > 1 ? fmt::format("{:.2f} ± {:.2f}", mean, row["std"].get<double>())
                                             : fmt::format("{:.2f}", mean);
}

// What the way leaves out of the graph or its spectrum.
std::string left_out(const ResultJson& row) {
  if (row.contains("next_eigenvalue"))
    return fmt::format("eigenvalues to {:.3g}", row["next_eigenvalue"].get<double>());
  if (!row.contains("reduction")) return "nothing";
  const ResultJson& reduction = row["reduction"];
  const double share = 100 * reduction["lost_weight_share"].get<double>();
  if (reduction["kind"] == "partition") return fmt::format("{:.1f} % of the edges", share);
  return fmt::format("{} clusters, {:.1f} % of the edges within them", reduction["groups"].get<int64_t>(),
                     share);
}

std::vector<std::string> subjects_of(const ResultJson& rows, bool ranks) {
  std::vector<std::string> names;
  for (const ResultJson& row : rows) {
    const auto name = row["subject"].get<std::string>();
    if (row["ranks"].get<bool>() == ranks && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

std::string table_of_ways(const ResultJson& rows, const std::string& subject) {
  std::string out = fmt::format(
      "## {}\n\n| way | leaves out | prepared in | an epoch | peak memory | error of Z | its bound | test |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
      subject);
  for (const ResultJson& row : rows) {
    if (row["ranks"].get<bool>() || row["subject"] != subject) continue;
    const std::string way = row["way"].get<std::string>();
    out += fmt::format(
        "| {} | {} | {} | {} | {:.0f} MB | {} | {} | {} |\n",
        way == "exact" ? fmt::format("exact ({})", row["solver"].get<std::string>()) : way, left_out(row),
        seconds_cell(row["preprocess_seconds"].get<double>()),
        seconds_cell(row["seconds_per_epoch"].get<double>()), 1e-6 * row["peak_memory_bytes"].get<double>(),
        way == "exact" ? "0" : percent_cell(row, "state_error"), percent_cell(row, "bound"), score_cell(row));
  }
  return out + "\n";
}

std::string table_of_ranks(const ResultJson& rows) {
  std::string out =
      "## The rank of F\n\nF has r rows, so that the equilibrium has r dimensions, exactly: no "
      "approximation, another "
      "model. \"To the best epoch\" is the time to the weights that validation chose.\n\n"
      "| data set | rank | an epoch | best epoch after | peak memory | test |\n| --- | --- | --- | --- | --- "
      "| --- |\n";
  for (const ResultJson& row : rows)
    if (row["ranks"].get<bool>())
      out += fmt::format("| {} | {} | {} | {} | {:.0f} MB | {} |\n", row["subject"].get<std::string>(),
                         row["way"].get<std::string>(), seconds_cell(row["seconds_per_epoch"].get<double>()),
                         seconds_cell(row["seconds_to_best"].get<double>()),
                         1e-6 * row["peak_memory_bytes"].get<double>(), score_cell(row));
  return out + "\n";
}

// The cheapest way of each kind that is within half a point of the exact one.
std::string findings(const ResultJson& rows, const std::string& subject) {
  const ResultJson* exact = nullptr;
  for (const ResultJson& row : rows)
    if (!row["ranks"].get<bool>() && row["subject"] == subject && row["way"] == "exact") exact = &row;
  if (exact == nullptr) return "";
  const double score = (*exact)["mean"].get<double>(), time = (*exact)["seconds_per_epoch"].get<double>();
  std::string out = fmt::format("- **{}.** The exact solution has {:.2f} % at {} an epoch.", subject, score,
                                seconds_cell(time));
  const auto say = [&](const char* kind, const char* prefix) {
    const ResultJson* best = nullptr;
    for (const ResultJson& row : rows) {
      const auto way = row["way"].get<std::string>();
      if (row["ranks"].get<bool>() || row["subject"] != subject || way.rfind(prefix, 0) != 0) continue;
      if (best == nullptr || row["mean"].get<double>() > (*best)["mean"].get<double>()) best = &row;
    }
    if (best == nullptr) return;
    const double own = (*best)["seconds_per_epoch"].get<double>();
    out += fmt::format(" Best {}: {}, {:.2f} %, {:.2g} times the time, Z off by {}.", kind,
                       (*best)["way"].get<std::string>(), (*best)["mean"].get<double>(), own / time,
                       percent_cell(*best, "state_error"));
  };
  say("truncation", "truncated");
  say("partition", "partition");
  say("coarsening", "coarsen");
  return out + "\n";
}

// The second sentence of the page: the exact solution's mean on each data set, and the best other one.
std::string in_short(const ResultJson& rows) {
  std::string out;
  for (const std::string& subject : subjects_of(rows, false)) {
    const ResultJson *exact = nullptr, *best = nullptr;
    for (const ResultJson& row : rows) {
      if (row["ranks"].get<bool>() || row["subject"] != subject) continue;
      const ResultJson*& place = row["way"] == "exact" ? exact : best;
      if (place == nullptr || row["mean"].get<double>() > (*place)["mean"].get<double>()) place = &row;
    }
    if (exact == nullptr || best == nullptr) continue;
    out += fmt::format("{}{:.2f} % and {:.2f} % ({}) on {}", out.empty() ? "" : ", ",
                       (*exact)["mean"].get<double>(), (*best)["mean"].get<double>(),
                       (*best)["way"].get<std::string>(), subject);
  }
  return out.empty() ? "" : "The exact solution and the best of the others have " + out + ".";
}

}  // namespace

std::string limitations_page(const ResultJson& results) {
  const ResultJson& rows = results.at("rows");
  std::string out =
      "# The paper's own limitations\n\n"
      "What do a truncated spectrum, a partition and a coarser graph save, and what do they cost in "
      "accuracy? " +
      in_short(rows) +
      "\n\n"
      "The paper ends with the cost of the eigendecomposition of S, n³, for which it suggests to "
      "truncate it, to coarsen the graph or to cut it into parts, and leaves \"detailed analyses and "
      "empirical experiments for future research\". These are the three, beside the exact solution, "
      "each trained by itself with the same settings: the solver `truncated`, `partition` and `coarsen` "
      "(docs/solvers.md, docs/data.md). The error of Z is ‖Z - Z_exact‖ / ‖Z_exact‖ for the F that the "
      "row has learned, where Z_exact is the equilibrium of the whole graph; its bound is the one that "
      "is printed by training. Each run has a process of its own; an epoch is its training steps (one, "
      "of a partition one for each batch of parts) and the evaluation after them; test is accuracy, of "
      "PPI micro-F1. The generated graphs have communities of a hundred nodes, five edges a node, one "
      "in five of them anywhere, 64 features and eight classes.\n\n";
  if (results.value("quick", false))
    out += "**A quick run: few epochs, far from the end of training, and no graph of a million nodes.**\n\n";
  for (const std::string& subject : subjects_of(rows, false)) out += table_of_ways(rows, subject);
  if (!subjects_of(rows, true).empty()) out += table_of_ranks(rows);
  std::string found;
  for (const std::string& subject : subjects_of(rows, false)) found += findings(rows, subject);
  if (!found.empty()) out += "## In short\n\n" + found + "\n";
  std::vector<ResultJson> runs;
  for (const ResultJson& row : rows)
    for (const ResultJson& run : row["runs"]) runs.push_back(run);
  return out + made_by(results, runs);
}

}  // namespace eignn
