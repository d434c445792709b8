#include "data/own_graph.h"

#include <gtest/gtest.h>

#include "data/readers.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Bytes = std::vector<uint8_t>;

// Four nodes on a path; the last one's label is not known.
class OwnGraph : public ::testing::Test {
 protected:
  OwnGraph() {
    folder_.write("edges.csv", "source,target\n0,1\n1,2\n2,3\n");
    folder_.write("features.csv", "id,height,width\n0,1,0\n1,1,0.5\n2,0,1\n3,0,2\n");
    folder_.write("labels.csv", "id,class\n0,0\n1,0\n2,1\n");
  }

  RawDataset read() const { return own_graph_reader.read(folder_.path("")); }
  std::string refusal() const {
    return message_of<DataError>([&] { read(); });
  }
  std::string refusal_with(const std::string& file, const std::string& text) {
    folder_.write(file, text);
    return refusal();
  }
  void remove(const std::string& file) { std::filesystem::remove(folder_.path(file)); }

  TemporaryFolder folder_;
};

TEST_F(OwnGraph, ReadsTablesWithGaps) {
  const RawDataset set = read();
  EXPECT_EQ(set.name.substr(0, 11), "eignn-test-");
  EXPECT_EQ(set.nodes(), 4);
  EXPECT_EQ(set.arcs.source, (Ids{0, 1, 2}));
  EXPECT_EQ(set.features.shape, (Ids{4, 2}));
  EXPECT_EQ(set.features.as<double>(), (std::vector<double>{1, 0, 1, 0.5, 0, 1, 0, 2}));
  EXPECT_EQ(set.labels, (Ids{0, 0, 1, -1}));
  EXPECT_EQ(set.classes, 2);
  EXPECT_TRUE(set.splits.empty()) << "the trainer draws one";
}

TEST_F(OwnGraph, IsKnownByItsFiles) {
  EXPECT_TRUE(own_graph_reader.recognise(folder_.path("")));
  remove("features.csv");
  EXPECT_TRUE(own_graph_reader.recognise(folder_.path(""))) << "so that reading it says what is missing";
  remove("labels.csv");
  EXPECT_FALSE(own_graph_reader.recognise(folder_.path("")));
  EXPECT_FALSE(own_graph_reader.recognise(folder_.path("nowhere")));
}

TEST_F(OwnGraph, TakesTheFilesOneByOneByTheirContent) {
  OwnGraphFiles files;
  files.graph = folder_.write("my.graph", "0 1\n");
  files.features = folder_.write("my.table", "a\n1\n2\n");
  files.labels = folder_.path("my.labels");
  write_npy<int64_t>(files.labels, {2}, {1, 0});
  const RawDataset set = read_own_graph(files);
  EXPECT_EQ(set.name, "my");
  EXPECT_EQ(set.labels, (Ids{1, 0}));
  files.splits = folder_.path("no-splits");
  EXPECT_CONTAINS(message_of<DataError>([&] { read_own_graph(files); }), files.splits);
}

TEST_F(OwnGraph, PutsRowsInTheOrderOfTheirIds) {
  folder_.write("features.csv", "height,id\r\n3,3\r\n1,1\r\n0,0\r\n2,2");
  EXPECT_EQ(read().features.as<double>(), (std::vector<double>{0, 1, 2, 3}));
  folder_.write("features.csv", "height\n4\n5\n6\n7\n");
  EXPECT_EQ(read().features.as<double>(), (std::vector<double>{4, 5, 6, 7}))
      << "without ids: row k is node k";
  folder_.write("labels.csv", "class\n2\n-1\n\"\"\n0\n");
  EXPECT_EQ(read().labels, (Ids{2, -1, -1, 0}));
}

TEST_F(OwnGraph, ReadsSetsOfLabels) {
  folder_.write("labels.csv", "id,red,round\n2,1,1\n0,0,0\n3,,\n");
  const RawDataset set = read();
  EXPECT_TRUE(set.multi_label());
  EXPECT_EQ(set.classes, 2);
  EXPECT_EQ(set.label_sets, (Bytes{0, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(set.known, (Bytes{1, 0, 1, 0})) << "no row, or an empty one: not known; zeros are";
  EXPECT_TRUE(set.labels.empty());
}

TEST_F(OwnGraph, ReadsArrays) {
  remove("edges.csv"), remove("features.csv"), remove("labels.csv");
  write_npy<int32_t>(folder_.path("edges.npy"), {2, 2}, {0, 1, 1, 2});
  write_npy<float>(folder_.path("features.npy"), {3, 1}, {1, 2, 3});
  write_npy<int64_t>(folder_.path("labels.npy"), {3}, {1, -1, 0});
  EXPECT_EQ(read().labels, (Ids{1, -1, 0}));
  EXPECT_EQ(read().features.type, ElementType::float32);
  write_npy<int8_t>(folder_.path("labels.npy"), {3, 2}, {0, 1, -1, -1, 1, 1});
  EXPECT_EQ(read().label_sets, (Bytes{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(read().known, (Bytes{1, 0, 1}));
  write_npy<int8_t>(folder_.path("labels.npy"), {3, 2}, {0, 1, 0, -1, 1, 1});
  EXPECT_CONTAINS(refusal(), "label 1 of node 1 is -1 (" + folder_.path("labels.npy"));
  write_npy<int64_t>(folder_.path("labels.npy"), {2}, {0, 1});
  EXPECT_CONTAINS(refusal(), "shape (2), but there are 3 nodes");
  write_npy<double>(folder_.path("labels.npy"), {3}, {0, 1, 0.5});
  EXPECT_CONTAINS(refusal(), "whole numbers");
  write_npy<int64_t>(folder_.path("labels.npy"), {3}, {0, 1, 1000000000000});
  EXPECT_CONTAINS(refusal(), "a label of 1000000000000 (");
  write_npy<float>(folder_.path("features.npy"), {3}, {1, 2, 3});
  EXPECT_CONTAINS(refusal(), "the features have the shape (3) (" + folder_.path("features.npy"));
}

TEST_F(OwnGraph, ReadsSplitsOfATable) {
  folder_.write("splits.csv", "id,split0,split1\n3,test,train\n1,val,\n0,train,val\n2,,test\n");
  const RawDataset set = read();
  ASSERT_EQ(set.splits.size(), 2U);
  EXPECT_EQ(set.splits[0].train, Ids{0});
  EXPECT_EQ(set.splits[0].val, Ids{1});
  EXPECT_EQ(set.splits[0].test, Ids{3});
  EXPECT_EQ(set.splits[1].train, Ids{3});
  folder_.write("splits.csv", "split\ntrain\ntest\nval\ntrain\n");
  EXPECT_EQ(read().splits[0].train, (Ids{0, 3}));
}

TEST_F(OwnGraph, RefusesSplitsThatCannotBeUsed) {
  const auto with = [&](const std::string& text) { return refusal_with("splits.csv", text); };
  const std::string path = folder_.path("splits.csv");
  EXPECT_CONTAINS(with("id,split\n0,train\n1,valid\n"),
                  "'valid' is no part of a split (" + path + ", line 3, column 'split')");
  EXPECT_CONTAINS(with("id,split\n0,train\n0,val\n"), "a second row for node 0 (" + path + ", line 3)");
  EXPECT_CONTAINS(with("id,split\n4,train\n"), "node 4 is not one of the 4 (" + path + ", line 2)");
  EXPECT_CONTAINS(with("split\ntrain\nval\ntest\n"), "3 rows, but there are 4 nodes (" + path + ")");
  EXPECT_CONTAINS(with("split\ntrain\nval\ntest\n\"\"\n\"\"\n"), "5 rows, but there are 4 nodes");
  EXPECT_CONTAINS(with("id,split\n0,train\n1,val\n"), "no node is in test");
  EXPECT_CONTAINS(with("id\n0\n"), "no column but id (" + path + ")");
}

TEST_F(OwnGraph, ReadsSplitsOfMasks) {
  write_npy<uint8_t>(folder_.path("train_masks.npy"), {2, 4}, {1, 0, 0, 0, 0, 1, 1, 0});
  write_npy<uint8_t>(folder_.path("val_masks.npy"), {2, 4}, {0, 1, 0, 0, 1, 0, 0, 0});
  EXPECT_CONTAINS(refusal(), "no array 'test_masks'");
  write_npy<uint8_t>(folder_.path("test_masks.npy"), {2, 4}, {0, 0, 1, 1, 0, 0, 0, 1});
  const RawDataset set = read();
  ASSERT_EQ(set.splits.size(), 2U);
  EXPECT_EQ(set.splits[0].test, (Ids{2, 3}));
  EXPECT_EQ(set.splits[1].train, (Ids{1, 2}));
  write_npy<uint8_t>(folder_.path("test_masks.npy"), {2, 4}, {1, 0, 1, 1, 0, 0, 0, 1});
  EXPECT_CONTAINS(refusal(), "node 0 is in train and in test");
  write_npy<uint8_t>(folder_.path("test_masks.npy"), {4}, {0, 0, 1, 1});
  EXPECT_CONTAINS(refusal(), "2 train masks, 2 val masks and 1 test masks (" + folder_.path(""));
  write_npy<uint8_t>(folder_.path("test_masks.npy"), {4, 2}, {0, 0, 1, 1, 0, 0, 0, 0});
  EXPECT_CONTAINS(refusal(), "the shape (4, 2), not (k, 4) (" + folder_.path(""));
  EXPECT_CONTAINS(refusal_with("splits.csv", "id,split\n"), "keep one or the other");
}

TEST_F(OwnGraph, SaysWhichFileIsMissingOrTwiceThere) {
  folder_.write("graph.mtx", "");
  EXPECT_CONTAINS(refusal(), "2 files with the graph: graph.mtx, edges.csv (" + folder_.path(""));
  remove("graph.mtx"), remove("edges.csv");
  EXPECT_CONTAINS(refusal(), "add one of graph.mtx, graph.npz, edges.npy, edges.csv");
  folder_.write("edges.txt", "0 1\n");
  remove("labels.csv");
  EXPECT_CONTAINS(refusal(), "no file with the labels (" + folder_.path(""));
  remove("features.csv");
  EXPECT_CONTAINS(refusal(), "no file with the features");
}

TEST_F(OwnGraph, RefusesFeaturesThatCannotBeUsed) {
  const auto with = [&](const std::string& text) { return refusal_with("features.csv", text); };
  const std::string path = folder_.path("features.csv");
  EXPECT_CONTAINS(with(""), "the file is empty (" + path);
  EXPECT_CONTAINS(with("id,a\n"), "the graph has no nodes (" + path);
  EXPECT_CONTAINS(with("0,1\n1,2\n"), "no column names (" + path + ", line 1)");
  EXPECT_CONTAINS(with("id,a\n0,1\n1,\n"), "the field is empty (" + path + ", line 3, column 'a')");
  EXPECT_CONTAINS(with("id,a\n0,1\n1,x\n"), "'x' is not a number (" + path + ", line 3, column 'a')");
  EXPECT_CONTAINS(with("id,a\n0,1\n1,nan\n"), "line 3, column 'a'");
  EXPECT_CONTAINS(with("id,a\n0,1\n1,1,2\n"),
                  "3 fields, not 2 as in the lines before (" + path + ", line 3)");
  EXPECT_CONTAINS(with("id,a\n0,1\n1,1\n1,2\n"), "a second row for node 1 (" + path + ", line 4)");
  EXPECT_CONTAINS(with("id,a\n0,1\n1,1\n3,2\n"),
                  "node 2 has no row, but node 3 has one (" + path + ", line 4)");
  EXPECT_CONTAINS(with("id,a\n-1,1\n"), "negative id -1 (" + path + ", line 2)");
  EXPECT_CONTAINS(with("id,a\nnode,1\n"), "'node' is not a whole number (" + path + ", line 2, column 'id')");
  EXPECT_CONTAINS(with("id\n0\n"), "no column but id (" + path);
  EXPECT_CONTAINS(with("id,a\n0,1\n1,1\n2,1\n"),
                  "names node 3, but there are 3 nodes (" + folder_.path("edges.csv"));
}

TEST_F(OwnGraph, RefusesLabelsThatCannotBeUsed) {
  const auto with = [&](const std::string& text) { return refusal_with("labels.csv", text); };
  const std::string path = folder_.path("labels.csv");
  EXPECT_CONTAINS(with("id,class\n0,cat\n"),
                  "'cat' is not a whole number (" + path + ", line 2, column 'class')");
  EXPECT_CONTAINS(with("id,class\n0,1.5\n"), "'1.5' is not a whole number");
  EXPECT_CONTAINS(with("id,class\n0,-2\n"), "the label -2 (" + path + ", line 2, column 'class')");
  EXPECT_CONTAINS(with("id,class\n0,999999999999\n"), "a label of 999999999999 (");
  EXPECT_CONTAINS(with("id,class\n0,1\n0,1\n"), "a second row for node 0 (" + path + ", line 3)");
  EXPECT_CONTAINS(with("id,class\n7,1\n"), "node 7 is not one of the 4 (" + path + ", line 2)");
  EXPECT_CONTAINS(with("class\n0\n1\n"), "2 rows, but there are 4 nodes (" + path);
  EXPECT_CONTAINS(with("id,class\n0,\n"), "no node has a label (" + path);
  EXPECT_CONTAINS(with("id,a,b\n0,1,\n"), "the field is empty (" + path + ", line 2, column 'b')");
  EXPECT_CONTAINS(with("node,class\n0,0\n1,2\n"), "column 'class'");
  EXPECT_CONTAINS(with("id,a,b\n0,,\n"), "no node has labels (" + path);
}

TEST(OwnGraphTables, DoNotTakeMemoryForColumnsWithoutRows) {
  std::string header = "id";
  for (int k = 0; k < 2048; ++k) header += ",c" + std::to_string(k);
  RawDataset set;
  set.arcs.nodes = int64_t{1} << 20;
  EXPECT_CONTAINS(message_of<DataError>([&] { parse_labels_csv(header, "L.csv", &set); }),
                  "bytes of text for 1048576 nodes and 2048 columns (L.csv)");
}

TEST(OwnGraphTables, SurviveRandomDamage) {
  survive_random_damage("id,a,b\n1,0.5,1\n0,-2e3,\"7\"\n2,1,1\n", 20000,
                        [](const std::string& text) { parse_features_csv(text, "F.csv"); });
  const auto labels = [](const std::string& text) {
    RawDataset set;
    set.arcs.nodes = 4;
    parse_labels_csv(text, "L.csv", &set);
  };
  survive_random_damage("id,class\n1,0\n0,-1\n2,\n", 20000, labels);
  survive_random_damage("id,a,b\n1,0,1\n0,,\n", 20000, labels);
  survive_random_damage("id,a,b\n1,train,val\n0,test,\n", 20000,
                        [](const std::string& text) { parse_splits_csv(text, "S.csv", 4); });
}

}  // namespace
}  // namespace eignn
