#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/progress.h"
#include "data/atomic_file.h"
#include "eignn/error.h"
#include "report/statistics.h"
#include "report/table.h"

namespace eignn::cli {

namespace {

struct Flags {
  TrainConfig config;
  std::string out, resume, config_file;
  bool json = false;
};

void print_summary(const TrainSummary& s) {
  fmt::print("{} on {}: solver {}, {}, {} thread{}, {} epochs in {:.1f} s ({:.2f} ms each), best epoch {}\n",
             s.config.model, s.config.dataset, s.solver, s.config.dtype, s.threads, s.threads == 1 ? "" : "s",
             s.epochs, s.seconds_total, 1e3 * s.seconds_per_epoch, s.best_epoch);
  fmt::print("F moved by {:.2f} % of its length; largest eigenvalues of g: {:.4f} at the start, {:.4f} now\n",
             100 * s.weight_change, fmt::join(s.mu_start, " "), fmt::join(s.mu_end, " "));
  if (!s.by_distance.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const DistanceScore& band : s.by_distance)
      rows.push_back({fmt::format("{}-{}", band.from, band.to), std::to_string(band.nodes),
                      band.nodes > 0 ? percent(band.accuracy) : "-"});
    fmt::print("\n{}\n", format_table({"hops from the informative node", "test nodes", "accuracy"}, rows));
  }
  fmt::print("{}  train {}  validation {}  test {}\n", s.metric, percent(s.score.train), percent(s.score.val),
             percent(s.score.test));
}

TrainSummary train_one(const TrainConfig& config, const std::string& folder, bool resume, bool quiet) {
  Progress progress(config.epochs, quiet);
  TrainHooks hooks;
  hooks.on_epoch = [&](const EpochReport& r) {
    progress.update(r.epoch + 1, fmt::format("loss {:.4f}  validation loss {:.4f} {} {}", r.train_loss,
                                             r.val_loss, r.metric, percent(r.val_score)));
  };
  hooks.interrupted = interrupted;
  TrainSummary summary = train(config, folder, resume, hooks);
  if (summary.interrupted)
    throw Interrupted{
        folder.empty()
            ? fmt::format("interrupted after {} epochs; nothing was kept, since there was no --out",
                          summary.epochs)
            : fmt::format("interrupted after {} epochs; go on with: eignn train --resume {}", summary.epochs,
                          folder)};
  return summary;
}

void train_all_splits(const TrainConfig& config, const Flags& flags) {
  const int64_t count = static_cast<int64_t>(load_dataset(config).splits.size());
  Json runs = Json::array();
  std::vector<double> test;
  std::vector<std::vector<std::string>> rows;
  for (int64_t k = 0; k < count; ++k) {
    TrainConfig one = config;
    one.split = std::to_string(k);
    const auto summary =
        train_one(one, flags.out.empty() ? "" : fmt::format("{}/split-{}", flags.out, k), false, flags.json);
    runs.push_back(Json::parse(to_json(summary)));
    test.push_back(summary.score.test);
    rows.push_back({std::to_string(k), std::to_string(summary.best_epoch), percent(summary.score.val),
                    percent(summary.score.test)});
  }
  const MeanOfRuns mean = mean_of_runs(test);
  if (flags.json) {
    print_json({{"runs", runs},
                {"test_accuracy_mean", mean.mean},
                {"test_accuracy_std", mean.std},
                {"test_accuracy_ci95", mean.ci95}});
    return;
  }
  fmt::print("{}\ntest accuracy {:.2f} ± {:.2f} % (standard deviation over {} splits)\n",
             format_table({"split", "best epoch", "validation", "test"}, rows), 100 * mean.mean,
             100 * mean.std, count);
}

void work(const CLI::App& command, Flags& flags) {
  watch_for_interrupt();
  if (!flags.resume.empty()) {
    if (!flags.out.empty() || !flags.config_file.empty() || !given_flags(command).empty())
      throw UsageError(
          "--resume takes everything from the run folder (--resume); give it alone, or with --json");
    const auto summary = train_one({}, flags.resume, true, flags.json);
    flags.json ? print_json(Json::parse(to_json(summary))) : print_summary(summary);
    return;
  }
  auto given = given_flags(command);
  if (!flags.config_file.empty())
    given = apply_toml(flags.config, read_whole_file(flags.config_file), given, flags.config_file);
  validate(flags.config);
  apply_recipe(flags.config, given);
  validate(flags.config);
  if (flags.config.split == "all") return train_all_splits(flags.config, flags);
  const auto summary = train_one(flags.config, flags.out, false, flags.json);
  flags.json ? print_json(Json::parse(to_json(summary))) : print_summary(summary);
}

}  // namespace

void add_train(CLI::App& app) {
  auto* command =
      add_command(app, "train", "Train a model and test it once, with the weights that validation chose",
                  "  eignn train --dataset chains --chain-length 200 --num-classes 5\n"
                  "  eignn train --dataset chains --direction in --seed 3 --json\n"
                  "  eignn train --dataset karate --out runs/karate\n"
                  "  eignn train --resume runs/karate\n"
                  "  eignn train --config runs/karate/config.toml\n"
                  "What is not given comes from the data set's recipe, then from the defaults shown above.");
  auto flags = std::make_shared<Flags>();
  add_run_flags(*command, flags->config);
  command->add_option("--out", flags->out, "Keep the run in this folder");
  command->add_option("--resume", flags->resume, "Go on with the interrupted run in this folder");
  command->add_flag("--json", flags->json, "Print the summary as one JSON object");
  command->add_option("--config", flags->config_file, "Read flags from a file, such as a run's config.toml");
  set_work(command, [command, flags] { work(*command, *flags); });
}

}  // namespace eignn::cli
