#include "cli/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/progress.h"
#include "run/child_process.h"

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
  if (reports.size() == 1)
    return fmt::format("loss {:.4f}  validation loss {:.4f} {} {}", train, val, reports[0].metric,
                       percent(score));
  return fmt::format("{} runs: mean validation loss {:.4f} {} {}", reports.size(), val, reports[0].metric,
                     percent(score));
}

}  // namespace

JobOptions job_options(int64_t parallel, bool quiet, int64_t parent) {
  watch_for_interrupt();
  JobOptions options;
  options.parallel = parallel;
  // Where the system does not end a child with its parent (run/child_process.h does so on Linux).
  options.interrupted = [parent] { return interrupted() || (parent > 0 && getppid() != parent); };
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
      auto progress = std::make_shared<Progress>(epochs);
      return [progress](const std::vector<EpochReport>& reports) {
        progress->update(reports[0].epoch + 1, in_words(reports));
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
