#include "cli/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <thread>

#include "cli/common.h"
#include "cli/streams.h"
#include "cluster/launched.h"
#include "eignn/error.h"

namespace eignn::cli {

namespace {

// How long a process that has failed waits for the others, which may wait for it in the middle of a sum.
// Later ranks wait longer, so that one of several that fail apart ends the job.
constexpr double patience = 2, patience_of_rank = 0.05;

int exit_code_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted&) {
    return 130;
  } catch (const ArgumentError&) {
    return 2;
  } catch (...) {
    return 1;
  }
}

bool is_elsewhere(const std::exception_ptr& failure) {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const FailedElsewhere&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted& stop) {
    return stop.message;
  } catch (const std::bad_alloc&) {
    return "out of memory; start more processes, or take dtype float32";
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
}

// Ends this process, and by it the job, where another one of this machine has died: those that wait for it
// in the middle of a sum would wait for ever.
class Watchman {
 public:
  Watchman(Launch& launch, int processes, std::function<std::string()> go_on)
      : launch_(launch), processes_(processes), go_on_(std::move(go_on)), thread_([this] { watch(); }) {}
  ~Watchman() {
    over_ = true;
    thread_.join();
  }

 private:
  void watch() {
    using namespace std::chrono;
    std::optional<steady_clock::time_point> stopped;
    bool said = false;
    while (!over_) {
      std::this_thread::sleep_for(milliseconds(50));
      if (over_) return;
      if (const auto lost = launch_.lost(); !lost.empty()) {
        say_once(fmt::format("process {} of {} died, and the others end", lost[0], processes_));
        _exit(1);
      }
      // A launcher that is stopped, or has lost a process of another machine, gives some time before it
      // kills; Open MPI a second. The epoch may end in it.
      if (!stopped && interrupted()) stopped = steady_clock::now();
      if (!stopped || said || steady_clock::now() - *stopped < milliseconds(800)) continue;
      say_once("the job is being stopped in the middle of an epoch");
      said = true;
    }
  }

  void say_once(const std::string& what) {
    if (!launch_.may_speak()) return;
    speak_up();
    say(fmt::format("eignn: error: {}; {}\n", what, go_on_()));
  }

  Launch& launch_;
  int processes_;
  std::function<std::string()> go_on_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

int64_t threads_of_each(int64_t processes_here) {
  const auto allowed = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const int64_t all = sysconf(_SC_NPROCESSORS_ONLN);
  // A launcher that binds processes to cores has shared them out already.
  return allowed < all ? allowed : std::max<int64_t>(1, allowed / processes_here);
}

}  // namespace

std::string launcher_words() {
  const int processes = Launched::from_environment().processes;
  return processes > 1 ? fmt::format("mpirun -n {} ", processes) : "";
}

SpreadOptions on_grid(SpreadOptions all, const GridFlag& grid) {
  if (grid.grid_rows > 0) all.grid = Grid{grid.grid_rows, grid.grid_columns};
  for (const NodeOrder order : {NodeOrder::bfs, NodeOrder::ptscotch})
    if (grid.order == name(order)) all.order = order;
  return all;
}

void in_processes(const GridFlag& grid, const std::function<void(const SpreadOptions*)>& work) {
  if (Launched::from_environment().processes == 1) return work(nullptr);
  work_together(
      [&](const SpreadOptions& all) {
        const SpreadOptions spread = on_grid(all, grid);
        work(&spread);
      },
      [] { return std::string("start the same command again"); });
}

void work_together(const std::function<void(const SpreadOptions&)>& work,
                   const std::function<std::string()>& go_on) {
  const auto launch = join_launch();
  const auto all = launch->all();
  SpreadOptions options{Ranks(all), {}, launch->processes_here(), threads_of_each(launch->processes_here())};
  std::exception_ptr failure;
  int lowest = -1;
  {
    const Watchman watchman(*launch, all->size(), go_on);
    try {
      work(options);
    } catch (...) {
      failure = std::current_exception();
    }
    const bool failed = failure != nullptr && !is_elsewhere(failure);
    lowest = launch->meet(failed, failure ? patience + patience_of_rank * all->rank() : 0);
  }
  if (lowest == -2) {  // the others are in the middle of something that this process has left
    if (is_elsewhere(failure)) launch->abort(1);
    if (launch->may_speak()) {
      speak_up();
      say(fmt::format("eignn: error: {}\n", message_of(failure)));
    }
    launch->abort(exit_code_of(failure));
  }
  int code = failure && lowest == all->rank() ? exit_code_of(failure) : 0;
  if (lowest >= 0) all->broadcast(&code, sizeof code, lowest);
  launch->farewell();
  if (lowest < 0) return;
  if (lowest != all->rank()) throw EndedQuietly{code};
  speak_up();
  std::rethrow_exception(failure);
}

}  // namespace eignn::cli
