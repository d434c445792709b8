// eignn: parses the command line, and loads the engine when the command needs one (program.h).
#include <dlfcn.h>
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdlib>
#include <limits>
#include <string>

#include "cli/flags.h"
#include "cli/program.h"

namespace eignn::cli {

void run_train(TrainFlags&) {
  throw EngineNeeded{};
}
void run_evaluate(const CLI::App& command, const EvaluateFlags&) {
  require_flags(command, {"--checkpoint"});
  throw EngineNeeded{};
}
void run_predict(const CLI::App& command, const PredictFlags&) {
  require_flags(command, {"--checkpoint", "--out"});
  throw EngineNeeded{};
}
void run_attack(const CLI::App& command, const AttackFlags&) {
  require_flags(command, {"--checkpoint", "--method", "--epsilon"});
  throw EngineNeeded{};
}
void run_solve(const SolveFlags&) {
  throw EngineNeeded{};
}
void run_inspect(InspectFlags&) {
  throw EngineNeeded{};
}
void run_convert(const CLI::App&, const ConvertFlags&) {
  throw EngineNeeded{};
}
void run_reproduce(const CLI::App&, const ReproduceFlags&) {
  throw EngineNeeded{};
}
void run_bench_chains(BenchChainsFlags&) {
  throw EngineNeeded{};
}
void run_bench_heterophilic(const CLI::App&, BenchHeterophilicFlags&) {
  throw EngineNeeded{};
}
void run_bench_planner(BenchPlannerFlags&) {
  throw EngineNeeded{};
}
void run_bench_ppi(BenchFlags&) {
  throw EngineNeeded{};
}
void run_bench_scaling(BenchScalingFlags&) {
  throw EngineNeeded{};
}
void run_bench_peak_memory() {
  throw EngineNeeded{};
}

}  // namespace eignn::cli

namespace {

// libtorch's threads (libgomp's) spin for a millisecond after their work, against the threads that OpenBLAS
// may have of its own and that need the core: a step then takes two to three times as long. libgomp reads its
// settings when the engine is loaded. Whoever set one of these keeps it.
void spin_briefly() {
  for (const char* set : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"})
    if (std::getenv(set) != nullptr) return;
  setenv("GOMP_SPINCOUNT", "10000", 1);
}

// glibc gives blocks beyond 32 MB back to the system when they are freed, and fetching them again costs a
// page fault for every 4 KB: on the larger graphs as much as the arithmetic on them. What an epoch used, the
// next one uses again.
void keep_large_blocks() {
#ifdef __GLIBC__
  if (mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1) mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

// Looked for where this executable's run path says: beside it, or in the library folder of the installation.
int run_engine(int argc, char** argv) {
  spin_briefly();
  keep_large_blocks();
  void* engine = dlopen("libeignn-engine.so", RTLD_NOW | RTLD_LOCAL);
  const auto run =
      engine ? reinterpret_cast<int (*)(int, char**)>(dlsym(engine, "eignn_engine_main")) : nullptr;
  if (!run) {
    fmt::print(stderr, "eignn: error: the engine cannot be loaded ({}); install eignn again\n", dlerror());
    return 1;
  }
  return run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return eignn::cli::run_program(argc, argv, [](const std::exception& error) { return error.what(); });
  } catch (const eignn::cli::EngineNeeded&) {
    return run_engine(argc, argv);
  }
}
