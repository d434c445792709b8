// Independent answers: dense solves and random problems that the tests measure the solvers against.
#pragma once

#include <torch/torch.h>

#include <random>

#include "eignn/propagation.h"

namespace eignn::test {

/// S as a dense float64 matrix, from the definition.
inline torch::Tensor dense_S(const Propagation& S) {
  auto out = torch::zeros({S.nodes, S.nodes}, torch::kFloat64);
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e)
      out[i][S.column[e]] = S.weight_of(i, e) * S.left[i] * S.right[S.column[e]];
  return out;
}

inline torch::Tensor dense_g(const torch::Tensor& F, double epsilon) {
  const auto gram = F.t().mm(F);
  return gram / (gram.norm() + epsilon);
}

/// The Kronecker matrix I - γ Sᵀ⊗g that acts on node-major vec(Z) (row j of Z is the j-th stretch).
inline torch::Tensor kronecker(const Propagation& S, const torch::Tensor& F, double gamma, double epsilon) {
  const auto k = torch::kron(dense_S(S).t().contiguous(), dense_g(F, epsilon));
  return torch::eye(k.size(0), torch::kFloat64) - gamma * k;
}

/// Z by a dense Kronecker solve; `adjoint` gives W.
inline torch::Tensor dense_equilibrium(const Propagation& S, const torch::Tensor& F, const torch::Tensor& X,
                                       double gamma, double epsilon = 1e-12, bool adjoint = false) {
  auto K = kronecker(S, F, gamma, epsilon);
  if (adjoint) K = K.t().contiguous();
  return torch::linalg_solve(K, X.reshape({-1, 1}).contiguous(), true).reshape(X.sizes());
}

/// A random graph with a few components, loops and isolated nodes.
inline Graph random_graph(int64_t nodes, double mean_degree, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> source, target;
  const int64_t half = std::max<int64_t>(1, nodes / 2), arcs = static_cast<int64_t>(mean_degree * nodes);
  // Two camps without arcs between them; the last node of each hears nobody.
  for (int64_t a = 0; a < arcs; ++a) {
    const bool first = random() % 2 == 0;
    const int64_t begin = first ? 0 : half, size = std::max<int64_t>(1, (first ? half : nodes - half) - 1);
    source.push_back(std::min(nodes - 1, begin + int64_t(random() % size)));
    target.push_back(std::min(nodes - 1, begin + int64_t(random() % size)));
  }
  return Graph::from_arcs(nodes, source, target);
}

inline torch::Tensor random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  return torch::randn({rows, columns}, generator, torch::kFloat64);
}

inline double relative_error(const torch::Tensor& a, const torch::Tensor& b) {
  const auto x = a.to(torch::kFloat64), y = b.to(torch::kFloat64);
  const double size = y.norm().item<double>();
  return (x - y).norm().item<double>() / (size > 0 ? size : 1);
}

}  // namespace eignn::test
