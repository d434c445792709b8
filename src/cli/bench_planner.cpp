#include <fmt/format.h>

#include <algorithm>

#include "cli/bench.h"
#include "eignn/error.h"
#include "paper/planner_regret.h"
#include "report/table.h"
#include "run/provenance.h"

#include "cli/flags.h"
#include "eignn/train.h"

namespace eignn::cli {

namespace {

Json regret_json(const PlannerRegret& r) {
  Json solvers = Json::array();
  for (const SolverTiming& t : r.timings) {
    const auto price = std::find_if(r.plan.prices.begin(), r.plan.prices.end(),
                                    [&](const Price& p) { return p.solver == t.solver; });
    Json one = {{"solver", t.solver},
                {"path", price->path},
                {"estimated_preparation_s", price->preparation_s},
                {"estimated_epoch_ms", price->epoch_ms}};
    if (t.left_out.empty())
      one.update({{"preparation_s", t.preparation_s}, {"epoch_ms", t.epoch_ms}, {"epochs", t.epochs}});
    else
      one["left_out"] = t.left_out;
    solvers.push_back(one);
  }
  return {{"problem", r.problem},
          {"nodes", r.nodes},
          {"arcs", r.arcs},
          {"width", r.width},
          {"chosen", r.plan.solver},
          {"reason", r.plan.reason},
          {"planning_s", r.planning_s},
          {"fastest", r.fastest},
          {"regret", r.regret},
          {"epoch_regret", r.epoch_regret},
          {"solvers", solvers}};
}

// The milliseconds of an epoch with this solver, or "-" where it was not timed.
std::string cell(const Json& problem, const std::string& solver) {
  for (const Json& one : problem["solvers"])
    if (one["solver"] == solver)
      return one.contains("left_out") ? "-" : fmt::format("{:.3g}", one["epoch_ms"].get<double>());
  return "-";
}

void print_table(const Json& json) {
  const std::vector<std::string> solvers = {"spectral", "krylov", "deflated", "sparse", "direct", "picard"};
  std::vector<std::vector<std::string>> rows;
  for (const Json& p : json["problems"]) {
    rows.push_back({p["problem"].get<std::string>(), p["chosen"].get<std::string>(),
                    p["fastest"].get<std::string>(), fmt::format("{:.2f}", p["regret"].get<double>()),
                    fmt::format("{:.2g}", p["planning_s"].get<double>())});
    for (const Json& one : p["solvers"])
      if (one["solver"] == p["chosen"])
        rows.back().push_back(
            one.contains("preparation_s") ? fmt::format("{:.2g}", one["preparation_s"].get<double>()) : "-");
    for (const auto& solver : solvers) rows.back().push_back(cell(p, solver));
  }
  std::vector<std::string> header = {"", "auto", "fastest", "regret", "planned", "prepared"};
  header.insert(header.end(), solvers.begin(), solvers.end());
  fmt::print(
      "regret: a run of {} epochs with the chosen solver over one with the fastest; s to plan and to "
      "prepare;\n"
      "an epoch (step and evaluation) of each solver in ms; {} threads, {}, {}\n{}largest regret {:.2f} "
      "({})\n",
      json["epochs"].get<int64_t>(), json["threads"].get<int64_t>(), json["dtype"].get<std::string>(),
      json["machine"].get<std::string>(), format_table(header, rows), json["largest_regret"].get<double>(),
      json["largest_regret_at"].get<std::string>());
}

}  // namespace

void run_bench_planner(const BenchPlannerFlags& flags) {
  Json json = bench_provenance(flags.config);
  json["limit_s"] = flags.limit_s;
  json["epochs"] = 0;
  json["largest_regret"] = 0.0;
  json["largest_regret_at"] = "";
  json["problems"] = Json::array();
  for (const PlannerProblem& problem : planner_problems(flags.config, flags.quick)) {
    const bool wanted =
        flags.only.empty() || std::any_of(flags.only.begin(), flags.only.end(), [&](const std::string& part) {
          return problem.name.find(part) != std::string::npos;
        });
    if (!wanted) continue;
    note(problem.name + " …");
    PlannerRegret regret;
    try {
      regret = measure_planner(problem, flags.limit_s);
    } catch (const Error& error) {  // such as a missing data set
      warning(fmt::format("{} is left out: {}", problem.name, error.what()));
      continue;
    }
    json["problems"].push_back(regret_json(regret));
    json["epochs"] = regret.epochs;
    if (!(regret.regret > json["largest_regret"].get<double>())) continue;
    json["largest_regret"] = regret.regret;
    json["largest_regret_at"] = problem.name;
  }
  flags.json ? print_json(json) : print_table(json);
}

}  // namespace eignn::cli
