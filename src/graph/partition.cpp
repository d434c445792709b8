// Partitions: whole components where these make parts of about one size, else METIS (Karypis and Kumar,
// 1998).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>

#include "eignn/error.h"
#include "graph/grouping.h"

#ifdef EIGNN_HAVE_METIS
#include <metis.h>

#include <csignal>
#include <cstdlib>
#endif

namespace eignn {

namespace {

// Numbers the groups that occur by their smallest node.
Grouping renumbered(const std::vector<int64_t>& group_of, int64_t groups) {
  Grouping out;
  std::vector<int64_t> number(static_cast<size_t>(groups), -1);
  for (const int64_t group : group_of) {
    if (number[group] < 0) number[group] = out.groups++;
    out.group_of.push_back(number[group]);
  }
  return out;
}

// Components by falling size, each to the part that has fewest nodes. Empty where a part would be more than a
// twentieth too large, or none would be left for one.
std::vector<int64_t> whole_components(const Graph& graph, int64_t parts) {
  auto components = weak_components(graph).members();
  if (static_cast<int64_t>(components.size()) < parts) return {};
  std::stable_sort(components.begin(), components.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<int64_t> part_of(static_cast<size_t>(graph.nodes));
  std::vector<std::pair<int64_t, int64_t>> heap;  // nodes and number of each part, the smallest first
  for (int64_t p = 0; p < parts; ++p) heap.emplace_back(0, p);
  const auto more = std::greater<>();
  for (const auto& component : components) {
    std::pop_heap(heap.begin(), heap.end(), more);
    auto& [size, part] = heap.back();
    size += static_cast<int64_t>(component.size());
    for (const int64_t v : component) part_of[v] = part;
    std::push_heap(heap.begin(), heap.end(), more);
  }
  constexpr double tolerance = 1.05;
  const double fair = std::ceil(static_cast<double>(graph.nodes) / static_cast<double>(parts));
  const auto largest = std::max_element(heap.begin(), heap.end());
  if (static_cast<double>(largest->first) > tolerance * fair) return {};
  return part_of;
}

#ifdef EIGNN_HAVE_METIS

// Weights as METIS counts them: whole numbers of 1 and more, in thousandths of the mean, whose sum fits.
std::vector<idx_t> whole_weights(const std::vector<double>& weight) {
  double sum = 0;
  for (const double w : weight) sum += w;
  const auto count = static_cast<double>(weight.size());
  const double most_sum = static_cast<double>(std::numeric_limits<idx_t>::max()) / 4;
  const double factor = std::min(1000 * count, most_sum - count) / sum;
  std::vector<idx_t> out;
  for (const double w : weight) out.push_back(static_cast<idx_t>(std::max(1.0, std::round(factor * w))));
  return out;
}

// METIS draws from the process's own rand(), which it seeds, and catches SIGTERM while it works: the stream
// is put aside, and a signal waits for the program's own handler.
class MetisGuard {
 public:
  MetisGuard() : lock_(one_at_a_time()), stream_(initstate(1, state_, sizeof state_)) {
    sigset_t caught;
    sigemptyset(&caught);
    sigaddset(&caught, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &caught, &mask_);
  }
  ~MetisGuard() {
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    if (stream_ != nullptr) setstate(stream_);
  }
  MetisGuard(const MetisGuard&) = delete;
  MetisGuard& operator=(const MetisGuard&) = delete;

 private:
  static std::mutex& one_at_a_time() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> lock_;
  char state_[256];
  char* stream_;
  sigset_t mask_{};
};

std::vector<int64_t> cut_by_metis(const Graph& graph, int64_t parts) {
  const Graph both_ways = graph.symmetrised();
  if (both_ways.arcs() > std::numeric_limits<idx_t>::max() / 2)
    throw ResourceError(fmt::format("METIS cannot count the {} arcs of this graph", both_ways.arcs()),
                        "partition", "leave partition out");
  std::vector<idx_t> begin = {0}, target;
  std::vector<double> weight;
  for (int64_t v = 0; v < both_ways.nodes; ++v) {
    for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a) {
      if (both_ways.target[a] == v) continue;
      target.push_back(static_cast<idx_t>(both_ways.target[a]));
      if (!both_ways.weight.empty()) weight.push_back(both_ways.weight[a]);
    }
    begin.push_back(static_cast<idx_t>(target.size()));
  }
  std::vector<idx_t> weights = whole_weights(weight);
  idx_t n = static_cast<idx_t>(both_ways.nodes), constraints = 1, k = static_cast<idx_t>(parts), cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  std::vector<idx_t> part(static_cast<size_t>(n));
  const MetisGuard guard;
  const int status = METIS_PartGraphKway(&n, &constraints, begin.data(), target.data(), nullptr, nullptr,
                                         weights.empty() ? nullptr : weights.data(), &k, nullptr, nullptr,
                                         options, &cut, part.data());
  if (status != METIS_OK)
    throw ResourceError(fmt::format("METIS found no partition into {} parts{}", parts,
                                    status == METIS_ERROR_MEMORY ? ": there is not enough memory" : ""),
                        "partition", "use another number of parts");
  return {part.begin(), part.end()};
}

#else

std::vector<int64_t> cut_by_metis(const Graph&, int64_t) {
  throw ResourceError("a partition takes METIS, and this build has none", "partition",
                      "build with METIS (Debian: libmetis-dev), or leave partition out");
}

#endif

}  // namespace

Grouping partition_graph(const Graph& graph, int64_t parts) {
  check(graph);
  if (parts < 1 || parts > graph.nodes)
    throw ArgumentError("partition", fmt::format("a graph of {} nodes has no {} parts", graph.nodes, parts),
                        fmt::format("give 1 to {}", graph.nodes));
  if (parts == 1) return {1, std::vector<int64_t>(static_cast<size_t>(graph.nodes), 0)};
  auto part_of = whole_components(graph, parts);
  if (part_of.empty() && parts == graph.nodes) {
    part_of.resize(static_cast<size_t>(graph.nodes));
    std::iota(part_of.begin(), part_of.end(), 0);
  }
  return renumbered(part_of.empty() ? cut_by_metis(graph, parts) : part_of, parts);
}

}  // namespace eignn
