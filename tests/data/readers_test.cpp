#include "data/readers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/compact.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

// A folder, three nodes in each format.
class DatasetFile : public ::testing::Test {
 public:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.path("set/" + file)).parent_path());
    folder_.write("set/" + file, text);
  }
  template <class T>
  void save(const std::string& name, const std::vector<int64_t>& shape, const std::vector<T>& values) {
    std::filesystem::create_directories(folder_.path("set"));
    write_npy(folder_.path("set/" + name + ".npy"), shape, values);
  }

  void own_graph() {
    write("edges.csv", "source,target\n0,1\n1,2\n");
    write("features.csv", "a\n1\n2\n3\n");
    write("labels.csv", "class\n0\n1\n-1\n");
  }
  void compact() {
    save<int64_t>("edges", {2, 2}, {0, 1, 1, 2});
    save<float>("node_features", {3, 1}, {1, 2, 3});
    save<int64_t>("node_labels", {3}, {0, 1, 1});
  }
  void gnn_benchmark() {
    save<float>("adj_data", {2}, {1, 1});
    save<int32_t>("adj_indices", {2}, {1, 2});
    save<int32_t>("adj_indptr", {4}, {0, 1, 2, 2});
    save<int64_t>("adj_shape", {2}, {3, 3});
    save<float>("attr_data", {1}, {1});
    save<int32_t>("attr_indices", {1}, {0});
    save<int32_t>("attr_indptr", {4}, {0, 1, 1, 1});
    save<int64_t>("attr_shape", {2}, {3, 2});
    save<int64_t>("labels", {3}, {0, 1, 1});
  }
  void geom_gcn() {
    write("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t0,1\t0\n1\t1,1\t1\n2\t0,0\t1\n");
    write("out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t2\n");
  }
  void ogb() {
    write("raw/num-node-list.csv", "3\n");
    write("raw/num-edge-list.csv", "1\n");
    write("raw/edge.csv", "0,1\n");
    write("raw/node-feat.csv", "1\n2\n3\n");
    write("raw/node-label.csv", "0\n1\n1\n");
    write("split/time/train.csv", "0\n");
    write("split/time/valid.csv", "1\n");
    write("split/time/test.csv", "2\n");
  }
  void ppi() {
    for (const std::string part : {"train", "valid", "test"}) {
      write(part + "_graph.json", R"({"nodes": [{"id": 0}], "links": []})");
      save<float>(part + "_feats", {1, 1}, {1});
      save<uint8_t>(part + "_labels", {1, 2}, {1, 0});
      save<int64_t>(part + "_graph_id", {1}, {part == "train" ? 1 : part == "valid" ? 2 : 3});
    }
  }
  void graphsage() {
    write("toy-G.json", R"({"links": [{"source": 0, "target": 1}], "nodes": [
      {"id": 0, "val": false, "test": false}, {"id": 1, "val": true, "test": false},
      {"id": 2, "val": false, "test": true}]})");
    write("toy-id_map.json", R"({"0": 0, "1": 1, "2": 2})");
    write("toy-class_map.json", R"({"0": 0, "1": 1, "2": 1})");
    save<double>("toy-feats", {3, 1}, {1, 2, 3});
  }
  void musae() {
    write("musae_git_edges.csv", "id_1,id_2\n0,2\n");
    write("musae_git_target.csv", "id,name,ml_target\n0,ann,1\n2,bob,0\n1,cy,1\n");
    write("musae_git_features.json", R"({"0": [1], "1": [], "2": [0]})");
  }

  void sharded() {
    write("shards.toml",
          "format = 1\nnodes = 3\narcs = 2\narcs_in_file = 2\nfeatures = 1\nclasses = 2\nsplits = "
          "0\nweighted = false\n"
          "symmetric = false\nsparse_features = false\nlabel_sets = false\nlabels_known = false\n"
          "several_graphs = false\nfirst_row = [0, 3]\ncontent = \"\"\n");
    save<int64_t>("indptr.0", {4}, {0, 1, 2, 2});
    save<int32_t>("indices.0", {2}, {1, 2});
    save<int64_t>("in_indptr.0", {4}, {0, 0, 1, 2});
    save<int32_t>("in_indices.0", {2}, {0, 1});
    save<float>("features.0", {3, 1}, {1, 2, 3});
    save<int64_t>("labels.0", {3}, {0, 1, 1});
  }

  RawDataset read() { return read_dataset_file(folder_.path("set")); }
  std::string refusal() {
    return message_of<DataError>([&] { read(); });
  }

  TemporaryFolder folder_;
};

TEST_F(DatasetFile, RecognisesEveryFormat) {
  const std::pair<const char*, void (DatasetFile::*)()> formats[] = {
      {"own graph", &DatasetFile::own_graph},
      {"compact", &DatasetFile::compact},
      {"gnn-benchmark", &DatasetFile::gnn_benchmark},
      {"Geom-GCN", &DatasetFile::geom_gcn},
      {"Open Graph", &DatasetFile::ogb},
      {"PPI", &DatasetFile::ppi},
      {"GraphSAGE", &DatasetFile::graphsage},
      {"MUSAE", &DatasetFile::musae},
      {"sharded", &DatasetFile::sharded},
  };
  for (const auto& [name, make] : formats) {
    (this->*make)();
    const RawDataset set = read();
    EXPECT_EQ(set.nodes(), 3) << name;
    EXPECT_CONTAINS(set.format, name);
    std::filesystem::rename(folder_.path("set"), folder_.path(name));
  }
}

TEST_F(DatasetFile, RefusesTwoFormatsInOneFolder) {
  own_graph();
  geom_gcn();
  EXPECT_CONTAINS(refusal(),
                  "2 data sets in one place: features.csv or features.npy (your own graph), "
                  "out1_graph_edges.txt (Geom-GCN) (" +
                      folder_.path("set") + ")");
}

TEST_F(DatasetFile, SaysWhatItLookedFor) {
  write("notes.txt", "nothing to see");
  const std::string message = refusal();
  EXPECT_CONTAINS(message, "not a data set of a known format (" + folder_.path("set") + ")");
  for (const char* part :
       {"features.csv", "node_features", "adj_indptr", "out1_graph_edges.txt", "raw/edge.csv.gz",
        "train_graph.json", "*-G.json", "*_target.csv", "shards.toml", "docs/data.md"})
    EXPECT_CONTAINS(message, part);
  const std::string file = folder_.path("set/notes.txt");
  EXPECT_CONTAINS(message_of<DataError>([&] { read_dataset_file(file); }), "known format (" + file + ")");
}

TEST_F(DatasetFile, SaysThatNothingIsThere) {
  EXPECT_CONTAINS(refusal(), "no such file or folder (" + folder_.path("set") + ")");
}

TEST_F(DatasetFile, SaysWhatAnOwnGraphLacks) {
  write("features.csv", "a\n1\n");
  EXPECT_CONTAINS(refusal(), "no file with the graph");
}

#ifdef EIGNN_HAVE_LIBZIP

TEST_F(DatasetFile, RecognisesAnArchive) {
  compact();
  const std::string path = folder_.path("set.npz");
  write_compact(read(), path);
  EXPECT_EQ(read_dataset_file(path).labels, (std::vector<int64_t>{0, 1, 1}));
}

#endif

TEST(PublishedFiles, AreRecognised) {
  const std::pair<const char*, int64_t> sets[] = {
      {"heterophilous_npz/texas.npz", 183}, {"geom_gcn/new_data/wisconsin", 251}, {"ppi", 56944}};
  for (const auto& [name, nodes] : sets) {
    const auto path = real_data(name);
    if (!path) GTEST_SKIP() << no_real_data;
    EXPECT_EQ(read_dataset_file(*path).nodes(), nodes) << name;
  }
}

}  // namespace
}  // namespace eignn
