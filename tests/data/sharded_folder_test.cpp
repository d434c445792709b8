#include "data/sharded_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "data/atomic_file.h"
#include "data/compact.h"
#include "data/readers.h"
#include "data/shard_writer.h"
#include "eignn/graph.h"
#include "support/damaged_bytes.h"
#include "support/datasets.h"
#include "support/gzip.h"
#include "support/limited_memory.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int64_t>;

// Arcs with loops and duplicates in any order, float features, labels with gaps, two splits.
RawDataset random_set(int64_t nodes, int64_t arcs, bool weighted, uint64_t seed) {
  std::mt19937_64 random(seed);
  RawDataset set;
  set.name = "set";
  set.format = "test";
  set.path = "memory";
  set.arcs.nodes = nodes;
  for (int64_t a = 0; a < arcs; ++a) {
    set.arcs.source.push_back(static_cast<int64_t>(random() % nodes));
    set.arcs.target.push_back(static_cast<int64_t>(random() % nodes));
    if (weighted) set.arcs.weight.push_back(static_cast<double>(random() % 7) / 4);
  }
  std::vector<float> features;
  for (int64_t k = 0; k < 3 * nodes; ++k) features.push_back(static_cast<float>(random() % 1000) / 7);
  set.features = array_of({nodes, 3}, features);
  for (int64_t v = 0; v < nodes; ++v) set.labels.push_back(static_cast<int64_t>(v % 5) - 1);
  set.classes = 4;
  for (const int64_t shift : {0, 1}) {
    NodeSplit split;
    for (int64_t v = 0; v < nodes; ++v) {
      std::vector<int64_t>* const parts[] = {&split.train, &split.val, &split.test, nullptr};
      if (auto* part = parts[(v + shift) % 4]) part->push_back(v);
    }
    set.splits.push_back(split);
  }
  return set;
}

Graph graph_of(const RawDataset& set) {
  return Graph::from_arcs(set.nodes(), set.arcs.source, set.arcs.target, set.arcs.weight);
}

void expect_rows(const GraphRows& rows, const Graph& graph, int64_t first, int64_t last) {
  ASSERT_EQ(static_cast<int64_t>(rows.begin.size()), last - first + 1);
  const int64_t from = graph.row_begin[first], to = graph.row_begin[last];
  for (int64_t v = first; v <= last; ++v) ASSERT_EQ(rows.begin[v - first], graph.row_begin[v] - from);
  EXPECT_EQ(Ids(rows.target.begin(), rows.target.end()),
            Ids(graph.target.begin() + from, graph.target.begin() + to));
  if (!graph.weight.empty()) {
    EXPECT_EQ(rows.weight, std::vector<double>(graph.weight.begin() + from, graph.weight.begin() + to));
  } else {
    EXPECT_TRUE(rows.weight.empty());
  }
}

ShardOptions options_of(int64_t shards, uint64_t memory = ShardOptions::least_memory) {
  ShardOptions options;
  options.shards = shards;
  options.memory = memory;
  return options;
}

TEST(ShardedFolder, HasTheRowsOfTheGraphInMemoryForAnyShardsMemoryAndRange) {
  for (const bool weighted : {false, true}) {
    for (const int64_t shards : {1, 3, 400}) {
      const RawDataset set = random_set(400, 30'000, weighted, 5);
      const Graph graph = graph_of(set), turned = graph.transposed(), both = graph.symmetrised();
      const TemporaryFolder folder;
      const ShardSummary summary = write_sharded(streamed(set), folder.path("set"), options_of(shards));
      EXPECT_EQ(summary.arcs, graph.arcs());
      EXPECT_EQ(summary.arcs_in_file, 30'000);
      const ShardedFolder read(folder.path("set"));
      for (const auto& [first, last] :
           {std::pair<int64_t, int64_t>{0, 400}, {0, 0}, {133, 134}, {7, 311}, {400, 400}}) {
        SCOPED_TRACE(testing::Message() << shards << " shards, rows " << first << " to " << last);
        expect_rows(read.rows(first, last), graph, first, last);
        expect_rows(read.rows(first, last, ArcEnds::in), turned, first, last);
        expect_rows(read.rows(first, last, ArcEnds::both), both, first, last);
        read.forget(first, last);
        expect_rows(read.rows(first, last), graph, first, last);
      }
      for (const int64_t v : {0, 1, 200, 399, 400}) {
        EXPECT_EQ(read.arcs_before(v), graph.row_begin[v]);
        EXPECT_EQ(read.arcs_before(v, ArcEnds::in), turned.row_begin[v]);
        EXPECT_EQ(read.arcs_before(v, ArcEnds::both), graph.row_begin[v] + turned.row_begin[v]);
      }
    }
  }
}

TEST(ShardedFolder, ReadsAsTheSetThatWasWritten) {
  for (const bool weighted : {false, true}) {
    for (const int64_t shards : {1, 2, 7}) {
      const RawDataset set = random_set(60, 5000, weighted, 11);
      const TemporaryFolder folder;
      write_sharded(streamed(set), folder.path("set"), options_of(shards));
      EXPECT_EQ(&reader_of(folder.path("set")), &sharded_reader);
      const RawDataset read = read_dataset_file(folder.path("set"));
      EXPECT_EQ(read.format, "sharded folder");
      EXPECT_EQ(read.name, "set");
      EXPECT_EQ(read.arcs.counted_in_file(), 5000);
      expect_same_nodes(read, set);
      EXPECT_EQ(read.features.type, set.features.type);
      const Graph a = graph_of(read), b = graph_of(set);
      EXPECT_EQ(a.row_begin, b.row_begin);
      EXPECT_EQ(a.target, b.target);
      EXPECT_EQ(a.weight, b.weight);
    }
  }
}

TEST(ShardedFolder, TheSameGraphGivesTheSameBytesInAnyOrderAndMemory) {
  const RawDataset set = random_set(50, 20'000, true, 2);
  RawDataset shuffled = set;
  std::mt19937_64 random(9);
  for (size_t a = set.arcs.source.size() - 1; a > 0; --a) {
    const size_t b = random() % (a + 1);
    std::swap(shuffled.arcs.source[a], shuffled.arcs.source[b]);
    std::swap(shuffled.arcs.target[a], shuffled.arcs.target[b]);
    std::swap(shuffled.arcs.weight[a], shuffled.arcs.weight[b]);
  }
  const TemporaryFolder folder;
  write_sharded(streamed(set), folder.path("a"), options_of(3));
  write_sharded(streamed(shuffled), folder.path("b"), options_of(3, uint64_t{1} << 24));
  const auto names = names_in_folder(folder.path("a"));
  EXPECT_EQ(names, names_in_folder(folder.path("b")));
  EXPECT_EQ(names.size(), 3 * 9U + 1) << "something was left behind";
  for (const std::string& name : names)
    EXPECT_EQ(read_whole_file(folder.path("a/" + name)), read_whole_file(folder.path("b/" + name))) << name;
  RawDataset other = set;
  other.labels[3] = 0;
  write_sharded(streamed(other), folder.path("c"), options_of(3));
  EXPECT_NE(ShardedFolder(folder.path("a")).header().content,
            ShardedFolder(folder.path("c")).header().content);
}

TEST(ShardedFolder, ASymmetricGraphHasItsArcsOnce) {
  RawDataset set = random_set(30, 0, false, 1);
  set.arcs.source = {0, 1, 5, 5, 29, 4};
  set.arcs.target = {1, 0, 5, 29, 5, 4};
  const TemporaryFolder folder;
  EXPECT_TRUE(write_sharded(streamed(set), folder.path("both"), options_of(2)).symmetric);
  EXPECT_FALSE(fs::exists(folder.path("both/in_indices.0.npy")));
  const ShardedFolder read(folder.path("both"));
  for (const ArcEnds ends : {ArcEnds::out, ArcEnds::in, ArcEnds::both})
    expect_rows(read.rows(0, 30, ends), graph_of(set), 0, 30);
  EXPECT_EQ(read.arcs_before(30, ArcEnds::both), 6);
  // The same arcs with weights that differ are not.
  set.arcs.weight = {1, 2, 1, 1, 1, 1};
  EXPECT_FALSE(write_sharded(streamed(set), folder.path("weighted"), options_of(2)).symmetric);
  EXPECT_TRUE(fs::exists(folder.path("weighted/in_weight.1.npy")));
}

TEST(ShardedFolder, KeepsSetsOfLabelsGraphsAndListsOfFeatures) {
  constexpr int64_t n = 200;
  RawDataset set = random_set(n, 0, false, 4);
  for (int64_t v = 0; v + 1 < n; v += 2) {
    set.arcs.source.push_back(v);
    set.arcs.target.push_back(v + 1);
  }
  set.labels.clear();
  set.classes = 3;
  for (int64_t v = 0; v < n; ++v) {
    for (const int k : {0, 1, 2}) set.label_sets.push_back(static_cast<uint8_t>((v >> k) & 1));
    set.known.push_back(v % 9 != 0);
    set.graph_of.push_back(v / 20);
  }
  set.features.shape = {n, 1'000'000};
  set.features.bytes.clear();
  SparseRows rows{Ids(n + 1, 3), {4, 999'999, 0}, {1, 2, 2.5}};
  rows.begin[0] = 0;
  rows.begin[1] = 2;
  set.entries = rows;
  const TemporaryFolder folder;
  write_sharded(streamed(set), folder.path("set"), options_of(3));
  const RawDataset read = read_dataset_file(folder.path("set"));
  EXPECT_EQ(read.label_sets, set.label_sets);
  EXPECT_EQ(read.known, set.known);
  EXPECT_EQ(read.graph_of, set.graph_of);
  ASSERT_TRUE(read.entries);
  EXPECT_EQ(read.entries->begin, rows.begin);
  EXPECT_EQ(read.entries->column, rows.column);
  EXPECT_EQ(read.entries->value, rows.value);
  const ShardedFolder shards(folder.path("set"));
  EXPECT_EQ(shards.features(3, 5).shape, (Ids{2, 1'000'000}));
  EXPECT_EQ(shards.feature_entries(0, 1)->column, (Ids{4, 999'999}));
  EXPECT_EQ(shards.label_sets(8, 9), (std::vector<uint8_t>{0, 0, 0}));
  EXPECT_EQ(shards.labels_known(8, 10), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(shards.graph_of(19, 21), (Ids{0, 1}));
}

TEST(ShardedFolder, RangesOfNodesHaveTheirOwnFeaturesLabelsAndSplits) {
  const RawDataset set = random_set(50, 100, false, 8);
  const TemporaryFolder folder;
  write_sharded(streamed(set), folder.path("set"), options_of(4));
  const ShardedFolder read(folder.path("set"));
  const auto all = set.features.as<float>();
  EXPECT_EQ(read.features(11, 39).as<float>(), std::vector<float>(all.begin() + 33, all.begin() + 117));
  EXPECT_EQ(read.labels(11, 39), Ids(set.labels.begin() + 11, set.labels.begin() + 39));
  const auto splits = read.splits(11, 39);
  ASSERT_EQ(splits.size(), 2U);
  Ids expected;
  for (const int64_t v : set.splits[1].val)
    if (v >= 11 && v < 39) expected.push_back(v);
  EXPECT_EQ(splits[1].val, expected);
}

TEST(ShardedFolder, EqualPartsShareArcsAndNodes) {
  RawDataset set = random_set(1000, 0, false, 8);
  for (int64_t v = 0; v < 1000; ++v) {  // a hub among nodes with one arc each
    set.arcs.source.push_back(v);
    set.arcs.target.push_back(500);
  }
  const TemporaryFolder folder;
  write_sharded(streamed(set), folder.path("set"), options_of(3));
  const ShardedFolder read(folder.path("set"));
  for (const int64_t parts : {1, 2, 4, 1000}) {
    const auto first = read.equal_parts(parts);
    ASSERT_EQ(static_cast<int64_t>(first.size()), parts + 1);
    EXPECT_EQ(first.front(), 0);
    EXPECT_EQ(first.back(), 1000);
    for (size_t k = 1; k < first.size(); ++k) EXPECT_LT(first[k - 1], first[k]);
  }
  const auto work = [&](int64_t v) { return read.arcs_before(v, ArcEnds::both) + v; };
  const auto halves = read.equal_parts(2);
  EXPECT_LE(work(halves[1] - 1), work(1000) / 2);
  EXPECT_GE(work(halves[1]), work(1000) / 2);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { read.equal_parts(0); }), "0 parts");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { read.equal_parts(1001); }), "1001 parts");
}

TEST(ShardedFolder, RefusesRangesThatAreNone) {
  const TemporaryFolder folder;
  write_sharded(streamed(random_set(10, 20, false, 1)), folder.path("set"), options_of(2));
  const ShardedFolder read(folder.path("set"));
  for (const auto& [first, last] : {std::pair<int64_t, int64_t>{-1, 3}, {3, 2}, {0, 11}}) {
    EXPECT_CONTAINS(message_of<ArgumentError>([&, a = first, b = last] { read.rows(a, b); }),
                    "no range of 10");
    EXPECT_CONTAINS(message_of<ArgumentError>([&, a = first, b = last] { read.features(a, b); }),
                    "no range of 10");
    EXPECT_CONTAINS(message_of<ArgumentError>([&, a = first, b = last] { read.labels(a, b); }),
                    "no range of 10");
    EXPECT_CONTAINS(message_of<ArgumentError>([&, a = first, b = last] { read.forget(a, b); }),
                    "no range of 10");
  }
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { read.arcs_before(11); }), "11 is no node");
}

class DamagedShards : public ::testing::Test {
 protected:
  DamagedShards() {
    write_sharded(streamed(random_set(12, 60, true, 6)), folder_.path("set"), options_of(2));
  }
  std::string refusal() const {
    return message_of<DataError>([&] { read_sharded(folder_.path("set")); });
  }
  std::string refusal_of_header(const std::string& from, const std::string& to) {
    const std::string text = read_whole_file(folder_.path("set/shards.toml"));
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    folder_.write("set/shards.toml", changed.replace(at, from.size(), to));
    std::string message = refusal();
    folder_.write("set/shards.toml", text);
    return message;
  }
  template <class T>
  std::string refusal_with(const std::string& name, size_t at, T value) {
    const std::string path = folder_.path("set/" + name);
    const Array before = read_npy(path);
    auto values = before.as<T>();
    values.at(at) = value;
    write_npy(path, before.shape, values);
    std::string message = refusal();
    write_npy(path, before.type, before.shape, before.bytes.data());
    return message;
  }
  TemporaryFolder folder_;
};

TEST_F(DamagedShards, AreRefusedWithTheFile) {
  EXPECT_CONTAINS(refusal_with<int64_t>("indptr.1.npy", 0, 1), "first offset is 1");
  EXPECT_CONTAINS(refusal_with<int64_t>("indptr.1.npy", 2, 1 << 20), "indptr.1.npy");
  EXPECT_CONTAINS(refusal_with<int32_t>("indices.0.npy", 0, 12), "indices.0.npy");
  EXPECT_CONTAINS(refusal_with<int32_t>("indices.0.npy", 0, -1), "ascending");
  EXPECT_CONTAINS(refusal_with<double>("weight.0.npy", 1, 0), "0 is no weight");
  EXPECT_CONTAINS(refusal_with<double>("weight.0.npy", 1, INFINITY), "inf is no weight");
  EXPECT_CONTAINS(refusal_with<float>("features.1.npy", 4, NAN),
                  "feature 1 of node 7 is not a finite number");
  EXPECT_CONTAINS(refusal_with<int32_t>("labels.1.npy", 0, 4), "node 6 has the label 4");
  EXPECT_CONTAINS(refusal_with<uint8_t>("split.0.npy", 2, 9), "node 1 is in part 9");
  std::filesystem::rename(folder_.path("set/features.1.npy"), folder_.path("features"));
  EXPECT_CONTAINS(refusal(), "features.1.npy");
  write_npy<double>(folder_.path("set/features.1.npy"), Ids{6, 3}, std::vector<double>(18, 0.0));
  EXPECT_CONTAINS(refusal(), "float64 here and float32 in shard 0");
  write_npy<float>(folder_.path("set/features.1.npy"), Ids{5, 3}, std::vector<float>(15, 0.0F));
  EXPECT_CONTAINS(refusal(), "the shape (5, 3), not (6, 3)");
}

TEST_F(DamagedShards, AHeaderThatIsNoneIsRefused) {
  EXPECT_CONTAINS(refusal_of_header("format = 1", "format = 2"), "format 2");
  EXPECT_CONTAINS(refusal_of_header("nodes = 12", "nodes = 0"), "nodes is '0'");
  EXPECT_CONTAINS(refusal_of_header("nodes = 12", "nodes = 3000000000"),
                  "no whole number from 1 to 2147483647");
  EXPECT_CONTAINS(refusal_of_header("first_row = [0, 6, 12]", "first_row = [0, 12, 12]"), "does not ascend");
  EXPECT_CONTAINS(refusal_of_header("first_row = [0, 6, 12]", "first_row = 3"), "no list");
  EXPECT_CONTAINS(refusal_of_header("first_row = [0, 6, 12]", "first_row = [0, 5, 12]"), "the shape");
  EXPECT_CONTAINS(refusal_of_header("weighted = true", "weighted = 3"), "neither true nor false");
  EXPECT_CONTAINS(refusal_of_header("classes = 4", "klasses = 4"), "classes is missing");
  EXPECT_CONTAINS(refusal_of_header("classes = 4", "classes = 4\nmore = 4"), "unknown setting 'more'");
  const auto arcs = fmt::format("\narcs = {}\n", ShardedFolder(folder_.path("set")).header().arcs);
  EXPECT_CONTAINS(refusal_of_header(arcs, "\narcs = 1\n"), "shards.toml states 1");
}

TEST_F(DamagedShards, FlippedBytesAreReadOrRefusedAndNeverCrash) {
  for (const std::string& name : names_in_folder(folder_.path("set"))) {
    const std::string path = folder_.path("set/" + name), bytes = read_whole_file(path);
    survive_random_damage(bytes, 20, [&](const std::string& damaged) {
      folder_.write("set/" + name, damaged);
      read_sharded(folder_.path("set"));
    });
    folder_.write("set/" + name, bytes);
  }
}

// ---- what convert_to_shards() makes of files, beside the reader in memory

void expect_as_in_memory(const std::string& dataset, const ShardOptions& options) {
  const TemporaryFolder folder;
  RawDataset expected = read_dataset_file(dataset);
  const ShardSummary summary = convert_to_shards(dataset, folder.path("set"), options);
  EXPECT_EQ(summary.arcs_in_file, static_cast<int64_t>(expected.arcs.source.size()));
  EXPECT_EQ(summary.format, expected.format);
  EXPECT_EQ(summary.name, expected.name);
  const RawDataset read = read_dataset_file(folder.path("set"));
  expect_same_nodes(read, expected);
  const Graph a = graph_of(read), b = graph_of(expected);
  EXPECT_EQ(a.row_begin, b.row_begin);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.weight, b.weight);
}

class Converted : public ::testing::Test {
 protected:
  // A random own graph: `edges` is its file, in any of the formats of arcs.
  void write_own(const std::string& edges, bool weighted, bool arrays) {
    const RawDataset set = random_set(70, 20'000, weighted, 13);
    fs::create_directories(folder_.path("own"));
    if (edges == "edges.npy") {
      Ids ends;
      for (size_t a = 0; a < set.arcs.source.size(); ++a) {
        ends.push_back(set.arcs.source[a]);
        ends.push_back(set.arcs.target[a]);
      }
      write_npy(folder_.path("own/edges.npy"), Ids{20'000, 2}, ends);
      if (weighted) write_npy(folder_.path("own/edge_weight.npy"), Ids{20'000}, set.arcs.weight);
    } else {
      std::string text = "source,target\n# a comment\n";
      for (size_t a = 0; a < set.arcs.source.size(); ++a) {
        text += fmt::format("{},{}{}\n", set.arcs.source[a], set.arcs.target[a],
                            weighted ? fmt::format(",{}", set.arcs.weight[a]) : "");
      }
      folder_.write("own/" + edges, text);
    }
    if (arrays) {
      write_npy(folder_.path("own/features.npy"), set.features.type, set.features.shape,
                set.features.bytes.data());
      write_npy(folder_.path("own/labels.npy"), Ids{70}, set.labels);
    } else {
      std::string features = "a,b\n", labels = "class\n";
      for (int64_t v = 0; v < 70; ++v) {
        features += fmt::format("{},{}\n", 0.1 * static_cast<double>(v), v);
        labels += fmt::format("{}\n", set.labels[v]);
      }
      folder_.write("own/features.csv", features);
      folder_.write("own/labels.csv", labels);
    }
  }
  TemporaryFolder folder_;
};

TEST_F(Converted, OwnGraphsAreAsInMemory) {
  for (const char* edges : {"edges.csv", "edges.npy"}) {
    for (const bool weighted : {false, true}) {
      for (const bool arrays : {false, true}) {
        for (const int64_t shards : {1, 9}) {
          SCOPED_TRACE(testing::Message() << edges << " weighted " << weighted << " arrays " << arrays);
          fs::remove_all(folder_.path("own"));
          write_own(edges, weighted, arrays);
          expect_as_in_memory(folder_.path("own"), options_of(shards));
        }
      }
    }
  }
}

TEST_F(Converted, ArraysInFortranOrderAreReadToo) {
  write_own("edges.csv", false, true);
  const Array before = read_npy(folder_.path("own/features.npy"));
  const auto values = before.as<float>();
  std::vector<float> turned;
  for (int64_t k = 0; k < 3; ++k)
    for (int64_t v = 0; v < 70; ++v) turned.push_back(values[v * 3 + k]);
  std::string bytes = npy_bytes(ElementType::float32, {70, 3}, turned.data());
  const std::string from = "'fortran_order': False, ", to = "'fortran_order': True,  ";
  bytes.replace(bytes.find(from), from.size(), to);
  folder_.write("own/features.npy", bytes);
  EXPECT_EQ(read_npy(folder_.path("own/features.npy")).as<float>(), values);
  expect_as_in_memory(folder_.path("own"), options_of(2));
}

TEST_F(Converted, OtherFormatsAreAsInMemory) {
  const RawDataset set = random_set(30, 500, true, 3);
  write_compact(set, folder_.path("compact"));
  expect_as_in_memory(folder_.path("compact"), options_of(3));
  write_sharded(streamed(set), folder_.path("sharded"), options_of(2));
  const ShardSummary again = convert_to_shards(folder_.path("sharded"), folder_.path("again"), options_of(2));
  EXPECT_EQ(again.arcs, graph_of(set).arcs());
  EXPECT_EQ(ShardedFolder(folder_.path("sharded")).header().content,
            ShardedFolder(folder_.path("again")).header().content);
}

TEST_F(Converted, AnOpenGraphBenchmarkFolderIsAsInMemory) {
  const RawDataset set = random_set(300, 9000, false, 21);
  for (const char* name : {"set", "set/raw", "set/split", "set/split/time"})
    fs::create_directory(folder_.path(name));
  std::string edges, features, labels;
  for (size_t a = 0; a < set.arcs.source.size(); ++a)
    edges += fmt::format("{},{}\n", set.arcs.source[a], set.arcs.target[a]);
  const auto values = set.features.as<float>();
  for (int64_t v = 0; v < 300; ++v) {
    features += fmt::format("{},{},{}\n", values[3 * v], values[3 * v + 1], values[3 * v + 2]);
    labels += set.labels[v] < 0 ? "nan\n" : fmt::format("{}.0\n", set.labels[v]);
  }
  folder_.write("set/raw/num-node-list.csv", "300\n");
  folder_.write("set/raw/num-edge-list.csv", "9000\n");
  folder_.write("set/raw/edge.csv", edges);
#ifdef EIGNN_HAVE_ZLIB
  folder_.write("set/raw/node-feat.csv.gz", gzip(features));
#else
  folder_.write("set/raw/node-feat.csv", features);
#endif
  folder_.write("set/raw/node-label.csv", labels);
  for (const auto& [part, nodes] : {std::pair{"train", &set.splits[0].train},
                                    {"valid", &set.splits[0].val},
                                    {"test", &set.splits[0].test}}) {
    std::string text;
    for (const int64_t v : *nodes) text += fmt::format("{}\n", v);
    folder_.write(fmt::format("set/split/time/{}.csv", part), text);
  }
  expect_as_in_memory(folder_.path("set"), options_of(4));
  const auto refusal = [&] {
    return message_of<DataError>(
        [&] { convert_to_shards(folder_.path("set"), folder_.path("out"), options_of(1)); });
  };
  folder_.write("set/raw/edge.csv", edges + "3,300\n");
  EXPECT_CONTAINS(refusal(), "line 9001");
  folder_.write("set/raw/edge.csv", edges + "3,299\n");
  EXPECT_CONTAINS(refusal(), "9001 arcs, but");
  folder_.write("set/raw/edge.csv", edges);
  folder_.write("set/raw/num-node-list.csv", "299\n");
  EXPECT_CONTAINS(refusal(), "299");
  EXPECT_FALSE(fs::exists(folder_.path("out"))) << "half a folder";
}

TEST_F(Converted, AnIdOutOfRangeIsNamedWithFileAndLine) {
  write_own("edges.csv", false, true);
  const std::string text = read_whole_file(folder_.path("own/edges.csv"));
  folder_.write("own/edges.csv", text + "70,1\n");
  const std::string message = message_of<DataError>(
      [&] { convert_to_shards(folder_.path("own"), folder_.path("out"), options_of(2)); });
  EXPECT_CONTAINS(message, "edges.csv");
  EXPECT_CONTAINS(message, "line 20003");
  EXPECT_CONTAINS(message, "node 70");
  EXPECT_EQ(names_in_folder(folder_.path("")), std::vector<std::string>{"own"})
      << "something was left behind";
}

TEST_F(Converted, WeightsAreTakenAsTheyAreInMemory) {
  write_own("edges.csv", true, true);
  ShardOptions options = options_of(1);
  options.weights = EdgeWeights::ignore;
  EXPECT_FALSE(convert_to_shards(folder_.path("own"), folder_.path("ignored"), options).weighted);
  const std::string text = read_whole_file(folder_.path("own/edges.csv"));
  folder_.write("own/edges.csv", text + "1,1,-2\n");
  EXPECT_CONTAINS(message_of<DataError>(
                      [&] { convert_to_shards(folder_.path("own"), folder_.path("out"), options_of(1)); }),
                  "line 20003");
  EXPECT_FALSE(convert_to_shards(folder_.path("own"), folder_.path("ignored too"), options).weighted);
  fs::remove_all(folder_.path("own"));
  write_own("edges.npy", false, true);
  options.weights = EdgeWeights::use;
  EXPECT_CONTAINS(message_of<ArgumentError>(
                      [&] { convert_to_shards(folder_.path("own"), folder_.path("out"), options); }),
                  "have no weights");
}

TEST_F(Converted, AGraphOfMoreThanTheMemoryIsConverted) {
  if (!test::can_limit_memory) GTEST_SKIP() << "the sanitizer needs more addresses";
  // 4 million arcs: 24 MB of text, 64 MB as numbers of 64 bits, and more for their rows.
  constexpr int64_t nodes = 1000, arcs = 4'000'000;
  fs::create_directories(folder_.path("own"));
  std::mt19937_64 random(1);
  {
    std::string text;
    for (int64_t a = 0; a < arcs; ++a) text += fmt::format("{} {}\n", random() % nodes, random() % nodes);
    folder_.write("own/edges.txt", text);
  }
  write_npy(folder_.path("own/features.npy"), Ids{nodes, 1}, std::vector<float>(nodes, 1));
  Ids labels(nodes, 0);
  labels[1] = 1;
  write_npy(folder_.path("own/labels.npy"), Ids{nodes}, labels);
  const test::LimitedMemory limit(uint64_t{30} << 20);
  EXPECT_THROW(read_dataset_file(folder_.path("own")), std::exception);
  const ShardSummary summary =
      convert_to_shards(folder_.path("own"), folder_.path("out"), options_of(2, 1 << 20));
  EXPECT_EQ(summary.arcs_in_file, arcs);
  EXPECT_GT(summary.arcs, nodes * nodes / 2);
}

TEST_F(Converted, WrongOptionsAreRefused) {
  write_own("edges.csv", false, true);
  const auto refusal = [&](const ShardOptions& options) {
    return message_of<ArgumentError>(
        [&] { convert_to_shards(folder_.path("own"), folder_.path("out"), options); });
  };
  EXPECT_CONTAINS(refusal(options_of(0)), "0 shards");
  EXPECT_CONTAINS(refusal(options_of(71)), "71 shards of 70 nodes");
  EXPECT_CONTAINS(refusal(options_of(1, 1000)), "1000 bytes");
}

}  // namespace
}  // namespace eignn
