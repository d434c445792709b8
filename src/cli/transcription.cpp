#include "cli/transcription.h"

#include <fmt/format.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "data/atomic_file.h"
#include "data/sparse_tensor.h"
#include "data/tensor_bytes.h"
#include "train/assemble.h"

namespace eignn {
const char* published_script();  // bench/published.py, compiled in
}

namespace eignn::cli {

namespace {

// Writes the problem in the files that the script reads.
void write_problem(const AtomicFolder& folder, const TrainConfig& config, const Dataset& dataset) {
  const Propagation S = make_propagation(dataset, config);
  std::vector<int64_t> row;
  std::vector<double> value;
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      row.push_back(i);
      value.push_back(S.value(i, e));
    }
  write_npy(folder.path("row.npy"), {S.entries()}, row);
  write_npy(folder.path("column.npy"), {S.entries()}, S.column);
  write_npy(folder.path("value.npy"), {S.entries()}, value);
  write_npy(folder.path("features.npy"), dense_matrix(dataset.features, "the transcription"));
  write_npy(folder.path("labels.npy"), dataset.labels);
  const Split& split = dataset.splits.at(std::stoll(config.split));
  write_npy(folder.path("train.npy"), split.train);
  write_npy(folder.path("val.npy"), split.val);
}

}  // namespace

Json run_torch_script(const char* script, const char* its_name, const TrainConfig& config,
                      const Dataset& dataset, const std::vector<std::string>& further_arguments) {
  const std::string python = "/usr/bin/python3";
  if (run_child(
          {python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"})
          .exit_code != 0) {
    warning(
        fmt::format("no PyTorch for /usr/bin/python3: {} is not timed; ./dev bench installs it", its_name));
    return nullptr;
  }
  // Never committed, so that the destructor removes it.
  const auto place = std::filesystem::temp_directory_path() / fmt::format("eignn-bench-{}", getpid());
  const AtomicFolder folder(place.string());
  write_problem(folder, config, dataset);
  std::vector<std::string> arguments = {python, "-", folder.path("")};
  arguments.insert(arguments.end(), further_arguments.begin(), further_arguments.end());
  return parse_child(run_child(arguments, script), its_name);
}

void add_transcription(Json& comparison, const TrainConfig& config, const Dataset& dataset, int64_t threads) {
  if (config.device != DeviceKind::cpu) return;  // the script does not use a GPU
  constexpr int64_t most = 10;
  const EignnOptions& model = config.eignn();
  const Json timed = run_torch_script(
      published_script(), "bench/published.py", config, dataset,
      {name(model.head), std::to_string(model.gamma), std::to_string(model.dropout), name(config.dtype),
       std::to_string(threads), std::to_string(std::min(most, comparison["blocks"].get<int64_t>()))});
  comparison["transcription"] = timed;
  if (timed.is_null()) return;
  const double epoch = timed["epoch_ms"].get<double>();
  comparison["transcription_ratio"] = epoch / comparison["ours"]["epoch_ms"].get<double>();
  comparison["published_over_transcription"] = comparison["published"]["epoch_ms"].get<double>() / epoch;
}

void print_transcriptions(const std::vector<std::pair<std::string, Json>>& rows) {
  for (const auto& [name, one] : rows)
    if (one.contains("transcription_ratio"))
      fmt::print("{}: an epoch of the transcription in PyTorch takes {:.1f} ms, {:.1f}x ours\n", name,
                 one["transcription"]["epoch_ms"].get<double>(), one["transcription_ratio"].get<double>());
}

}  // namespace eignn::cli
