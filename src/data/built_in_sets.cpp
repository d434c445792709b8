// The data sets that need no file.
#include <fmt/format.h>
#include <torch/torch.h>

#include "data/random_split.h"
#include "eignn/dataset.h"
#include "eignn/error.h"
#include "graph/random_stream.h"

namespace eignn {

namespace {

void require(bool holds, const char* field, int64_t value, const char* remedy) {
  if (!holds) throw ArgumentError(field, fmt::format("{} is out of range", value), remedy);
}

}  // namespace

Dataset chains_dataset(const ChainsOptions& options, uint64_t seed) {
  require(options.length >= 1, "chain-length", options.length, "a chain has at least one node");
  require(options.chains_per_class >= 1, "chains-per-class", options.chains_per_class,
          "give at least one chain");
  require(options.classes >= 2, "num-classes", options.classes, "give at least two classes");
  require(options.features >= options.classes, "feature-dim", options.features,
          "each class needs a feature of its own: give at least as many as classes");
  if (!(options.noise >= 0) || !std::isfinite(options.noise))
    throw ArgumentError("noise", fmt::format("{} is out of range", options.noise),
                        "give a finite number, 0 or more");
  constexpr int64_t most = 100'000'000;
  const auto require_size = [&](bool holds) {
    require(holds, "chain-length", options.length, "the split needs between 20 and 1e8 nodes in all");
  };
  // By division first: the product of large numbers would overflow.
  require_size(options.classes <= most && options.chains_per_class <= most / options.classes);
  const int64_t chains = options.classes * options.chains_per_class;
  require_size(options.length <= most / chains);
  const int64_t n = chains * options.length;
  require_size(n >= 20);

  Dataset set;
  set.name = "chains";
  set.graph = chain_graph(chains, options.length);
  set.classes = options.classes;
  const auto chain_class = torch::arange(options.classes).repeat_interleave(options.chains_per_class);
  set.labels = chain_class.repeat_interleave(options.length);
  set.known = torch::ones({n}, torch::kBool);
  set.arcs_in_file = set.graph.arcs();
  set.features = torch::zeros({n, options.features}, torch::kFloat64);
  set.features.index_put_({torch::arange(chains) * options.length, chain_class},
                          torch::ones({chains}, torch::kFloat64));
  if (options.noise > 0) {
    auto generator = at::detail::createCPUGenerator(stream_seed(seed, Stream::noise));
    set.features += torch::empty_like(set.features).uniform_(-options.noise, options.noise, generator);
  }
  for (int64_t v = 0; v < n; ++v) set.distance.push_back(v % options.length);

  const auto order = permutation(n, seed);
  const int64_t train = n / 20, val = n / 10;
  set.splits.push_back({order.narrow(0, 0, train).clone(), order.narrow(0, train, val).clone(),
                        order.narrow(0, train + val, n - train - val).clone()});
  return set;
}

Dataset karate_dataset(uint64_t seed) {
  Dataset set;
  set.name = "karate";
  set.graph = karate_club();
  set.classes = 2;
  set.features = torch::eye(set.graph.nodes, torch::kFloat64);
  set.labels = torch::tensor(karate_factions(), torch::kInt64);
  set.known = torch::ones({set.graph.nodes}, torch::kBool);
  set.arcs_in_file = set.graph.arcs();
  constexpr int64_t labelled = 4;
  const auto order = permutation(set.graph.nodes, seed);
  std::vector<torch::Tensor> train, val, test;
  for (int64_t faction = 0; faction < 2; ++faction) {
    const auto members = order.index({set.labels.index_select(0, order) == faction});
    train.push_back(members.narrow(0, 0, labelled));
    val.push_back(members.narrow(0, labelled, labelled));
    test.push_back(members.narrow(0, 2 * labelled, members.size(0) - 2 * labelled));
  }
  set.splits.push_back({torch::cat(train), torch::cat(val), torch::cat(test)});
  return set;
}

}  // namespace eignn
