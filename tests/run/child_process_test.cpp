#include "run/child_process.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

TEST(RunChild, GivesInputAndTakesOutputLargerThanAPipe) {
  // cat writes while it reads: whoever writes all of the input first never comes back.
  std::string input;
  while (input.size() < (size_t{8} << 20)) input += "0123456789abcdef";
  const ChildResult result = run_child({"cat"}, input);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.output == input);
}

TEST(RunChild, TellsExitCodesSignalsAndMissingPrograms) {
  EXPECT_EQ(run_child({"sh", "-c", "exit 3"}).exit_code, 3);
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}).exit_code, 128 + 9);
  EXPECT_EQ(run_child({"no-such-program-of-ours"}).exit_code, 127);
  EXPECT_THROW(run_child({}), ArgumentError);
}

TEST(RunChild, SendsTheSignalThatItIsTold) {
  const std::string script =
      "for s in INT TERM HUP; do trap \"echo $s; exit 5\" $s; done; while :; do sleep 0.05; done";
  for (const auto& [signal, name] : {std::pair(SIGINT, "INT\n"), {SIGTERM, "TERM\n"}, {SIGHUP, "HUP\n"}}) {
    int asked = 0;  // not before the traps are set
    const auto stop = [&, number = signal] { return ++asked < 5 ? 0 : number; };
    const ChildResult result = run_child({"sh", "-c", script}, "", "", stop);
    EXPECT_EQ(result.output, name);
    EXPECT_EQ(result.exit_code, 5);
  }
}

TEST(RunChild, AChildThatReadsNoInputIsNoError) {
  const std::string input(size_t{1} << 20, 'x');
  EXPECT_EQ(run_child({"sh", "-c", "exec 0<&-; echo done"}, input).output, "done\n");
}

TEST(RunChild, PutsStandardErrorIntoAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.path("errors");
  EXPECT_EQ(run_child({"sh", "-c", "echo out; echo wrong >&2"}, "", file).output, "out\n");
  EXPECT_EQ(read_whole_file(file), "wrong\n");
  EXPECT_THROW(run_child({"true"}, "", folder.path("none/errors")), ResourceError);
}

int open_descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(RunChild, LeavesNoDescriptorOpenAndGivesAChildThreeAlone) {
  const TemporaryFolder folder;
  const int before = open_descriptors();
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(run_child({"true"}, "x", folder.path("errors")).exit_code, 0);
    EXPECT_ANY_THROW(run_child({"true"}, "", folder.path("none/errors")));
  }
  EXPECT_EQ(open_descriptors(), before);
  // Started side by side, a child has no more pipes than one that is started alone.
  const auto pipes_of_a_child = [] {
    const std::string list = run_child({"sh", "-c", "sleep 0.05; ls -l /proc/self/fd"}).output;
    int pipes = 0;
    for (size_t at = list.find("pipe:["); at != std::string::npos; at = list.find("pipe:[", at + 1)) ++pipes;
    return pipes;
  };
  const int alone = pipes_of_a_child();
  std::vector<std::thread> others;
  std::vector<int> pipes(8);
  for (int& count : pipes) others.emplace_back([&] { count = pipes_of_a_child(); });
  for (auto& thread : others) thread.join();
  for (const int count : pipes) EXPECT_EQ(count, alone);
}

}  // namespace
}  // namespace eignn
