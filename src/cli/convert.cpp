#include <fmt/format.h>

#include "cli/flags.h"
#include "data/catalogue.h"
#include "data/compact.h"
#include "data/edge_weights.h"
#include "data/memory_limit.h"
#include "data/own_graph.h"
#include "data/readers.h"
#include "data/shard_writer.h"
#include "data/text_lines.h"
#include "eignn/error.h"

namespace eignn::cli {

namespace {

bool by_files(const ConvertFlags& flags) {
  const bool any = !flags.files.graph.empty() || !flags.files.features.empty() || !flags.files.labels.empty();
  if (any == !flags.dataset.empty()) {
    throw UsageError(
        "give either --dataset, or --graph, --features and --labels (eignn convert); see eignn convert "
        "--help");
  }
  if (any) {
    for (const auto& [flag, path] : {std::pair<const char*, std::string>{"--graph", flags.files.graph},
                                     {"--features", flags.files.features},
                                     {"--labels", flags.files.labels}}) {
      if (path.empty())
        throw UsageError(fmt::format("{} is missing (eignn convert); see eignn convert --help", flag));
    }
  }
  return any;
}

std::string path_of(const ConvertFlags& flags) {
  return named_set(flags.dataset) ? require_named_set(flags.dataset) : flags.dataset;
}

// What is printed of either kind of output.
ShardSummary write_shards(const ConvertFlags& flags, EdgeWeights weights) {
  const bool files = by_files(flags);
  if (flags.shards > 0) {
    ShardOptions options;
    options.shards = flags.shards;
    options.weights = weights;
    if (!flags.memory.empty()) options.memory = bytes_of(flags.memory);
    return files ? convert_to_shards(flags.files, flags.out, options)
                 : convert_to_shards(path_of(flags), flags.out, options);
  }
  RawDataset set = files ? read_own_graph(flags.files) : read_dataset_file(path_of(flags));
  take_weights(set.arcs, weights, set.path);
  write_compact(set, flags.out);
  ShardSummary out;
  out.name = set.name;
  out.format = set.format;
  out.nodes = set.nodes();
  out.arcs_in_file = set.arcs.counted_in_file();
  out.weighted = !set.arcs.weight.empty();
  out.features = set.features.shape[1];
  out.classes = set.classes;
  out.splits = static_cast<int64_t>(set.splits.size());
  return out;
}

void check(const CLI::App& command, const ConvertFlags& flags) {
  require_flags(command, {"--out"});
  const bool shards = command.count("--shards") > 0;
  if (shards && flags.shards < 1)
    throw UsageError(fmt::format("{} shards are none (--shards); give 1 or more", flags.shards));
  if (!shards && !flags.memory.empty())
    throw UsageError("this is the memory in which shards are sorted (--memory); add --shards");
  const std::string_view npz = ".npz";
  if (shards && flags.out.size() > npz.size() && flags.out.substr(flags.out.size() - npz.size()) == npz)
    throw UsageError("shards are a folder, and the name is that of an archive (--out); leave out .npz");
}

}  // namespace

void run_convert(const CLI::App& command, const ConvertFlags& flags) {
  check(command, flags);
  TrainConfig config;
  assign(config, flags.settings.given());
  const ShardSummary set = write_shards(flags, config.edge_weights);
  Json json = {{"name", set.name},         {"format", set.format},
               {"nodes", set.nodes},       {"arcs_in_file", set.arcs_in_file},
               {"weighted", set.weighted}, {"features", set.features},
               {"classes", set.classes},   {"splits", set.splits},
               {"out", flags.out}};
  if (set.shards > 0) {
    json["shards"] = set.shards;
    json["arcs"] = set.arcs;
    json["symmetric"] = set.symmetric;
  }
  if (flags.json) return print_json(json);
  fmt::print("{} ({}): {}, {}{}, {}, {} class{}, {}, written to {}{}\n", set.name, set.format,
             counted(set.nodes, "node"), counted(set.arcs_in_file, "arc"),
             set.weighted ? " with weights" : "", counted(set.features, "feature"), set.classes,
             set.classes == 1 ? "" : "es", counted(set.splits, "split"), flags.out,
             set.shards > 0 ? fmt::format(" in {}", counted(set.shards, "shard")) : "");
}

}  // namespace eignn::cli
