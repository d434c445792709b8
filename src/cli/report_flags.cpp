// The flags of `eignn report`, and what is refused before the engine is loaded.
#include <filesystem>

#include "cli/flags.h"
#include "data/atomic_file.h"

namespace eignn::cli {

void check(const ReportFlags& flags) {
  if (flags.paths.empty())
    throw UsageError(
        "nothing is named to report on (eignn report); name run folders, or files or folders of results");
  for (const std::string& path : flags.paths)
    if (std::error_code none; !std::filesystem::exists(path, none)) open_for_reading(path);
  if (flags.no_graphs && flags.settings.given().count("dataset"))
    throw UsageError("no data set is read (--no-graphs); leave out --dataset or --no-graphs");
  if (flags.no_graphs && !flags.nodes.empty())
    throw UsageError("a node is explained on its data set (--no-graphs); leave out --node or --no-graphs");
}

void add_report(CLI::App& app) {
  auto* command = add_command(
      app, "report", "One HTML page of runs and results: curves, tables, claims, graphs, explanations",
      "  eignn report runs/a --out report.html\n"
      "  eignn report runs/a --node 17 --node 42\n"
      "  eignn report runs results --no-graphs --out all.html\n"
      "  eignn report results/attacks.json results/bench-chains.json\n"
      "Folders are searched for runs and for .json files of reproduce, bench, attack and explain. The page "
      "needs no network\nand opens from disk; docs/report.md says what it shows.");
  auto flags = std::make_shared<ReportFlags>();
  command->add_option("paths", flags->paths, "Run folders, folders of them, and files or folders of results");
  command->add_option("--out", flags->out, "The page to write")->capture_default_str();
  command
      ->add_option(
          "--node", flags->nodes,
          "Explain this node by the first run that has a model, and draw its neighbourhood where the "
          "graph is too large to be drawn whole; may be repeated")
      ->allow_extra_args(false);
  flags->settings.add(*command, std::vector<std::string>{"dataset"});
  command->add_flag("--no-graphs", flags->no_graphs, "Read no data set: the page then draws no graph");
  command->add_flag("--json", flags->json, "Print what the page has as one JSON object");
  set_work(command, [flags] {
    check(*flags);
    run_report(*flags);
  });
}

}  // namespace eignn::cli
