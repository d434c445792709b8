#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "eignn/dataset.h"
#include "eignn/error.h"

namespace eignn {
namespace {

// The field that is refused after `spoil`; "" when the data set passes.
template <class Spoil>
std::string refused(Dataset set, Spoil spoil) {
  spoil(set);
  try {
    validate(set);
  } catch (const ArgumentError& error) {
    return error.field();
  }
  return "";
}

template <class Spoil>
std::string refused(Spoil spoil) {
  return refused(karate_dataset(0), spoil);
}

// Two disjoint graphs, a set of labels a node.
Dataset two_graphs() {
  Dataset set;
  set.graph = Graph::from_arcs(4, {0, 2}, {1, 3});
  set.features = torch::ones({4, 2}, torch::kFloat64);
  set.labels = torch::zeros({4, 3}, torch::kUInt8);
  set.known = torch::ones({4}, torch::kBool);
  set.classes = 3;
  set.graph_of = {0, 0, 1, 1};
  return set;
}

TEST(ValidateDataset, LetsEveryBuiltInSetPass) {
  EXPECT_EQ(refused([](Dataset&) {}), "");
  EXPECT_EQ(refused(chains_dataset({}, 0), [](Dataset&) {}), "");
  EXPECT_EQ(refused(two_graphs(), [](Dataset&) {}), "") << "a set to predict on needs no splits";
}

TEST(ValidateDataset, NamesFeaturesThatDoNotFit) {
  const auto features = [](auto change) {
    return refused([&](Dataset& set) { set.features = change(set.features); });
  };
  const auto n = karate_dataset(0).nodes();
  EXPECT_EQ(features([](const torch::Tensor&) { return torch::Tensor(); }), "features");
  EXPECT_EQ(features([&](const torch::Tensor& x) { return x.narrow(0, 0, n - 1); }), "features");
  EXPECT_EQ(features([](const torch::Tensor& x) { return torch::cat({x, x}); }), "features");
  EXPECT_EQ(features([](const torch::Tensor& x) { return x.flatten(); }), "features");
  EXPECT_EQ(features([](const torch::Tensor& x) { return x.narrow(1, 0, 0); }), "features");
  EXPECT_EQ(features([](const torch::Tensor& x) { return x.to(torch::kFloat32); }), "features");
  EXPECT_EQ(features([](const torch::Tensor& x) { return x.to_sparse(); }), "");
  EXPECT_EQ(features([](const torch::Tensor& x) { return x.to_sparse() * std::nan(""); }), "features");
  EXPECT_EQ(features([](const torch::Tensor& x) {  // as if entries might repeat
              const auto s = x.to_sparse();
              return torch::sparse_coo_tensor(s.indices(), s.values(), s.sizes(), s.options());
            }),
            "features");
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_EQ(features([&](torch::Tensor x) {
                x[3][1] = bad;
                return x;
              }),
              "features");
  EXPECT_EQ(features([](const torch::Tensor& x) { return x.t().contiguous().t(); }), "")
      << "strides are free";
}

TEST(ValidateDataset, NamesLabelsThatDoNotFit) {
  EXPECT_EQ(refused([](Dataset& set) { set.labels = torch::Tensor(); }), "labels");
  EXPECT_EQ(refused([](Dataset& set) { set.labels = set.labels.narrow(0, 1, 3); }), "labels");
  EXPECT_EQ(refused([](Dataset& set) { set.labels = set.labels.to(torch::kInt32); }), "labels");
  EXPECT_EQ(refused([](Dataset& set) { set.labels[5] = 2; }), "labels");
  EXPECT_EQ(refused([](Dataset& set) { set.labels[5] = -2; }), "labels");
  EXPECT_EQ(refused([](Dataset& set) { set.labels[5] = -1; }), "known");
  EXPECT_EQ(refused([](Dataset& set) { set.known = torch::Tensor(); }), "known");
  EXPECT_EQ(refused([](Dataset& set) { set.known = set.known.to(torch::kUInt8); }), "known");
  EXPECT_EQ(refused([](Dataset& set) { set.classes = 0; }), "classes");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.classes = 2; }), "labels");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.labels[1][1] = 2; }), "labels");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.labels = set.labels.to(torch::kInt64); }), "labels");
}

TEST(ValidateDataset, NamesNamesThatDoNotFit) {
  EXPECT_EQ(refused([](Dataset& set) { set.node_names = {"Ada"}; }), "node_names");
  EXPECT_EQ(refused([](Dataset& set) { set.class_names = {"one", "two", "three"}; }), "class_names");
  EXPECT_EQ(refused([](Dataset& set) { set.class_names = {"one", "two"}; }), "");
}

TEST(ValidateDataset, NamesSplitsThatDoNotFit) {
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].train = torch::Tensor(); }), "splits[0].train");
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].val[0] = 34; }), "splits[0].val");
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].test[1] = -1; }), "splits[0].test");
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].test = set.splits[0].test.narrow(0, 0, 0); }),
            "splits[0].test");
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].train = set.splits[0].train.to(torch::kInt32); }),
            "splits[0].train");
  EXPECT_EQ(refused([](Dataset& set) {
              set.splits[0].train = set.splits[0].train.view({2, 4});
            }),
            "splits[0].train");
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].val[0] = set.splits[0].train[0]; }), "splits[0].val");
  EXPECT_EQ(refused([](Dataset& set) { set.splits[0].val[1] = set.splits[0].val[0]; }), "splits[0].val");
  EXPECT_EQ(refused([](Dataset& set) {
              const auto v = set.splits[0].test[0].item<int64_t>();
              set.labels[v] = -1;
              set.known[v] = false;
            }),
            "splits[0].test");
  EXPECT_EQ(refused([](Dataset& set) {
              set.splits.push_back(set.splits[0]);
              set.splits[1].train = torch::tensor({99}, torch::kInt64);
            }),
            "splits[1].train");
}

TEST(ValidateDataset, NamesGraphsThatDoNotFit) {
  EXPECT_EQ(refused([](Dataset& set) { set.graph = Graph(); }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.nodes = -1; }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.nodes = std::numeric_limits<int64_t>::max(); }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.target[0] = 34; }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.target[0] = -1; }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { std::swap(set.graph.target[0], set.graph.target[1]); }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.row_begin[3] = 1'000'000; }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.row_begin[3] = -5; }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.row_begin.back() += 1; }), "graph");
  EXPECT_EQ(refused([](Dataset& set) { set.graph.target.pop_back(); }), "graph");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.graph_of.pop_back(); }), "graph_of");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.graph_of[2] = -1; }), "graph_of");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.graph_of[2] = int64_t{1} << 60; }), "graph_of");
  EXPECT_EQ(refused(two_graphs(), [](Dataset& set) { set.graph_of = {0, 1, 1, 1}; }), "graph_of");
  EXPECT_EQ(refused([](Dataset& set) { set.distance = {1, 2}; }), "distance");
}

TEST(LoadDataset, LooksForNamedSetsWhereItIsTold) {
  try {
    load_dataset("texas", {}, 0, DataFolders{{"/nowhere/a", "/nowhere/b"}});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/a, /nowhere/b"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(DataFolders::from_environment().search.empty());
}

}  // namespace
}  // namespace eignn
