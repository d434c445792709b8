#include "data/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "eignn/error.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

size_t files_in(const std::string& folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists() ? 1 : 0;
  return count;
}

TEST(AtomicFile, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::string content("a\0b\r\n", 5);
  write_file_atomically(folder.path("file"), content);
  EXPECT_EQ(read_whole_file(folder.path("file")), content);
  write_file_atomically(folder.path("file"), "");
  EXPECT_EQ(read_whole_file(folder.path("file")), "");
  EXPECT_EQ(files_in(folder.path("")), 1U);
}

TEST(AtomicFile, LeavesTheOldFileWithoutCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  {
    AtomicFile file(path);
    file.write("new", 3);
  }
  EXPECT_EQ(read_whole_file(path), "old");
  EXPECT_EQ(files_in(folder.path("")), 1U);
}

TEST(AtomicFile, KeepsTheModeOfTheFileItReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  write_file_atomically(path, "new");
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(AtomicFile, WritesThroughALink) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  std::filesystem::create_symlink("file", folder.path("link"));
  write_file_atomically(folder.path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_whole_file(path), "new");
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotMeet) {
  const TemporaryFolder folder;
  AtomicFile first(folder.path("file"));
  AtomicFile second(folder.path("file"));
  first.write("first", 5);
  second.write("second", 6);
  second.commit();
  first.commit();
  EXPECT_EQ(read_whole_file(folder.path("file")), "first");
}

TEST(ReadWholeFile, EndsAtALimitWhereThereIsNoEnd) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero here";
  EXPECT_CONTAINS(message_of([] { read_whole_file("/dev/zero"); }), "/dev/zero");
  EXPECT_CONTAINS(message_of<DataError>([] { read_small_file("/dev/zero"); }), "more than 64 MB");
  EXPECT_CONTAINS(message_of<DataError>([] { require_end(longest_stream + 1, "a pipe"); }), "2048 MB");
  EXPECT_NO_THROW(require_end(longest_stream, "a pipe"));
}

TEST(AtomicFile, RemovesWhatAWriterThatDiedHasLeft) {
  const TemporaryFolder folder;
  // Process 1 lives, and so may any number in another container: the lock tells, not the number.
  for (const char* name : {"a.csv.tmp-1-0", "a.csv.tmp-999999999-7"}) folder.write(name, "half");
  write_file_atomically(folder.path("a.csv"), "whole");
  EXPECT_EQ(names_in_folder(folder.path("")), std::vector<std::string>{"a.csv"});
  folder.write("b.csv.tmp-1-0", "half");
  remove_temporaries(folder.path(""));
  EXPECT_EQ(names_in_folder(folder.path("")), std::vector<std::string>{"a.csv"});
}

TEST(AtomicFile, LeavesATemporaryThatIsBeingWritten) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path("a.csv"));
  file.write("1", 1);
  remove_temporaries(folder.path(""));
  write_file_atomically(folder.path("a.csv"), "another");
  file.write("2", 1);
  file.commit();
  EXPECT_EQ(read_whole_file(folder.path("a.csv")), "12");
}

TEST(AtomicFile, LeavesWhatOnlyLooksLikeATemporary) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("backup.tmp-2023-11/deep"));
  folder.write("backup.tmp-2023-11/deep/mine", "dear to me");
  std::filesystem::create_directory(folder.path("a.csv.tmp-1-0"));
  for (const char* name : {"backup.tmp-2023-12", "a.csv.tmp-2023-11-05", "a.csv.tmp-2023-11.bak",
                           "a.csv.tmp-2023", "a.csv.tmp--1", "a.csv.tmp-1-", ".tmp-1-1", "tmp-1-1"})
    folder.write(name, "dear to me");
  std::filesystem::create_symlink(folder.path("backup.tmp-2023-11/deep/mine"), folder.path("b.csv.tmp-1-0"));
  const auto before = names_in_folder(folder.path(""));
  remove_temporaries(folder.path(""));
  EXPECT_EQ(names_in_folder(folder.path("")), before);
  write_file_atomically(folder.path("a.csv"), "whole");
  EXPECT_EQ(names_in_folder(folder.path("")).size(), before.size() + 1);
  EXPECT_EQ(read_whole_file(folder.path("backup.tmp-2023-11/deep/mine")), "dear to me");
}

TEST(AtomicFile, ReportsAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string small = message_of<ResourceError>([] { write_file_atomically("/dev/full", "x"); });
  EXPECT_CONTAINS(small, "No space left on device (/dev/full)");
  EXPECT_CONTAINS(small, "free some space");
  const std::string large(1 << 20, 'x');
  EXPECT_CONTAINS(message_of<ResourceError>([&] { write_file_atomically("/dev/full", large); }),
                  "No space left");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full")) << "the device must stay";
}

TEST(AtomicFile, NamesTheFolderThatIsMissing) {
  const TemporaryFolder folder;
  const std::string path = folder.path("missing/file");
  const std::string message = message_of<ResourceError>([&] { AtomicFile file(path); });
  EXPECT_CONTAINS(message, path);
  EXPECT_CONTAINS(message, "folder exists");
}

TEST(AtomicFile, RefusesAFolderAndAPathBelowAFile) {
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFile file(folder.path("")); }), "not of a folder");
  const std::string below = folder.write("file", "x") + "/below";
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFile file(below); }), below);
  EXPECT_CONTAINS(message_of<DataError>([&] { read_whole_file(below); }), below);
}

TEST(AtomicFile, RefusesAFolderWithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("locked"));
  ASSERT_EQ(chmod(folder.path("locked").c_str(), 0500), 0);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFile file(folder.path("locked/file")); }),
                  "permission");
}

TEST(AtomicFile, RefusesAWriteProtectedFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFile file(path); }), "permission");
}

TEST(AtomicFile, RemovesTheTemporaryWhenTheRenameFails) {
  const TemporaryFolder folder;
  const std::string path = folder.path("file");
  AtomicFile file(path);
  std::filesystem::create_directory(path);  // a folder takes the name meanwhile
  EXPECT_CONTAINS(message_of<ResourceError>([&] { file.commit(); }), path);
}

TEST(AtomicFolder, AppearsAtTheCommitWithItsFiles) {
  const TemporaryFolder outer;
  const std::string path = outer.path("set");
  AtomicFolder folder(path + "/");
  write_file_atomically(folder.path("b"), "2");
  write_file_atomically(folder.path("a"), "1");
  EXPECT_FALSE(std::filesystem::exists(path));
  folder.commit();
  EXPECT_EQ(names_in_folder(path), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names_in_folder(outer.path("")), std::vector<std::string>{"set"});
}

TEST(AtomicFolder, LeavesNothingWithoutTheCommit) {
  const TemporaryFolder outer;
  {
    const AtomicFolder folder(outer.path("set"));
    write_file_atomically(folder.path("a"), "1");
  }
  EXPECT_TRUE(names_in_folder(outer.path("")).empty());
}

TEST(AtomicFolder, RemovesAnAbandonedOneAndNoOther) {
  const TemporaryFolder outer;
  for (const char* name : {"set.tmp-1-0", "set.tmp-2023-11"}) {
    std::filesystem::create_directory(outer.path(name));
    outer.write(std::string(name) + "/a", "1");
  }
  outer.write("set.tmp-1-0/.writing", "");
  AtomicFolder first(outer.path("set"));
  write_file_atomically(first.path("a"), "first");
  AtomicFolder second(outer.path("set"));  // which leaves the first alone
  first.commit();
  EXPECT_EQ(names_in_folder(outer.path("set")), std::vector<std::string>{"a"});
  EXPECT_FALSE(std::filesystem::exists(outer.path("set.tmp-1-0")));
  EXPECT_TRUE(std::filesystem::exists(outer.path("set.tmp-2023-11/a"))) << "that is not ours";
}

TEST(AtomicFolder, RefusesWhatExistsAndWhereItCannotWrite) {
  const TemporaryFolder outer;
  const std::string file = outer.write("file", "old");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFolder folder(file); }),
                  "File exists (" + file + "); choose another");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFolder folder(outer.path("")); }), "File exists");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { AtomicFolder folder(outer.path("none/set")); }),
                  "No such file");
  EXPECT_CONTAINS(message_of<DataError>([&] { names_in_folder(file); }), "Not a directory (" + file);
}

TEST(ReadWholeFile, TellsMissingFromFolder) {
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<DataError>([&] { read_whole_file(folder.path("none")); }), "No such file");
  EXPECT_CONTAINS(message_of<DataError>([&] { read_whole_file(folder.path("")); }), "not of a folder");
}

TEST(ReadWholeFile, ReadsWhatHasNoSize) {
  EXPECT_CONTAINS(read_whole_file("/proc/self/status"), "Pid:");
}

}  // namespace
}  // namespace eignn
