#include "data/fetch_set.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

TEST(OnMirror, ReplacesSchemeAndHost) {
  EXPECT_EQ(on_mirror("https://host/a/b.zip", "http://other:8000/x/"), "http://other:8000/x/a/b.zip");
  EXPECT_EQ(on_mirror("https://host/a", "http://other"), "http://other/a");
  EXPECT_EQ(on_mirror("https://host/a", ""), "https://host/a");
}

}  // namespace
}  // namespace eignn

#ifdef EIGNN_HAVE_CURL

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <zip.h>

#include "data/atomic_file.h"
#include "data/download.h"
#include "data/sha256.h"
#include "support/http_server.h"

namespace eignn {
namespace {

std::string zip_of(const std::vector<std::string>& names) {
  const TemporaryFolder folder;
  zip_t* archive = zip_open(folder.path("a").c_str(), ZIP_CREATE, nullptr);
  for (const std::string& name : names)
    zip_file_add(archive, name.c_str(), zip_source_buffer(archive, name.data(), name.size(), 0), 0);
  EXPECT_EQ(zip_close(archive), 0);
  return read_whole_file(folder.path("a"));
}

class FetchSet : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("http_proxy");
    two.name = "two";
    two.files = {{server.url("/x/a.txt"), "a.txt", sha256_of("first"), 5},
                 {server.url("/x/b.txt"), "deep/b.txt", sha256_of("second"), 6}};
    two.needs = {"a.txt", "deep/b.txt"};
    server.put("/x/a.txt", {"first"});
    server.put("/x/b.txt", {"second"});
    packed.name = "packed";
    packed.files = {{server.url("/p.zip"), "p.zip", "", -1}};
    packed.archive = true;
    packed.needs = {"raw/edges"};
    options.folder = folder.path("data");
  }
  std::string refusal(const NamedSet& set) {
    std::string message = message_of([&] { fetch_set(set, options); });
    EXPECT_FALSE(find_in_folder(set, options.folder)) << "a set although it failed";
    return message;
  }

  TemporaryFolder folder;
  HttpServer server;
  NamedSet two, packed;
  FetchOptions options;
};

TEST_F(FetchSet, BringsAllFilesAndTheirSums) {
  int64_t most = 0;
  options.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, 11);
    most = std::max(most, done);
    return true;
  };
  const Fetched fetched = fetch_set(two, options);
  EXPECT_EQ(fetched.path, folder.path("data/two"));
  EXPECT_TRUE(fetched.downloaded);
  EXPECT_EQ(fetched.files, 2);
  EXPECT_FALSE(fetched.sums_recorded);
  EXPECT_EQ(most, 11);
  EXPECT_EQ(read_whole_file(folder.path("data/two/deep/b.txt")), "second");
  EXPECT_FALSE(std::filesystem::exists(folder.path("data/two.part")));
  EXPECT_CONTAINS(read_whole_file(folder.path("data/two/SHA256SUMS")),
                  sha256_of("second") + "  deep/b.txt\n");
}

TEST_F(FetchSet, ChecksASetThatIsThere) {
  fetch_set(two, options);
  const size_t before = server.requests().size();
  const Fetched again = fetch_set(two, options);
  EXPECT_FALSE(again.downloaded);
  EXPECT_EQ(again.files, 2);
  EXPECT_EQ(server.requests().size(), before);
  folder.write("data/two/a.txt", "forged");
  const std::string message = message_of([&] { fetch_set(two, options); });
  EXPECT_CONTAINS(message, "data/two/a.txt");
  EXPECT_CONTAINS(message, sha256_of("forged"));
}

TEST_F(FetchSet, GoesOnAfterAFailureWithoutAskingForWholeFilesAgain) {
  server.put("/x/b.txt", {"forged"});
  EXPECT_CONTAINS(refusal(two), server.url("/x/b.txt"));
  server.put("/x/b.txt", {"second"});
  server.put("/x/a.txt", {"must not be asked for"});
  EXPECT_EQ(fetch_set(two, options).files, 2);
  EXPECT_EQ(read_whole_file(folder.path("data/two/a.txt")), "first");
}

TEST_F(FetchSet, BringsAFileOfTheUnfinishedSetAgainWhenItsSumIsWrong) {
  make_folders(folder.path("data/two.part"));
  folder.write("data/two.part/a.txt", "forged");
  fetch_set(two, options);
  EXPECT_EQ(read_whole_file(folder.path("data/two/a.txt")), "first");
}

TEST_F(FetchSet, LeavesNoSetBehindWhenAFileIsMissing) {
  two.files[1].url = server.url("/none");
  EXPECT_CONTAINS(refusal(two), "404");
  EXPECT_FALSE(std::filesystem::exists(folder.path("data/two")));
}

TEST_F(FetchSet, LeavesNoSetBehindWhenStopped) {
  options.progress = [](int64_t done, int64_t) { return done < 6; };
  EXPECT_THROW(fetch_set(two, options), DownloadStopped);
  EXPECT_FALSE(std::filesystem::exists(folder.path("data/two")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("data/two.part/a.txt")));
}

TEST_F(FetchSet, AsksTheMirror) {
  two.files[0].url = "https://host.invalid/x/a.txt";
  two.files[1].url = "https://another.invalid/x/b.txt";
  options.mirror = server.url("");
  EXPECT_EQ(fetch_set(two, options).files, 2);
}

TEST_F(FetchSet, UnpacksAnArchiveAndRecordsSumsThatWereNotKnown) {
  server.put("/p.zip", {zip_of({"p/raw/edges", "p/readme"})});
  const Fetched fetched = fetch_set(packed, options);
  EXPECT_TRUE(fetched.sums_recorded);
  EXPECT_EQ(fetched.files, 2);
  EXPECT_EQ(read_whole_file(folder.path("data/packed/raw/edges")), "p/raw/edges");
  EXPECT_FALSE(std::filesystem::exists(folder.path("data/packed/p.zip")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("data/packed.part")));
  EXPECT_EQ(fetch_set(packed, options).files, 2) << "checked against the record";
  folder.write("data/packed/readme", "forged");
  EXPECT_CONTAINS(message_of([&] { fetch_set(packed, options); }), "data/packed/readme");
}

TEST_F(FetchSet, DropsAnArchiveThatIsDamagedHostileOrLacksAFile) {
  for (const std::string& bytes :
       {std::string("<html>login first</html>"), zip_of({"raw/edges", "../evil"}), zip_of({"readme"})}) {
    server.put("/p.zip", {bytes});
    EXPECT_CONTAINS(refusal(packed), "p.zip");
    EXPECT_FALSE(std::filesystem::exists(folder.path("data/packed.part/p.zip")));
    EXPECT_FALSE(std::filesystem::exists(folder.path("data/evil")));
  }
  server.put("/p.zip", {zip_of({"raw/edges", "readme"})});
  EXPECT_EQ(fetch_set(packed, options).files, 2);
}

TEST_F(FetchSet, TakesACopyElsewhereInTheFolderAsItIs) {
  two.elsewhere = {"published/two"};
  make_folders(folder.path("data/published/two/deep"));
  folder.write("data/published/two/a.txt", "anything");
  folder.write("data/published/two/deep/b.txt", "anything");
  EXPECT_EQ(fetch_set(two, options).path, folder.path("data/published/two"));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(FetchSet, DoesNotReplaceWhatIsInTheWay) {
  make_folders(folder.path("data/two"));
  folder.write("data/two/mine.txt", "dear to me");
  EXPECT_CONTAINS(refusal(two), "data/two); move it away");
  EXPECT_EQ(read_whole_file(folder.path("data/two/mine.txt")), "dear to me");
}

TEST_F(FetchSet, SaysThatTheFolderCannotBeMade) {
  options.folder = folder.write("file", "") + "/data";
  EXPECT_CONTAINS(refusal(two), "cannot make the folder");
}

TEST_F(FetchSet, LeavesAnotherDownloadOfTheSetAlone) {
  make_folders(folder.path("data/two.part"));
  const int other = open(folder.path("data/two.part").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_CONTAINS(refusal(two), "another download");
  close(other);
  EXPECT_EQ(fetch_set(two, options).files, 2);
}

}  // namespace
}  // namespace eignn

#else  // without libcurl

namespace eignn {
namespace {

TEST(FetchSet, SaysThatThisBuildCannotDownload) {
  const std::string message = message_of([] { fetch_set(*named_set("texas"), {"/data", "", {}}); });
  EXPECT_CONTAINS(message, "libcurl");
  EXPECT_CONTAINS(message, "/data/texas");
}

}  // namespace
}  // namespace eignn

#endif
