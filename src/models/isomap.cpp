#include "models/isomap.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "eignn/error.h"
#include "equilibrium/symmetric_eigen.h"
#include "models/long_preparation.h"

namespace eignn {

namespace {

// Hop distances between all members of a component of a symmetric graph; local[v] is the index of v in
// `members`.
torch::Tensor hops(const Graph& graph, const std::vector<int64_t>& members,
                   const std::vector<int64_t>& local) {
  const int64_t n = static_cast<int64_t>(members.size());
  auto D = torch::full({n, n}, -1, torch::kFloat64);
  double* d = D.data_ptr<double>();
  at::parallel_for(0, n, 1, [&](int64_t first, int64_t last) {
    std::vector<int64_t> queue;
    for (int64_t s = first; s < last; ++s) {
      double* row = d + s * n;
      queue.assign(1, s);
      row[s] = 0;
      for (size_t k = 0; k < queue.size(); ++k) {
        const int64_t v = members[queue[k]];
        for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
          const int64_t u = local[graph.target[a]];
          if (row[u] >= 0) continue;
          row[u] = row[queue[k]] + 1;
          queue.push_back(u);
        }
      }
    }
  });
  return D;
}

// The `count` largest eigenvalues, descending, and their eigenvectors, by Lanczos with full
// reorthogonalisation. Undefined where they have not converged.
std::pair<torch::Tensor, torch::Tensor> lanczos(const torch::Tensor& A, int64_t count) {
  constexpr int64_t steps = 160;
  auto Q = torch::zeros({A.size(0), steps}, torch::kFloat64);
  auto T = torch::zeros({steps, steps}, torch::kFloat64);
  auto q = torch::randn({A.size(0)}, at::detail::createCPUGenerator(1), torch::kFloat64);
  for (int64_t k = 0; k < steps; ++k) {
    q = q / q.norm();
    Q.select(1, k).copy_(q);
    auto next = A.mv(q);
    T[k][k] = next.dot(q);
    const auto before = Q.narrow(1, 0, k + 1);
    for (int pass = 0; pass < 2; ++pass) next = next - before.mv(before.t().mv(next));
    if (k + 1 < steps) T[k][k + 1] = T[k + 1][k] = next.norm();
    q = next;
  }
  const auto [values, vectors] = symmetric_eigen(T);
  const auto top = values.narrow(0, steps - count, count).flip(0);
  const auto V = Q.mm(vectors.narrow(1, steps - count, count).flip(1));
  const double wrong = (A.mm(V) - V * top).norm().item<double>();
  if (!(wrong <= 1e-8 * values.abs().max().item<double>())) return {};
  return {top, V};
}

std::pair<torch::Tensor, torch::Tensor> leading(const torch::Tensor& A, int64_t count) {
  constexpr int64_t small = 600;  // rows: up to here all eigenvectors are as cheap
  if (A.size(0) > small)
    if (auto found = lanczos(A, count); found.first.defined()) return found;
  const auto [values, vectors] = symmetric_eigen(A);
  return {values.narrow(0, A.size(0) - count, count).flip(0),
          vectors.narrow(1, A.size(0) - count, count).flip(1)};
}

}  // namespace

torch::Tensor isomap(const Graph& graph, int64_t dimensions) {
  constexpr size_t most = 25'000;  // nodes of a component: its distances take 5 GB
  const Graph both_ways = graph.symmetrised();
  auto position = torch::zeros({graph.nodes, dimensions}, torch::kFloat64);
  std::vector<int64_t> local(graph.nodes);
  const auto components = weak_components(both_ways).members();
  // A search from each node, and some fifty products with the matrix of all distances.
  constexpr double s_per_arc = 4e-9, s_per_distance = 1e-8;
  const double arcs_per_node = static_cast<double>(both_ways.arcs()) / static_cast<double>(graph.nodes);
  double seconds = 0;
  for (const auto& members : components)
    if (const auto n = static_cast<double>(members.size()); members.size() <= most)
      seconds += n * n * (arcs_per_node * s_per_arc + s_per_distance);
  warn_of_preparation("Isomap of the graph's distances", seconds);
  for (const auto& members : components) {
    const int64_t n = static_cast<int64_t>(members.size()), count = std::min(dimensions, n - 1);
    if (members.size() > most)
      throw ResourceError(fmt::format("a component of {} nodes is too large for all its distances", n),
                          "Isomap", "take a part of the graph");
    if (count < 1) continue;  // an isolated node stays at 0
    for (int64_t k = 0; k < n; ++k) local[members[k]] = k;
    auto B = hops(both_ways, members, local).square_();
    const auto mean = B.mean(0);  // of rows and columns
    B.sub_(mean).sub_(mean.unsqueeze(1)).add_(mean.mean()).mul_(-0.5);
    auto [values, vectors] = leading(B, count);
    // The sign of an eigenvector is arbitrary: its largest entry is made positive.
    const auto largest = vectors.gather(0, vectors.abs().argmax(0, true));
    // A path has only one dimension. The rounding errors in its second coordinate must not decide on
    // quadrants.
    constexpr double nothing = 1e-9;
    const auto size = torch::where(values > nothing * values.max(), values, torch::zeros_like(values));
    const auto coordinates = vectors * largest.sign() * size.sqrt();
    position.narrow(1, 0, count).index_copy_(0, torch::tensor(members, torch::kInt64), coordinates);
  }
  return position;
}

}  // namespace eignn
