// What a launcher says of the processes that it has started, in their environment. Needs neither message
// passing nor libtorch.
#pragma once

#include <memory>
#include <string>

#include "cluster/transport.h"

namespace eignn {

/// How many processes mpirun or srun has started, and which of them this is. One process where there is no
/// launcher.
struct Launched {
  int processes = 1, rank = 0;

  static Launched from_environment();
};

/// Joins the other processes: loads the plugin, which lies beside the engine, and begins message passing.
/// ResourceError where there is no plugin, or message passing cannot begin.
std::unique_ptr<Launch> join_launch();

}  // namespace eignn
