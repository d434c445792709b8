#include "data/readers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Bits = std::vector<uint8_t>;

// Four nodes, listed as c, a, b, d, with the rows 2, 0, 1, 3; links by position.
class Graphsage : public testing::Test {
 protected:
  void SetUp() override {
    write_graph(
        R"([{"id": "c", "val": true, "test": false, "features": [1, 2]},
                    {"id": "a", "val": false, "test": false, "label": [1]},
                    {"id": "b", "test": false, "val": false},
                    {"id": "d", "val": false, "test": true}])",
        R"("links": [{"source": 0, "target": 1, "train_removed": true}, {"target": 3, "source": 2}])");
    folder_.write("toy-id_map.json", R"({"a": 0, "b": 1, "c": 2, "d": 3})");
    folder_.write("toy-class_map.json", R"({"d": [1, 1], "a": [1, 0], "b": [0, 1.0], "c": [0, 0]})");
    save_features({0, 1, 2, 3});
  }

  void write_graph(const std::string& nodes, const std::string& links) {
    folder_.write("toy-G.json", "{\"nodes\": " + nodes + ", " + links + "}");
  }
  void write_numbered_graph(const std::string& links) {
    write_graph(R"([{"id": 30, "val": true, "test": false}, {"id": 10, "val": false, "test": false},
                    {"id": 2, "test": false, "val": false}, {"id": 0, "val": false, "test": true}])",
                links);
    folder_.write("toy-id_map.json", R"({"10": 0, "2": 1, "30": 2, "0": 3})");
    folder_.write("toy-class_map.json", R"({"10": 0, "2": 1, "30": 2, "0": 1})");
  }
  void save_features(const std::vector<double>& values) {
    write_npy<double>(folder_.path("toy-feats.npy"), {static_cast<int64_t>(values.size()), 1}, values);
  }

  RawDataset read() { return graphsage_reader.read(folder_.path("")); }
  std::string refusal() {
    return message_of<DataError>([&] { read(); });
  }

  TemporaryFolder folder_;
};

TEST_F(Graphsage, NumbersNodesByTheIdMap) {
  const auto set = read();
  EXPECT_EQ(set.name, "toy");
  EXPECT_EQ(set.nodes(), 4);
  EXPECT_EQ(set.arcs.source, (Ids{2, 1}));
  EXPECT_EQ(set.arcs.target, (Ids{0, 3}));
  EXPECT_EQ(set.features.as<double>(), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(set.label_sets, (Bits{1, 0, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(set.classes, 2);
  EXPECT_TRUE(set.known.empty());
  EXPECT_TRUE(set.graph_of.empty());
  ASSERT_EQ(set.splits.size(), 1U);
  EXPECT_EQ(set.splits[0].train, (Ids{0, 1}));
  EXPECT_EQ(set.splits[0].val, (Ids{2}));
  EXPECT_EQ(set.splits[0].test, (Ids{3}));
}

TEST_F(Graphsage, ReadsOneClassANode) {
  folder_.write("toy-class_map.json", R"({"a": 2, "b": 0, "c": -1, "d": 1})");
  const auto set = read();
  EXPECT_FALSE(set.multi_label());
  EXPECT_EQ(set.labels, (Ids{2, 0, -1, 1}));
  EXPECT_EQ(set.classes, 3);
}

TEST_F(Graphsage, TakesLinksByPositionWheneverTheyCanBe) {
  write_numbered_graph(R"("links": [{"source": 0, "target": 2}])");
  const auto set = read();
  EXPECT_EQ(set.arcs.source, (Ids{2})) << "the first node has the id 30 and the row 2";
  EXPECT_EQ(set.arcs.target, (Ids{1}));
}

TEST_F(Graphsage, TakesLinksByIdWhenOneIsNoPosition) {
  write_numbered_graph(R"("links": [{"source": 0, "target": 2}, {"source": 30, "target": 10}])");
  auto set = read();
  EXPECT_EQ(set.arcs.source, (Ids{3, 2}));
  EXPECT_EQ(set.arcs.target, (Ids{1, 0}));
  write_numbered_graph(R"("edges": [{"source": 0, "target": 2}])");
  set = read();
  EXPECT_EQ(set.arcs.source, (Ids{3})) << "networkx 3.4 writes ids";
  EXPECT_EQ(set.arcs.target, (Ids{1}));
}

TEST_F(Graphsage, TakesLinksByText) {
  write_graph(R"([{"id": "c", "val": true, "test": false}, {"id": "a", "val": false, "test": false},
                  {"id": "b", "test": false, "val": false}, {"id": "d", "val": false, "test": true}])",
              R"("links": [{"source": "a", "target": "d"}])");
  const auto set = read();
  EXPECT_EQ(set.arcs.source, (Ids{0}));
  EXPECT_EQ(set.arcs.target, (Ids{3}));
}

TEST_F(Graphsage, NamesALinkToNoNode) {
  write_numbered_graph(R"("links": [{"source": 0, "target": 2}, {"source": 4, "target": 0}])");
  EXPECT_CONTAINS(refusal(), "'4' is neither a position below 4 nor the id of a node");
  EXPECT_CONTAINS(refusal(), "toy-G.json, links[1])");
  write_numbered_graph(R"("edges": [{"source": "2", "target": 0}])");
  EXPECT_CONTAINS(refusal(), "toy-G.json, edges[0])");
}

TEST_F(Graphsage, IsRecognisedByOneGraph) {
  EXPECT_TRUE(graphsage_reader.recognise(folder_.path("")));
  folder_.write("other-G.json", "{}");
  EXPECT_FALSE(graphsage_reader.recognise(folder_.path("")));
  EXPECT_CONTAINS(refusal(), "2 files *-G.json (" + folder_.path("") + ")");
  EXPECT_FALSE(graphsage_reader.recognise(folder_.path("missing")));
  EXPECT_CONTAINS(message_of<DataError>([&] { graphsage_reader.read(folder_.path("missing")); }),
                  "0 files *-G.json");
}

TEST_F(Graphsage, NamesTheFileThatIsMissing) {
  for (const char* file : {"toy-id_map.json", "toy-class_map.json", "toy-feats.npy"}) {
    SetUp();
    std::filesystem::remove(folder_.path(file));
    EXPECT_CONTAINS(refusal(), file);
  }
}

TEST_F(Graphsage, RefusesAnIdMapThatIsNoNumbering) {
  folder_.write("toy-id_map.json", R"({"a": 0, "b": 1, "c": 2, "d": 4})");
  EXPECT_CONTAINS(refusal(), "the row 4 of 4");
  EXPECT_CONTAINS(refusal(), "toy-id_map.json, key 'd')");
  folder_.write("toy-id_map.json", R"({"a": 0, "b": 1, "c": 1, "d": 3})");
  EXPECT_CONTAINS(refusal(), "the row 1 is taken");
  EXPECT_CONTAINS(refusal(), "toy-id_map.json, key 'c')");
  folder_.write("toy-id_map.json", R"({"a": 0, "b": 1, "c": 2})");
  EXPECT_CONTAINS(refusal(), "the node 'd' has no row in ");
  EXPECT_CONTAINS(refusal(), "toy-G.json, nodes[3])");
  folder_.write("toy-id_map.json", R"({"a": 0, "b": 1, "c": 2, "d": 3, "e": 4})");
  EXPECT_CONTAINS(refusal(), "no such node in ");
  EXPECT_CONTAINS(refusal(), "toy-id_map.json, key 'e')");
  folder_.write("toy-id_map.json", R"({"a": [0]})");
  EXPECT_CONTAINS(refusal(), "toy-id_map.json, key 'a')");
}

TEST_F(Graphsage, RefusesANumberAndItsTextAsTwoNodes) {
  write_graph(R"([{"id": 7, "val": true, "test": false}, {"id": "7", "val": false, "test": false}])",
              R"("links": [])");
  folder_.write("toy-id_map.json", R"({"7": 0})");
  EXPECT_CONTAINS(refusal(), "the id '7' comes twice");
  EXPECT_CONTAINS(refusal(), "toy-G.json, nodes[1])");
}

TEST_F(Graphsage, RefusesClassesThatDoNotFit) {
  folder_.write("toy-class_map.json", R"({"a": [1, 0], "b": [0], "c": [0, 0], "d": [1, 1]})");
  EXPECT_CONTAINS(refusal(), "1 labels, but 2 for 'a'");
  EXPECT_CONTAINS(refusal(), "toy-class_map.json, key 'b')");
  folder_.write("toy-class_map.json", R"({"a": [1, 0], "b": [0, 2], "c": [0, 0], "d": [1, 1]})");
  EXPECT_CONTAINS(refusal(), "label 1 is 2");
  EXPECT_CONTAINS(refusal(), "toy-class_map.json, key 'b')");
  folder_.write("toy-class_map.json", R"({"a": 0, "b": 0.5, "c": 0, "d": 1})");
  EXPECT_CONTAINS(refusal(), "not a whole number");
  EXPECT_CONTAINS(refusal(), "toy-class_map.json, key 'b')");
  folder_.write("toy-class_map.json", R"({"a": 0, "b": 1, "c": 0})");
  EXPECT_CONTAINS(refusal(), "no key 'd'");
  EXPECT_CONTAINS(refusal(), "toy-class_map.json)");
  folder_.write("toy-class_map.json", R"({"a": 0, "b": 1, "c": 0, "d": 0, "e": 1})");
  EXPECT_CONTAINS(refusal(), "toy-class_map.json, key 'e')");
  folder_.write("toy-class_map.json", R"({"a": 0, "b": 1, "c": 9000000000000000000, "d": 0})");
  EXPECT_CONTAINS(refusal(), "the class 9000000000000000000 among 4 nodes");
  folder_.write("toy-class_map.json", R"({"a": 0, "b": 1, "c": -2, "d": 0})");
  EXPECT_CONTAINS(refusal(), "the class -2 among 4 nodes");
  folder_.write("toy-class_map.json", R"({"a": [], "b": [], "c": [], "d": []})");
  EXPECT_CONTAINS(refusal(), "no labels");
  folder_.write("toy-class_map.json", "{}");
  EXPECT_CONTAINS(refusal(), "no key 'a'");
}

TEST_F(Graphsage, RefusesSplitsThatDoNotFit) {
  const std::string rest =
      R"({"id": "b", "val": false, "test": false}, {"id": "c", "val": true, "test": false},
                              {"id": "d", "val": false, "test": true}])";
  write_graph(R"([{"id": "a", "val": true, "test": true}, )" + rest, R"("links": [])");
  EXPECT_CONTAINS(refusal(), "node 0 is in val and in test");
  write_graph(R"([{"id": "a", "val": true}, )" + rest, R"("links": [])");
  EXPECT_CONTAINS(refusal(), "no true or false under 'test'");
  EXPECT_CONTAINS(refusal(), "toy-G.json, nodes[0])");
  write_graph(R"([{"id": "a", "val": 1, "test": true}, )" + rest, R"("links": [])");
  EXPECT_CONTAINS(refusal(), "no true or false under 'val'");
}

TEST_F(Graphsage, RefusesFeaturesThatDoNotFit) {
  save_features({0, 1, 2});
  EXPECT_CONTAINS(refusal(), "the features have 3 rows, but the graph has 4 nodes");
  EXPECT_CONTAINS(refusal(), "toy-feats.npy");
}

TEST_F(Graphsage, RefusesAnEmptyGraph) {
  write_graph("[]", R"("links": [])");
  folder_.write("toy-id_map.json", "{}");
  folder_.write("toy-class_map.json", "{}");
  EXPECT_CONTAINS(refusal(), "the graph has no nodes");
}

}  // namespace
}  // namespace eignn
