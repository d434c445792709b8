#include "data/unzip.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>

#include <filesystem>

#include "data/atomic_file.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Names = std::vector<std::string>;

// An archive of files whose content is their name.
std::string archive_of(const TemporaryFolder& folder, const Names& names, mode_t mode = S_IFREG | 0644) {
  std::string path = folder.path("a.zip");
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const std::string& name : names) {
    zip_source_t* source = zip_source_buffer(archive, name.data(), name.size(), 0);
    const auto index = static_cast<zip_uint64_t>(zip_file_add(archive, name.c_str(), source, 0));
    zip_file_set_external_attributes(archive, index, 0, ZIP_OPSYS_UNIX,
                                     static_cast<zip_uint32_t>(mode) << 16U);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

struct Unzip : testing::Test {
  TemporaryFolder folder;
  std::string out = folder.path("out/inside");
  void SetUp() override { make_folders(out); }
  std::string refusal(const std::string& archive) const {
    std::string message = message_of<DataError>([&] { unpack_zip(archive, out); });
    EXPECT_CONTAINS(message, archive);
    return message;
  }
};

TEST_F(Unzip, WritesEveryFile) {
  EXPECT_EQ(unpack_zip(archive_of(folder, {"b", "c/d/e"}), out), (Names{"b", "c/d/e"}));
  EXPECT_EQ(read_whole_file(out + "/b"), "b");
  EXPECT_EQ(read_whole_file(out + "/c/d/e"), "c/d/e");
}

TEST_F(Unzip, LeavesOutAFolderAroundEverything) {
  EXPECT_EQ(unpack_zip(archive_of(folder, {"arxiv/raw/e", "arxiv/f", "__MACOSX/arxiv/f"}), out),
            (Names{"raw/e", "f"}));
  EXPECT_EQ(read_whole_file(out + "/raw/e"), "arxiv/raw/e");
}

TEST_F(Unzip, RefusesNamesThatLeadOutAndWritesNothing) {
  for (const char* name :
       {"../b", "a/../../b", "/tmp/eignn-b", "..", "a\\..\\b", "C:b", "a//b", "./b", "a\nb"}) {
    EXPECT_CONTAINS(refusal(archive_of(folder, {"good", name})), "leads out of the folder");
    EXPECT_TRUE(std::filesystem::is_empty(out)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("out/b")));
}

TEST_F(Unzip, RefusesLinksAndDevices) {
  for (const mode_t mode : {S_IFLNK, S_IFCHR, S_IFIFO})
    EXPECT_CONTAINS(refusal(archive_of(folder, {"good"}, mode | 0777)), "a link");
}

TEST_F(Unzip, RefusesTheSameNameTwice) {
  std::string bytes = read_whole_file(archive_of(folder, {"aa", "ab"}));
  for (size_t at = bytes.find("ab"); at != std::string::npos; at = bytes.find("ab")) bytes[at + 1] = 'a';
  // Both are called aa now; the sum of the second is wrong too, which is found first or later.
  refusal(folder.write("b.zip", bytes));
}

TEST_F(Unzip, RefusesAnArchiveThatClaimsToUnpackBeyondReason) {
  std::string bytes = read_whole_file(archive_of(folder, {"aa"}));
  bytes.replace(bytes.find("PK\x01\x02") + 24, 4, std::string("\0\0\0\x10", 4));
  EXPECT_CONTAINS(refusal(folder.write("b.zip", bytes)), "claim to unpack to 268435456");
}

TEST_F(Unzip, RefusesWhatIsNoArchive) {
  EXPECT_CONTAINS(refusal(folder.write("b.zip", "<html>not found</html>")), "not a zip archive");
  EXPECT_CONTAINS(refusal(folder.path("none.zip")), "No such file");
}

TEST_F(Unzip, SurvivesDamage) {
  const std::string bytes = read_whole_file(archive_of(folder, {"aa", "b/c"}));
  const auto read = [&](const std::string& damaged) {
    remove_folder(out);
    make_folders(out);
    unpack_zip(folder.write("b.zip", damaged), out);
  };
  expect_every_truncation_refused(bytes, read);
  survive_random_damage(bytes, 500, read);
}

}  // namespace
}  // namespace eignn
