#include "data/folder_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "data/atomic_file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

TEST(FolderLock, NamesItsHolderAndGoesWithIt) {
  const TemporaryFolder folder;
  {
    const FolderLock lock(folder.path(""));
    const std::string message = message_of<ResourceError>([&] { FolderLock second(folder.path("")); });
    EXPECT_CONTAINS(message, "process " + std::to_string(getpid()) + " on ");
    EXPECT_CONTAINS(message, "is writing into this folder");
  }
  EXPECT_TRUE(names_in_folder(folder.path("")).empty());
  EXPECT_NO_THROW(FolderLock(folder.path("")));
}

TEST(FolderLock, MovesWithItsHolder) {
  const TemporaryFolder folder;
  std::optional<FolderLock> kept;
  {
    FolderLock lock(folder.path(""));
    kept.emplace(std::move(lock));
  }
  EXPECT_THROW(FolderLock(folder.path("")), ResourceError);
  kept.reset();
  EXPECT_NO_THROW(FolderLock(folder.path("")));
}

TEST(FolderLock, TwoNamesAreTwoLocks) {
  const TemporaryFolder folder;
  const FolderLock one(folder.path(""), ".one.lock"), two(folder.path(""), ".two.lock");
  EXPECT_THROW(FolderLock(folder.path(""), ".one.lock"), ResourceError);
}

}  // namespace
}  // namespace eignn
