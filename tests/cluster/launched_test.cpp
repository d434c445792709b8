#include "cluster/launched.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace eignn {
namespace {

// What Launched says under these variables alone.
Launched under(const std::map<std::string, std::string>& variables) {
  std::map<std::string, std::string> before;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                           "SLURM_STEP_NUM_TASKS", "PMIX_RANK"}) {
    if (const char* value = std::getenv(name)) before[name] = value;
    unsetenv(name);
  }
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  const Launched out = Launched::from_environment();
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
  for (const auto& [name, value] : before) setenv(name.c_str(), value.c_str(), 1);
  return out;
}

TEST(Launched, IsOneProcessWithoutALauncher) {
  EXPECT_EQ(under({}).processes, 1);
  EXPECT_EQ(under({}).rank, 0);
  // An interactive allocation of Slurm, and a batch script, have started no process of ours.
  EXPECT_EQ(under({{"SLURM_STEP_NUM_TASKS", "4"}}).processes, 1);
}

TEST(Launched, ReadsWhatEachLauncherSays) {
  const Launched open_mpi = under({{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  EXPECT_EQ(open_mpi.processes, 8);
  EXPECT_EQ(open_mpi.rank, 3);
  EXPECT_EQ(under({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}}).processes, 4);
  EXPECT_EQ(under({{"SLURM_STEP_NUM_TASKS", "6"}, {"PMIX_RANK", "5"}}).rank, 5);
}

TEST(Launched, IgnoresWhatIsNoNumber) {
  EXPECT_EQ(under({{"OMPI_COMM_WORLD_SIZE", "many"}, {"OMPI_COMM_WORLD_RANK", "0"}}).processes, 1);
  EXPECT_EQ(under({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "2"}}).processes, 1);
  EXPECT_EQ(under({{"PMI_SIZE", "-2"}, {"PMI_RANK", "0"}}).processes, 1);
  EXPECT_EQ(under({{"PMI_SIZE", ""}, {"PMI_RANK", "0"}}).processes, 1);
}

}  // namespace
}  // namespace eignn
