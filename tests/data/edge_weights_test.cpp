// Weights of arcs, from every format that has them to the arcs that are used.
#include "data/edge_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "data/compact.h"
#include "data/edge_list.h"
#include "data/graph_file.h"
#include "data/matrix_market.h"
#include "data/readers.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Weights = std::vector<double>;

// The weights that count after take_weights().
Weights taken(ArcList arcs, EdgeWeights wanted) {
  take_weights(arcs, wanted, "G");
  return arcs.weight;
}

std::string refusal(const ArcList& arcs, EdgeWeights wanted = EdgeWeights::use) {
  return message_of<DataError>([&] { taken(arcs, wanted); });
}

// ---- edge lists

ArcList edges(const std::string& text) {
  return parse_edge_list(text, "G.txt");
}

TEST(EdgeWeights, AnEdgeListMayHaveThemInAThirdColumn) {
  for (const char* text : {"0 1 2.5\n1 2 +1e-3 # c\n", "source,target,weight\n0,1,2.5\n1, 2, 0.001\n",
                           "\"a\"\tb\tw\r\n0\t1\t2.5\r\n1\t2\t1e-3\r\n"}) {
    const ArcList arcs = edges(text);
    EXPECT_EQ(arcs.source, (Ids{0, 1})) << text;
    EXPECT_EQ(arcs.target, (Ids{1, 2})) << text;
    EXPECT_EQ(taken(arcs, EdgeWeights::automatic), (Weights{2.5, 1e-3})) << text;
    EXPECT_TRUE(taken(arcs, EdgeWeights::ignore).empty());
  }
}

TEST(EdgeWeights, AnEdgeListWithoutThemHasNone) {
  EXPECT_TRUE(taken(edges("0 1\n1 2\n"), EdgeWeights::automatic).empty());
  EXPECT_CONTAINS(message_of<ArgumentError>([] { taken(edges("0 1\n"), EdgeWeights::use); }),
                  "(edge-weights)");
  EXPECT_TRUE(taken(edges(""), EdgeWeights::use).empty()) << "no arc, and so none without a weight";
}

TEST(EdgeWeights, OfAnEdgeListAreRefusedWithTheirLine) {
  EXPECT_CONTAINS(refusal(edges("0 1 1\n# c\n1 2 -0.5\n")), "the weight '-0.5' is negative (G.txt, line 3)");
  for (const char* far : {"1e999", "1e-999", "inf", "nan", "-inf"})
    EXPECT_CONTAINS(refusal(edges("0 1 1\n1 2 " + std::string(far) + "\n")),
                    "the weight '" + std::string(far) + "' is out of range (G.txt, line 2)");
  EXPECT_NO_THROW(taken(edges("0 1 -1\n"), EdgeWeights::ignore));
  const auto unreadable = [](const std::string& text) { return message_of<DataError>([&] { edges(text); }); };
  EXPECT_CONTAINS(unreadable("0 1 1\n1 2 heavy\n"), "'heavy' is not a number (G.txt, line 2)");
  EXPECT_CONTAINS(unreadable("0 1 1\n1 2 1,5\n"), "more than three columns: ',5' (G.txt, line 2)");
  EXPECT_CONTAINS(unreadable("0,1,1\n1,2\n"),
                  "this arc has no weight, and those before it have (G.txt, line 2)");
  EXPECT_CONTAINS(unreadable("0,1\n1,2,1\n"), "where the first arc has two: ',1' (G.txt, line 2)");
  EXPECT_CONTAINS(unreadable("0,1,\n"), "a weight is missing (G.txt, line 1)");
  EXPECT_CONTAINS(unreadable("0 1 1 1992\n"), "more than three columns: '1992' (G.txt, line 1)");
}

TEST(EdgeWeights, OfAnEdgeListSurviveRandomDamage) {
  survive_random_damage("a,b,w\n0,1,0.5\n1,2,1e-7\n3\t4\t12 % x\n", 20000,
                        [](const std::string& text) { return taken(edges(text), EdgeWeights::automatic); });
}

// ---- Matrix Market

ArcList matrix(const std::string& kind, const std::string& entries) {
  return parse_matrix_market("%%MatrixMarket matrix coordinate " + kind + "\n" + entries, "G.mtx");
}

TEST(EdgeWeights, OfMatrixMarketFilesAreTakenOnRequest) {
  const ArcList arcs = matrix("real general", "3 3 3\n1 2 0.5\n2 3 +2E1\n3 3 0\n");
  EXPECT_TRUE(taken(arcs, EdgeWeights::automatic).empty());
  EXPECT_TRUE(taken(arcs, EdgeWeights::ignore).empty());
  EXPECT_EQ(taken(arcs, EdgeWeights::use), (Weights{0.5, 20, 0}));
  EXPECT_EQ(taken(matrix("integer symmetric", "2 2 2\n2 1 7\n2 2 3\n"), EdgeWeights::use),
            (Weights{7, 7, 3}));
  EXPECT_CONTAINS(
      message_of<ArgumentError>([] { taken(matrix("pattern general", "2 2 1\n1 2\n"), EdgeWeights::use); }),
      "have no weights");
}

TEST(EdgeWeights, OfMatrixMarketFilesAreRefusedWithTheirLineWhereTheyAreTaken) {
  const ArcList negative = matrix("real general", "% c\n2 2 2\n1 2 1\n2 1 -3\n");
  EXPECT_NO_THROW(taken(negative, EdgeWeights::automatic));
  EXPECT_CONTAINS(refusal(negative), "the weight '-3' is negative (G.mtx, line 5)");
  EXPECT_CONTAINS(refusal(matrix("real general", "2 2 1\n1 2 1e400\n")), "out of range (G.mtx, line 3)");
  EXPECT_CONTAINS(refusal(matrix("real general", "2 2 1\n1 2 nan\n")), "out of range (G.mtx, line 3)");
}

// ---- arrays

TEST(EdgeWeights, OfAnArrayLieBesideIt) {
  const TemporaryFolder folder;
  write_npy<int32_t>(folder.path("edges.npy"), {2, 2}, {0, 1, 1, 2});
  write_npy<float>(folder.path("edge_weight.npy"), {2}, {0.5F, 2});
  EXPECT_EQ(taken(read_graph(folder.path("edges.npy"), ""), EdgeWeights::automatic), (Weights{0.5, 2}));
  write_npy<int64_t>(folder.path("edge_weight.npy"), {2, 1}, {3, 2});
  EXPECT_EQ(taken(read_graph(folder.path("edges.npy"), "npy"), EdgeWeights::use), (Weights{3, 2}));
  write_npy<double>(folder.path("edge_weight.npy"), {2}, {1, -2});
  EXPECT_CONTAINS(refusal(read_graph(folder.path("edges.npy"), "")),
                  "arc 1 (counted from 0), 1 -> 2, is -2 (" + folder.path("edge_weight.npy") + ")");
  write_npy<double>(folder.path("edge_weight.npy"), {2}, {HUGE_VAL, 1});
  EXPECT_CONTAINS(refusal(read_graph(folder.path("edges.npy"), ""), EdgeWeights::automatic), "arc 0 ");
  for (const Ids& shape : {Ids{3}, Ids{1, 2}, Ids{2, 2}, Ids{}}) {
    int64_t size = 1;
    for (const int64_t k : shape) size *= k;
    write_npy<double>(folder.path("edge_weight.npy"), shape, Weights(static_cast<size_t>(size), 1.0));
    EXPECT_CONTAINS(message_of<DataError>([&] { read_graph(folder.path("edges.npy"), ""); }),
                    "there are 2 arcs");
  }
  write_npy<int32_t>(folder.path("others.npy"), {2, 2}, {0, 1, 1, 2});
  EXPECT_TRUE(read_graph(folder.path("others.npy"), "").weight.empty()) << "they belong to edges.npy";
}

RawDataset weighted_set() {
  RawDataset set;
  set.arcs = {3, {0, 1, 1, 2}, {1, 2, 2, 0}};
  set.arcs.weight = {0.1, 0, 1e-12, 1.0 / 3};
  set.features = array_of<uint8_t>({3, 1}, {1, 2, 3});
  set.labels = {0, 1, -1};
  set.classes = 2;
  return set;
}

TEST(EdgeWeights, AreKeptByTheCompactFormatToTheBit) {
  const TemporaryFolder folder;
  std::vector<std::string> paths = {folder.path("set")};
#ifdef EIGNN_HAVE_LIBZIP
  paths.push_back(folder.path("set.npz"));
#endif
  for (const std::string& path : paths) {
    write_compact(weighted_set(), path);
    const RawDataset set = read_dataset_file(path);
    EXPECT_EQ(set.arcs.source, weighted_set().arcs.source);
    EXPECT_EQ(taken(set.arcs, EdgeWeights::automatic), weighted_set().arcs.weight);
  }
#ifdef EIGNN_HAVE_LIBZIP
  EXPECT_EQ(taken(read_graph(folder.path("set.npz"), ""), EdgeWeights::use), weighted_set().arcs.weight);
#endif
}

TEST(EdgeWeights, OnRequestAreNotMadeIntoOthersByTheCompactFormat) {
  const TemporaryFolder folder;
  RawDataset set = weighted_set();
  set.arcs.weight_on_request = true;
  write_compact(set, folder.path("without"));
  EXPECT_TRUE(read_dataset_file(folder.path("without")).arcs.weight.empty());
  take_weights(set.arcs, EdgeWeights::use, "");
  write_compact(set, folder.path("with"));
  EXPECT_EQ(read_dataset_file(folder.path("with")).arcs.weight, weighted_set().arcs.weight);
}

TEST(EdgeWeights, OfADataSetAreAsManyAsItsArcs) {
  const TemporaryFolder folder;
  RawDataset set = weighted_set();
  set.path = "weighted";
  set.arcs.weight.pop_back();
  EXPECT_CONTAINS(message_of<DataError>([&] { write_compact(set, folder.path("set")); }),
                  "3 weights for 4 arcs");
}

}  // namespace
}  // namespace eignn
