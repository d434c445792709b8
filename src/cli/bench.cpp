#include "cli/bench.h"

#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "eignn/error.h"
#include "eignn/execution.h"
#include "paper/floor.h"
#include "paper/side_by_side.h"
#include "report/table.h"
#include "run/provenance.h"
#include "run/recipes.h"
#include "train/config_toml.h"
#include "train/torch_settings.h"

namespace eignn::cli {

namespace {

TrainConfig published_side(TrainConfig config) {
  config.eignn().solver = "published";
  return config;
}

Json cost_json(const TrainingCost& cost, const char* score) {
  return {{"solver", cost.solver},
          {"epoch_ms", cost.epoch_ms},
          {"step_ms", cost.step_ms},
          {"preprocess_s", cost.preprocess_s},
          {"peak_memory_bytes", nullptr},
          {score, cost.test_score},
          {"accuracy_epochs", cost.score_epochs}};
}

Json losses_json(const LossComparison& losses, const AgreementCheck& check) {
  return {{"dtype", "float64"},
          {"epochs", check.epochs},
          {"ours", losses.ours},
          {"published", losses.published},
          {"differences", losses.differences()},
          {"largest_difference", losses.largest_difference()}};
}

// The smallest sizes at which rates are measured, so that the floor uses the best rates of the machine.
constexpr int64_t smallest_product = 1024;
constexpr double smallest_stream = 1e6, largest_stream = 768e6;  // bytes

void add_floor(Json& json, const TrainConfig& config, const Dataset& dataset) {
  const EpochShape shape = epoch_shape(config, dataset, json["ours"]["solver"].get<std::string>());
  const auto step = step_work(shape);
  auto epoch = step;
  for (const Work& part : evaluation_work(shape)) epoch.push_back(part);
  const Work step_sum = total(step), epoch_sum = total(epoch);
  const Execution execution(config);  // the threads that were timed
  const MachineRates rates = measure_rates(torch_dtype(config.dtype), torch_device(config.device),
                                           std::max(smallest_product, shape.features),
                                           std::clamp(step_sum.bytes, smallest_stream, largest_stream));
  Json parts = Json::array();
  for (const Work& part : epoch)
    parts.push_back({{"what", part.what},
                     {"flops", part.flops},
                     {"bytes", part.bytes},
                     {"ms", 1e3 * floor_seconds({part}, rates)}});
  const double step_ms = 1e3 * floor_seconds(step, rates), epoch_ms = 1e3 * floor_seconds(epoch, rates);
  json["rates"] = {{"product_gflops", rates.flops_per_s / 1e9}, {"stream_gb_s", rates.bytes_per_s / 1e9}};
  json["floor"] = {{"step_ms", step_ms},   {"step_flops", step_sum.flops},   {"step_bytes", step_sum.bytes},
                   {"epoch_ms", epoch_ms}, {"epoch_flops", epoch_sum.flops}, {"epoch_bytes", epoch_sum.bytes},
                   {"parts", parts}};
  json["step_over_floor"] = json["ours"]["step_ms"].get<double>() / step_ms;
  json["epoch_over_floor"] = json["ours"]["epoch_ms"].get<double>() / epoch_ms;
}

// Measured in a process of its own, since the peak of a process never decreases.
Json peak_memory(const TrainConfig& config) {
  return parse_child(run_child({own_path(), "bench", "peak-memory"}, to_toml(config)),
                     fmt::format("the memory of --solver {}", config.eignn().solver))["peak_memory_bytes"];
}

std::string number(const Json& value, const char* format, double unit = 1) {
  return value.is_null() ? "-" : fmt::format(fmt::runtime(format), value.get<double>() / unit);
}

// About three significant digits.
std::string short_number(const Json& value) {
  const double v = value.get<double>();
  return fmt::format("{:.{}f}", v, v < 1 ? 3 : v < 10 ? 2 : v < 100 ? 1 : 0);
}

}  // namespace

Json bench_provenance(const TrainConfig& c) {
  return {{"threads", Execution(c).threads()},
          {"dtype", name(c.dtype)},
          {"device", name(c.device)},
          {"machine", (c.device == DeviceKind::cuda ? gpu_name() + ", " : "") + machine_name()},
          {"commit", built_commit()},
          {"seed", c.seed}};
}

Json compare_with_published(const BenchFlags& flags, const TrainConfig& config, const Dataset& dataset,
                            const AgreementCheck& check, const char* score, int64_t score_epochs) {
  const TrainConfig theirs = published_side(config);
  const SideBySide sides = measure_side_by_side(config, theirs, dataset, {flags.blocks, score_epochs});
  TrainConfig timed = check.config;
  timed.eignn().solver = sides.ours.solver;  // the planner might choose another on a smaller graph
  const LossComparison losses = compare_losses(timed, published_side(timed), check.dataset, check.epochs);
  Json json = {{"ours", cost_json(sides.ours, score)}, {"published", cost_json(sides.published, score)}};
  const auto ratio = [&](const char* key) {
    return json["published"][key].get<double>() / json["ours"][key].get<double>();
  };
  json["epoch_ratio"] = ratio("epoch_ms");
  json["step_ratio"] = ratio("step_ms");
  json["preprocess_ratio"] = ratio("preprocess_s");
  json["blocks"] = sides.blocks;
  add_floor(json, config, dataset);
  json["losses"] = losses_json(losses, check);
  json["losses_agree"] = losses.agree();
  json["transcription"] = nullptr;  // cli/transcription.h
  for (const int64_t runs : flags.batch_runs) {
    BatchCost cost;
    try {
      cost = measure_batch(config, dataset, runs);
    } catch (const ArgumentError& refusal) {  // what is measured already is not lost for that
      note(refusal.what());
      break;
    }
    const LossComparison batch_losses = compare_batch_losses(check.config, check.dataset, runs, check.epochs);
    json["batched"].push_back({{"runs", runs},
                               {"epoch_ms_per_run", cost.epoch_ms},
                               {"preprocess_s", cost.preprocess_s},
                               {"epoch_ratio", sides.published.epoch_ms / cost.epoch_ms},
                               {"largest_difference", batch_losses.largest_difference()}});
    if (batch_losses.agree()) continue;
    json["losses_agree"] = false;
    json["losses"]["largest_difference"] = batch_losses.largest_difference();
  }
  if (!flags.no_memory) {
    json["ours"]["peak_memory_bytes"] = peak_memory(config);
    json["published"]["peak_memory_bytes"] = peak_memory(theirs);
  }
  return json;
}

void print_comparisons(const Json& provenance, const std::vector<std::pair<std::string, Json>>& rows,
                       bool accuracies) {
  std::vector<std::vector<std::string>> times, rest;
  for (const auto& [name, j] : rows) {
    const Json &ours = j["ours"], &theirs = j["published"];
    times.push_back({name, ours["solver"].get<std::string>(), short_number(ours["step_ms"]),
                     short_number(theirs["step_ms"]), number(j["step_ratio"], "{:.1f}x"),
                     short_number(ours["epoch_ms"]), short_number(theirs["epoch_ms"]),
                     number(j["epoch_ratio"], "{:.1f}x"), short_number(j["floor"]["step_ms"]),
                     number(j["step_over_floor"], "{:.1f}x"), number(j["rates"]["product_gflops"], "{:.0f}"),
                     number(j["rates"]["stream_gb_s"], "{:.0f}")});
    rest.push_back({name, number(ours["preprocess_s"], "{:.4f}"), number(theirs["preprocess_s"], "{:.4f}"),
                    number(j["preprocess_ratio"], "{:.1f}x"),
                    number(ours["peak_memory_bytes"], "{:.0f}", 1e6),
                    number(theirs["peak_memory_bytes"], "{:.0f}", 1e6),
                    number(j["losses"]["largest_difference"], "{:.0e}")});
    if (accuracies)
      for (const Json* side : {&ours, &theirs})
        rest.back().push_back(percent((*side)["test_accuracy"].get<double>()));
  }
  std::vector<std::string> rest_header = {"",   "preprocessing", "published",       "ratio",
                                          "MB", "published",     "losses differ by"};
  if (accuracies) rest_header.insert(rest_header.end(), {"accuracy", "published"});
  fmt::print(
      "Times in ms, medians of alternating blocks; an epoch is a training step and an evaluation. {} "
      "threads, "
      "{}, {}\n{}\n"
      "Preprocessing in s, peak memory in MB, the largest relative difference of the losses in float64\n{}",
      provenance["threads"].get<int64_t>(), provenance["dtype"].get<std::string>(),
      provenance["machine"].get<std::string>(),
      format_table({"", "solver", "step", "published", "ratio", "epoch", "published", "ratio", "floor",
                    "step/floor", "GFLOP/s", "GB/s"},
                   times),
      format_table(rest_header, rest));
  std::vector<std::vector<std::string>> batches;
  for (const auto& [name, j] : rows)
    for (const Json& batch : j.value("batched", Json::array()))
      batches.push_back({name, batch["runs"].dump(), short_number(batch["epoch_ms_per_run"]),
                         number(batch["epoch_ratio"], "{:.1f}x"), number(batch["preprocess_s"], "{:.4f}"),
                         number(batch["largest_difference"], "{:.0e}")});
  if (!batches.empty())
    fmt::print(
        "\nRuns trained as one batch (train --batch-runs): an epoch of one of them in ms, beside "
        "published's\n{}",
        format_table({"", "runs", "epoch", "ratio", "preprocessing", "losses differ by"}, batches));
}

void require_agreement(const std::vector<std::pair<std::string, Json>>& rows) {
  for (const auto& [name, j] : rows)
    if (!j["losses_agree"].get<bool>())
      throw ConvergenceError(
          fmt::format("the losses of ours and of published differ by {} where 1e-6 is allowed",
                      number(j["losses"]["largest_difference"], "{:.1e}")),
          name, "the times above compare two different computations, see \"losses\" in --json");
}

Json parse_child(const ChildResult& result, const std::string& what) {
  if (result.exit_code != 0)
    throw ResourceError(fmt::format("{} ended with exit code {}", what, result.exit_code), "bench",
                        "see the message above");
  try {
    return Json::parse(result.output);
  } catch (const Json::exception&) {
    throw ResourceError(fmt::format("{} printed no JSON", what), "bench",
                        "run it again, and see the message above if there is one");
  }
}

void run_bench_peak_memory() {
  TrainConfig config;
  apply_toml(config, {std::istreambuf_iterator<char>(std::cin), {}}, {}, "standard input");
  validate(config);
  print_json({{"peak_memory_bytes", peak_memory_of_training(config)}});
}

}  // namespace eignn::cli
