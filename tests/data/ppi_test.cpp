#include "data/readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Bits = std::vector<uint8_t>;

// A small set: train has the graphs 1 and 2, whose nodes do not stand together, valid and test one each.
class Ppi : public testing::Test {
 protected:
  void SetUp() override {
    write_graph("train", "[{\"id\": 0}, {\"id\": 1}, {\"id\": 2}]",
                "[{\"source\": 0, \"target\": 2}, {\"source\": 1, \"target\": 1}]");
    save<float>("train_feats", {3, 2}, {1, 2, 3, 4, 5, 6});
    save<uint8_t>("train_labels", {3, 2}, {1, 0, 0, 0, 1, 1});
    save<int64_t>("train_graph_id", {3}, {2, 1, 2});
    write_graph("valid", "[{\"id\": 0}]", "[]");
    save<float>("valid_feats", {1, 2}, {7, 8});
    save<uint8_t>("valid_labels", {1, 2}, {0, 1});
    save<int64_t>("valid_graph_id", {1}, {21});
    write_graph("test", "[{\"id\": 1}, {\"id\": 0}]", "[{\"source\": 0, \"target\": 1}]");
    save<float>("test_feats", {2, 2}, {9, 10, 11, 12});
    save<uint8_t>("test_labels", {2, 2}, {1, 1, 0, 0});
    save<int64_t>("test_graph_id", {2}, {23, 23});
  }

  void write_graph(const std::string& part, const std::string& nodes, const std::string& links) {
    folder_.write(part + "_graph.json",
                  "{\"directed\": false, \"nodes\": " + nodes + ", \"links\": " + links + "}");
  }

  template <class T>
  void save(const std::string& name, const std::vector<int64_t>& shape, const std::vector<T>& values) {
    write_npy<T>(folder_.path(name + ".npy"), shape, values);
  }

  RawDataset read() { return ppi_reader.read(folder_.path("")); }
  std::string refusal() {
    return message_of<DataError>([&] { read(); });
  }

  TemporaryFolder folder_;
};

TEST_F(Ppi, BecomesOneSetOfThreeParts) {
  const auto set = read();
  EXPECT_EQ(set.nodes(), 6);
  EXPECT_EQ(set.arcs.source, (Ids{0, 1, 4}));
  EXPECT_EQ(set.arcs.target, (Ids{2, 1, 5}));
  EXPECT_EQ(set.features.type, ElementType::float32);
  EXPECT_EQ(set.features.shape, (Ids{6, 2}));
  EXPECT_EQ(set.features.as<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(set.classes, 2);
  EXPECT_TRUE(set.multi_label());
  EXPECT_EQ(set.label_sets, (Bits{1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0}));
  EXPECT_TRUE(set.labels.empty());
  EXPECT_TRUE(set.known.empty());
  EXPECT_EQ(set.graph_of, (Ids{1, 0, 1, 2, 3, 3}));
  ASSERT_EQ(set.splits.size(), 1U);
  EXPECT_EQ(set.splits[0].train, (Ids{0, 1, 2}));
  EXPECT_EQ(set.splits[0].val, (Ids{3}));
  EXPECT_EQ(set.splits[0].test, (Ids{4, 5}));
}

TEST_F(Ppi, HasTheFoldersNameWithAndWithoutASlash) {
  const std::string path = folder_.path("");
  const std::string bare = path.substr(0, path.size() - 1);
  const std::string name = std::filesystem::path(bare).filename().string();
  EXPECT_EQ(ppi_reader.read(path).name, name);
  EXPECT_EQ(ppi_reader.read(bare).name, name);
  EXPECT_EQ(ppi_reader.read(path + ".").name, name);
}

TEST_F(Ppi, IsRecognisedByOneGraph) {
  EXPECT_TRUE(ppi_reader.recognise(folder_.path("")));
  const TemporaryFolder other;
  EXPECT_FALSE(ppi_reader.recognise(other.path("")));
  EXPECT_FALSE(ppi_reader.recognise(other.path("missing")));
  other.write("valid_graph.json", "");
  EXPECT_TRUE(ppi_reader.recognise(other.path("")));
}

TEST_F(Ppi, KeepsKnownRowsApartFromZeroRows) {
  save<uint8_t>("train_labels_known", {3}, {1, 0, 1});
  EXPECT_EQ(read().known, (Bits{1, 0, 1, 1, 1, 1})) << "parts without the file are known";
  save<uint8_t>("train_labels_known", {2}, {1, 0});
  EXPECT_CONTAINS(refusal(), "train_labels_known.npy");
  save<uint8_t>("train_labels_known", {3}, {1, 2, 1});
  EXPECT_CONTAINS(refusal(), "element 1 is 2 (" + folder_.path("") + "/train_labels_known.npy); use 0 and 1");
}

TEST_F(Ppi, TakesNumbersOfAnyType) {
  save<double>("train_labels", {3, 2}, {1, 0, 0, 0, 1, 1});
  save<int32_t>("valid_labels", {1, 2}, {0, 1});
  save<int64_t>("test_labels", {2, 2}, {1, 1, 0, 0});
  save<float>("train_graph_id", {3}, {2, 1, 2});
  save<uint8_t>("test_graph_id", {2}, {1, 1});
  save<double>("valid_feats", {1, 2}, {0.1, 8});
  save<int64_t>("test_feats", {2, 2}, {9, 10, 11, 12});
  const auto set = read();
  EXPECT_EQ(set.label_sets, (Bits{1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(set.graph_of, (Ids{1, 0, 1, 2, 3, 3})) << "graph 1 of test is not graph 1 of train";
  EXPECT_EQ(set.features.type, ElementType::float64);
  EXPECT_EQ(set.features.as<double>(), (std::vector<double>{1, 2, 3, 4, 5, 6, 0.1, 8, 9, 10, 11, 12}));
}

TEST_F(Ppi, RefusesLabelsThatAreNotBits) {
  save<double>("valid_labels", {1, 2}, {0, 0.5});
  EXPECT_CONTAINS(refusal(), "element 1 is 0.5, not a whole number");
  EXPECT_CONTAINS(refusal(), "valid_labels.npy");
  save<double>("valid_labels", {1, 2}, {0, std::nan("")});
  EXPECT_CONTAINS(refusal(), "element 1 is nan");
  save<int64_t>("valid_labels", {1, 2}, {-1, 0});
  EXPECT_CONTAINS(refusal(), "element 0 is -1");
  EXPECT_CONTAINS(refusal(), "valid_labels.npy); use 0 and 1");
}

TEST_F(Ppi, RefusesGraphIdsThatAreNotWhole) {
  save<double>("test_graph_id", {2}, {23, 23.5});
  EXPECT_CONTAINS(refusal(), "element 1 is 23.5, not a whole number");
  EXPECT_CONTAINS(refusal(), "test_graph_id.npy");
  save<double>("test_graph_id", {2}, {23, 1e300});
  EXPECT_CONTAINS(refusal(), "not a whole number");
}

TEST_F(Ppi, NamesTheFileWhoseSizeDiffers) {
  save<float>("valid_feats", {2, 2}, {7, 8, 9, 10});
  EXPECT_CONTAINS(refusal(), "the shape is (2, 2), but the part's graph has 1 nodes");
  EXPECT_CONTAINS(refusal(), "valid_feats.npy");
  save<float>("valid_feats", {1, 2}, {7, 8});
  save<uint8_t>("test_labels", {4}, {1, 1, 0, 0});
  EXPECT_CONTAINS(refusal(), "test_labels.npy");
  save<uint8_t>("test_labels", {2, 2}, {1, 1, 0, 0});
  save<int64_t>("train_graph_id", {4}, {2, 1, 2, 2});
  EXPECT_CONTAINS(refusal(), "train_graph_id.npy");
}

TEST_F(Ppi, NamesTheFileWhoseColumnsDiffer) {
  save<float>("valid_feats", {1, 3}, {7, 8, 9});
  EXPECT_CONTAINS(refusal(), "3 columns, but 2 in the part before");
  EXPECT_CONTAINS(refusal(), "valid_feats.npy");
  save<float>("valid_feats", {1, 2}, {7, 8});
  save<uint8_t>("test_labels", {2, 1}, {1, 1});
  EXPECT_CONTAINS(refusal(), "1 columns, but 2 in the part before");
  EXPECT_CONTAINS(refusal(), "test_labels.npy");
}

TEST_F(Ppi, RefusesLabelsAndFeaturesWithoutColumns) {
  for (const auto& [part, n] : {std::pair{"train", 3}, {"valid", 1}, {"test", 2}})
    save<uint8_t>(std::string(part) + "_labels", {n, 0}, {});
  EXPECT_CONTAINS(refusal(), "the labels have no columns");
  SetUp();
  for (const auto& [part, n] : {std::pair{"train", 3}, {"valid", 1}, {"test", 2}})
    save<float>(std::string(part) + "_feats", {n, 0}, {});
  EXPECT_CONTAINS(refusal(), "the features have no columns");
}

TEST_F(Ppi, NamesTheFileThatIsMissing) {
  for (const char* part : {"train", "valid", "test"})
    for (const char* file : {"_graph.json", "_feats.npy", "_labels.npy", "_graph_id.npy"}) {
      SetUp();
      std::filesystem::remove(folder_.path(std::string(part) + file));
      EXPECT_CONTAINS(refusal(), std::string(part) + file);
    }
}

TEST_F(Ppi, NamesAWrongNodeOrLink) {
  write_graph("train", "[{\"id\": 0}, {\"id\": 1}, {\"id\": 3}]", "[]");
  EXPECT_CONTAINS(refusal(), "the id '3' among 3 nodes");
  EXPECT_CONTAINS(refusal(), "train_graph.json, nodes[2])");
  write_graph("train", "[{\"id\": 0}, {\"id\": 1}, {\"id\": \"2\"}]", "[]");
  EXPECT_CONTAINS(refusal(), "train_graph.json, nodes[2])");
  write_graph("train", "[{\"id\": 0}, {\"id\": 1}, {\"id\": 1}]", "[]");
  EXPECT_CONTAINS(refusal(), "the id '1' comes twice");
  write_graph("train", "[{\"id\": 0}, {\"id\": 1}, {\"id\": 2}]", "[{\"source\": 0, \"target\": 3}]");
  EXPECT_CONTAINS(refusal(), "no node has the id '3'");
  EXPECT_CONTAINS(refusal(), "train_graph.json, links[0])");
  write_graph("train", "[{\"id\": 0}, {\"id\": 1}, {\"id\": 2}]", "[{\"source\": 0, \"target\": 1}]");
  EXPECT_CONTAINS(refusal(), "joins node 0 of graph 1 and node 1 of graph 0");
  folder_.write("train_graph.json", "{\"nodes\": [");
  EXPECT_CONTAINS(refusal(), "not JSON");
  EXPECT_CONTAINS(refusal(), "train_graph.json, line 1, byte ");
}

TEST_F(Ppi, RefusesAPartWithoutNodes) {
  write_graph("valid", "[]", "[]");
  save<float>("valid_feats", {0, 2}, {});
  save<uint8_t>("valid_labels", {0, 2}, {});
  save<int64_t>("valid_graph_id", {0}, {});
  EXPECT_CONTAINS(refusal(), "no node is in val");
}

TEST_F(Ppi, RefusesFeaturesThatAreNotFinite) {
  save<float>("valid_feats", {1, 2}, {7, INFINITY});
  EXPECT_CONTAINS(refusal(), "feature 1 of node 3 is not a finite number");
}

TEST(RealPpi, HasTheKnownCounts) {
  const auto path = real_data("ppi");
  if (!path) GTEST_SKIP() << no_real_data;
  ASSERT_TRUE(ppi_reader.recognise(*path));
  const auto set = ppi_reader.read(*path);
  EXPECT_EQ(set.name, "ppi");
  ASSERT_EQ(set.splits.size(), 1U);
  EXPECT_EQ(set.splits[0].train.size(), 44906U);
  EXPECT_EQ(set.splits[0].val.size(), 6514U);
  EXPECT_EQ(set.splits[0].test.size(), 5524U);
  EXPECT_EQ(set.nodes(), 56944);
  EXPECT_EQ(set.arcs.source.size(), 818716U);
  int64_t loops = 0;
  for (size_t k = 0; k < set.arcs.source.size(); ++k) loops += set.arcs.source[k] == set.arcs.target[k];
  EXPECT_EQ(loops, 25084);
  EXPECT_EQ(set.features.shape, (Ids{56944, 50}));
  EXPECT_EQ(set.features.type, ElementType::float32);
  EXPECT_EQ(set.classes, 121);
  EXPECT_EQ(*std::max_element(set.graph_of.begin(), set.graph_of.end()), 23);
  EXPECT_EQ(set.graph_of.front(), 0);
  EXPECT_EQ(set.graph_of.back(), 23);

  ASSERT_EQ(set.known.size(), 56944U);
  int64_t unknown = 0, known_zero = 0;
  for (size_t v = 0; v < set.known.size(); ++v) {
    const auto row = set.label_sets.begin() + static_cast<std::ptrdiff_t>(v) * 121;
    unknown += set.known[v] == 0;
    known_zero += set.known[v] != 0 && std::accumulate(row, row + 121, 0) == 0;
  }
  EXPECT_EQ(unknown, 714);
  EXPECT_EQ(known_zero, 1894);
}

}  // namespace
}  // namespace eignn
