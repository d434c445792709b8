#include "paper/reproduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "paper/attacks.h"
#include "paper/limitations.h"
#include "paper/reproduce.h"
#include "paper/study.h"

namespace eignn {

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> all = [] {
    std::vector<Reproduction> list;
    for (const auto& family : {chain_studies(), depth_studies(), {efficiency_study(), noise_study()}})
      for (const Study& study : family) list.push_back(as_reproduction(study));
    for (const Experiment& table : table_experiments()) list.push_back(as_reproduction(table));
    list.push_back(attacks_reproduction());
    list.push_back(limitations_reproduction());
    return list;
  }();
  return all;
}

const Reproduction& reproduction(const std::string& name) {
  std::vector<std::string> names;
  for (const Reproduction& experiment : reproductions()) {
    if (experiment.name == name) return experiment;
    names.push_back(experiment.name);
  }
  names.push_back("all");
  throw unknown_name("experiment", "eignn reproduce", name, names);
}

void check_options(const Reproduction& experiment, const ReproduceOptions& options) {
  const auto& known = experiment.models;
  for (const std::string& model : options.models)
    if (std::find(known.begin(), known.end(), model) == known.end())
      throw unknown_name("model of this experiment", "models", model, known);
  if (!options.rows.empty() && !experiment.has_rows)
    throw ArgumentError("rows", fmt::format("{} has no rows to choose from", experiment.name),
                        "leave it out");
  if (!options.lengths.empty() && !experiment.has_lengths)
    throw ArgumentError("lengths", fmt::format("{} has no lengths to choose", experiment.name),
                        "leave it out");
}

std::string made_by(const ResultJson& results, const std::vector<ResultJson>& runs) {
  std::set<std::string> commits, machines;
  for (const ResultJson& run : runs) {
    commits.insert(run.value("commit", "unknown"));
    machines.insert(!run.contains("machine") || run["machine"].is_null() ? "a machine that was not noted"
                                                                         : run["machine"].get<std::string>());
  }
  return fmt::format("Made by `{}`; the runs are of commit {}, on {}. All settings and runs: {}{}.json.\n",
                     results.at("provenance")["command"].get<std::string>(), fmt::join(commits, ", "),
                     fmt::join(machines, ", "), results.at("experiment").get<std::string>(),
                     results.at("quick").get<bool>() ? "-quick" : "");
}

std::string file_stem(const std::string& name, bool quick) {
  return name + (quick ? "-quick" : "");
}

std::string index_page(const std::vector<IndexEntry>& entries, bool quick) {
  std::string out =
      quick ? "# The paper's experiments in short\n\nWhat do all experiments give with fewer lengths, seeds, "
              "splits and epochs than the paper? They show that everything runs; the figures to quote are "
              "those "
              "of the [full runs](index.md).\n\n"
            : "# The paper's experiments, run again\n\nWhich figures and statements of the EIGNN paper come "
              "out "
              "when its equation is solved exactly? Each page below has ours beside the paper's, the "
              "statements "
              "that fail too; the [quick runs](index-quick.md) are apart.\n\n";
  for (const IndexEntry& entry : entries) {
    out += entry.page.empty() ? fmt::format("- {}: not run yet.\n", entry.title)
                              : fmt::format("- [{}]({}): {}.\n", entry.title, entry.page, entry.outcome);
  }
  return out;
}

}  // namespace eignn
