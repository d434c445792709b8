#include "data/readers.h"

#include <gtest/gtest.h>

#include "data/atomic_file.h"
#include "support/damaged_bytes.h"
#include "support/gzip.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;

// Four papers that cite each other.
class Ogb : public ::testing::Test {
 protected:
  Ogb() {
    for (const char* name : {"raw", "split", "split/time"})
      std::filesystem::create_directory(folder_.path(name));
    folder_.write("raw/num-node-list.csv", "4\n");
    folder_.write("raw/num-edge-list.csv", "3\n");
    folder_.write("raw/edge.csv", "0,1\n1,2\n3,0\n");
    folder_.write("raw/node-feat.csv", "-0.5,1\n0.25,2e-3\n0,0\n1,1\n");
    folder_.write("raw/node-label.csv", "2\n0\n0\n1\n");
    folder_.write("raw/node_year.csv", "1999\n");
    folder_.write("split/time/train.csv", "3\n1\n");
    folder_.write("split/time/valid.csv", "0\n");
    folder_.write("split/time/test.csv", "2\n");
  }

  std::string folder() const { return folder_.path("").substr(0, folder_.path("").size() - 1); }
  RawDataset read() const { return ogb_reader.read(folder()); }
  std::string refusal() const {
    return message_of<DataError>([&] { read(); });
  }
  std::string refusal_with(const std::string& file, const std::string& text) {
    const std::string before = read_whole_file(folder_.path(file));
    folder_.write(file, text);
    std::string message = refusal();
    folder_.write(file, before);
    return message;
  }
  void remove(const std::string& file) { std::filesystem::remove(folder_.path(file)); }

  TemporaryFolder folder_;
};

void expect_the_four_papers(const RawDataset& set) {
  EXPECT_EQ(set.nodes(), 4);
  EXPECT_EQ(set.arcs.source, (Ids{0, 1, 3}));
  EXPECT_EQ(set.arcs.target, (Ids{1, 2, 0}));
  EXPECT_EQ(set.features.shape, (Ids{4, 2}));
  EXPECT_EQ(set.features.as<float>(), (std::vector<float>{-0.5, 1, 0.25, 2e-3F, 0, 0, 1, 1}));
  EXPECT_EQ(set.labels, (Ids{2, 0, 0, 1}));
  EXPECT_EQ(set.classes, 3);
  ASSERT_EQ(set.splits.size(), 1U);
  EXPECT_EQ(set.splits[0].train, (Ids{1, 3}));
  EXPECT_EQ(set.splits[0].val, Ids{0});
  EXPECT_EQ(set.splits[0].test, Ids{2});
}

TEST_F(Ogb, ReadsUnpackedFiles) {
  EXPECT_TRUE(ogb_reader.recognise(folder()));
  expect_the_four_papers(read());
  EXPECT_EQ(read().name, std::filesystem::path(folder()).filename().string());
}

#ifdef EIGNN_HAVE_ZLIB

TEST_F(Ogb, ReadsFilesAsDownloaded) {
  for (const char* name : {"raw/num-node-list", "raw/num-edge-list", "raw/edge", "raw/node-feat",
                           "raw/node-label", "split/time/train", "split/time/valid", "split/time/test"}) {
    const std::string plain = name + std::string(".csv");
    folder_.write(plain + ".gz", gzip(read_whole_file(folder_.path(plain))));
    remove(plain);
  }
  EXPECT_TRUE(ogb_reader.recognise(folder()));
  expect_the_four_papers(read());
  const std::string packed = gzip("0,1\n1,2\n3,0\n");
  EXPECT_CONTAINS(refusal_with("raw/edge.csv.gz", packed.substr(0, packed.size() - 9)),
                  "cut off (" + folder_.path("raw/edge.csv.gz"));
}

TEST_F(Ogb, ReadsFilesOfManyBlocks) {
  constexpr int nodes = 200000;
  std::string features, labels, edges;
  for (int v = 0; v < nodes; ++v) {
    features += std::to_string(v) + ",0.125," + std::to_string(v % 7) + ".5\n";
    labels += std::to_string(v % 5) + "\n";
    edges += std::to_string(v) + "," + std::to_string((v + 1) % nodes) + "\n";
  }
  folder_.write("raw/num-node-list.csv", std::to_string(nodes));
  folder_.write("raw/num-edge-list.csv", std::to_string(nodes));
  folder_.write("raw/node-feat.csv", gzip(features));
  folder_.write("raw/node-label.csv", gzip(labels));
  folder_.write("raw/edge.csv", gzip(edges));
  const RawDataset set = read();
  EXPECT_EQ(set.features.as<float>()[3 * 123456], 123456);
  EXPECT_EQ(set.labels[123456], 123456 % 5);
  EXPECT_EQ(set.arcs.target[199998], 199999);
  EXPECT_CONTAINS(
      refusal_with("raw/node-feat.csv", gzip(features + "1,2\n")),
      "2 fields, not 3 as in the lines before (" + folder_.path("raw/node-feat.csv") + ", line 200001)");
}

#endif

TEST_F(Ogb, IsKnownByItsRawFiles) {
  remove("raw/edge.csv");
  EXPECT_FALSE(ogb_reader.recognise(folder()));
  EXPECT_FALSE(ogb_reader.recognise("nowhere"));
}

TEST_F(Ogb, TakesLabelsThatAreNotKnown) {
  folder_.write("raw/node-label.csv", "nan\n0.0\n\"\"\n1.0\n");
  EXPECT_EQ(read().labels, (Ids{-1, 0, -1, 1}));
}

TEST_F(Ogb, ReadsSeveralColumnsAsSetsOfLabels) {
  folder_.write("raw/node-label.csv", "0,1,1\n0,0,0\nnan,nan,nan\n1,0,0\n");
  const RawDataset set = read();
  EXPECT_EQ(set.classes, 3);
  EXPECT_EQ(set.label_sets, (std::vector<uint8_t>{0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(set.known, (std::vector<uint8_t>{1, 1, 0, 1}));
  EXPECT_CONTAINS(refusal_with("raw/node-label.csv", "0,1\n0,2\n1,1\n0,0\n"),
                  "(" + folder_.path("raw/node-label.csv") + ", line 2, column 2)");
  EXPECT_CONTAINS(refusal_with("raw/node-label.csv", "0,1\n0,nan\n1,1\n0,0\n"), "line 2, column 2)");
}

TEST_F(Ogb, SaysThatSetsWithoutNodeFeaturesCannotBeUsed) {
  remove("raw/node-feat.csv");
  EXPECT_CONTAINS(refusal(), "the nodes have no features (" + folder_.path("raw/node-feat.csv.gz"));
  EXPECT_CONTAINS(refusal(), "ogbn-proteins");
}

TEST_F(Ogb, NamesTheFileThatIsMissing) {
  for (const char* name : {"raw/num-edge-list", "raw/node-label", "split/time/valid"}) {
    const std::string path = folder_.path(name + std::string(".csv"));
    const std::string before = read_whole_file(path);
    std::filesystem::remove(path);
    EXPECT_CONTAINS(refusal(), "a file of the set is missing (" + path + ".gz)");
    folder_.write(name + std::string(".csv"), before);
  }
}

TEST_F(Ogb, ComparesWithTheStatedCounts) {
  EXPECT_CONTAINS(refusal_with("raw/edge.csv", "0,1\n1,2\n"),
                  "2 arcs, but " + folder_.path("raw/num-edge-list.csv"));
  EXPECT_CONTAINS(refusal_with("raw/node-feat.csv", "1\n2\n3\n"), "3 rows of features, but ");
  EXPECT_CONTAINS(refusal_with("raw/node-label.csv", "0\n1\n"), "2 rows of labels, but ");
  EXPECT_CONTAINS(refusal_with("raw/num-node-list.csv", ""), "the file is empty");
  EXPECT_CONTAINS(refusal_with("raw/num-node-list.csv", "2\n2\n"), "a second graph");
  EXPECT_CONTAINS(refusal_with("raw/num-node-list.csv", "9000000000000000000\n"),
                  "states 9000000000000000000");
  EXPECT_CONTAINS(refusal_with("raw/num-node-list.csv", "0\n"), "states 0");
}

TEST_F(Ogb, NamesTheLineThatCannotBeUsed) {
  const std::string edge = folder_.path("raw/edge.csv"), label = folder_.path("raw/node-label.csv");
  EXPECT_CONTAINS(refusal_with("raw/edge.csv", "0,1\n1,4\n3,0\n"),
                  "node 4 is not one of the 4 (" + edge + ", line 2)");
  EXPECT_CONTAINS(refusal_with("raw/edge.csv", "0,1\n1,x\n3,0\n"),
                  "'x' is not a whole number (" + edge + ", line 2");
  EXPECT_CONTAINS(refusal_with("raw/edge.csv", "0,1,1\n"), "3 fields, not 2 as in the lines before (" + edge);
  EXPECT_CONTAINS(refusal_with("raw/node-feat.csv", "1\n2\nnan\n4\n"), "line 3, column 1)");
  EXPECT_CONTAINS(refusal_with("raw/node-feat.csv", "1\n2\n1e39\n4\n"),
                  "'1e39' is not in the range of float32");
  EXPECT_CONTAINS(refusal_with("raw/node-label.csv", "0\n1.5\n0\n0\n"),
                  "'1.5' is not a whole number (" + label);
  EXPECT_CONTAINS(refusal_with("raw/node-label.csv", "0\n-3\n0\n0\n"),
                  "the label -3 (" + label + ", line 2)");
  EXPECT_CONTAINS(refusal_with("raw/node-label.csv", "0\n99999999\n0\n0\n"), "a label of 99999999 (");
  EXPECT_CONTAINS(refusal_with("split/time/test.csv", "7\n"),
                  "node 7 is not one of the 4 (" + folder_.path("split/time/test.csv") + ", line 1)");
  EXPECT_CONTAINS(refusal_with("split/time/test.csv", "3\n"), "node 3 is in train and in test");
  EXPECT_CONTAINS(refusal_with("split/time/test.csv", ""), "no node is in test");
}

TEST_F(Ogb, WantsOneSplit) {
  std::filesystem::create_directory(folder_.path("split/random"));
  EXPECT_CONTAINS(refusal(), "2 splits, 'random' and 'time' among them (" + folder_.path("split"));
  std::filesystem::rename(folder_.path("split"), folder_.path("splits"));
  EXPECT_CONTAINS(refusal(), "no folder with a split (" + folder_.path("split"));
}

TEST_F(Ogb, SurvivesRandomDamage) {
  for (const char* file :
       {"raw/edge.csv", "raw/node-feat.csv", "raw/node-label.csv", "split/time/train.csv"}) {
    const std::string before = read_whole_file(folder_.path(file));
    survive_random_damage(before, 300, [&](const std::string& bytes) {
      folder_.write(file, bytes);
      read();
    });
    folder_.write(file, before);
  }
}

}  // namespace
}  // namespace eignn
