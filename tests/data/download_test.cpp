#include "data/download.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/atomic_file.h"
#include "data/sha256.h"
#include "support/http_server.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

std::string made_up_bytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * i + i / 251) % 256);
  return bytes;
}

class Download : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("http_proxy");  // nothing here leaves the machine
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
  }
  std::string get(const std::string& page, const std::string& sha256 = "") {
    DownloadOptions options;
    options.sha256 = sha256;
    options.silent_seconds = 1;
    return download(server.url(page), target, options);
  }
  std::string refusal(const std::string& page, const std::string& sha256 = "") {
    const std::string message = message_of([&] { get(page, sha256); });
    EXPECT_CONTAINS(message, server.url(page));
    EXPECT_FALSE(exists("")) << "a file although it failed";
    return message;
  }
  bool exists(const std::string& ending) const { return std::filesystem::exists(target + ending); }
  std::string last_request() { return server.requests().back(); }

  TemporaryFolder folder;
  std::string target = folder.path("file.bin");
  HttpServer server;
  const std::string bytes = made_up_bytes(300000);
};

TEST_F(Download, BringsAWholeFileAndItsSum) {
  server.put("/a", {bytes});
  EXPECT_EQ(get("/a", sha256_of(bytes)), sha256_of(bytes));
  EXPECT_EQ(read_whole_file(target), bytes);
  EXPECT_FALSE(exists(".part"));
  EXPECT_FALSE(exists(".part.version"));
}

TEST_F(Download, BringsAnEmptyFile) {
  server.put("/a", {""});
  EXPECT_EQ(get("/a"), sha256_of(""));
  EXPECT_EQ(read_whole_file(target), "");
}

TEST_F(Download, GoesOnWhereTheConnectionWasCut) {
  Page page = {bytes, "\"v1\""};
  page.cut_after = 100000;
  server.put("/a", page);
  EXPECT_CONTAINS(refusal("/a"), "goes on where it stopped");
  EXPECT_EQ(read_whole_file(target + ".part"), bytes.substr(0, 100000));
  page.cut_after = -1;
  server.put("/a", page);
  get("/a");
  EXPECT_CONTAINS(last_request(), "Range: bytes=100000-");
  EXPECT_CONTAINS(last_request(), "If-Range: \"v1\"");
  EXPECT_EQ(read_whole_file(target), bytes);
  EXPECT_FALSE(exists(".part.version"));
}

TEST_F(Download, GoesOnWithoutAVersionWhenTheSumIsKnown) {
  folder.write("file.bin.part", bytes.substr(0, 5));
  server.put("/a", {bytes});
  get("/a", sha256_of(bytes));
  EXPECT_CONTAINS(last_request(), "Range: bytes=5-");
  EXPECT_EQ(read_whole_file(target), bytes);
}

TEST_F(Download, BeginsAnewWhenNothingCouldTellThatThePartIsOfThisFile) {
  folder.write("file.bin.part", "something else");
  server.put("/a", {bytes});
  get("/a");
  EXPECT_EQ(last_request().find("Range"), std::string::npos);
  EXPECT_EQ(read_whole_file(target), bytes);
}

TEST_F(Download, BeginsAnewWhenTheServerHasAnotherVersion) {
  Page page = {bytes, "\"v1\""};
  page.cut_after = 1000;
  server.put("/a", page);
  refusal("/a");
  const std::string other = made_up_bytes(2000) + "other";
  server.put("/a", {other, "\"v2\""});
  get("/a");
  EXPECT_CONTAINS(last_request(), "If-Range: \"v1\"");
  EXPECT_EQ(read_whole_file(target), other);
}

TEST_F(Download, BeginsAnewWhenTheServerIgnoresRanges) {
  Page page = {bytes, "\"v1\""};
  page.ranges = false;
  page.cut_after = 1000;
  server.put("/a", page);
  refusal("/a");
  page.cut_after = -1;
  server.put("/a", page);
  get("/a");
  EXPECT_EQ(read_whole_file(target), bytes);
}

TEST_F(Download, BeginsAnewWhenTheServerSendsAnotherRange) {
  folder.write("file.bin.part", bytes.substr(0, 1000));
  Page page = {bytes};
  page.range_shift = 7;
  server.put("/a", page);
  get("/a", sha256_of(bytes));
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(read_whole_file(target), bytes);
}

TEST_F(Download, BeginsAnewWhenThePartIsAsLongAsTheFileOrLonger) {
  for (const std::string& part : {bytes, bytes + "more"}) {
    folder.write("file.bin.part", part);
    server.put("/a", {bytes});
    get("/a", sha256_of(bytes));
    EXPECT_EQ(read_whole_file(target), bytes);
  }
}

TEST_F(Download, RemovesAFileWithTheWrongSum) {
  server.put("/a", {"something else"});
  const std::string message = refusal("/a", sha256_of(bytes));
  EXPECT_CONTAINS(message, sha256_of(bytes));
  EXPECT_CONTAINS(message, sha256_of("something else"));
  EXPECT_FALSE(exists(".part"));
  EXPECT_FALSE(exists(".part.version"));
}

TEST_F(Download, NoticesACutThatTheServerDidNotAnnounce) {
  Page page = {bytes};
  page.states_length = false;
  page.cut_after = 1000;
  server.put("/a", page);
  EXPECT_CONTAINS(refusal("/a", sha256_of(bytes)), "SHA-256");
  page.cut_after = -1;
  server.put("/a", page);
  get("/a", sha256_of(bytes));
  EXPECT_EQ(read_whole_file(target), bytes);
}

TEST_F(Download, NamesTheServersRefusal) {
  EXPECT_CONTAINS(refusal("/none"), "the server answered 404");
  Page page;
  page.status = 503;
  page.body = "an error page that is no data";
  server.put("/a", page);
  EXPECT_CONTAINS(refusal("/a"), "answered 503");
  EXPECT_FALSE(exists(".part"));
}

TEST_F(Download, KeepsThePartWhenTheServerFails) {
  folder.write("file.bin.part", bytes.substr(0, 1000));
  Page page;
  page.status = 500;
  server.put("/a", page);
  refusal("/a", sha256_of(bytes));
  EXPECT_EQ(read_whole_file(target + ".part"), bytes.substr(0, 1000));
}

TEST_F(Download, FollowsRedirections) {
  Page page;
  page.redirect = server.url("/b");
  page.body = "moved";
  page.etag = "\"of the redirection\"";
  server.put("/a", page);
  server.put("/b", {bytes});
  get("/a");
  EXPECT_EQ(read_whole_file(target), bytes);
  page.redirect = server.url("/a");
  server.put("/a", page);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { get("/a"); }), "redirects");
}

TEST_F(Download, FollowsNoRedirectionToAFile) {
  Page page;
  page.redirect = "file:///etc/hostname";
  server.put("/a", page);
  EXPECT_CONTAINS(refusal("/a"), "cannot download");
}

TEST_F(Download, GivesUpOnASilentServer) {
  Page page = {bytes, "\"v1\""};
  page.cut_after = 1000;
  page.stalls = true;
  server.put("/a", page);
  EXPECT_CONTAINS(refusal("/a"), "broke off");
  EXPECT_TRUE(exists(".part"));
}

TEST_F(Download, SaysThatThereIsNoServer) {
  std::string nobody;
  {
    const HttpServer gone;
    nobody = gone.url("/a");
  }
  const std::string message = message_of<ResourceError>([&] { download(nobody, target, {}); });
  EXPECT_CONTAINS(message, nobody);
  EXPECT_CONTAINS(message, "check the network");
  EXPECT_FALSE(exists(".part"));
}

TEST_F(Download, SaysThatTheFolderCannotBeWrittenTo) {
  server.put("/a", {bytes});
  const std::string missing = folder.path("no/such/folder/file");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { download(server.url("/a"), missing, {}); }), missing);
  folder.write("file", "");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { download(server.url("/a"), folder.path("file/x"), {}); }),
                  "not a folder");
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Download, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::filesystem::create_symlink("/dev/full", target + ".part");
  server.put("/a", {bytes});
  EXPECT_CONTAINS(message_of<ResourceError>([&] { get("/a"); }), target);
}

TEST_F(Download, StopsWhenAskedToAndKeepsWhatArrived) {
  Page page = {bytes, "\"v1\""};
  page.cut_after = 1000;
  page.stalls = true;
  server.put("/a", page);
  DownloadOptions options;
  int64_t total = 0;
  options.progress = [&](int64_t done, int64_t all) {
    total = all;
    return done < 1000;
  };
  EXPECT_THROW(download(server.url("/a"), target, options), DownloadStopped);
  EXPECT_EQ(total, 300000);
  EXPECT_EQ(read_whole_file(target + ".part"), bytes.substr(0, 1000));
  EXPECT_FALSE(exists(""));
}

}  // namespace
}  // namespace eignn
