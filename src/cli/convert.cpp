#include <fmt/format.h>

#include "cli/flags.h"
#include "data/catalogue.h"
#include "data/compact.h"
#include "data/edge_weights.h"
#include "data/own_graph.h"
#include "data/readers.h"
#include "data/text_lines.h"
#include "eignn/error.h"

namespace eignn::cli {

namespace {

using Flags = ConvertFlags;

RawDataset read(const Flags& flags) {
  const bool by_files =
      !flags.files.graph.empty() || !flags.files.features.empty() || !flags.files.labels.empty();
  if (by_files == !flags.dataset.empty())
    throw UsageError(
        "give either --dataset, or --graph, --features and --labels (eignn convert); see eignn convert "
        "--help");
  if (!by_files)
    return read_dataset_file(named_set(flags.dataset) ? require_named_set(flags.dataset) : flags.dataset);
  for (const auto& [flag, path] : {std::pair<const char*, std::string>{"--graph", flags.files.graph},
                                   {"--features", flags.files.features},
                                   {"--labels", flags.files.labels}})
    if (path.empty())
      throw UsageError(fmt::format("{} is missing (eignn convert); see eignn convert --help", flag));
  return read_own_graph(flags.files);
}

void work(const CLI::App& command, const Flags& flags) {
  require_flags(command, {"--out"});
  TrainConfig config;
  assign(config, flags.settings.given());
  RawDataset set = read(flags);
  take_weights(set.arcs, config.edge_weights, set.path);
  write_compact(set, flags.out);
  const Json json = {{"name", set.name},
                     {"format", set.format},
                     {"nodes", set.nodes()},
                     {"arcs_in_file", set.arcs.source.size()},
                     {"weighted", !set.arcs.weight.empty()},
                     {"features", set.features.shape[1]},
                     {"classes", set.classes},
                     {"splits", set.splits.size()},
                     {"out", flags.out}};
  if (flags.json) return print_json(json);
  fmt::print("{} ({}): {}, {}{}, {}, {} class{}, {}, written to {}\n", set.name, set.format,
             counted(set.nodes(), "node"), counted(static_cast<int64_t>(set.arcs.source.size()), "arc"),
             set.arcs.weight.empty() ? "" : " with weights", counted(set.features.shape[1], "feature"),
             set.classes, set.classes == 1 ? "" : "es",
             counted(static_cast<int64_t>(set.splits.size()), "split"), flags.out);
}

}  // namespace

void run_convert(const CLI::App& command, const ConvertFlags& flags) {
  work(command, flags);
}

}  // namespace eignn::cli
