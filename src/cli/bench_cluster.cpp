// The parts of training on several processes, and what a model of them predicts.
#include <fmt/format.h>

#include <memory>

#include "cli/bench.h"
#include "cli/cluster.h"
#include "cluster/launched.h"
#include "cluster/one_process.h"
#include "eignn/execution.h"
#include "paper/cluster_cost.h"
#include "report/table.h"
#include "train/spread.h"
#include "train/torch_settings.h"

namespace eignn::cli {

namespace {

Json estimate_json(const ClusterEstimate& e) {
  return {{"preparation_s", e.preparation},
          {"epoch_s", e.epoch},
          {"bytes", e.bytes},
          {"fetched_bytes", e.fetched_bytes}};
}

Json parts_json(const ClusterParts& p) {
  return {{"entry_s", p.entry},
          {"row_s", p.row},
          {"fetch_s", p.fetch},
          {"fetched_byte_s", p.fetched_byte},
          {"sum_s", p.sum},
          {"summed_byte_s", p.summed_byte},
          {"multiply_add_s", p.multiply_add},
          {"step_s", p.step}};
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.3g}", 1e-9 * bytes);
}

void print_parts(const ClusterParts& p) {
  fmt::print(
      "{}",
      format_table(
          {"part", "measured"},
          {{"an entry of S, a column", fmt::format("{:.3g} ns", 1e9 * p.entry)},
           {"an own row, a column", fmt::format("{:.3g} ns", 1e9 * p.row)},
           {"a fetch", fmt::format("{:.3g} us", 1e6 * p.fetch)},
           {"fetched bytes", p.fetched_byte > 0 ? fmt::format("{:.3g} GB/s", 1e-9 / p.fetched_byte) : "-"},
           {"a sum", fmt::format("{:.3g} us", 1e6 * p.sum)},
           {"summed bytes", p.summed_byte > 0 ? fmt::format("{:.3g} GB/s", 1e-9 / p.summed_byte) : "-"},
           {"dense products", fmt::format("{:.3g} GFLOP/s", 2e-9 / p.multiply_add)},
           {"a step with one labelled node", fmt::format("{:.3g} ms", 1e3 * p.step)}}));
}

std::vector<std::string> cost_row(const std::string& name, double preparation, double epoch, double bytes) {
  return {name, fmt::format("{:.3g}", preparation), fmt::format("{:.3g}", 1e3 * epoch), gigabytes(bytes)};
}

void measure_cluster(const BenchClusterFlags& flags, const Ranks& ranks, int64_t threads) {
  TrainConfig config = flags.config;
  if (config.threads == 0) config.threads = threads;
  const Execution execution(config);
  const torch::Dtype dtype = torch_dtype(config.dtype);
  const Grid grid = flags.grid_rows > 0 ? Grid{flags.grid_rows, flags.grid_columns} : Grid{ranks.size(), 1};
  const ClusterParts parts = measure_parts(ranks, flags.features, flags.classes, dtype, config.seed);
  ClusterProblem problem;
  const ClusterMeasurement measured = measure_cluster(ranks, grid, flags.nodes, flags.edges, flags.features,
                                                      flags.classes, dtype, config.seed, problem);
  const ClusterEstimate expected = estimate(parts, problem, grid);
  if (!ranks.is_first()) return;
  Json json = {{"processes", ranks.size()},
               {"grid", fmt::format("{}x{}", grid.rows, grid.columns)},
               {"threads", execution.threads()},
               {"parts", parts_json(parts)},
               {"measured",
                {{"nodes", flags.nodes},
                 {"entries", problem.entries},
                 {"terms", problem.terms},
                 {"halo", problem.halo},
                 {"preparation_s", measured.preparation},
                 {"epoch_s", measured.epoch},
                 {"bytes", measured.bytes}}},
               {"expected", estimate_json(expected)},
               {"predictions", Json::array()}};
  std::vector<std::vector<std::string>> rows = {
      cost_row("measured", measured.preparation, measured.epoch, measured.bytes),
      cost_row("expected", expected.preparation, expected.epoch, expected.bytes)};
  std::vector<std::vector<std::string>> predicted;
  for (const auto& asked : flags.predictions) {
    ClusterProblem other;
    other.nodes = asked.nodes;
    other.entries = 2 * asked.edges + asked.nodes;
    other.features = asked.features;
    other.classes = asked.classes;
    other.trained = asked.labelled;
    other.validated = asked.labelled / 10;
    other.bytes_of_number = problem.bytes_of_number;
    for (const Grid way : {Grid{asked.processes, 1}, Grid{1, asked.processes}}) {
      // The parts are measured in other widths; a step of m×m goes with m³.
      ClusterParts scaled = parts;
      const double wider = asked.features / static_cast<double>(flags.features);
      scaled.step *= wider * wider * wider;
      const ClusterEstimate e = estimate(scaled, other, way);
      predicted.push_back({asked.text, fmt::format("{}x{}", way.rows, way.columns),
                           fmt::format("{:.3g}", e.preparation), fmt::format("{:.3g}", 1e3 * e.epoch),
                           gigabytes(e.bytes), gigabytes(e.fetched_bytes)});
      Json one = estimate_json(e);
      one["problem"] = asked.text;
      one["grid"] = predicted.back()[1];
      json["predictions"].push_back(one);
    }
  }
  if (flags.json) return print_json(json);
  print_parts(parts);
  fmt::print("\n{} nodes, {} edges, {} features on {} process{}, grid {}x{}, {} thread{} each\n{}",
             flags.nodes, flags.edges, flags.features, ranks.size(), ranks.size() == 1 ? "" : "es", grid.rows,
             grid.columns, execution.threads(), execution.threads() == 1 ? "" : "s",
             format_table({"", "preparation, s", "epoch, ms", "GB a process"}, rows));
  if (!predicted.empty()) {
    fmt::print("\n{}", format_table({"nodes,edges,features,classes,labelled,processes", "grid",
                                     "preparation, s", "epoch, ms", "GB a process", "GB fetched"},
                                    predicted));
  }
}

}  // namespace

void run_bench_cluster(const BenchClusterFlags& flags) {
  if (Launched::from_environment().processes == 1)
    return measure_cluster(flags, Ranks(std::make_shared<OneProcess>()), 0);
  work_together([&](const SpreadOptions& all) { measure_cluster(flags, all.ranks, all.threads); },
                [] { return std::string("give the same command again"); });
}

}  // namespace eignn::cli
