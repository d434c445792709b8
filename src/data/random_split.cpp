#include "data/random_split.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "graph/random_stream.h"

namespace eignn {

namespace {

// The groups of labelled nodes that are split separately, each in random order: the classes, or all nodes
// together for sets of labels and numbers to predict.
std::vector<torch::Tensor> strata(const Dataset& set, const torch::Tensor& order) {
  const auto labelled = order.masked_select(set.known.index_select(0, order));
  if (set.multi_label() || set.is_regression()) return {labelled};
  std::vector<torch::Tensor> by_class;
  const auto labels = set.labels.index_select(0, labelled);
  for (int64_t c = 0; c < set.classes; ++c) by_class.push_back(labelled.masked_select(labels == c));
  return by_class;
}

struct Parts {
  std::vector<torch::Tensor> train, val, test;
  void add(const torch::Tensor& members) {
    const int64_t n = members.size(0), v = n / 5, t = n / 5;
    train.push_back(members.narrow(0, 0, n - v - t));
    val.push_back(members.narrow(0, n - v - t, v));
    test.push_back(members.narrow(0, n - t, t));
  }
};

// The labelled nodes of the graphs in `chosen`.
torch::Tensor nodes_of(const Dataset& set, const torch::Tensor& chosen) {
  const auto graph = torch::tensor(set.graph_of, torch::kInt64);
  auto wanted = torch::zeros({set.graphs()}, torch::kBool);
  wanted.index_fill_(0, chosen, true);
  return torch::nonzero(wanted.index_select(0, graph).logical_and(set.known)).squeeze(1);
}

}  // namespace

torch::Tensor permutation(int64_t n, uint64_t seed, uint64_t number) {
  return torch::randperm(n, at::detail::createCPUGenerator(stream_seed(seed, Stream::split, number)),
                         torch::kInt64);
}

Split random_split(const Dataset& set, uint64_t seed, uint64_t number) {
  Parts parts;
  Split split;
  if (set.graphs() > 1) {
    parts.add(permutation(set.graphs(), seed, number));
    split = {nodes_of(set, parts.train[0]), nodes_of(set, parts.val[0]), nodes_of(set, parts.test[0])};
  } else {
    for (const auto& members : strata(set, permutation(set.nodes(), seed, number))) parts.add(members);
    split = {torch::cat(parts.train), torch::cat(parts.val), torch::cat(parts.test)};
  }
  for (const auto* part : {&split.train, &split.val, &split.test})
    if (part->numel() == 0)
      throw DataError(set.name, {},
                      fmt::format("{} labelled {} are too few to train, validate and test on",
                                  set.graphs() > 1 ? set.graphs() : set.known.sum().item<int64_t>(),
                                  set.graphs() > 1 ? "graphs" : "nodes"),
                      "label at least five of a class, or give splits");
  return split;
}

void draw_splits(Dataset& set, int64_t count, uint64_t seed) {
  if (count <= 1) return;
  if (!set.drawn_split)
    throw ArgumentError("drawn", fmt::format("{} has splits of its own, and none is drawn", set.name),
                        "leave it out");
  for (int64_t k = static_cast<int64_t>(set.splits.size()); k < count; ++k)
    set.splits.push_back(random_split(set, seed, static_cast<uint64_t>(k)));
}

}  // namespace eignn
