// eignn: parses the command line, and loads the engine when the command needs it (program.h).
#include <dlfcn.h>
#include <fmt/format.h>

#include "cli/flags.h"
#include "cli/program.h"
#include "cli/streams.h"
#include "eignn/process.h"

namespace eignn::cli {

// What needs tensors; the flags are checked.
void run_train(const TrainFlags&) {
  throw EngineNeeded{};
}
void run_evaluate(const EvaluateFlags&) {
  throw EngineNeeded{};
}
void run_predict(const PredictFlags&) {
  throw EngineNeeded{};
}
void run_attack(const AttackFlags&) {
  throw EngineNeeded{};
}
void run_explain(const ExplainFlags&) {
  throw EngineNeeded{};
}
void run_solve(const SolveFlags&) {
  throw EngineNeeded{};
}
void run_inspect(const InspectFlags&) {
  throw EngineNeeded{};
}
void run_reproduce(const ReproduceFlags&) {
  throw EngineNeeded{};
}
void run_report(const ReportFlags&) {
  throw EngineNeeded{};
}
void run_bench_chains(const BenchChainsFlags&) {
  throw EngineNeeded{};
}
void run_bench_heterophilic(const CLI::App&, const BenchHeterophilicFlags&) {
  throw EngineNeeded{};
}
void run_bench_cluster(const BenchClusterFlags&) {
  throw EngineNeeded{};
}
void run_bench_stack(const BenchStackFlags&) {
  throw EngineNeeded{};
}
void run_bench_planner(const BenchPlannerFlags&) {
  throw EngineNeeded{};
}
void run_bench_ppi(const BenchFlags&) {
  throw EngineNeeded{};
}
void run_bench_scaling(const BenchScalingFlags&) {
  throw EngineNeeded{};
}
void run_bench_peak_memory() {
  throw EngineNeeded{};
}

}  // namespace eignn::cli

namespace {

// The engine is found by this executable's run path: beside it, or in the library folder of the installation.
int run_engine(int argc, char** argv) {
  eignn::keep_freed_memory();
  void* engine = dlopen("libeignn-engine.so", RTLD_NOW | RTLD_LOCAL);
  const auto run =
      engine ? reinterpret_cast<int (*)(int, char**)>(dlsym(engine, "eignn_engine_main")) : nullptr;
  if (!run) {
    eignn::cli::say(
        fmt::format("eignn: error: the engine cannot be loaded ({}); install eignn again\n", dlerror()));
    return 1;
  }
  return run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  eignn::cli::hold_standard_streams();
  eignn::cli::allow_many_files();
  try {
    return eignn::cli::run_program(argc, argv, [](const std::exception& error) { return error.what(); });
  } catch (const eignn::cli::EngineNeeded&) {
    return run_engine(argc, argv);
  }
}
