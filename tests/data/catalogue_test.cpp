#include "data/catalogue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "data/cache_folder.h"
#include "data/compact.h"
#include "eignn/error.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

// The environment of one test: no data folder and an empty cache; restored at its end.
class CatalogueTest : public testing::Test {
 protected:
  void SetUp() override {
    set("EIGNN_CACHE", folder.path("cache"));
    set("EIGNN_DATA", "");
  }
  void TearDown() override {
    for (auto old = before.rbegin(); old != before.rend(); ++old)
      setenv(old->first.c_str(), old->second.c_str(), 1);
  }
  void set(const char* variable, const std::string& value) {
    before.emplace_back(variable, environment(variable));
    setenv(variable, value.c_str(), 1);
  }
  // Makes an empty file and the folders above it.
  std::string touch(const std::string& file) const {
    std::filesystem::create_directories(std::filesystem::path(folder.path(file)).parent_path());
    return folder.write(file, "");
  }
  void touch_needs(const std::string& name, const std::string& at) const {
    for (const std::string& file : named_set(name)->needs) touch(at + "/" + file);
  }

  TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> before;
};

TEST(Catalogue, EverySetIsWholeAndItsSumsAreWellFormed) {
  std::set<std::string> names;
  for (const NamedSet& set : catalogue()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name << " twice";
    EXPECT_FALSE(set.description.empty()) << set.name;
    EXPECT_FALSE(set.needs.empty()) << set.name;
    EXPECT_TRUE(!set.archive || set.files.size() == 1) << set.name;
    std::set<std::string> paths;
    for (const RemoteFile& file : set.files) {
      EXPECT_EQ(file.url.rfind("https://", 0), 0U) << file.url;
      EXPECT_TRUE(paths.insert(file.path).second) << file.path << " twice in " << set.name;
      EXPECT_EQ(file.sha256.empty(), file.size < 0) << file.url;
      if (file.sha256.empty()) continue;
      EXPECT_EQ(file.sha256.size(), 64U) << file.url;
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos) << file.url;
    }
    for (const std::string& file : set.needs)
      EXPECT_TRUE(set.archive || paths.count(file) == 1)
          << file << " of " << set.name << " is not downloaded";
  }
  EXPECT_EQ(names.count("film"), 1U);
  EXPECT_EQ(named_set("film")->files.size(), 12U);
  EXPECT_EQ(named_set("nothing"), nullptr);
}

TEST_F(CatalogueTest, FindsASetInTheCacheWhereFetchPutsIt) {
  EXPECT_FALSE(find_named_set("texas"));
  touch_needs("texas", "cache/data/texas");
  EXPECT_EQ(find_named_set("texas"), folder.path("cache/data/texas"));
  touch_needs("squirrel-filtered", "cache/data/squirrel-filtered");
  EXPECT_EQ(find_named_set("squirrel-filtered"),
            folder.path("cache/data/squirrel-filtered/squirrel_filtered.npz"));
}

TEST_F(CatalogueTest, LooksIntoTheFoldersOfTheUserFirstAndInTheirOrder) {
  touch_needs("texas", "cache/data/texas");
  touch_needs("texas", "b/geom_gcn/new_data/texas");
  set("EIGNN_DATA", folder.path("a") + "::" + folder.path("b"));
  EXPECT_EQ(find_named_set("texas"), folder.path("b/geom_gcn/new_data/texas"));
  touch_needs("texas", "a/texas");
  EXPECT_EQ(find_named_set("texas"), folder.path("a/texas"));
}

TEST_F(CatalogueTest, DoesNotTakeTheTrueCornellForThePublishedOne) {
  set("EIGNN_DATA", folder.path("a") + ":" + folder.path("a/heterophilous_npz"));
  const std::string file = touch("a/heterophilous_npz/cornell.npz");
  EXPECT_FALSE(find_named_set("cornell"));
  EXPECT_EQ(find_named_set("cornell-true"), file);
  touch_needs("cornell", "a/geom_gcn/new_data/cornell");
  EXPECT_EQ(find_named_set("cornell"), folder.path("a/geom_gcn/new_data/cornell"));
}

TEST_F(CatalogueTest, FindsASingleFileUnderTheNameOfTheSet) {
  set("EIGNN_DATA", folder.path("a"));
  const std::string file = touch("a/amazon-photo.npz");
  EXPECT_EQ(find_named_set("amazon-photo"), file);
}

TEST_F(CatalogueTest, PassesOverAFolderThatLacksAFile) {
  touch("cache/data/texas/out1_graph_edges.txt");
  EXPECT_FALSE(find_named_set("texas"));
  std::filesystem::create_directories(folder.path("cache/data/ppi"));
  EXPECT_FALSE(find_named_set("ppi"));
  touch("cache/data/film");
  EXPECT_FALSE(find_named_set("film")) << "a file is no copy of a set of many files";
}

TEST_F(CatalogueTest, SaysHowToGetASetThatIsNotHere) {
  set("EIGNN_DATA", folder.path("a"));
  EXPECT_EQ(message_of<DataError>([] { require_named_set("cornell"); }),
            "the data set cornell is not here (looked in " + folder.path("a") + ", " +
                folder.path("cache/data") + "); run: eignn fetch cornell");
  touch_needs("cornell", "a/cornell");
  EXPECT_EQ(require_named_set("cornell"), folder.path("a/cornell"));
}

TEST_F(CatalogueTest, SuggestsTheNearestName) {
  const std::string message = message_of<ArgumentError>([] { require_named_set("chameleon-filterd"); });
  EXPECT_CONTAINS(message, "did you mean chameleon-filtered?");
  EXPECT_CONTAINS(message, "(dataset)");
}

TEST_F(CatalogueTest, KeepsTheCacheWhereTheEnvironmentSays) {
  EXPECT_EQ(cache_folder(), folder.path("cache"));
  set("EIGNN_CACHE", "");
  set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(cache_folder(), "/x/eignn");
  set("XDG_CACHE_HOME", "");
  set("HOME", "/home/u");
  EXPECT_EQ(download_folder(), "/home/u/.cache/eignn/data");
  set("HOME", "");
  EXPECT_NE(cache_folder(), "/.cache/eignn");
}

// A set that can be read, of two nodes.
RawDataset tiny() {
  RawDataset set;
  set.arcs = {2, {0}, {1}};
  set.features = array_of({2, 1}, std::vector<float>{1, 2});
  set.labels = {0, 1};
  set.classes = 2;
  return set;
}

TEST_F(CatalogueTest, ConvertedFoldersAreCopiesUnderTheirName) {
  set("EIGNN_DATA", folder.path("a"));
  std::filesystem::create_directories(folder.path("a"));
  write_compact(tiny(), folder.path("a/cornell"));
  EXPECT_EQ(find_named_set("cornell"), folder.path("a/cornell"));
}

#ifdef EIGNN_HAVE_LIBZIP
TEST_F(CatalogueTest, AnArchiveNamedAsAPublishedSetIsAnotherCollections) {
  set("EIGNN_DATA", folder.path("a"));
  std::filesystem::create_directories(folder.path("a"));
  write_compact(tiny(), folder.path("a/cornell.npz"));
  EXPECT_EQ(find_named_set("cornell"), std::nullopt);
}
#endif

}  // namespace
}  // namespace eignn
