#include "data/readers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/atomic_file.h"
#include "data/npz.h"
#include "support/damaged_bytes.h"
#include "support/datasets.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Numbers = std::vector<double>;

const std::string titles = "node_id\tfeature\tlabel\n";
const std::string small_nodes = titles + "2\t1,1,0\t1\n0\t0,1,0\t0\n1\t0,0,1\t-1\n";
const std::string small_edges = "node_id\tnode_id\n0\t1\n2\t2\n2\t0\n0\t1\n";

GeomGcnNodes parse(const std::string& rows) {
  return parse_geom_gcn_nodes(titles + rows, "N.txt");
}

std::string refusal(const std::string& rows) {
  return message_of<DataError>([&] { parse(rows); });
}

std::string edge_refusal(const std::string& text) {
  return message_of<DataError>([&] { parse_geom_gcn_edges(text, 3, "E.txt"); });
}

TEST(GeomGcn, ArrangesTheNodesByTheirIds) {
  const GeomGcnNodes nodes = parse_geom_gcn_nodes(small_nodes, "N.txt");
  EXPECT_EQ(nodes.features.type, ElementType::uint8);
  EXPECT_EQ(nodes.features.shape, (Ids{3, 3}));
  EXPECT_EQ(nodes.features.as<double>(), (Numbers{0, 1, 0, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(nodes.labels, (Ids{0, -1, 1}));
  EXPECT_EQ(nodes.features.origin, "N.txt");
}

TEST(GeomGcn, ReadsNumbersOtherThanZeroAndOne) {
  const GeomGcnNodes counts = parse("0\t0,12\t0\n1\t3,255\t0\n");
  EXPECT_EQ(counts.features.type, ElementType::uint8);
  EXPECT_EQ(counts.features.as<double>(), (Numbers{0, 12, 3, 255}));
  const GeomGcnNodes halves = parse("0\t0.5, 1e3\t0\n1\t-2,0\t0\n");
  EXPECT_EQ(halves.features.type, ElementType::float32);
  EXPECT_EQ(halves.features.as<double>(), (Numbers{0.5, 1000, -2, 0}));
  const GeomGcnNodes tenths = parse("0\t0.1\t0\n1\t1e300\t0\n");
  EXPECT_EQ(tenths.features.type, ElementType::float64);
  EXPECT_EQ(tenths.features.as<double>(), (Numbers{0.1, 1e300}));
  const GeomGcnNodes late = parse("0\t0,1\t0\n1\t1,7\t0\n");
  EXPECT_EQ(late.features.as<double>(), (Numbers{0, 1, 1, 7})) << "the first row alone is binary";
}

TEST(GeomGcn, TakesEmptyFieldsForNoFeatures) {
  const GeomGcnNodes nodes = parse_geom_gcn_nodes("node_id\tfeature\tlabel\n0\t\t0\n1\t\t2\n", "T");
  EXPECT_EQ(nodes.features.shape, (std::vector<int64_t>{2, 0}));
  EXPECT_TRUE(nodes.features.bytes.empty());
}

TEST(GeomGcn, TakesRowsOfDifferingLengthForIndicesOfOnes) {
  const GeomGcnNodes nodes = parse("1\t3,0,3\t0\n0\t4\t1\n2\t\t1\n");
  EXPECT_EQ(nodes.features.shape, (Ids{3, 5}));
  EXPECT_EQ(nodes.features.type, ElementType::uint8);
  EXPECT_EQ(nodes.features.as<double>(), (Numbers{0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(GeomGcn, TakesFeaturesForIndicesWhereTheTitleSaysSo) {
  const GeomGcnNodes nodes =
      parse_geom_gcn_nodes("node_id\tfeature(feature_amount:1)\tlabel\n0\t1,0\t0\n1\t0,0\t0\n", "N.txt");
  EXPECT_EQ(nodes.features.shape, (Ids{2, 2}));
  EXPECT_EQ(nodes.features.as<double>(), (Numbers{1, 1, 1, 0}));
  EXPECT_CONTAINS(message_of<DataError>([] {
                    parse_geom_gcn_nodes("node_id\tfeature(feature_amount:9)\tlabel\n0\t1,0.5\t0\n", "N.txt");
                  }),
                  "0.5 is not the index of a feature (N.txt, line 2)");
}

TEST(GeomGcn, RefusesRaggedRowsThatCannotBeIndices) {
  // Zeros and ones with one lost, and counts below the length of the rows.
  EXPECT_CONTAINS(refusal("0\t0,1,0\t0\n1\t0,1\t0\n"),
                  "node 1 has 2 features, but node 0 has 3 (N.txt, line 3)");
  EXPECT_CONTAINS(refusal("1\t2,1,0,0\t0\n0\t0,1,0\t0\n"), "(N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0\t0.5,7\t0\n1\t0\t0\n"), "node 1 has 1 features");
}

TEST(GeomGcn, LeavesARowWithoutFeaturesToTheCheck) {
  EXPECT_EQ(parse("0\t\t0\n1\t\t0\n").features.shape, (Ids{2, 0}));
}

TEST(GeomGcn, TakesNoMemoryForAnIndexThatIsFarOff) {
  EXPECT_CONTAINS(refusal("0\t1,2\t0\n1\t99999999999\t0\n"), "(N.txt)");
  EXPECT_CONTAINS(refusal("0\t1,2\t0\n1\t999999999\t0\n"), "claim to be 2 x 1000000000 features (N.txt)");
}

TEST(GeomGcn, AcceptsWindowsFilesEmptyLinesAndNoLastNewline) {
  const GeomGcnNodes nodes =
      parse_geom_gcn_nodes("\xef\xbb\xbfnode_id\tfeature\tlabel\r\n0\t0,1\t2\r\n\r\n1\t1,0\t0", "N.txt");
  EXPECT_EQ(nodes.features.as<double>(), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(nodes.labels, (Ids{2, 0}));
  EXPECT_EQ(parse_geom_gcn_edges("a\tb\r\n0\t1\r\n\r\n2\t0", 3, "E.txt").source, (Ids{0, 2}));
}

TEST(GeomGcn, NamesTheLineOfAWrongId) {
  EXPECT_CONTAINS(refusal("0\t1\t0\n1\t1\t0\n0\t1\t0\n"), "node 0 was already on line 2 (N.txt, line 4)");
  EXPECT_CONTAINS(
      refusal("0\t1\t0\n7\t1\t0\n2\t1\t0\n"),
      "node id 7, but there are 3 nodes and none with id 1 (N.txt, line 3); number the nodes from 0 to 2");
  EXPECT_CONTAINS(refusal("-1\t1\t0\n"), "node id -1");
  EXPECT_CONTAINS(refusal("x\t1\t0\n"), "'x' is not a whole number (N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0\t1\t0\n\t1\t0\n"), "a number is missing (N.txt, line 3)");
}

TEST(GeomGcn, NamesTheLineOfAWrongColumn) {
  EXPECT_CONTAINS(refusal("0\t1\n"), "not three columns (N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0 1 0\n"), "not three columns");
  EXPECT_CONTAINS(refusal("0\t1\t0\n1\t1\t0.5\n"), "'0.5' is not a whole number (N.txt, line 3); labels");
  EXPECT_CONTAINS(refusal("0\t1\t-2\n"), "the label -2 (N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0\t1,x\t0\n"), "the feature 'x' is not a finite number (N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0\t1,\xff\t0\n"), "the feature '\\xff' is not");
  EXPECT_CONTAINS(refusal("0\t1,nan\t0\n"), "the feature 'nan' is not a finite number");
  EXPECT_CONTAINS(refusal("0\t1,1e999\t0\n"),
                  "the feature '1e999' does not fit into 64 bits (N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0\t1,,1\t0\n"), "a feature is missing (N.txt, line 2)");
  EXPECT_CONTAINS(refusal("0\t1,\t0\n"), "a feature is missing");
  EXPECT_CONTAINS(refusal("0\t1 1\t0\n"), "without a comma between them: '1' (N.txt, line 2)");
}

TEST(GeomGcn, AsksForTheTitles) {
  const auto refusal_of = [](const std::string& text) {
    return message_of<DataError>([&] { parse_geom_gcn_nodes(text, "N.txt"); });
  };
  EXPECT_CONTAINS(refusal_of("0\t1\t0\n"), "the line of titles is missing (N.txt, line 1)");
  EXPECT_CONTAINS(refusal_of(""), "the file is empty (N.txt, line 1)");
  EXPECT_CONTAINS(refusal_of(titles), "no nodes follow the titles (N.txt, line 1)");
  EXPECT_CONTAINS(edge_refusal("0\t1\n"), "the line of titles is missing (E.txt, line 1)");
  EXPECT_CONTAINS(edge_refusal(""), "the file is empty (E.txt, line 1)");
}

TEST(GeomGcn, KeepsDirectionLoopsAndRepeats) {
  const ArcList arcs = parse_geom_gcn_edges(small_edges, 3, "E.txt");
  EXPECT_EQ(arcs.nodes, 3);
  EXPECT_EQ(arcs.source, (Ids{0, 2, 2, 0}));
  EXPECT_EQ(arcs.target, (Ids{1, 2, 0, 1}));
  EXPECT_TRUE(parse_geom_gcn_edges("node_id\tnode_id\n", 3, "E.txt").source.empty());
}

TEST(GeomGcn, NamesTheLineOfAWrongArc) {
  EXPECT_CONTAINS(edge_refusal("a\tb\n0\t3\n"), "node id 3, but there are 3 nodes (E.txt, line 2)");
  EXPECT_CONTAINS(edge_refusal("a\tb\n0\t1\n-1\t0\n"), "node id -1, but there are 3 nodes (E.txt, line 3)");
  EXPECT_CONTAINS(edge_refusal("a\tb\n0\n"), "a number is missing (E.txt, line 2)");
  EXPECT_CONTAINS(edge_refusal("a\tb\n0\tx\n"), "'x' is not a whole number (E.txt, line 2)");
  EXPECT_CONTAINS(edge_refusal("a\tb\n0\t1\t0.5\n"), "more than two columns: '\\x090.5' (E.txt, line 2)");
}

TEST(GeomGcn, SurvivesRandomDamage) {
  const auto read_nodes = [](const std::string& text) { parse_geom_gcn_nodes(text, "N.txt"); };
  survive_random_damage(small_nodes, 20000, read_nodes);
  survive_random_damage(titles + "1\t3,0\t0\n0\t4\t1\n2\t0.25\t1\n", 20000, read_nodes);
  survive_random_damage(small_edges, 20000,
                        [](const std::string& text) { parse_geom_gcn_edges(text, 3, "E.txt"); });
}

// A folder new_data/tiny of three nodes, with a folder splits beside new_data.
class GeomGcnFolder : public ::testing::Test {
 protected:
  GeomGcnFolder() : set_(folder_.path("new_data/tiny")) {
    std::filesystem::create_directories(set_ + "/splits");
    std::filesystem::create_directories(folder_.path("splits"));
    folder_.write("new_data/tiny/out1_node_feature_label.txt", small_nodes);
    folder_.write("new_data/tiny/out1_graph_edges.txt", small_edges);
  }

  // Puts node `train` of three into train, `val` into val and `test` into test.
  void write_split(const std::string& file, int train, int val, int test,
                   ElementType type = ElementType::uint8) const {
    NpzWriter archive(folder_.path(file));
    const std::pair<const char*, int> parts[] = {
        {"train_mask", train}, {"val_mask", val}, {"test_mask", test}};
    for (const auto& [part, node] : parts) {
      std::vector<unsigned char> mask(3 * item_size(type), 0);
      if (node >= 0) mask[static_cast<size_t>(node) * item_size(type)] = 1;
      archive.add(part, type, {3}, mask.data());
    }
    archive.commit();
  }

  std::string read_refusal() const {
    return message_of<DataError>([&] { geom_gcn_reader.read(set_); });
  }

  TemporaryFolder folder_;
  std::string set_;
};

TEST_F(GeomGcnFolder, IsRecognisedByEitherFile) {
  EXPECT_TRUE(geom_gcn_reader.recognise(set_));
  EXPECT_FALSE(geom_gcn_reader.recognise(folder_.path("splits")));
  EXPECT_FALSE(geom_gcn_reader.recognise(folder_.path("none")));
  std::filesystem::remove(set_ + "/out1_graph_edges.txt");
  EXPECT_TRUE(geom_gcn_reader.recognise(set_));
}

TEST_F(GeomGcnFolder, IsReadWithoutSplits) {
  const RawDataset set = geom_gcn_reader.read(set_ + "/");
  EXPECT_EQ(set.name, "tiny");
  EXPECT_EQ(set.format, "Geom-GCN text");
  EXPECT_EQ(set.nodes(), 3);
  EXPECT_EQ(set.classes, 2);
  EXPECT_EQ(set.arcs.source.size(), 4U);
  EXPECT_TRUE(set.splits.empty());
}

TEST_F(GeomGcnFolder, NamesTheFileThatIsMissing) {
  std::filesystem::remove(set_ + "/out1_graph_edges.txt");
  EXPECT_CONTAINS(read_refusal(), "No such file or directory (" + set_ + "/out1_graph_edges.txt");
  std::filesystem::remove(set_ + "/out1_node_feature_label.txt");
  EXPECT_CONTAINS(read_refusal(), set_ + "/out1_node_feature_label.txt");
}

TEST_F(GeomGcnFolder, RefusesAMistypedLabel) {
  folder_.write("new_data/tiny/out1_node_feature_label.txt", titles + "0\t1\t9223372036854775807\n");
  folder_.write("new_data/tiny/out1_graph_edges.txt", "a\tb\n");
  EXPECT_CONTAINS(read_refusal(), "number the classes 0, 1, 2");
}

#ifdef EIGNN_HAVE_LIBZIP
TEST_F(GeomGcnFolder, TakesTheSplitsInTheOrderOfTheirNumbers) {
  write_split("splits/tiny_split_0.6_0.2_10.npz", 2, 1, 0, ElementType::boolean);
  write_split("splits/tiny_split_0.6_0.2_2.npz", 0, 1, 2);
  write_split("splits/tiny_split_0.6_0.2_0.npz", 1, 0, 2, ElementType::int64);
  write_split("splits/tiny_split_0.6_0.2_x.npz", 1, 0, 2);
  write_split("splits/tiny2_split_0.6_0.2_1.npz", 1, 0, 2);
  write_split("splits/tiny_split_0.4_0.2_1.npz", 1, 0, 2);
  const RawDataset set = geom_gcn_reader.read(set_);
  ASSERT_EQ(set.splits.size(), 3U);
  EXPECT_EQ(set.splits[0].train, Ids{1});
  EXPECT_EQ(set.splits[1].train, Ids{0});
  EXPECT_EQ(set.splits[2].train, Ids{2});
  EXPECT_EQ(set.splits[2].val, Ids{1});
  EXPECT_EQ(set.splits[2].test, Ids{0});
}

TEST_F(GeomGcnFolder, LooksForSplitsNearestFirst) {
  write_split("splits/tiny_split_0.6_0.2_0.npz", 0, 1, 2);
  EXPECT_EQ(geom_gcn_reader.read(set_).splits.at(0).train, Ids{0});
  write_split("new_data/tiny/splits/tiny_split_0.6_0.2_0.npz", 1, 0, 2);
  EXPECT_EQ(geom_gcn_reader.read(set_).splits.at(0).train, Ids{1});
  write_split("new_data/tiny/tiny_split_0.6_0.2_0.npz", 2, 0, 1);
  EXPECT_EQ(geom_gcn_reader.read(set_).splits.at(0).train, Ids{2});
  EXPECT_EQ(geom_gcn_reader.read(set_).splits.size(), 1U);
}

TEST_F(GeomGcnFolder, TakesOtherFractionsWhenTheyAreTheOnlyOnes) {
  write_split("splits/tiny_split_0.48_0.32_1.npz", 0, 1, 2);
  EXPECT_EQ(geom_gcn_reader.read(set_).splits.size(), 1U);
  write_split("splits/tiny_split_0.5_0.25_0.npz", 0, 1, 2);
  EXPECT_CONTAINS(read_refusal(), "splits of 0.48_0.32 and of 0.5_0.25 (" + set_ + "/../../splits)");
}

TEST_F(GeomGcnFolder, NamesTheFileOfAWrongSplit) {
  const std::string file = "tiny_split_0.6_0.2_3.npz", path = set_ + "/" + file;
  write_split("new_data/tiny/" + file, 0, 0, 2);
  EXPECT_CONTAINS(read_refusal(), "node 0 is in train and in val (" + path);
  write_split("new_data/tiny/" + file, 0, -1, 2);
  EXPECT_CONTAINS(read_refusal(), "no node is in val (" + path);
  write_split("new_data/tiny/" + file, 0, 1, 2, ElementType::float32);
  EXPECT_CONTAINS(read_refusal(), path + "[train_mask]");
  {
    NpzWriter archive(path);
    const uint8_t mask[4] = {1, 0, 0, 0};
    archive.add("train_mask", ElementType::uint8, {4}, mask);
    archive.add("val_mask", ElementType::uint8, {4}, mask);
    archive.commit();
    EXPECT_CONTAINS(read_refusal(), "no array 'test_mask' among 'train_mask', 'val_mask' (" + path);
    archive.add("test_mask", ElementType::uint8, {4}, mask);
    archive.commit();
    EXPECT_CONTAINS(read_refusal(), "the train mask has 4 entries, but the graph has 3 nodes (" + path);
  }
  folder_.write("new_data/tiny/" + file, read_whole_file(path).substr(0, 100));
  EXPECT_CONTAINS(read_refusal(), "(" + path);
}

struct Published {
  const char* name;
  int64_t nodes, features;
  size_t arcs;
  int64_t loops;
  size_t pairs;
};

class PublishedGeomGcn : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedGeomGcn, HasTheCountsOfItsTable) {
  const Published& expected = GetParam();
  const auto path = real_data(std::string("geom_gcn/new_data/") + expected.name);
  if (!path) GTEST_SKIP() << no_real_data;
  const RawDataset set = geom_gcn_reader.read(*path);
  EXPECT_EQ(set.name, expected.name);
  EXPECT_EQ(set.nodes(), expected.nodes);
  EXPECT_EQ(set.features.shape, (Ids{expected.nodes, expected.features}));
  EXPECT_EQ(set.features.type, ElementType::uint8);
  const auto values = set.features.as<int64_t>();
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1);
  EXPECT_EQ(set.arcs.source.size(), expected.arcs);
  EXPECT_EQ(count_loops(set.arcs), expected.loops);
  EXPECT_EQ(undirected_pairs(set.arcs).size(), expected.pairs);
  EXPECT_EQ(set.classes, 5);
  EXPECT_EQ(Ids(set.labels).size(), static_cast<size_t>(expected.nodes));
  EXPECT_EQ(set.splits.size(), 10U);
}

INSTANTIATE_TEST_SUITE_P(Sets, PublishedGeomGcn,
                         ::testing::Values(Published{"cornell", 183, 1703, 298, 3, 277},
                                           Published{"texas", 183, 1703, 325, 16, 279},
                                           Published{"wisconsin", 251, 1703, 515, 16, 450},
                                           Published{"chameleon", 2277, 2325, 36101, 50, 31371},
                                           Published{"squirrel", 5201, 2089, 217073, 140, 198353},
                                           Published{"film", 7600, 932, 33391, 122, 26659}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(PublishedGeomGcnFiles, FilmIsReadFromItsIndices) {
  const auto path = real_data("geom_gcn/new_data/film");
  if (!path) GTEST_SKIP() << no_real_data;
  const RawDataset film = geom_gcn_reader.read(*path);
  EXPECT_EQ(distinct_arcs(film.arcs).size(), 30019U);
  // Its first line: node 4873 with 521,92,111,77,770 and the label 3.
  const auto row = film.features.bytes.begin() + 4873 * 932;
  Ids ones;
  for (int64_t j = 0; j < 932; ++j)
    if (row[j] == 1) ones.push_back(j);
  EXPECT_EQ(ones, (Ids{77, 92, 111, 521, 770}));
  EXPECT_EQ(film.labels[4873], 3);
}

TEST(PublishedGeomGcnFiles, CornellHasTheNodesOfTexas) {
  const auto cornell = real_data("geom_gcn/new_data/cornell"), texas = real_data("geom_gcn/new_data/texas");
  if (!cornell || !texas) GTEST_SKIP() << no_real_data;
  const RawDataset a = geom_gcn_reader.read(*cornell), b = geom_gcn_reader.read(*texas);
  EXPECT_EQ(a.features.bytes, b.features.bytes);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_NE(undirected_pairs(a.arcs), undirected_pairs(b.arcs));
}
#endif  // EIGNN_HAVE_LIBZIP

}  // namespace
}  // namespace eignn
