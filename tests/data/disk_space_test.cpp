#include "data/disk_space.h"

#include <gtest/gtest.h>

#include "data/atomic_file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

constexpr double too_much = 1e18;

TEST(DiskSpace, IsAskedOfTheNearestFolderThatIsThere) {
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<ResourceError>([&] { require_space(folder.path(""), too_much); }),
                  "the run will write about 1000000000000.0 MB");
  EXPECT_THROW(require_space(folder.path("not/there/yet"), too_much), ResourceError);
  EXPECT_THROW(require_space_for_file(folder.path("not/there/yet/p.csv"), too_much, "it"), ResourceError);
  EXPECT_THROW(require_space_for_file("p.csv", too_much, "it"), ResourceError);
  EXPECT_NO_THROW(require_space(folder.path("not/there/yet"), 1));
  EXPECT_NO_THROW(require_space("", 1));
}

TEST(DiskSpace, IsNotAskedOfDevices) {
  EXPECT_NO_THROW(require_space_for_file("/dev/null", too_much, "it"));
  EXPECT_NO_THROW(require_space_for_file("", too_much, "it"));
}

TEST(DiskSpace, OfAFileThatIsThereIsThatOfItsFolder) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path("p.csv"), "old");
  EXPECT_THROW(require_space_for_file(folder.path("p.csv"), too_much, "it"), ResourceError);
  EXPECT_NO_THROW(require_space_for_file(folder.path("p.csv"), 1, "it"));
}

}  // namespace
}  // namespace eignn
