#include <fmt/format.h>

#include <utility>

#include "cli/flags.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/train.h"
#include "report/columns_table.h"
#include "report/inspection.h"
#include "report/spread_inspection.h"
#include "report/table.h"
#include "run/own_rule.h"
#include "train/assemble.h"

namespace eignn::cli {

namespace {

// A value on one short line: equal elements are shown once, long lists are truncated.
std::string short_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array() || value.empty()) return value.dump();
  const bool equal = std::all_of(value.begin(), value.end(), [&](const Json& v) { return v == value[0]; });
  if (equal && value.size() > 1) return fmt::format("{} x {}", value.size(), value[0].dump());
  constexpr size_t shown = 8;
  if (value.size() <= shown && value.dump().size() < 100) return value.dump();
  const size_t first = value[0].is_object() ? 1 : shown;
  const Json head(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(std::min(first, value.size())));
  return fmt::format("{} … ({} in all)", head.dump(), value.size());
}

void print_plan(const Json& plan) {
  fmt::print("solver: {} ({})\n", plan["solver"].get<std::string>(), plan["reason"].get<std::string>());
  std::vector<std::vector<std::string>> rows;
  for (const Json& price : plan["prices"]) {
    const std::string path = price["path"].get<std::string>();
    const bool refused = !price["refused"].is_null();
    rows.push_back({price["solver"].get<std::string>() + (path.empty() ? "" : ", " + path),
                    refused ? "-" : fmt::format("{:.2g}", price["preparation_s"].get<double>()),
                    refused ? "-" : fmt::format("{:.2g}", price["epoch_ms"].get<double>()),
                    refused ? price["refused"].get<std::string>() : ""});
  }
  if (!rows.empty())
    fmt::print("{}", format_table({"estimates", "preparation, s", "epoch, ms", "not taken because"}, rows));
}

void print_truncation(const Json& t) {
  fmt::print("truncated to {} eigenpairs of S: |λ| of the next is {:.3g}", t["eigenpairs"].get<int64_t>(),
             t["next_eigenvalue"].get<double>());
  if (!t["gain"].is_null())
    fmt::print("; whatever F, ‖Z - Z exact‖ is at most {:.3g} times what of X lies outside them",
               t["gain"].get<double>());
  if (!t["left_out"].is_null()) fmt::print(", {:.3g} % of ‖X‖", 100 * t["left_out"].get<double>());
  fmt::print("\n");
}

// Prints a table with each nested value on one line.
void print_for_people(const Json& json) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : json.items()) {
    if (key == "warnings" || key == "planner" || key == "columns" || key == "reduction" ||
        key == "truncation" || value.is_null())
      continue;
    rows.push_back({key, short_text(value)});
  }
  fmt::print("{}", format_table({"", ""}, rows).substr(1));
  if (json.contains("truncation")) print_truncation(json["truncation"]);
  if (json.contains("planner")) print_plan(json["planner"]);
  if (json.contains("warnings"))
    for (const auto& text : json["warnings"]) fmt::print("warning: {}\n", text.get<std::string>());
}

// The data set as a training without more flags would take it: data without a recipe have a table that suits
// them (run/own_rule.h), and the plan is for that one.
std::pair<Inspection, OwnChoice> inspect_as_trained(const InspectFlags& flags) {
  if (flags.recipe_used != "eignn/own") return {inspect_dataset(flags.config), {}};
  TrainConfig config = flags.config;
  Dataset raw = load_raw_dataset(config);
  const OwnChoice choice = apply_own_rule(config, flags.settings.names(), raw);
  validate(config);
  return {inspect(prepared(std::move(raw), config), config), choice};
}

Json spread_json(const SpreadInspection& spread) {
  Json rows = Json::array();
  for (const auto& row : spread.rows) {
    rows.push_back({{"grid", fmt::format("{}x{}", row.grid.rows, row.grid.columns)},
                    {"training_bytes", row.bytes.training()},
                    {"states_bytes", row.bytes.states},
                    {"reading_bytes", row.bytes.reading},
                    {"fetched_rows", row.most_fetched},
                    {"fetched_share", row.fetched_share}});
  }
  return {{"dataset", spread.dataset}, {"processes", spread.processes}, {"nodes", spread.nodes},
          {"entries", spread.entries}, {"features", spread.features},   {"shards", spread.in_shards},
          {"grids", std::move(rows)}};
}

void print_spread(const SpreadInspection& spread) {
  const auto gigabytes = [](double bytes) { return fmt::format("{:.3g}", 1e-9 * bytes); };
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : spread.rows) {
    rows.push_back({fmt::format("{}x{}", row.grid.rows, row.grid.columns), gigabytes(row.bytes.training()),
                    gigabytes(row.bytes.states), gigabytes(row.bytes.reading),
                    std::to_string(row.most_fetched), fmt::format("{:.3g}", row.fetched_share)});
  }
  fmt::print("{} on {} process{}: {} nodes, {} entries of S, {} features{}\n{}", spread.dataset,
             spread.processes, spread.processes == 1 ? "" : "es", spread.nodes, spread.entries,
             spread.features, spread.in_shards ? ", in shards" : "",
             format_table({"grid", "GB a process", "and Z at all nodes", "while reading", "rows fetched",
                           "of all, per node"},
                          rows));
}

}  // namespace

void run_inspect(const InspectFlags& flags) {
  const Execution execution(flags.config);
  if (flags.ranks > 0) {
    const SpreadInspection spread = inspect_spread(flags.config, flags.ranks);
    return flags.json ? print_json(spread_json(spread)) : print_spread(spread);
  }
  if (flags.graph.empty() && flags.checkpoint.empty()) {
    const auto [inspection, choice] = inspect_as_trained(flags);
    Json json = inspection_json(inspection);
    if (!flags.recipe_used.empty())
      json["recipe"] = choice.table.empty() ? flags.recipe_used : "eignn/" + choice.table;
    if (!choice.why.empty()) json["why_recipe"] = choice.why;
    if (flags.json) return print_json(json);
    if (!inspection.columns.empty()) fmt::print("{}\n", columns_table(inspection.columns));
    print_for_people(json);
    if (inspection.reduction) fmt::print("{}\n", in_words(*inspection.reduction));
    return;
  }
  const Json json = !flags.graph.empty()
                        ? inspection_json(inspect_graph_file(flags.graph, flags.graph_format, flags.config))
                        : inspect_checkpoint(flags.checkpoint);
  flags.json ? print_json(json) : print_for_people(json);
}

}  // namespace eignn::cli
