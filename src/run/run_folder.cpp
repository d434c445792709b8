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
    throw ResourceError(
        fmt::format("the run folder cannot be made: {}", failed ? failed.message() : "it is a file"), path,
        "give a folder that can be written");
  if (std::filesystem::exists(path + "/resume.safetensors"))
    throw DataError(path, "", "the folder holds a run that is not finished",
                    "resume it, or give another folder");
  for (const char* trace : {"summary.json", "model.safetensors"})
    if (std::filesystem::exists(path + "/" + trace))
      throw DataError(path + "/" + trace, "", "the folder holds a run already", "give another folder");
  RunFolder folder(path);
  write_file_atomically(path + "/config.toml", to_toml(config));
  write_file_atomically(path + "/metrics.jsonl", "");
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  if (!std::filesystem::is_directory(path))
    throw DataError(path, "", "there is no such run folder", "start a run there first");
  RunFolder folder(path);
  if (!std::filesystem::exists(folder.resume_path()))
    throw DataError(path, "",
                    std::filesystem::exists(path + "/summary.json") ? "this run is complete"
                                                                    : "nothing was saved to resume from",
                    "start a new run in another folder");
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
    throw ResourceError(fmt::format("the metrics cannot be written: {}", std::strerror(errno)),
                        path_ + "/metrics.jsonl", "free some space, then resume the run");
}

void RunFolder::truncate_metrics(int64_t epoch) const {
  std::ifstream file(path_ + "/metrics.jsonl");
  std::string kept, line;
  for (int64_t k = 0; k < epoch && std::getline(file, line); ++k) kept += line + "\n";
  write_file_atomically(path_ + "/metrics.jsonl", kept);
}

void RunFolder::write_summary(const RunResult& summary) const {
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

  const auto probability = probabilities(scores, dataset.multi_label()).contiguous();
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

torch::Tensor probabilities(const torch::Tensor& scores, bool multi_label) {
  const auto f = scores.to(torch::kCPU, torch::kFloat64);
  return multi_label ? f.sigmoid() : f.softmax(1);
}

}  // namespace eignn
