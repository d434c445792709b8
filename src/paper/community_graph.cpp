#include "paper/community_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "eignn/error.h"
#include "graph/random_stream.h"

namespace eignn {

namespace {

constexpr int64_t community = 100, classes = 8, features = 64, edges_of_node = 5;

// Numbers that are the same with every standard library.
class Draw {
 public:
  Draw(uint64_t seed, uint64_t step) : random_(stream_seed(seed, Stream::graph, step)) {}

  int64_t below(int64_t bound) { return static_cast<int64_t>(uniform() * static_cast<double>(bound)); }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // Of mean 0 and variance 1, nearly normal: the sum of twelve.
  double noise() {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += uniform();
    return sum;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

RawDataset community_graph(int64_t nodes, uint64_t seed) {
  if (nodes < community)
    throw ArgumentError("nodes", fmt::format("{} nodes are not one community", nodes),
                        fmt::format("give {} or more", community));
  RawDataset set;
  set.name = fmt::format("communities-{}", nodes);
  set.format = "generated";
  set.path = set.name;
  set.arcs.nodes = nodes;
  set.classes = classes;
  const int64_t communities = nodes / community;  // the last one has the nodes that are left over
  const auto community_of = [&](int64_t v) { return std::min(v / community, communities - 1); };

  Draw labels(seed, 1);
  std::vector<int64_t> class_of(static_cast<size_t>(communities));
  for (int64_t& label : class_of) label = labels.below(classes);
  for (int64_t v = 0; v < nodes; ++v) set.labels.push_back(class_of[community_of(v)]);

  Draw ends(seed, 2);
  for (int64_t v = 0; v < nodes; ++v)
    for (int64_t e = 0; e < edges_of_node; ++e) {
      constexpr double within = 0.8;
      const int64_t begin = community_of(v) * community,
                    size = community_of(v) == communities - 1 ? nodes - begin : community;
      const int64_t u = ends.uniform() < within ? begin + ends.below(size) : ends.below(nodes);
      if (u == v) continue;
      set.arcs.source.push_back(v);
      set.arcs.target.push_back(u);
    }

  Draw directions(seed, 3), noise(seed, 4);
  constexpr double signal = 1.0 / 6;  // of the noise
  std::vector<float> direction(static_cast<size_t>(classes * features));
  for (float& value : direction) value = directions.uniform() < 0.5 ? -signal : signal;
  std::vector<float> X(static_cast<size_t>(nodes * features));
  for (int64_t v = 0; v < nodes; ++v)
    for (int64_t k = 0; k < features; ++k)
      X[v * features + k] = direction[set.labels[v] * features + k] + static_cast<float>(noise.noise());
  set.features.type = ElementType::float32;
  set.features.shape = {nodes, features};
  set.features.bytes.resize(X.size() * sizeof(float));
  std::memcpy(set.features.bytes.data(), X.data(), set.features.bytes.size());

  Draw parts(seed, 5);
  NodeSplit split;
  for (int64_t v = 0; v < nodes; ++v) {
    const double at = parts.uniform();
    (at < 0.05 ? split.train : at < 0.15 ? split.val : split.test).push_back(v);
  }
  set.splits.push_back(std::move(split));
  return set;
}

}  // namespace eignn
