#include "data/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

constexpr uint64_t unknown = std::numeric_limits<uint64_t>::max();

void make_group(const TemporaryFolder& root, const std::string& group, const std::string& most,
                const std::string& used, const std::string& stat) {
  std::filesystem::create_directories(root.path(group));
  root.write(group + "/memory.max", most + "\n");
  root.write(group + "/memory.current", used + "\n");
  root.write(group + "/memory.stat", stat);
}

TEST(MemoryLimit, FollowsTheProcessesOwnGroup) {
  const TemporaryFolder root;
  make_group(root, "job/step", "1000", "400", "anon 300\n");
  EXPECT_EQ(free_in_groups("0::/job/step\n", root.path("")), 600u);
  EXPECT_EQ(free_in_groups("0::/other\n", root.path("")), unknown);
  EXPECT_EQ(free_in_groups("", root.path("")), unknown);
}

TEST(MemoryLimit, TheLeastOfTheGroupsAboveHolds) {
  const TemporaryFolder root;
  make_group(root, "job", "1000", "900", "anon 900\n");
  make_group(root, "job/step", "max", "400", "anon 400\n");
  EXPECT_EQ(free_in_groups("0::/job/step\n", root.path("")), 100u);
}

TEST(MemoryLimit, PagesThatTheSystemKeepsOfFilesAreFree) {
  const TemporaryFolder root;
  make_group(root, "job", "1000", "950", "anon 150\nfile 800\ninactive_file 500\nactive_file 300\n");
  EXPECT_EQ(free_in_groups("0::/job\n", root.path("")), 850u);
}

TEST(MemoryLimit, AContainerSeesItsGroupAsTheRoot) {
  const TemporaryFolder root;
  make_group(root, ".", "1000", "400", "");
  EXPECT_EQ(free_in_groups("0::/docker/0123abcd\n", root.path("")), 600u);
}

TEST(MemoryLimit, ReadsGroupsOfTheFirstVersion) {
  const TemporaryFolder root;
  std::filesystem::create_directories(root.path("memory/job"));
  root.write("memory/job/memory.limit_in_bytes", "1000\n");
  root.write("memory/job/memory.usage_in_bytes", "700\n");
  root.write("memory/job/memory.stat",
             "inactive_file 1\nactive_file 1\ntotal_inactive_file 100\ntotal_active_file 50\n");
  EXPECT_EQ(free_in_groups("5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n", root.path("")), 450u);
}

TEST(MemoryLimit, FollowsTheLimitOfTheAddressSpace) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr uint64_t room = uint64_t{64} << 20U;
  rlimit narrow = before;
  narrow.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + room;
  if (narrow.rlim_cur > before.rlim_max) GTEST_SKIP() << "the limit is lower already";
  ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
  const uint64_t limit = memory_limit();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LE(limit, room / 2);
  EXPECT_GT(limit, 0u);
}

TEST(MemoryLimit, AmountsAreWrittenAsPeopleDo) {
  EXPECT_EQ(bytes_of("8G"), uint64_t{8} << 30U);
  EXPECT_EQ(bytes_of("1.5M"), uint64_t{3} << 19U);
  EXPECT_EQ(bytes_of("64K"), uint64_t{1} << 16U);
  EXPECT_EQ(bytes_of("12345"), 12345U);
  for (const char* text : {"", "G", "8T", "8GB", "-1G", "0", "0.1", "nan", "inf", "1e30", "8 G"})
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { bytes_of(text); }), "no amount of memory");
  EXPECT_EQ(bytes_in_words(uint64_t{3} << 29U), "1.5G");
  EXPECT_EQ(bytes_in_words(uint64_t{500} << 20U), "500M");
  EXPECT_EQ(bytes_in_words(1000), "1000 bytes");
}

TEST(MemoryLimit, RefusesByTheName) {
  EXPECT_CONTAINS(message_of<ResourceError>([] { require_memory(uint64_t{1} << 60U, "a.npz"); }), "a.npz");
  EXPECT_NO_THROW(require_memory(1, "a.npz"));
}

}  // namespace
}  // namespace eignn
