#include "equilibrium/spectral/leading_pairs.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "eignn/error.h"
#include "equilibrium/spectral/lanczos.h"
#include "equilibrium/spectral/spectrum.h"
#include "equilibrium/symmetric_eigen.h"
#include "graph/unique_components.h"

namespace eignn {

namespace {

// Pairs of one component by falling |λ|.
struct ComponentPairs {
  torch::Tensor lambda, Q;  // (count,), (size, count)
  double left = 0;          // |λ| of the largest that is not among them

  int64_t count() const { return lambda.size(0); }
  double size(int64_t pair) const { return std::abs(lambda.data_ptr<double>()[pair]); }
};

ComponentPairs largest(const torch::Tensor& lambda, const torch::Tensor& Q, int64_t count) {
  const double* values = lambda.data_ptr<double>();
  std::vector<int64_t> order(static_cast<size_t>(lambda.size(0)));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return std::abs(values[a]) > std::abs(values[b]); });
  const double left = count < lambda.size(0) ? std::abs(values[order[static_cast<size_t>(count)]]) : 0;
  order.resize(std::min(order.size(), static_cast<size_t>(count)));
  const auto index = torch::tensor(order, torch::kInt64);
  return {lambda.index_select(0, index), Q.index_select(1, index), left};
}

ComponentPairs dense_pairs(const Propagation& S, int64_t count) {
  const EigenBlock basis = eigenbasis_of(S, torch::kFloat64, torch::kCPU);
  return largest(basis.values.contiguous(), basis.vectors, count);
}

// An eigenvalue of this size counts as 0: where λ = 0 a state is its own features.
constexpr double nothing = 1e-9;

// Adds those pairs of S - Q Λ Qᵀ whose λ is not 0; their vectors are orthogonal to Q but for rounding. (Those
// of λ = 0 need not be: Q itself has this eigenvalue now.)
void append(ComponentPairs& found, const ComponentPairs& more) {
  int64_t count = 0;
  while (count < more.count() && more.size(count) > nothing) ++count;
  auto Q = more.Q.narrow(1, 0, count);
  Q = Q - found.Q.mm(found.Q.t().mm(Q));
  found.lambda = torch::cat({found.lambda, more.lambda.narrow(0, 0, count)});
  found.Q = torch::cat({found.Q, Q / Q.norm(2, 0, /*keepdim=*/true)}, 1);
}

// Adds pairs of the eigenvalue 0, orthogonal to those found.
void fill_with_zeros(ComponentPairs& found, int64_t count) {
  const int64_t lacking = count - found.count(), n = found.Q.size(0);
  if (lacking <= 0) return;
  auto V = torch::randn({n, lacking}, at::detail::createCPUGenerator(1), torch::kFloat64);
  for (int twice = 0; twice < 2; ++twice) {
    V = V - found.Q.mm(found.Q.t().mm(V));
    V = std::get<0>(torch::linalg_qr(V, "reduced"));
  }
  found.lambda = torch::cat({found.lambda, torch::zeros({lacking}, found.lambda.options())});
  found.Q = torch::cat({found.Q, V}, 1);
}

ComponentPairs lanczos_pairs(const Propagation& S, int64_t count) {
  constexpr double fine = 1e-8, coarse = 1e-3, round_off = 1e-6;
  const int64_t n = S.nodes;
  const auto type = torch::dtype(torch::kFloat64);
  ComponentPairs found{torch::zeros({0}, type), torch::zeros({n, 0}, type)};
  if (const auto q = exact_leading_vector(S); q.defined()) found = {torch::ones({1}, type), q.unsqueeze(1)};
  uint64_t start = 1;
  const auto more_pairs = [&](int64_t pairs, double tolerance) {
    const auto [lambda, Q] = lanczos(S, found.lambda, found.Q, std::min(pairs, n - 1), tolerance, start++);
    return largest(lambda, Q, pairs);
  };
  if (found.count() < count) append(found, more_pairs(count - found.count(), fine));
  // One start vector sees one vector of each eigenspace. More are asked for each time, since an eigenvalue
  // that occurs twice may occur a hundred times. A Ritz value is never larger than the largest |λ|, so that
  // even a coarse one proves that a pair is missing.
  double left = 0;
  for (int64_t more = 1; found.count() < n; more = std::min<int64_t>(2 * more, 32)) {
    const double least = found.count() < count ? 0 : largest(found.lambda, found.Q, count).size(count - 1);
    left = more_pairs(1, coarse).size(0);
    if (left <= least * (1 + round_off) + round_off) break;
    append(found, more_pairs(std::min(more, n - found.count()), fine));
    left = 0;
  }
  fill_with_zeros(found, count);
  auto out = largest(found.lambda, found.Q, count);
  out.left = std::max(out.left, left * (1 + coarse));
  return out;
}

ComponentPairs pairs_of(const Propagation& S, int64_t count, EigenMethod method) {
  constexpr int64_t small = 512;  // decomposed in a tenth of a second
  constexpr int64_t worth = 8;    // more than an eighth of all pairs cost Lanczos more time than all of them
  const bool by_lanczos =
      method == EigenMethod::lanczos ? S.nodes > 2 : S.nodes > small && worth * count < S.nodes;
  if (by_lanczos && count < S.nodes) return lanczos_pairs(S, count);
  require_decomposable(S.nodes);
  return dense_pairs(S, count);
}

}  // namespace

LeadingPairs leading_pairs(const Propagation& S, int64_t k, EigenMethod method) {
  if (!S.symmetric)
    throw ArgumentError("solver", "a directed graph has no orthogonal eigenbasis, which eigenpairs are of",
                        "use solver direct or sparse, or direction undirected");
  if (k > S.nodes || (k < 1 && S.nodes > 0))
    throw ArgumentError("eigenpairs", fmt::format("a graph of {} nodes has no {} eigenpairs", S.nodes, k),
                        fmt::format("give 1 to {}", S.nodes));
  const auto kinds = unique_components(S);
  struct Place {
    double size;
    size_t kind, instance;
    int64_t pair;
  };
  std::vector<ComponentPairs> of_kind;
  std::vector<Place> places;
  LeadingPairs out;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    // Each of its eigenvalues occurs as often as the component, so that this many of them are enough.
    const auto instances = static_cast<int64_t>(kinds[kind].instances.size());
    const int64_t count = std::min(kinds[kind].S.nodes, (k + instances - 1) / instances);
    of_kind.push_back(pairs_of(kinds[kind].S, count, method));
    out.next = std::max(out.next, of_kind.back().left);
    for (int64_t pair = 0; pair < count; ++pair)
      for (size_t instance = 0; instance < kinds[kind].instances.size(); ++instance)
        places.push_back({of_kind.back().size(pair), kind, instance, pair});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.size > b.size; });
  const auto type = torch::dtype(torch::kFloat64);
  out.lambda = torch::empty({k}, type);
  out.Q = torch::zeros({S.nodes, k}, type);
  for (int64_t j = 0; j < k; ++j) {
    const Place& at = places[static_cast<size_t>(j)];
    out.lambda[j] = of_kind[at.kind].lambda[at.pair];
    const auto nodes = torch::tensor(kinds[at.kind].instances[at.instance], torch::kInt64);
    out.Q.select(1, j).index_copy_(0, nodes, of_kind[at.kind].Q.select(1, at.pair));
  }
  out.one_minus_lambda = 1 - out.lambda;
  if (k < static_cast<int64_t>(places.size()))
    out.next = std::max(out.next, places[static_cast<size_t>(k)].size);
  return out;
}

}  // namespace eignn
