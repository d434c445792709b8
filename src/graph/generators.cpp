#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "eignn/error.h"
#include "eignn/graph.h"
#include "graph/random_stream.h"
#include "graph/within_memory.h"

namespace eignn {

namespace {

// Draws the ends of an arc: each level chooses one of the four quarters, which gives one bit of both ids.
class RmatDraw {
 public:
  RmatDraw(int64_t nodes, uint64_t seed, const RmatOptions& options) : random_(seed) {
    while ((int64_t{1} << levels_) < nodes) ++levels_;
    const std::array<double, 3> probability = {options.a, options.b, options.c};
    double sum = 0;
    for (size_t k = 0; k < 3; ++k) {
      sum += probability[k];
      upto_[k] = static_cast<uint64_t>(std::min(1.0, sum) * 0x1p32);
    }
  }

  // The arc may be a loop, or have ids beyond the last node where the number of nodes is no power of two.
  std::pair<int64_t, int64_t> operator()() {
    int64_t source = 0, target = 0;
    uint64_t bits = 0;
    for (int level = 0; level < levels_; ++level) {
      bits = level % 2 == 0 ? random_() : bits >> 32;
      const uint64_t x = bits & 0xffffffff;
      const int quarter = (x >= upto_[0]) + (x >= upto_[1]) + (x >= upto_[2]);
      source = 2 * source + quarter / 2;
      target = 2 * target + quarter % 2;
    }
    return {source, target};
  }

 private:
  int levels_ = 0;
  std::array<uint64_t, 3> upto_{};
  std::mt19937_64 random_;
};

void check_rmat(int64_t nodes, int64_t edges, const RmatOptions& o) {
  constexpr int64_t most = int64_t{1} << 31;  // so that a pair and its direction fit into 64 bits
  if (nodes < 0 || nodes > most)
    throw ArgumentError("nodes", fmt::format("{} nodes are out of range", nodes), "give 0 to 2^31");
  const bool possible = nodes < 2 ? edges == 0 : edges >= 0 && edges <= nodes * (nodes - 1) / 2;
  if (!possible)
    throw ArgumentError("edges", fmt::format("{} nodes have no {} distinct pairs", nodes, edges),
                        "give fewer edges");
  if (!(o.a >= 0 && o.b >= 0 && o.c >= 0 && o.a + o.b + o.c <= 1))
    throw ArgumentError("options", fmt::format("{}, {}, {} are no probabilities of quarters", o.a, o.b, o.c),
                        "their sum is at most 1");
}

Graph draw_rmat(int64_t nodes, int64_t edges, uint64_t seed, const RmatOptions& options) {
  RmatDraw draw(nodes, stream_seed(seed, Stream::graph), options);
  // Each pair and its direction are one number. Pairs that were drawn before are drawn again.
  const auto n = static_cast<uint64_t>(nodes);
  const auto before = [](uint64_t x, uint64_t y) { return x / 2 < y / 2; };
  const auto same = [](uint64_t x, uint64_t y) { return x / 2 == y / 2; };
  std::vector<uint64_t> pairs;
  pairs.reserve(edges);
  constexpr int most_rounds = 1000;
  for (int round = 0; static_cast<int64_t>(pairs.size()) < edges; ++round) {
    if (round == most_rounds)
      throw ConvergenceError(fmt::format("only {} of {} distinct pairs came up", pairs.size(), edges),
                             fmt::format("R-MAT, {} nodes", nodes),
                             "give fewer edges, or more equal quarters");
    const auto known = static_cast<std::ptrdiff_t>(pairs.size());
    for (int64_t missing = edges - known; missing > 0; --missing) {
      const auto [source, target] = draw();
      if (source == target || std::max(source, target) >= nodes) continue;
      const auto low = static_cast<uint64_t>(std::min(source, target)),
                 high = static_cast<uint64_t>(std::max(source, target));
      pairs.push_back(2 * (low * n + high) + (source > target));
    }
    std::stable_sort(pairs.begin() + known, pairs.end(), before);
    std::inplace_merge(pairs.begin(), pairs.begin() + known, pairs.end(), before);
    pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
  }

  // std::shuffle would give different results with different standard libraries.
  std::vector<int64_t> name(nodes);
  std::iota(name.begin(), name.end(), int64_t{0});
  std::mt19937_64 random(stream_seed(seed, Stream::graph, 1));
  for (int64_t k = nodes - 1; k > 0; --k) std::swap(name[k], name[random() % static_cast<uint64_t>(k + 1)]);

  std::vector<int64_t> source, target;
  source.reserve(edges);
  target.reserve(edges);
  for (const uint64_t pair : pairs) {
    const int64_t low = name[pair / 2 / n], high = name[pair / 2 % n];
    source.push_back(pair % 2 == 0 ? low : high);
    target.push_back(pair % 2 == 0 ? high : low);
  }
  return Graph::from_arcs(nodes, source, target);
}

}  // namespace

Graph rmat_graph(int64_t nodes, int64_t edges, uint64_t seed, const RmatOptions& options) {
  check_rmat(nodes, edges, options);
  return within_memory(nodes, edges, [&] { return draw_rmat(nodes, edges, seed, options); });
}

Graph chain_graph(int64_t chains, int64_t length) {
  if (chains < 0 || length < 0 || (length > 0 && chains > most_nodes / length))
    throw ArgumentError("chains", fmt::format("{} chains of {} nodes cannot be counted", chains, length),
                        "give numbers of 0 or more, and a product below 2^60");
  const int64_t nodes = chains * length, arcs = length > 0 ? chains * (length - 1) : 0;
  return within_memory(nodes, arcs, [&] {
    std::vector<int64_t> source, target;
    source.reserve(arcs);
    target.reserve(arcs);
    for (int64_t c = 0; c < chains && length > 0; ++c)
      for (int64_t k = 0; k + 1 < length; ++k) {
        source.push_back(c * length + k);
        target.push_back(c * length + k + 1);
      }
    return Graph::from_arcs(nodes, source, target);
  });
}

Graph karate_club() {
  // W. W. Zachary, An information flow model for conflict and fission in small groups, 1977; members from 0.
  static constexpr std::array<std::pair<int, int>, 78> friendships = {{
      {0, 1},   {0, 2},   {0, 3},   {0, 4},   {0, 5},   {0, 6},   {0, 7},   {0, 8},   {0, 10},  {0, 11},
      {0, 12},  {0, 13},  {0, 17},  {0, 19},  {0, 21},  {0, 31},  {1, 2},   {1, 3},   {1, 7},   {1, 13},
      {1, 17},  {1, 19},  {1, 21},  {1, 30},  {2, 3},   {2, 7},   {2, 8},   {2, 9},   {2, 13},  {2, 27},
      {2, 28},  {2, 32},  {3, 7},   {3, 12},  {3, 13},  {4, 6},   {4, 10},  {5, 6},   {5, 10},  {5, 16},
      {6, 16},  {8, 30},  {8, 32},  {8, 33},  {9, 33},  {13, 33}, {14, 32}, {14, 33}, {15, 32}, {15, 33},
      {18, 32}, {18, 33}, {19, 33}, {20, 32}, {20, 33}, {22, 32}, {22, 33}, {23, 25}, {23, 27}, {23, 29},
      {23, 32}, {23, 33}, {24, 25}, {24, 27}, {24, 31}, {25, 31}, {26, 29}, {26, 33}, {27, 33}, {28, 31},
      {28, 33}, {29, 32}, {29, 33}, {30, 32}, {30, 33}, {31, 32}, {31, 33}, {32, 33},
  }};
  std::vector<int64_t> source, target;
  for (auto [a, b] : friendships) {
    source.push_back(a);
    target.push_back(b);
  }
  return Graph::from_arcs(34, source, target).symmetrised();
}

std::vector<int64_t> karate_factions() {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0,
          0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
}

}  // namespace eignn
