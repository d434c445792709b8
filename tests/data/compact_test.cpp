#include "data/compact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "data/atomic_file.h"
#include "data/named_arrays.h"
#include "data/readers.h"
#include "support/damaged_bytes.h"
#include "support/datasets.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;

// Four nodes, a loop, an arc that comes twice, a label that is not known and a class that nobody has.
RawDataset single_label() {
  RawDataset set;
  set.arcs = {4, {0, 1, 3, 0}, {1, 1, 2, 1}};
  set.features = array_of<float>({4, 2}, {0, 1, 0.5F, 0, 0, 0, 2, 3});
  set.labels = {0, -1, 3, 1};
  set.classes = 4;
  set.splits = {{{0, 2}, {1}, {3}}, {{3}, {2}, {0}}};
  return set;
}

RawDataset multi_label() {
  RawDataset set = single_label();
  set.features = array_of<int64_t>({4, 1}, {0, 1, 1, 7});
  set.labels.clear();
  set.label_sets = {0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0};
  set.known = {1, 0, 1, 1};
  set.classes = 3;
  return set;
}

RawDataset several_graphs() {
  RawDataset set = multi_label();
  set.known.clear();
  set.graph_of = {0, 0, 1, 1};
  return set;
}

RawDataset without_splits() {
  RawDataset set = single_label();
  set.features = array_of<double>({4, 1}, {0.1, 0, -1, 1e300});
  set.splits.clear();
  return set;
}

void expect_round_trip(const RawDataset& set, const std::string& path, const std::string& format) {
  write_compact(set, path);
  EXPECT_TRUE(compact_reader.recognise(path));
  const RawDataset read = compact_reader.read(path);
  EXPECT_EQ(read.name, "set");
  EXPECT_EQ(read.format, format);
  EXPECT_EQ(read.path, path);
  EXPECT_EQ(read.arcs.nodes, set.arcs.nodes);
  EXPECT_EQ(read.arcs.source, set.arcs.source);
  EXPECT_EQ(read.arcs.target, set.arcs.target);
  expect_same_nodes(read, set);
}

void expect_round_trips(const RawDataset& set) {
  const TemporaryFolder folder;
  expect_round_trip(set, folder.path("set"), "compact folder");
#ifdef EIGNN_HAVE_LIBZIP
  expect_round_trip(set, folder.path("set.npz"), "compact npz");
#endif
}

TEST(RawDatasetName, IsTheLastPartOfThePath) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("my.set"));
  EXPECT_EQ(name_of_path(folder.path("my.set")), "my.set");
  EXPECT_EQ(name_of_path(folder.path("my.set/")), "my.set");
  EXPECT_EQ(name_of_path(folder.path("my.set/x/..")), "my.set");
  EXPECT_EQ(name_of_path(folder.path("texas.npz")), "texas");
  EXPECT_EQ(name_of_path("texas.npz"), "texas");
  EXPECT_EQ(name_of_path(""), "");
}

TEST(Compact, KeepsSingleLabelsWithGaps) {
  expect_round_trips(single_label());
}

TEST(Compact, KeepsSetsOfLabelsAndWhichAreKnown) {
  expect_round_trips(multi_label());
}

TEST(Compact, KeepsSeveralGraphs) {
  expect_round_trips(several_graphs());
}

TEST(Compact, KeepsASetWithoutSplits) {
  expect_round_trips(without_splits());
}

// 200 x 1000000 features, of which three are not zero.
RawDataset wide() {
  RawDataset set;
  constexpr int64_t n = 200;
  set.arcs = {n, {0, 1}, {1, 199}};
  set.features.shape = {n, 1'000'000};
  SparseRows rows{std::vector<int64_t>(n + 1, 3), {4, 999'999, 0}, {1, 2, 255}};
  rows.begin[0] = 0;
  rows.begin[1] = 2;
  set.entries = rows;
  set.labels.assign(n, 0);
  set.labels[7] = 1;
  set.classes = 2;
  return set;
}

TEST(Compact, KeepsAListOfFeatures) {
  const TemporaryFolder folder;
  write_compact(wide(), folder.path("set"));
  const NamedArrays arrays(folder.path("set"));
  EXPECT_FALSE(arrays.has("node_features"));
  EXPECT_EQ(arrays.read("node_features_data").type, ElementType::uint8);
  ASSERT_TRUE(compact_reader.recognise(folder.path("set")));
  const RawDataset read = compact_reader.read(folder.path("set"));
  EXPECT_EQ(read.features.shape, wide().features.shape);
  ASSERT_TRUE(read.entries);
  EXPECT_EQ(read.entries->begin, wide().entries->begin);
  EXPECT_EQ(read.entries->column, wide().entries->column);
  EXPECT_EQ(read.entries->value, wide().entries->value);
  // Few columns become dense, however they are written.
  write_npy(folder.path("set") + "/node_features_shape.npy", Ids{2}, Ids{200, 10});
  write_npy(folder.path("set") + "/node_features_indices.npy", Ids{3}, Ids{4, 9, 0});
  const RawDataset dense = compact_reader.read(folder.path("set"));
  EXPECT_FALSE(dense.entries);
  EXPECT_EQ(dense.features.as<double>()[9], 2);
  write_npy(folder.path("set") + "/node_features_indices.npy", Ids{3}, Ids{4, 10, 0});
  EXPECT_CONTAINS(message_of<DataError>([&] { compact_reader.read(folder.path("set")); }), "column 10 of 10");
  write_npy(folder.path("set") + "/node_features_shape.npy", Ids{2}, Ids{199, 10});
  EXPECT_CONTAINS(message_of<DataError>([&] { compact_reader.read(folder.path("set")); }),
                  "no matrix of 199 x 10");
}

TEST(Compact, KeepsAGraphWithoutArcs) {
  RawDataset set = single_label();
  set.arcs = {4, {}, {}};
  expect_round_trips(set);
}

TEST(Compact, WritesTheSmallestExactTypes) {
  const TemporaryFolder folder;
  const auto types = [&](const RawDataset& set, const std::string& name) {
    write_compact(set, folder.path(name));
    return NamedArrays(folder.path(name));
  };
  const NamedArrays single = types(single_label(), "single"), multi = types(several_graphs(), "multi");
  EXPECT_EQ(single.read("node_features").type, ElementType::float32);
  EXPECT_EQ(multi.read("node_features").type, ElementType::uint8);
  EXPECT_EQ(single.read("edges").type, ElementType::int32);
  EXPECT_EQ(single.read("node_labels").type, ElementType::int32);
  EXPECT_EQ(multi.read("node_labels").type, ElementType::uint8);
  EXPECT_EQ(multi.read("graph_id").type, ElementType::int32);
  EXPECT_EQ(single.read("train_masks").type, ElementType::boolean);
  EXPECT_FALSE(single.has("graph_id"));
  EXPECT_FALSE(single.has("labels_known"));
}

TEST(Compact, WritesTheSameBytesForTheSameSet) {
  const TemporaryFolder folder;
  write_compact(multi_label(), folder.path("a"));
  write_compact(multi_label(), folder.path("b"));
  const auto files = names_in_folder(folder.path("a"));
  EXPECT_EQ(files, names_in_folder(folder.path("b")));
  EXPECT_EQ(files.size(), 7U);
  for (const std::string& file : files)
    EXPECT_EQ(read_whole_file(folder.path("a/" + file)), read_whole_file(folder.path("b/" + file)));
#ifdef EIGNN_HAVE_LIBZIP
  write_compact(multi_label(), folder.path("a.npz"));
  write_compact(multi_label(), folder.path("b.npz"));
  EXPECT_EQ(read_whole_file(folder.path("a.npz")), read_whole_file(folder.path("b.npz")));
#endif
}

TEST(Compact, WritesNoFolderOverAnotherAndNoSetThatIsWrong) {
  const TemporaryFolder folder;
  const std::string path = folder.path("set");
  write_compact(single_label(), path);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { write_compact(multi_label(), path); }),
                  "File exists (" + path);
  EXPECT_EQ(compact_reader.read(path).labels, single_label().labels);
  RawDataset wrong = single_label();
  wrong.labels.pop_back();
  wrong.path = "memory";
  EXPECT_CONTAINS(message_of<DataError>([&] { write_compact(wrong, folder.path("other")); }),
                  "3 labels for 4 nodes (memory)");
  EXPECT_EQ(names_in_folder(folder.path("")), std::vector<std::string>{"set"});
}

// The single-label set as a folder of files, to replace some of.
class CompactFolder : public ::testing::Test {
 protected:
  CompactFolder() : path_(folder_.path("set")) { write_compact(single_label(), path_); }

  template <class T>
  void put(const std::string& name, const Ids& shape, const std::vector<T>& values) const {
    write_npy(path_ + "/" + name + ".npy", shape, values);
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ + "/" + name + ".npy"); }
  RawDataset read() const { return compact_reader.read(path_); }

  // Where the message names the array, its file's name must be in it.
  std::string refusal(const std::string& name) const {
    const std::string message = message_of<DataError>([&] { read(); });
    EXPECT_CONTAINS(message, name.empty() ? "(" + path_ : "(" + path_ + "/" + name + ".npy)");
    return message;
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(CompactFolder, IsRecognisedByItsArrays) {
  EXPECT_TRUE(compact_reader.recognise(path_));
  remove("node_labels");
  EXPECT_TRUE(compact_reader.recognise(path_)) << "so that the reader says what is missing";
  EXPECT_CONTAINS(refusal(""), "no array 'node_labels'");
  remove("node_features");
  EXPECT_FALSE(compact_reader.recognise(path_));
  EXPECT_FALSE(compact_reader.recognise(folder_.write("x.npz", "0 1\n")));
  EXPECT_FALSE(compact_reader.recognise(folder_.path("none")));
}

TEST_F(CompactFolder, RenumbersGraphIdsInTheirOrder) {
  put<int32_t>("graph_id", {4}, {-5, -5, 21, 21});
  EXPECT_EQ(read().graph_of, (Ids{0, 0, 1, 1}));
  put<int64_t>("graph_id", {4}, {7, 7, 2, 2});
  EXPECT_EQ(read().graph_of, (Ids{1, 1, 0, 0}));
}

TEST_F(CompactFolder, TakesOneMaskForOneSplitAndIntegersForBooleans) {
  put<int64_t>("train_masks", {4}, {2, 0, 0, 0});
  put<uint8_t>("val_masks", {1, 4}, {0, 1, 0, 0});
  put<int32_t>("test_masks", {4}, {0, 0, -1, 1});
  const RawDataset set = read();
  ASSERT_EQ(set.splits.size(), 1U);
  EXPECT_EQ(set.splits[0].train, Ids{0});
  EXPECT_EQ(set.splits[0].val, Ids{1});
  EXPECT_EQ(set.splits[0].test, (Ids{2, 3}));
}

TEST_F(CompactFolder, TakesMasksInFortranOrder) {
  // Split 0 trains on node 0, split 1 on node 3.
  std::string fortran = npy_bytes(ElementType::uint8, {2, 4}, "\1\0\0\0\0\0\0\1");
  fortran.replace(fortran.find("False"), 5, "True ");
  folder_.write("set/train_masks.npy", fortran);
  put<uint8_t>("val_masks", {2, 4}, {0, 1, 0, 0, 0, 1, 0, 0});
  put<uint8_t>("test_masks", {2, 4}, {0, 0, 1, 0, 0, 0, 1, 0});
  const RawDataset set = read();
  EXPECT_EQ(set.splits.at(0).train, Ids{0});
  EXPECT_EQ(set.splits.at(1).train, Ids{3});
}

TEST_F(CompactFolder, HidesSingleLabelsThatAreNotKnown) {
  put<uint8_t>("labels_known", {4}, {1, 1, 0, 1});
  EXPECT_EQ(read().labels, (Ids{0, -1, -1, 1}));
  EXPECT_EQ(read().classes, 2);
}

TEST_F(CompactFolder, AsksForAllThreeMasks) {
  remove("val_masks");
  EXPECT_CONTAINS(refusal(""), "no array 'val_masks' among 'edges'");
  remove("train_masks");
  EXPECT_CONTAINS(refusal(""), "no array 'train_masks'");
  remove("test_masks");
  EXPECT_TRUE(read().splits.empty());
}

TEST_F(CompactFolder, NamesTheMaskThatIsWrong) {
  put<uint8_t>("train_masks", {2, 3}, {1, 0, 0, 1, 0, 0});
  EXPECT_CONTAINS(refusal("train_masks"), "the shape (2, 3), not (k, 4)");
  put<float>("train_masks", {1, 4}, {1, 0, 0, 0});
  EXPECT_CONTAINS(refusal("train_masks"), "dtype float32");
  put<uint8_t>("train_masks", {1, 4}, {1, 0, 0, 0});
  EXPECT_CONTAINS(refusal(""), "1 train masks, 2 val masks and 2 test masks (" + path_ + ")");
  put<uint8_t>("train_masks", {2, 4}, {1, 0, 0, 0, 0, 0, 1, 0});
  EXPECT_CONTAINS(refusal(""), "node 2 is in train and in val (" + path_ + ", split 1)");
  put<uint8_t>("train_masks", {2, 4}, {0, 0, 0, 0, 0, 0, 1, 0});
  EXPECT_CONTAINS(refusal(""), "no node is in train (" + path_ + ", split 0)");
}

TEST_F(CompactFolder, NamesTheArrayThatIsWrong) {
  put<int64_t>("edges", {1, 2}, {0, 4});
  EXPECT_CONTAINS(refusal("edges"), "names node 4, but there are 4 nodes");
  put<int64_t>("edges", {1, 2}, {-1, 0});
  EXPECT_CONTAINS(refusal("edges"), "names node -1");
  put<int64_t>("edges", {3}, {0, 1, 2});
  EXPECT_CONTAINS(refusal("edges"), "not (E, 2)");
  put<double>("edges", {1, 2}, {0, 1});
  EXPECT_CONTAINS(refusal("edges"), "not whole numbers");
  put<int64_t>("edges", {1, 2}, {0, 1});

  put<float>("node_labels", {4}, {0, 1, 2, 3});
  EXPECT_CONTAINS(refusal("node_labels"), "whole numbers are needed");
  put<int64_t>("node_labels", {3}, {0, 1, 2});
  EXPECT_CONTAINS(refusal("node_labels"), "the shape (3), not (4,) or (4, c)");
  put<int64_t>("node_labels", {4, 0}, {});
  EXPECT_CONTAINS(refusal("node_labels"), "the shape (4, 0)");
  put<int64_t>("node_labels", {4, 1}, {0, 1, 2, 0});
  EXPECT_CONTAINS(refusal(""), "label 0 of node 2 is 2");
  put<int64_t>("node_labels", {4}, {0, 1, -2, 0});
  EXPECT_CONTAINS(refusal(""), "node 2 has the label -2");
  put<int64_t>("node_labels", {4}, {0, 1, INT64_MAX, 0});
  EXPECT_CONTAINS(refusal(""), "number the classes");
  put<int64_t>("node_labels", {4}, {-1, -1, -1, -1});
  EXPECT_CONTAINS(refusal(""), "no node has a label");
  put<int64_t>("node_labels", {4}, {0, 1, 1, 0});

  put<int64_t>("graph_id", {4, 1}, {0, 0, 0, 0});
  EXPECT_CONTAINS(refusal("graph_id"), "the shape (4, 1), not (4,)");
  put<int64_t>("graph_id", {4}, {0, 1, 1, 1});
  EXPECT_CONTAINS(refusal(""), "joins node 0 of graph 0 and node 1 of graph 1");
  remove("graph_id");
  put<uint8_t>("labels_known", {3}, {1, 1, 1});
  EXPECT_CONTAINS(refusal("labels_known"), "the shape (3), not (4,)");
  remove("labels_known");

  put<float>("node_features", {4}, {0, 1, 2, 3});
  EXPECT_CONTAINS(refusal("node_features"), "the shape (4), not (n, d)");
  put<float>("node_features", {0, 3}, {});
  EXPECT_CONTAINS(refusal("node_features"), "there are no nodes");
  put<float>("node_features", {4, 0}, {});
  EXPECT_CONTAINS(refusal("node_features"), "no columns");
  put<double>("node_features", {4, 1}, {0, 1, NAN, 0});
  EXPECT_CONTAINS(refusal("node_features"), "feature 0 of node 2 is not a finite number");
  std::string pickle = npy_bytes(ElementType::float64, {4, 0}, "");
  pickle.replace(pickle.find("<f8"), 3, "|O ").replace(pickle.find("|O '"), 4, "|O' ");
  folder_.write("set/node_features.npy", pickle);
  EXPECT_CONTAINS(refusal("node_features"), "Python objects");
}

#ifdef EIGNN_HAVE_LIBZIP
std::string archive_of(const RawDataset& set) {
  const TemporaryFolder folder;
  write_compact(set, folder.path("set.npz"));
  return read_whole_file(folder.path("set.npz"));
}

TEST(CompactArchive, IsReadFromMemory) {
  const std::string bytes = archive_of(multi_label());
  const RawDataset set = parse_compact(bytes, "a.npz");
  expect_same_nodes(set, multi_label());
  EXPECT_EQ(set.path, "a.npz");
}

TEST(CompactArchive, NamesTheMember) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.npz");
  NpzWriter archive(path);
  const std::vector<float> edges = {0, 1};
  archive.add("node_features", ElementType::float32, {2, 1}, edges.data());
  archive.commit();
  EXPECT_FALSE(compact_reader.recognise(path));
  EXPECT_CONTAINS(message_of<DataError>([&] { compact_reader.read(path); }),
                  "no array 'edges' among 'node_features' (" + path);
  archive.add("edges", ElementType::float32, {1, 2}, edges.data());
  archive.commit();
  EXPECT_TRUE(compact_reader.recognise(path));
  EXPECT_CONTAINS(message_of<DataError>([&] { compact_reader.read(path); }), "(" + path + "[edges])");
}

TEST(CompactArchive, RefusesEveryTruncationAndSurvivesDamage) {
  const auto read = [](const std::string& bytes) { parse_compact(bytes, "a.npz"); };
  const std::string bytes = archive_of(several_graphs());
  expect_every_truncation_refused(bytes, read);
  survive_random_damage(bytes, 5000, read);
}

TEST(CompactArchive, ReplacesAnOlderFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("set.npz", "old");
  write_compact(single_label(), path);
  expect_same_nodes(compact_reader.read(path), single_label());
  EXPECT_EQ(names_in_folder(folder.path("")), std::vector<std::string>{"set.npz"});
}

struct Published {
  const char* name;
  int64_t nodes, features;
  size_t pairs;
};

class PublishedHeterophilous : public ::testing::TestWithParam<Published> {};

std::string path_in_npz(const std::string& name) {
  return "heterophilous_npz/" + name + ".npz";
}

TEST_P(PublishedHeterophilous, HasTheCountsOfItsTable) {
  const Published& expected = GetParam();
  const auto path = real_data(path_in_npz(expected.name));
  if (!path) GTEST_SKIP() << no_real_data;
  EXPECT_TRUE(compact_reader.recognise(*path));
  const RawDataset set = compact_reader.read(*path);
  EXPECT_EQ(set.name, expected.name);
  EXPECT_EQ(set.features.shape, (Ids{expected.nodes, expected.features}));
  EXPECT_EQ(set.features.type, ElementType::float32);
  EXPECT_EQ(set.arcs.source.size(), expected.pairs);
  EXPECT_EQ(undirected_pairs(set.arcs).size(), expected.pairs) << "each pair once, no loops";
  EXPECT_EQ(set.classes, 5);
  EXPECT_EQ(set.splits.size(), 10U);
}

TEST_P(PublishedHeterophilous, SurvivesARoundTrip) {
  const auto path = real_data(path_in_npz(GetParam().name));
  if (!path) GTEST_SKIP() << no_real_data;
  const TemporaryFolder folder;
  const RawDataset set = compact_reader.read(*path);
  write_compact(set, folder.path("a.npz"));
  const RawDataset again = compact_reader.read(folder.path("a.npz"));
  expect_same_nodes(again, set);
  EXPECT_EQ(again.arcs.source, set.arcs.source);
  EXPECT_EQ(again.arcs.target, set.arcs.target);
  EXPECT_EQ(again.features.type, ElementType::uint8);
}

INSTANTIATE_TEST_SUITE_P(Sets, PublishedHeterophilous,
                         ::testing::Values(Published{"cornell", 183, 1703, 277},
                                           Published{"texas", 183, 1703, 279},
                                           Published{"wisconsin", 251, 1703, 450},
                                           Published{"chameleon", 2277, 2325, 31371},
                                           Published{"squirrel", 5201, 2089, 198353},
                                           Published{"chameleon_filtered", 890, 2325, 8854},
                                           Published{"squirrel_filtered", 2223, 2089, 46998}),
                         [](const auto& given) { return std::string(given.param.name); });

class TwoSources : public ::testing::TestWithParam<const char*> {};

TEST_P(TwoSources, AgreeInNodesSplitsAndPairs) {
  const auto npz = real_data(path_in_npz(GetParam()));
  const auto text = real_data(std::string("geom_gcn/new_data/") + GetParam());
  if (!npz || !text) GTEST_SKIP() << no_real_data;
  const RawDataset a = compact_reader.read(*npz), b = geom_gcn_reader.read(*text);
  expect_same_nodes(a, b);
  EXPECT_TRUE(undirected_pairs(a.arcs) == undirected_pairs(b.arcs));
}

INSTANTIATE_TEST_SUITE_P(Sets, TwoSources, ::testing::Values("texas", "wisconsin", "chameleon", "squirrel"),
                         [](const auto& given) { return std::string(given.param); });

class DirectedSource : public ::testing::TestWithParam<const char*> {};

TEST_P(DirectedSource, HasTheArcsOfTheText) {
  const auto npz = real_data(path_in_npz(GetParam() + std::string("_directed")));
  const auto text = real_data(std::string("geom_gcn/new_data/") + GetParam());
  if (!npz || !text) GTEST_SKIP() << no_real_data;
  const RawDataset a = compact_reader.read(*npz), b = geom_gcn_reader.read(*text);
  expect_same_nodes(a, b);
  EXPECT_EQ(a.arcs.source.size(), b.arcs.source.size());
  EXPECT_EQ(count_loops(a.arcs), count_loops(b.arcs));
  EXPECT_TRUE(distinct_arcs(a.arcs) == distinct_arcs(b.arcs));
}

INSTANTIATE_TEST_SUITE_P(Sets, DirectedSource, ::testing::Values("chameleon", "squirrel"),
                         [](const auto& given) { return std::string(given.param); });

TEST(PublishedHeterophilousFiles, CornellIsAnotherThanThatOfTheText) {
  const auto npz = real_data(path_in_npz("cornell"));
  const auto text = real_data("geom_gcn/new_data/cornell");
  if (!npz || !text) GTEST_SKIP() << no_real_data;
  const RawDataset a = compact_reader.read(*npz), b = geom_gcn_reader.read(*text);
  EXPECT_FALSE(a.features.as<double>() == b.features.as<double>());
  expect_same_splits(a, b);
}
#endif  // EIGNN_HAVE_LIBZIP

}  // namespace
}  // namespace eignn
