#include "run/disk_estimate.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>

#include "data/disk_space.h"
#include "eignn/error.h"
#include "run/checkpoint.h"
#include "train/assemble.h"

namespace eignn {

namespace {

// The mean length of some of the names; `otherwise` where there are none.
double mean_length(const std::vector<std::string>& names, double otherwise) {
  constexpr size_t enough = 1000;
  if (names.empty()) return otherwise;
  const size_t count = std::min(names.size(), enough);
  double sum = 0;
  for (size_t k = 0; k < count; ++k) sum += static_cast<double>(names[k].size());
  return sum / static_cast<double>(count);
}

// What the checkpoint keeps of the data (run/training_record.h).
double bytes_of_record(const Dataset& data) {
  constexpr double sample = 2 * 256 * 16, column = 120;
  const auto nodes = static_cast<double>(data.nodes());
  const bool fitted = data.transform ? data.transform->is_fitted() : !data.columns.empty();
  return (data.node_names.empty() ? nodes / 4 : 8 * nodes) + sample +
         (fitted ? column * static_cast<double>(data.feature_count()) : 0) +
         static_cast<double>(data.classes) * (4 + mean_length(data.class_names, 0));
}

// prediction_sets.csv, where every class may be in a set, or an interval for each number.
double bytes_of_sets(const Dataset& data) {
  constexpr double number = 13;
  const auto classes = static_cast<double>(data.classes);
  return bytes_of_node_rows(data, 0) +
         static_cast<double>(data.nodes()) * classes *
             (data.is_regression() ? 2 * number : 1 + mean_length(data.class_names, 3));
}

// Data that no run can learn from are refused by the run itself.
int64_t features_of_model(const Dataset& raw, const TrainConfig& config) {
  try {
    return prepared_feature_count(raw, config);
  } catch (const DataError&) {
    return raw.feature_count();
  }
}

bool has_ended(const Job& job) {
  std::error_code unreadable;
  return std::filesystem::exists(job.folder + "/summary.json", unreadable) ||
         std::filesystem::exists(job.folder + "/failure.json", unreadable);
}

}  // namespace

double bytes_of_node_rows(const Dataset& data, double numbers) {
  constexpr double row = 20, number = 9;
  return static_cast<double>(data.nodes()) *
         (row + mean_length(data.node_names, 6) + 2 * mean_length(data.class_names, 0) + number * numbers);
}

RunBytes bytes_of_run(double weights, const Dataset& data, const TrainConfig& config) {
  constexpr double settings_and_summary = 8000, line = 150, header = 6000, times = 2 * sizeof(double);
  const auto epochs = static_cast<double>(config.epochs);
  const bool grouped = config.partition > 0 || config.coarsen < 1;
  const double record = bytes_of_record(data) + (grouped ? 4 * static_cast<double>(data.nodes()) : 0);
  RunBytes bytes;
  bytes.small = settings_and_summary + line * epochs;
  bytes.model = weights + record + header +
                bytes_of_node_rows(data, static_cast<double>(data.classes) * (data.is_regression() ? 3 : 1));
  if (config.conformal > 0) bytes.model += bytes_of_sets(data);
  // The weights now and at best, and Adam's two moments.
  bytes.on_way = 2 * (4 * weights + record + header + times * epochs);
  return bytes;
}

double bytes_of(const std::map<std::string, torch::Tensor>& tensors) {
  double sum = 0;
  for (const auto& [name, tensor] : tensors) sum += static_cast<double>(tensor.nbytes());
  return sum;
}

double bytes_of_weights(TrainConfig config, int64_t features, int64_t classes) {
  if (config.is_eignn()) config.eignn().solver = "picard";  // which prepares nothing
  config.device = DeviceKind::cpu;
  Dataset two;
  two.graph = Graph::from_arcs(2, {0, 1}, {1, 0});
  two.features = torch::ones({2, features}, torch::kFloat64);
  two.classes = classes;
  return bytes_of(state_of(*make_model(two, config, nullptr)));
}

void require_space_for_runs(const std::string& folder, const std::vector<Job>& jobs, const Dataset& raw,
                            const ManyRuns& how, int64_t more) {
  if (folder.empty() || jobs.empty()) return;
  const double weights =
      bytes_of_weights(jobs[0].config, features_of_model(raw, jobs[0].config), raw.classes);
  double stays = 0, most = 0, runs = 0;
  const auto add = [&](const TrainConfig& config, double count) {
    const RunBytes one = bytes_of_run(weights, raw, config);
    stays += count * (one.small + (how.keep_models ? one.model : 0));
    most = std::max(most, (how.keep_models ? 0 : one.model) + (how.resumable ? one.on_way : 0));
    runs += count;
  };
  for (const Job& job : jobs)
    if (!has_ended(job)) add(job.config, 1);
  if (more > 0) add(jobs[0].config, static_cast<double>(more));
  if (runs == 0) return;
  require_space(folder, stays + most * std::min(static_cast<double>(how.at_once), runs),
                runs == 1 ? "the run" : fmt::format("the {:.0f} runs", runs));
}

}  // namespace eignn
