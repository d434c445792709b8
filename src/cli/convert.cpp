#include <fmt/format.h>

#include "cli/common.h"
#include "data/catalogue.h"
#include "data/compact.h"
#include "data/readers.h"
#include "data/own_graph.h"
#include "eignn/error.h"

namespace eignn::cli {

namespace {

struct Flags {
  std::string dataset, out;
  OwnGraphFiles files;
  bool json = false;
};

RawDataset read(const Flags& flags) {
  const bool by_files =
      !flags.files.graph.empty() || !flags.files.features.empty() || !flags.files.labels.empty();
  if (by_files == !flags.dataset.empty())
    throw UsageError(
        "give either --dataset, or --graph, --features and --labels (eignn convert); see eignn convert "
        "--help");
  if (!by_files)
    return read_dataset_file(named_set(flags.dataset) ? require_named_set(flags.dataset)
                                                      : flags.dataset);
  for (const auto& [flag, path] : {std::pair<const char*, std::string>{"--graph", flags.files.graph},
                                   {"--features", flags.files.features},
                                   {"--labels", flags.files.labels}})
    if (path.empty())
      throw UsageError(fmt::format("{} is missing (eignn convert); see eignn convert --help", flag));
  return read_own_graph(flags.files);
}

void work(const CLI::App& command, const Flags& flags) {
  require_flags(command, {"--out"});
  const RawDataset set = read(flags);
  write_compact(set, flags.out);
  const Json json = {{"name", set.name},
                     {"format", set.format},
                     {"nodes", set.nodes()},
                     {"arcs_in_file", set.arcs.source.size()},
                     {"features", set.features.shape[1]},
                     {"classes", set.classes},
                     {"splits", set.splits.size()},
                     {"out", flags.out}};
  if (flags.json) return print_json(json);
  fmt::print("{} ({}): {} nodes, {} arcs, {} features, {} classes, {} splits, written to {}\n", set.name,
             set.format, set.nodes(), set.arcs.source.size(), set.features.shape[1], set.classes,
             set.splits.size(), flags.out);
}

}  // namespace

void add_convert(CLI::App& app) {
  auto* command = add_command(
      app, "convert", "Write a data set of any format as one compact .npz",
      "  eignn convert --dataset squirrel --out squirrel.npz\n"
      "  eignn convert --dataset downloads/arxiv --out arxiv.npz\n"
      "  eignn convert --graph edges.csv --features features.csv --labels labels.csv --out mine.npz\n"
      "A name that does not end in .npz becomes a folder of .npy files, which needs no zip to read.\n"
      "docs/data.md has the formats.");
  auto flags = std::make_shared<Flags>();
  command->add_option("--dataset", flags->dataset, "A named set, or the path of one");
  command->add_option("--graph", flags->files.graph, "Your own graph: edges or Matrix Market");
  command->add_option("--features", flags->files.features, "Your own graph: .npy or .csv");
  command->add_option("--labels", flags->files.labels, "Your own graph: .npy or .csv");
  command->add_option("--splits", flags->files.splits, "Your own graph: .csv");
  command->add_option("--out", flags->out, "FILE.npz, or a folder to make");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] { work(*command, *flags); });
}

}  // namespace eignn::cli
