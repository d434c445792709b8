#include "data/readers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "data/atomic_file.h"
#include "data/npz.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Numbers = std::vector<double>;

// Three nodes with the arcs 0→1, 0→2 and 2→2, an entry of weight zero, and four features.
class GnnBenchmark : public ::testing::Test {
 protected:
  GnnBenchmark() : path_(folder_.path("tiny")) {
    std::filesystem::create_directories(path_);
    put<float>("adj_data", {4}, {1, 0.5F, 0, 1});
    put<int32_t>("adj_indices", {4}, {1, 2, 0, 2});
    put<int32_t>("adj_indptr", {4}, {0, 2, 3, 4});
    put<int64_t>("adj_shape", {2}, {3, 3});
    put<float>("attr_data", {3}, {1, 1, 1});
    put<int32_t>("attr_indices", {3}, {3, 0, 1});
    put<int32_t>("attr_indptr", {4}, {0, 1, 3, 3});
    put<int64_t>("attr_shape", {2}, {3, 4});
    put<int64_t>("labels", {3}, {1, 0, 2});
    folder_.write("tiny/node_names.npy", "a pickle, not to be opened");
  }

  template <class T>
  void put(const std::string& name, const Ids& shape, const std::vector<T>& values) const {
    write_npy(path_ + "/" + name + ".npy", shape, values);
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ + "/" + name + ".npy"); }
  RawDataset read() const { return gnn_benchmark_reader.read(path_); }

  std::string refusal(const std::string& name) const {
    const std::string message = message_of<DataError>([&] { read(); });
    EXPECT_CONTAINS(message, name.empty() ? "(" + path_ + ")" : "(" + path_ + "/" + name + ".npy)");
    return message;
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(GnnBenchmark, MakesArcsOfEntriesAndDenseFeatures) {
  const RawDataset set = read();
  EXPECT_EQ(set.name, "tiny");
  EXPECT_EQ(set.nodes(), 3);
  EXPECT_EQ(set.arcs.source, (Ids{0, 0, 2}));
  EXPECT_EQ(set.arcs.target, (Ids{1, 2, 2}));
  EXPECT_EQ(set.features.shape, (Ids{3, 4}));
  EXPECT_EQ(set.features.type, ElementType::uint8);
  EXPECT_EQ(set.features.as<double>(), (Numbers{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(set.labels, (Ids{1, 0, 2}));
  EXPECT_EQ(set.classes, 3);
  EXPECT_TRUE(set.splits.empty());
}

TEST_F(GnnBenchmark, HasTheValuesOfTheMatrixAsWeightsOnRequest) {
  const RawDataset set = read();
  EXPECT_EQ(set.arcs.weight, (Numbers{1, 0.5, 1}));
  EXPECT_TRUE(set.arcs.weight_on_request);
}

// A matrix of 200 x 1000000 doubles would take 1.6 GB.
TEST_F(GnnBenchmark, KeepsAListOfFeaturesThatAreTooManyForADenseMatrix) {
  constexpr int64_t n = 200, d = 1'000'000;
  put<float>("adj_data", {1}, {1});
  put<int32_t>("adj_indices", {1}, {2});
  std::vector<int32_t> begin(n + 1, 1);
  begin[0] = 0;
  put<int32_t>("adj_indptr", {n + 1}, begin);
  put<int64_t>("adj_shape", {2}, {n, n});
  put<int64_t>("labels", {n}, std::vector<int64_t>(n, 0));
  std::vector<int32_t> features(n + 1, 4);  // all four in the first two rows
  features[0] = 0;
  features[1] = 3;
  put<float>("attr_data", {4}, {2, 0, -1, 0.5F});
  put<int32_t>("attr_indices", {4}, {999'999, 5, 7, 7});
  put<int32_t>("attr_indptr", {n + 1}, features);
  put<int64_t>("attr_shape", {2}, {n, d});
  const RawDataset set = read();
  EXPECT_EQ(set.features.shape, (Ids{n, d}));
  EXPECT_TRUE(set.features.bytes.empty());
  ASSERT_TRUE(set.entries);
  EXPECT_EQ(set.entries->column, (Ids{7, 999'999, 7}));  // sorted, and without zeros
  EXPECT_EQ(set.entries->value, (Numbers{-1, 2, 0.5}));
  EXPECT_EQ(set.entries->begin[1], 2);
  EXPECT_EQ(set.entries->begin.back(), 3);
  put<int32_t>("attr_indices", {4}, {7, 5, 7, 7});
  EXPECT_CONTAINS(refusal("attr_data"), "row 0 has column 7 twice");
  put<int32_t>("attr_indices", {4}, {999'999, 5, 7, 7});
  put<float>("attr_data", {4}, {2, 0, INFINITY, 0.5F});
  EXPECT_CONTAINS(refusal("attr_data"), "in column 7 is not a finite number");
}

TEST_F(GnnBenchmark, KeepsFeaturesThatAreNotWhole) {
  put<float>("attr_data", {3}, {0.1F, 1, -1});
  EXPECT_EQ(read().features.type, ElementType::float32);
  EXPECT_EQ(read().features.as<float>()[3], 0.1F);
  put<double>("attr_data", {3}, {0.1, 1, -1});
  EXPECT_EQ(read().features.type, ElementType::float64);
  EXPECT_EQ(read().features.as<double>()[3], 0.1);
  EXPECT_EQ(read().features.as<double>()[5], -1);
}

TEST_F(GnnBenchmark, TakesADenseMatrixOfFeatures) {
  for (const char* name : {"attr_data", "attr_indices", "attr_indptr", "attr_shape"}) remove(name);
  put<double>("attr_matrix", {3, 1}, {1, 2, 3.5});
  EXPECT_EQ(read().features.as<double>(), (Numbers{1, 2, 3.5}));
  put<double>("attr_matrix", {2, 1}, {1, 2});
  EXPECT_CONTAINS(refusal("attr_matrix"), "the features have 2 rows, but the graph has 3 nodes");
}

TEST_F(GnnBenchmark, IsRecognisedByItsAdjacencyMatrix) {
  EXPECT_TRUE(gnn_benchmark_reader.recognise(path_));
  EXPECT_FALSE(gnn_benchmark_reader.recognise(folder_.path("")));
  EXPECT_FALSE(gnn_benchmark_reader.recognise(folder_.path("none")));
  EXPECT_FALSE(gnn_benchmark_reader.recognise(folder_.write("x.npz", "0 1\n")));
}

TEST_F(GnnBenchmark, NamesTheArrayThatIsMissing) {
  for (const std::string name : {"labels", "attr_data", "attr_indices", "attr_indptr", "attr_shape",
                                 "adj_data", "adj_indices", "adj_indptr", "adj_shape"}) {
    remove(name);
    EXPECT_CONTAINS(refusal(""), "no array '" + name + "' among");
  }
}

TEST_F(GnnBenchmark, RefusesRowsThatAreNoRows) {
  put<int32_t>("adj_indptr", {3}, {0, 2, 4});
  EXPECT_CONTAINS(refusal("adj_indptr"), "3 row starts for 3 rows");
  put<int32_t>("adj_indptr", {0}, {});
  EXPECT_CONTAINS(refusal("adj_indptr"), "0 row starts for 3 rows");
  put<int32_t>("adj_indptr", {4}, {0, 3, 2, 4});
  EXPECT_CONTAINS(refusal("adj_indptr"), "row 1 ends before it starts");
  put<int32_t>("adj_indptr", {4}, {1, 2, 3, 4});
  EXPECT_CONTAINS(refusal("adj_indptr"), "the first row starts at 1");
  put<int32_t>("adj_indptr", {4}, {0, 2, 3, 5});
  EXPECT_CONTAINS(refusal("adj_indptr"), "the last row ends at 5, but there are 4 indices");
  put<int32_t>("adj_indptr", {4}, {-1, 2, 3, 4});
  EXPECT_CONTAINS(refusal("adj_indptr"), "starts at -1");
}

TEST_F(GnnBenchmark, RefusesColumnsThatAreNotThere) {
  put<int32_t>("adj_indices", {4}, {1, 3, 0, 2});
  EXPECT_CONTAINS(refusal("adj_indices"), "element 1 is 3, but there are 3 columns");
  put<int32_t>("adj_indices", {4}, {1, -1, 0, 2});
  EXPECT_CONTAINS(refusal("adj_indices"), "element 1 is -1");
  put<int32_t>("adj_indices", {3}, {1, 2, 0});
  EXPECT_CONTAINS(refusal("adj_indices"), "3 indices for 4 values");
  put<float>("adj_indices", {4}, {1, 2, 0, 2});
  EXPECT_CONTAINS(refusal("adj_indices"), "whole numbers");
}

TEST_F(GnnBenchmark, RefusesSizesThatDoNotFit) {
  put<int64_t>("adj_shape", {2}, {3, 4});
  EXPECT_CONTAINS(refusal(""), "3 rows and 4 columns");
  put<int64_t>("adj_shape", {1}, {3});
  EXPECT_CONTAINS(refusal("adj_shape"), "not two numbers");
  put<int64_t>("adj_shape", {2}, {-1, 3});
  EXPECT_CONTAINS(refusal("adj_shape"), "a negative size");
  put<int64_t>("adj_shape", {2}, {INT64_MAX, INT64_MAX});
  EXPECT_CONTAINS(refusal("adj_indptr"), "row starts");
  put<int64_t>("adj_shape", {2}, {3, 3});
  put<int64_t>("attr_shape", {2}, {3, INT64_MAX});
  EXPECT_CONTAINS(refusal("attr_data"), "columns are more than 2147483647");
  put<int64_t>("attr_shape", {2}, {3, 1 << 30});
  EXPECT_CONTAINS(refusal("attr_data"), "claim to be 3 x 1073741824 features");
  put<int64_t>("attr_shape", {2}, {2, 4});
  EXPECT_CONTAINS(refusal("attr_indptr"), "4 row starts for 2 rows");
  put<int32_t>("attr_indptr", {3}, {0, 1, 3});
  EXPECT_CONTAINS(refusal("attr_data"), "the features have 2 rows, but the graph has 3 nodes");
}

TEST_F(GnnBenchmark, RefusesAnEmptyGraph) {
  for (const std::string matrix : {"adj", "attr"}) {
    put<float>(matrix + "_data", {0}, {});
    put<int32_t>(matrix + "_indices", {0}, {});
    put<int32_t>(matrix + "_indptr", {1}, {0});
    put<int64_t>(matrix + "_shape", {2}, {0, 0});
  }
  put<int64_t>("labels", {0}, {});
  EXPECT_CONTAINS(refusal(""), "no nodes");
}

TEST_F(GnnBenchmark, RefusesFeaturesThatComeTwiceOrAreNotFinite) {
  put<int32_t>("attr_indices", {3}, {3, 1, 1});
  EXPECT_CONTAINS(refusal("attr_data"), "row 1 has column 1 twice");
  put<int32_t>("attr_indices", {3}, {3, 0, 1});
  put<float>("attr_data", {3}, {1, INFINITY, 1});
  EXPECT_CONTAINS(refusal("attr_data"), "feature 0 of node 1 is not a finite number");
}

TEST_F(GnnBenchmark, RefusesLabelsThatAreNone) {
  put<float>("labels", {3}, {0, 1, 2});
  EXPECT_CONTAINS(refusal("labels"), "whole numbers are needed");
  put<int64_t>("labels", {3, 1}, {0, 1, 2});
  EXPECT_CONTAINS(refusal("labels"), "labels with 2 dimensions");
  put<int64_t>("labels", {2}, {0, 1});
  EXPECT_CONTAINS(refusal(""), "2 labels for 3 nodes");
  put<int64_t>("labels", {3}, {0, 1, -2});
  EXPECT_CONTAINS(refusal(""), "node 2 has the label -2");
}

#ifdef EIGNN_HAVE_LIBZIP
TEST_F(GnnBenchmark, IsReadFromAnArchiveAndNamesItsMembers) {
  const std::string path = folder_.path("tiny.npz");
  NpzWriter writer(path);
  for (const char* name : {"adj_data", "adj_indices", "adj_indptr", "adj_shape", "attr_data", "attr_indices",
                           "attr_indptr", "attr_shape", "labels"}) {
    const Array array = read_npy(path_ + "/" + name + ".npy");
    writer.add(name, array.type, array.shape, array.bytes.data());
  }
  writer.commit();
  EXPECT_TRUE(gnn_benchmark_reader.recognise(path));
  EXPECT_EQ(gnn_benchmark_reader.read(path).arcs.source, read().arcs.source);
  const std::string bytes = read_whole_file(path);
  EXPECT_EQ(parse_gnn_benchmark(bytes, "a.npz").features.bytes, read().features.bytes);

  const auto parse = [](const std::string& archive) { parse_gnn_benchmark(archive, "a.npz"); };
  expect_every_truncation_refused(bytes, parse);
  survive_random_damage(bytes, 3000, parse);
  const int64_t shape[] = {3, 4};
  NpzWriter wrong(path);
  wrong.add("adj_shape", ElementType::int64, {1}, shape);
  wrong.commit();
  EXPECT_CONTAINS(message_of<DataError>([&] { gnn_benchmark_reader.read(path); }),
                  "(" + path + "[adj_shape])");
}
#endif

}  // namespace
}  // namespace eignn
