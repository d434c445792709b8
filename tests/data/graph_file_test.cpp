#include "data/graph_file.h"

#include <gtest/gtest.h>

#include "data/atomic_file.h"
#include "data/npy.h"
#include "eignn/error.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

#ifdef EIGNN_HAVE_LIBZIP
#include <zip.h>
#endif

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;

TEST(GraphFile, KnowsTheFormatByItsContent) {
  const TemporaryFolder folder;
  const ArcList edges = read_graph(folder.write("a.mtx", "0 1\n"), "");
  EXPECT_EQ(edges.nodes, -1);
  const std::string matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 3\n";
  EXPECT_EQ(read_graph(folder.write("a.txt", matrix), "").target, Ids{2});
  EXPECT_EQ(read_graph(folder.write("b.txt", "\xef\xbb\xbf" + matrix), "").nodes, 3);
}

TEST(GraphFile, ReadsAnArrayOfArcs) {
  const TemporaryFolder folder;
  const std::string path = folder.path("edges.npy");
  write_npy<int32_t>(path, {2, 2}, {0, 1, 1, 2});
  EXPECT_EQ(read_graph(path, "").target, (Ids{1, 2}));
  EXPECT_EQ(read_graph(path, "npy").source, (Ids{0, 1}));
  write_npy<int64_t>(path, {2, 3}, {0, 1, 1, 2, 2, 0});
  EXPECT_CONTAINS(message_of<DataError>([&] { read_graph(path, ""); }),
                  "shape (2, 3), not (E, 2) (" + path + ")");
}

TEST(GraphFile, ReadsTheFormatItIsTold) {
  const TemporaryFolder folder;
  const std::string edges = folder.write("edges", "0 1\n");
  EXPECT_EQ(read_graph(edges, "edges").target, Ids{1});
  EXPECT_CONTAINS(message_of<DataError>([&] { read_graph(edges, "mtx"); }), "line 1");
  EXPECT_CONTAINS(message_of<DataError>([&] { read_graph(edges, "npz"); }), edges);
}

TEST(GraphFile, ListsTheFormatsWhenOneIsUnknown) {
  const std::string message = message_of<ArgumentError>([] { read_graph("missing", "gml"); });
  EXPECT_CONTAINS(message, "'gml'");
  EXPECT_CONTAINS(message, "npz, npy, mtx or edges");
}

TEST(GraphFile, NamesTheFileThatIsMissing) {
  EXPECT_CONTAINS(message_of<DataError>([] { read_graph("/no/graph", ""); }), "/no/graph");
}

TEST(GraphFile, NamesTheFirstArcOutOfRange) {
  const ArcList arcs = {-1, {0, 1, 5}, {1, 4, 0}};
  EXPECT_NO_THROW(check_node_range(arcs, 6, "G"));
  const std::string message = message_of<DataError>([&] { check_node_range(arcs, 4, "G"); });
  EXPECT_CONTAINS(message, "arc 1 ");
  EXPECT_CONTAINS(message, "node 4, but there are 4 nodes (G)");
  EXPECT_CONTAINS(message_of<DataError>([] { check_node_range({-1, {0}, {-3}}, 4, "G"); }), "node -3");
  EXPECT_NO_THROW(check_node_range({}, 0, "G"));
}

TEST(GraphFile, ComparesTheNumberOfNodesWithTheOneStated) {
  const ArcList arcs = {3, {0}, {1}};
  EXPECT_NO_THROW(check_node_range(arcs, 3, "G"));
  EXPECT_CONTAINS(message_of<DataError>([&] { check_node_range(arcs, 4, "G"); }),
                  "the graph has 3 nodes, but 4");
}

#ifdef EIGNN_HAVE_LIBZIP

template <class T>
std::string npz_file(const TemporaryFolder& folder, const Ids& shape, const std::vector<T>& values) {
  write_npy(folder.path("edges.npy"), shape, values);
  const std::string bytes = read_whole_file(folder.path("edges.npy"));
  const std::string path = folder.path("graph.npz");
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  zip_file_add(archive, "edges.npy", zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

TEST(GraphFile, ReadsTheEdgesOfAnArchive) {
  const TemporaryFolder folder;
  const ArcList arcs = read_graph(npz_file<int32_t>(folder, {3, 2}, {0, 1, 1, 2, 2, 0}), "");
  EXPECT_EQ(arcs.nodes, -1);
  EXPECT_EQ(arcs.source, (Ids{0, 1, 2}));
  EXPECT_EQ(arcs.target, (Ids{1, 2, 0}));
  EXPECT_TRUE(read_graph(npz_file<int64_t>(folder, {0, 2}, {}), "npz").source.empty());
}

TEST(GraphFile, RefusesEdgesOfAnotherShapeOrType) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& path) {
    return message_of<DataError>([&] { read_graph(path, ""); });
  };
  EXPECT_CONTAINS(message(npz_file<int64_t>(folder, {2, 3}, {0, 1, 2, 1, 2, 0})), "shape (2, 3), not (E, 2)");
  EXPECT_CONTAINS(message(npz_file<int64_t>(folder, {2}, {0, 1})), "graph.npz[edges]");
  EXPECT_CONTAINS(message(npz_file<double>(folder, {1, 2}, {0, 1})), "dtype float64");
  EXPECT_CONTAINS(message(npz_file<uint64_t>(folder, {1, 2}, {0, UINT64_MAX})), "out of the range of int64");
}

#endif

}  // namespace
}  // namespace eignn
