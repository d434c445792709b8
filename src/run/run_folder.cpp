#include "run/run_folder.h"

#include <fmt/format.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/csv.h"
#include "eignn/error.h"
#include "run/predictions_csv.h"
#include "run/result_json.h"
#include "train/calibration.h"
#include "train/config_toml.h"

namespace eignn {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

namespace {

bool is_finished(const std::string& path) {
  return std::filesystem::exists(path + "/summary.json");
}

// A process may have been killed after it wrote its summary and before it removed its state.
void remove_state_of_finished(const std::string& path) {
  std::remove((path + "/resume.safetensors").c_str());
}

}  // namespace

RunFolder::RunFolder(std::string path) : path_(std::move(path)), lock_(path_) {}

std::optional<RunFolder> RunFolder::lock(const std::string& path) {
  try {
    return RunFolder(path);
  } catch (const ResourceError&) {  // perhaps a finished run in a folder that may be read alone
    if (!is_finished(path)) throw;
    return {};
  }
}

RunFolder RunFolder::create(const std::string& path, const TrainConfig& config) {
  make_folders(path);
  auto locked = lock(path);
  const auto has = [&](const char* file) { return std::filesystem::exists(path + "/" + file); };
  if (is_finished(path)) {
    remove_state_of_finished(path);
    throw DataError(path + "/summary.json", "", "the folder holds a run already", "give another folder");
  }
  RunFolder folder = std::move(*locked);
  if (is_interrupted_run(path))
    throw DataError(path, "", "the folder holds a run that is not finished",
                    "resume it, or give another folder");
  if (has("split-0") || has("trials"))
    throw DataError(path, "", "the folder holds several runs", "give another folder");
  // Left by a run with these very settings that died while it wrote its last files.
  const std::string settings = sealed_toml(config);
  const bool begun = has("config.toml") && read_whole_file(path + "/config.toml") == settings;
  if (has("model.safetensors") && !begun)
    throw DataError(path + "/model.safetensors", "", "the folder holds a model already",
                    "give another folder");
  write_file_atomically(path + "/config.toml", settings);
  write_file_atomically(path + "/metrics.jsonl", "");
  folder.open_metrics();
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  if (!std::filesystem::is_directory(path))
    throw DataError(path, "", "there is no such run folder", "start a run there first");
  auto folder = lock(path);
  if (is_finished(path)) {
    remove_state_of_finished(path);
    throw DataError(path, "", "this run is complete", "start a new run in another folder");
  }
  if (is_interrupted_run(path)) return std::move(*folder);
  throw DataError(path, "", "nothing was saved to resume from",
                  "run the command of this folder again: it begins anew");
}

void RunFolder::open_metrics() {
  const std::string path = path_ + "/metrics.jsonl";
  metrics_.reset(std::fopen(path.c_str(), "abe"));
  if (!metrics_) refuse_file("write", path, errno);
}

void RunFolder::append_epoch(const EpochReport& report) {
  const std::string line =
      Json{{"epoch", report.epoch},       {"train_loss", report.train_loss},
           {"val_loss", report.val_loss}, {std::string("val_") + report.metric, report.val_score},
           {"kept", report.kept},         {"seconds", report.seconds}}
          .dump() +
      "\n";
  if (std::fwrite(line.data(), 1, line.size(), metrics_.get()) != line.size() ||
      std::fflush(metrics_.get()) != 0)
    refuse_file("write", path_ + "/metrics.jsonl", errno);
  lines_.add(line.data(), line.size());
}

std::string RunFolder::flush_metrics() {
  if (fsync(fileno(metrics_.get())) != 0) refuse_file("write", path_ + "/metrics.jsonl", errno);
  return lines_.hex();
}

void RunFolder::truncate_metrics(int64_t epoch, const std::string& digest) {
  const std::string path = path_ + "/metrics.jsonl";
  std::ifstream file(path);
  std::string kept, line;
  int64_t lines = 0;
  for (; lines < epoch && std::getline(file, line); ++lines) {
    line += "\n";
    lines_.add(line.data(), line.size());
    kept += line;
  }
  if (!digest.empty() && (lines < epoch || lines_.hex() != digest))
    throw DataError(path, "", "the lines of the epochs so far are missing or were changed",
                    std::string("put the file back as it was, or ") + begin_anew);
  write_file_atomically(path, kept);
  open_metrics();
}

void RunFolder::write_summary(const RunResult& summary) const {
  write_file_atomically(path_ + "/summary.json", sealed(result_json(summary)).dump(2) + "\n");
}

void RunFolder::finish(const RunResult& summary) const {
  write_summary(summary);
  flush_folder(path_);  // whoever finds no state to resume from must find the summary, also after a power cut
  std::remove(resume_path().c_str());
}

bool is_interrupted_run(const std::string& folder) {
  return !folder.empty() && std::filesystem::exists(folder + "/resume.safetensors") &&
         !std::filesystem::exists(folder + "/summary.json");
}

void RunFolder::write_settings(const TrainConfig& config) const {
  write_file_atomically(path_ + "/config.toml", sealed_toml(config));
}

void RunFolder::write_predictions(const Dataset& dataset, const Split& split,
                                  const Predictions& predictions) const {
  write_predictions_csv(predictions_path(), dataset, split, predictions, dataset.class_names);
}

void write_prediction_sets(const std::string& path, const Dataset& dataset, const torch::Tensor& scores,
                           const ConformalResult& conformal, double temperature, const TargetScale& targets) {
  std::string csv = "node";
  const auto out = std::back_inserter(csv);
  const int64_t columns = dataset.classes;
  if (dataset.is_regression()) {
    for (int64_t k = 0; k < columns; ++k)
      fmt::format_to(out, ",{0}_low,{0}_high", csv_field(columns == 1 ? "value" : dataset.class_name(k)));
    csv += '\n';
    const auto f = scores.to(torch::kCPU, torch::kFloat64), centre = targets.raw(f).contiguous();
    const double* p = centre.data_ptr<double>();
    for (int64_t v = 0; v < dataset.nodes(); ++v) {
      csv += csv_field(dataset.node_name(v));
      for (int64_t k = 0; k < columns; ++k, ++p) {
        const double half = conformal.threshold * targets.scale[static_cast<size_t>(k)];
        fmt::format_to(out, ",{:.6g},{:.6g}", *p - half, *p + half);
      }
      csv += '\n';
    }
    return write_file_atomically(path, csv);
  }
  csv += ",set\n";
  const auto sets = prediction_sets(scores / temperature, conformal.threshold).contiguous();
  const bool* in = sets.data_ptr<bool>();
  for (int64_t v = 0; v < dataset.nodes(); ++v, in += columns) {
    std::string names;
    for (int64_t c = 0; c < columns; ++c)
      if (in[c]) names += (names.empty() ? "" : "|") + dataset.class_name(c);
    fmt::format_to(out, "{},{}\n", csv_field(dataset.node_name(v)), csv_field(names));
  }
  write_file_atomically(path, csv);
}

torch::Tensor probabilities(const torch::Tensor& scores, bool multi_label) {
  const auto f = scores.to(torch::kCPU, torch::kFloat64);
  return multi_label ? f.sigmoid() : f.softmax(1);
}

}  // namespace eignn
