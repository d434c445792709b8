#include "run/run_folder.h"

#include <fmt/format.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "eignn/error.h"
#include "run/result_json.h"
#include "train/config_toml.h"

namespace eignn {

namespace {

using Json = nlohmann::ordered_json;

// The class numbers of a set of labels, separated by blanks. The empty set is "-", because an empty field
// means that the labels are not known.
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

void require_space(const std::string& folder, double bytes) {
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  if (failed || static_cast<double>(space.available) >= bytes) return;
  throw ResourceError(fmt::format("the run will write about {:.1f} MB, and the disk has room for {:.1f} MB",
                                  bytes / 1e6, static_cast<double>(space.available) / 1e6),
                      folder, "free some space, or choose another disk");
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
