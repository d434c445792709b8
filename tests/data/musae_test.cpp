#include "data/readers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;

class Musae : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("musae_git_edges.csv", "id_1,id_2\n0,2\n1,1\n2,0\n");
    folder_.write("musae_git_target.csv", "id,name,ml_target\n0,ann,1\n2,bob,0\n1,cy,1\n");
    folder_.write("musae_git_features.json", R"({"0": [3, 1], "1": [], "2": [0, 0]})");
  }
  void write_edges(const std::string& text) { folder_.write("musae_git_edges.csv", text); }
  void write_target(const std::string& text) { folder_.write("musae_git_target.csv", text); }
  void write_features(const std::string& text) { folder_.write("musae_git_features.json", text); }

  RawDataset read() { return musae_reader.read(folder_.path("")); }
  std::string refusal() {
    return message_of<DataError>([&] { read(); });
  }

  TemporaryFolder folder_;
};

TEST_F(Musae, ReadsTheThreeFiles) {
  const auto set = read();
  EXPECT_EQ(set.name, "musae_git");
  EXPECT_EQ(set.nodes(), 3);
  EXPECT_EQ(set.arcs.source, (Ids{0, 1, 2}));
  EXPECT_EQ(set.arcs.target, (Ids{2, 1, 0}));
  EXPECT_EQ(set.labels, (Ids{1, 1, 0}));
  EXPECT_EQ(set.classes, 2);
  EXPECT_EQ(set.features.type, ElementType::uint8);
  EXPECT_EQ(set.features.shape, (Ids{3, 4}));
  EXPECT_EQ(set.features.bytes, (std::vector<unsigned char>{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_TRUE(set.splits.empty());
}

TEST_F(Musae, ReadsTwitch) {
  write_edges("from,to\r\n0,2\r\n1,1");
  write_target(
      "id,days,mature,views,partner,new_id\r\n73045350,1459,False,9528,False,2\r\n61573865,1629,True,3615,"
      "True,0\r\n"
      "171688129,411,True,46546,False,1");
  const auto set = read();
  EXPECT_EQ(set.labels, (Ids{1, 1, 0}));
  EXPECT_EQ(set.arcs.target, (Ids{2, 1}));
  write_target("id,mature,new_id\n5,False,0\n6,yes,1\n7,True,2\n");
  EXPECT_CONTAINS(refusal(), "'yes' is neither True nor False");
  EXPECT_CONTAINS(refusal(), "musae_git_target.csv, line 3, column 'mature'");
}

TEST_F(Musae, NumbersTextsInAlphabeticalOrder) {
  write_target(
      "id,facebook_id,page_name,page_type\n0,145647,\"The Voice, of "
      "\"\"X\"\"\",tvshow\n1,19148,Cirque,company\n"
      "2,31237,\"A\nB\",politician\n");
  const auto set = read();
  EXPECT_EQ(set.labels, (Ids{2, 0, 1}));
  EXPECT_EQ(set.classes, 3);
}

TEST_F(Musae, LooksPastBlanksAroundLabels) {
  write_target("id, target\n0, 1\n1, 0\n2, 2\n");
  EXPECT_EQ(read().labels, (Ids{1, 0, 2}));
  write_target("id,mature\n0, True\n1,False \n2,True\n");
  EXPECT_EQ(read().labels, (Ids{1, 0, 1}));
}

TEST_F(Musae, TakesTheFeaturesUnderTheShortNameToo) {
  std::filesystem::rename(folder_.path("musae_git_features.json"), folder_.path("musae_git.json"));
  EXPECT_EQ(read().features.shape, (Ids{3, 4}));
}

TEST_F(Musae, RefusesQuantitiesAsLabels) {
  write_target("id,target\n0,2.5\n1,3\n2,4\n");
  EXPECT_CONTAINS(refusal(), "'2.5' is not a whole number");
  EXPECT_CONTAINS(refusal(), "musae_git_target.csv, line 2, column 'target'); labels are classes");
  write_target("id,target\n0,2\n1,2257\n2,1\n");
  EXPECT_CONTAINS(refusal(), "the label 2257 among 3 nodes");
  EXPECT_CONTAINS(refusal(), "musae_git_target.csv, line 3)");
  write_target("id,target\n0,2\n1,-1\n2,1\n");
  EXPECT_CONTAINS(refusal(), "the label -1 among 3 nodes");
  write_target("id,target\n0,2\n1,x\n2,1\n");
  EXPECT_CONTAINS(refusal(), "'x' is not a whole number");
  write_target("id,target\n0,2\n1,\n2,1\n");
  EXPECT_CONTAINS(refusal(), "no label");
}

TEST_F(Musae, RefusesIdsThatAreNoNumbering) {
  write_target("id,target\n0,0\n1,0\n3,1\n");
  EXPECT_CONTAINS(refusal(), "the id 3 among 3 nodes");
  EXPECT_CONTAINS(refusal(), "musae_git_target.csv, line 4)");
  write_target("id,target\n0,0\n1,0\n1,1\n");
  EXPECT_CONTAINS(refusal(), "the id 1 was there in line 3");
  EXPECT_CONTAINS(refusal(), "musae_git_target.csv, line 4)");
  write_target("id,target\n0,0\na,0\n2,1\n");
  EXPECT_CONTAINS(refusal(), "'a' is not a whole number");
}

TEST_F(Musae, NamesTheColumnThatIsMissing) {
  write_target("node,target\n0,0\n");
  EXPECT_CONTAINS(refusal(), "'id'");
  EXPECT_CONTAINS(refusal(), "musae_git_target.csv");
  write_target("id,label\n0,0\n");
  EXPECT_CONTAINS(refusal(), "no column target, ml_target, page_type or mature");
}

TEST_F(Musae, RefusesEdgesThatDoNotFit) {
  write_edges("id_1,id_2\n0,1\n0,3\n");
  EXPECT_CONTAINS(refusal(), "the id 3 among 3 nodes");
  EXPECT_CONTAINS(refusal(), "musae_git_edges.csv, line 3)");
  write_edges("id_1,id_2\n-1,0\n");
  EXPECT_CONTAINS(refusal(), "the id -1 among 3 nodes");
  write_edges("id_1,id_2,w\n0,1,2\n");
  EXPECT_CONTAINS(refusal(), "3 columns");
  write_edges("id_1,id_2\n0,1\n2\n");
  EXPECT_CONTAINS(refusal(), "musae_git_edges.csv, line 3");
  write_edges("0,1\n1,2\n");
  EXPECT_CONTAINS(refusal(), "musae_git_edges.csv, line 1");
  write_edges("");
  EXPECT_CONTAINS(refusal(), "musae_git_edges.csv");
}

TEST_F(Musae, RefusesFeaturesThatDoNotFit) {
  write_features(R"({"0": [3], "2": []})");
  EXPECT_CONTAINS(refusal(), "no key '1'");
  EXPECT_CONTAINS(refusal(), "musae_git_features.json)");
  for (const char* key : {"3", "x", "01", "+1", "-1", "99999999999999999999"}) {
    write_features(std::string(R"({"0": [3], "1": [], "2": [], ")") + key + "\": []}");
    EXPECT_CONTAINS(refusal(), "not the id of one of the 3 nodes");
    EXPECT_CONTAINS(refusal(), std::string("musae_git_features.json, key '") + key + "')");
  }
  write_features(R"({"0": [3], "1": [-1], "2": []})");
  EXPECT_CONTAINS(refusal(), "the feature -1 in a file with 2 entries");
  EXPECT_CONTAINS(refusal(), "musae_git_features.json, key '1')");
  write_features(R"({"0": [3], "1": [1000000000], "2": []})");
  EXPECT_CONTAINS(refusal(), "the feature 1000000000 in a file with 2 entries");
  write_features(R"({"0": 3, "1": 1, "2": 0})");
  EXPECT_CONTAINS(refusal(), "a number instead of a list");
  write_features(R"({"0": [], "1": [], "2": []})");
  EXPECT_CONTAINS(refusal(), "the features have no columns");
  write_features(R"({"0": ["a"], "1": [], "2": []})");
  EXPECT_CONTAINS(refusal(), "not a whole number");
  write_features("{");
  EXPECT_CONTAINS(refusal(), "not JSON");
}

TEST_F(Musae, KeepsAListOfFeaturesThatAreTooManyForADenseMatrix) {
  std::string target = "id,target\n", features = "{";
  for (int v = 0; v < 140000; ++v) {
    target += std::to_string(v) + ",0\n";
    features += "\"" + std::to_string(v) + "\": [" + (v == 0 ? "65535" : "") + "], ";
  }
  write_target(target);
  write_features(features.substr(0, features.size() - 2) + "}");
  const RawDataset set = read();
  EXPECT_EQ(set.features.shape, (Ids{140000, 65536}));
  ASSERT_TRUE(set.entries);
  EXPECT_EQ(set.entries->column, (Ids{65535}));
  EXPECT_EQ(set.entries->begin[1], 1);
}

TEST_F(Musae, IsRecognisedByItsTables) {
  EXPECT_TRUE(musae_reader.recognise(folder_.path("")));
  folder_.write("other_edges.csv", "");
  EXPECT_FALSE(musae_reader.recognise(folder_.path("")));
  EXPECT_CONTAINS(refusal(), "2 files *_edges.csv");
  EXPECT_FALSE(musae_reader.recognise(folder_.path("missing")));
  std::filesystem::remove(folder_.path("musae_git_edges.csv"));
  EXPECT_FALSE(musae_reader.recognise(folder_.path("")));
}

TEST_F(Musae, NamesTheFileThatIsMissing) {
  for (const char* file : {"musae_git_target.csv", "musae_git_features.json"}) {
    SetUp();
    std::filesystem::remove(folder_.path(file));
    EXPECT_CONTAINS(refusal(), file);
  }
}

TEST_F(Musae, RefusesAnEmptyTable) {
  write_target("id,target\n");
  write_edges("id_1,id_2\n");
  write_features("{}");
  EXPECT_CONTAINS(refusal(), "the graph has no nodes");
}

}  // namespace
}  // namespace eignn
