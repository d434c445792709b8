#include "run/run_folder.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "run/provenance.h"
#include "train/config.h"

namespace eignn {

namespace {

using Json = nlohmann::ordered_json;

Json scores_json(const Scores& scores) {
  return {{"train", scores.train}, {"val", scores.val}, {"test", scores.test}};
}

// Class numbers between blanks, where a node may have several; - for none of them, since an empty field means
// that the label is not known.
template <class Has>
std::string members(int64_t classes, Has has) {
  std::string out;
  for (int64_t c = 0; c < classes; ++c)
    if (has(c)) out += (out.empty() ? "" : " ") + std::to_string(c);
  return out.empty() ? "-" : out;
}

// The labels of all nodes, read once.
class LabelTexts {
 public:
  explicit LabelTexts(const Dataset& dataset)
      : several_(dataset.multi_label()),
        classes_(dataset.classes),
        known_(dataset.known.contiguous()),
        labels_(dataset.labels.contiguous()) {}

  // Empty where the label is not known.
  std::string of(int64_t v) const {
    if (!known_.data_ptr<bool>()[v]) return "";
    if (!several_) return std::to_string(labels_.data_ptr<int64_t>()[v]);
    const auto* row = labels_.data_ptr<uint8_t>() + v * classes_;
    return members(classes_, [&](int64_t c) { return row[c] != 0; });
  }

 private:
  bool several_;
  int64_t classes_;
  torch::Tensor known_, labels_;
};

std::string predicted_text(const Dataset& dataset, const double* probability) {
  if (dataset.multi_label()) return members(dataset.classes, [&](int64_t c) { return probability[c] > 0.5; });
  return std::to_string(std::max_element(probability, probability + dataset.classes) - probability);
}

}  // namespace

RunFolder RunFolder::create(const std::string& path, const TrainConfig& config) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed || !std::filesystem::is_directory(path))
    throw InputError(
        fmt::format("the run folder cannot be made: {} ({}); give --out a folder that can be written",
                    failed ? failed.message() : "it is a file", path));
  if (std::filesystem::exists(path + "/resume.safetensors"))
    throw InputError(fmt::format(
        "the folder holds a run that is not finished ({}); go on with --resume {}, or give another --out",
        path, path));
  for (const char* trace : {"summary.json", "model.safetensors"})
    if (std::filesystem::exists(path + "/" + trace))
      throw InputError(
          fmt::format("the folder holds a run already ({}/{}); give another --out", path, trace));
  RunFolder folder(path);
  write_file_atomically(path + "/config.toml", to_toml(config));
  write_file_atomically(path + "/metrics.jsonl", "");
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  if (!std::filesystem::is_directory(path))
    throw InputError(fmt::format("there is no such run folder ({}); start one with --out", path));
  RunFolder folder(path);
  if (!std::filesystem::exists(folder.resume_path()))
    throw InputError(fmt::format("{} ({}); start a new run with another --out",
                                 std::filesystem::exists(path + "/summary.json")
                                     ? "this run is complete"
                                     : "nothing was saved to resume from",
                                 path));
  return folder;
}

void RunFolder::append_epoch(const EpochReport& report) const {
  std::ofstream file(path_ + "/metrics.jsonl", std::ios::app);
  file << Json{{"epoch", report.epoch},       {"train_loss", report.train_loss},
               {"val_loss", report.val_loss}, {std::string("val_") + report.metric, report.val_score},
               {"kept", report.kept},         {"seconds", report.seconds}}
              .dump()
       << '\n';
  if (!file.flush())
    throw InputError(
        fmt::format("the metrics cannot be written: {} ({}/metrics.jsonl); free some space, then --resume {}",
                    std::strerror(errno), path_, path_));
}

void RunFolder::truncate_metrics(int64_t epoch) const {
  std::ifstream file(path_ + "/metrics.jsonl");
  std::string kept, line;
  for (int64_t k = 0; k < epoch && std::getline(file, line); ++k) kept += line + "\n";
  write_file_atomically(path_ + "/metrics.jsonl", kept);
}

void RunFolder::write_summary(const TrainSummary& summary) const {
  write_file_atomically(path_ + "/summary.json", to_json(summary) + "\n");
}

void RunFolder::write_predictions(const Dataset& dataset, const Split& split,
                                  const torch::Tensor& scores) const {
  write_predictions_csv(path_ + "/predictions.csv", dataset, split, scores);
}

void write_predictions_csv(const std::string& path, const Dataset& dataset, const Split& split,
                           const torch::Tensor& scores) {
  std::vector<const char*> part(dataset.nodes(), "none");
  auto mark = [&](const torch::Tensor& nodes, const char* name) {
    const auto index = nodes.to(torch::kCPU).contiguous();
    const auto* first = index.data_ptr<int64_t>();
    for (const auto* v = first; v != first + index.numel(); ++v) part[*v] = name;
  };
  mark(split.train, "train");
  mark(split.val, "val");
  mark(split.test, "test");

  const auto probability = probabilities(scores, dataset).contiguous();
  std::string csv = "node,split,label,predicted";
  for (int64_t c = 0; c < dataset.classes; ++c) csv += fmt::format(",p{}", c);
  csv += '\n';
  const auto out = std::back_inserter(csv);
  const LabelTexts labels(dataset);
  const double* p = probability.data_ptr<double>();
  for (int64_t v = 0; v < dataset.nodes(); ++v, p += dataset.classes) {
    fmt::format_to(out, "{},{},{},{}", v, part[v], labels.of(v), predicted_text(dataset, p));
    for (int64_t c = 0; c < dataset.classes; ++c) fmt::format_to(out, ",{:.6g}", p[c]);
    csv += '\n';
  }
  write_file_atomically(path, csv);
}

torch::Tensor probabilities(const torch::Tensor& scores, const Dataset& dataset) {
  const auto f = scores.to(torch::kCPU, torch::kFloat64);
  return dataset.multi_label() ? f.sigmoid() : f.softmax(1);
}

std::string to_json(const TrainSummary& s) {
  const TrainConfig& c = s.config;
  Json json = {{"dataset", c.dataset},
               {"model", c.model},
               {"solver", s.solver},
               {"solver_requested", c.solver},
               {"device", c.device},
               {"dtype", c.dtype},
               {"threads", s.threads},
               {"seed", c.seed},
               {"split", s.split},
               {"epochs", s.epochs},
               {"max_epochs", c.epochs},
               {"best_epoch", s.best_epoch},
               {"train_" + s.metric, s.score.train},
               {"val_" + s.metric, s.score.val},
               {"test_" + s.metric, s.score.test},
               {"loss", scores_json(s.loss)},
               {"seconds_total", s.seconds_total},
               {"seconds_per_epoch", s.seconds_per_epoch},
               {"seconds_per_train_step", s.seconds_per_train_step},
               {"preprocess_seconds", s.preprocess_seconds},
               {"peak_memory_bytes", s.peak_memory_bytes}};
  if (!s.mu_start.empty()) {  // EIGNN's own
    json["weight_change"] = s.weight_change;
    json["mu_start"] = s.mu_start;
    json["mu_end"] = s.mu_end;
  }
  if (s.non_converged_solves) json["non_converged_solves"] = *s.non_converged_solves;
  if (!s.by_distance.empty()) {
    Json bands = Json::array();
    for (const DistanceScore& band : s.by_distance)
      bands.push_back(
          {{"from", band.from}, {"to", band.to}, {"nodes", band.nodes}, {"accuracy", band.accuracy}});
    json["accuracy_by_distance"] = bands;
  }
  Json config;
  visit(c, [&](const char* name, const auto& field, const char*) { config[name] = field; });
  json["config"] = config;
  json["machine"] = (c.device == "cuda" ? gpu_name() + ", " : "") + machine_name();
  json["version"] = version();
  json["commit"] = built_commit();
  return json.dump(2);
}

}  // namespace eignn
