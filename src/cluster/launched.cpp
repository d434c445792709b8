#include "cluster/launched.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "eignn/error.h"

namespace eignn {

namespace {

// The whole number of a variable; -1 where it is none.
int number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  constexpr long most = 1 << 24;
  return *end == '\0' && value >= 0 && value < most ? static_cast<int>(value) : -1;
}

}  // namespace

Launched Launched::from_environment() {
  // Open MPI's mpirun; MPICH's and Slurm's (srun --mpi=pmi2); Slurm's with PMIx.
  struct Pair {
    const char *processes, *rank;
  };
  for (const Pair pair : {Pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, Pair{"PMI_SIZE", "PMI_RANK"},
                          Pair{"SLURM_STEP_NUM_TASKS", "PMIX_RANK"}}) {
    const int processes = number(pair.processes), rank = number(pair.rank);
    if (processes > 0 && rank >= 0 && rank < processes) return {processes, rank};
  }
  return {};
}

std::unique_ptr<Launch> join_launch() {
  constexpr const char* remedy = "leave out mpirun, or build eignn where PETSc and MPI are installed";
  void* plugin = dlopen("libeignn-cluster.so", RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    const char* reason = dlerror();
    const std::string why = reason ? reason : "";
    const bool missing = why.find("libeignn-cluster.so: cannot open shared object file") != std::string::npos;
    throw ResourceError(missing ? "this eignn was built without message passing, and runs in one process"
                                : "message passing cannot be loaded: " + why,
                        "libeignn-cluster.so", remedy);
  }
  const auto open = reinterpret_cast<Launch* (*)(std::string*)>(dlsym(plugin, "eignn_cluster_open"));
  if (open == nullptr) throw ResourceError("message passing has no entry", "libeignn-cluster.so", remedy);
  std::string problem;
  std::unique_ptr<Launch> launch(open(&problem));
  if (!launch) throw ResourceError("message passing cannot begin: " + problem, "MPI", "look at the launcher");
  return launch;
}

}  // namespace eignn
