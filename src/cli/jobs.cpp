#include "cli/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/progress.h"
#include "equilibrium/stopwatch.h"
#include "run/child_process.h"
#include "train/metrics.h"

namespace eignn::cli {

namespace {

// One line for one run or for the mean of a batch.
std::string in_words(const std::vector<EpochReport>& reports) {
  const auto runs = static_cast<double>(reports.size());
  double train = 0, val = 0, score = 0;
  for (const EpochReport& report : reports) {
    train += report.train_loss / runs;
    val += report.val_loss / runs;
    score += report.val_score / runs;
  }
  const std::string shown = metric_text(reports[0].metric, score);
  if (reports.size() == 1)
    return fmt::format("loss {:.4f}  validation loss {:.4f} {} {}", train, val, reports[0].metric, shown);
  return fmt::format("{} runs: mean validation loss {:.4f} {} {}", reports.size(), val, reports[0].metric,
                     shown);
}

// The time until the last epoch, which early stopping may come before. Empty for the first epochs, whose time
// is no measure of the others.
std::string at_most_left(const Stopwatch& since_first, int64_t seen, int64_t remaining) {
  constexpr int64_t first_epochs = 3;
  if (seen <= first_epochs || remaining == 0) return "";
  const double per_epoch = since_first.seconds() / static_cast<double>(seen - 1);
  return fmt::format("  at most {} left", duration_text(per_epoch * static_cast<double>(remaining)));
}

}  // namespace

JobOptions job_options(int64_t parallel, bool quiet, int64_t parent) {
  watch_for_interrupt(parent);
  JobOptions options;
  options.parallel = parallel;
  // Where the system does not end a child with its parent (run/child_process.h does so on Linux).
  options.interrupted = [parent] { return interrupted() || (parent > 0 && getppid() != parent); };
  options.signal = received_signal;
  options.child = [](const JobOptions::Child& job) {
    std::vector<std::string> command = {
        own_path(), "train", "--json", "--failure-file", job.failure, "--parent", std::to_string(getpid())};
    if (job.resume)
      command.insert(command.end(), {"--resume", job.folder});
    else
      command.insert(command.end(), {"--config", job.settings, "--out", job.folder});
    return command;
  };
  if (!quiet)
    options.watch = [](int64_t epochs) -> JobOptions::Watch {
      struct Shown {
        explicit Shown(int64_t epochs) : progress(epochs) {}
        Progress progress;
        Stopwatch since_first;
        int64_t seen = 0;
      };
      auto shown = std::make_shared<Shown>(epochs);
      return [shown, epochs](const std::vector<EpochReport>& reports) {
        if (shown->seen++ == 0) shown->since_first = Stopwatch();
        const int64_t done = reports[0].epoch + 1;
        shown->progress.update(
            done, in_words(reports) + at_most_left(shown->since_first, shown->seen, epochs - done));
      };
    };
  return options;
}

void stop(const InterruptedError& interruption, const std::string& go_on_with) {
  const std::string after =
      interruption.epochs() < 0 ? "" : fmt::format(" after {} epochs", interruption.epochs());
  throw Interrupted{interruption.folder().empty()
                        ? fmt::format("interrupted{}; nothing was kept, since there was no --out", after)
                        : fmt::format("interrupted{}; go on with: {}", after, go_on_with)};
}

}  // namespace eignn::cli
