#include "equilibrium/spectral/spectrum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/oracle.h"

namespace eignn {
namespace {

// One large component, a few tiny ones of which some are equal, and nodes of their own.
Propagation giant_and_dust() {
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < 60; ++k) {
    source.push_back(3 + k % 40);
    target.push_back(3 + (7 * k + 1) % 40);
  }
  for (const auto& [a, b] : std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {44, 45}, {46, 47}, {47, 48}}) {
    source.push_back(a);
    target.push_back(b);
  }
  return make_propagation(Graph::from_arcs(52, source, target));
}

// The gap below λ = 1 of a path of 600 nodes is 150 units of round-off in single precision.
TEST(Spectrum, TheExactLeadingVectorLeavesTheBasisOrthogonal) {
  const Propagation S = make_propagation(chain_graph(1, 600));
  const Spectrum spectrum(S, torch::kFloat32, torch::kCPU, nullptr);
  const auto X = test::random_matrix(600, 3, 2).to(torch::kFloat32);
  EXPECT_LE(test::relative_error(spectrum.to_nodes(spectrum.to_spectral(X)), X), 1e-5);
  EXPECT_EQ(spectrum.lambda.max().item<float>(), 1);
}

TEST(Spectrum, SomeRowsAreThoseOfTheWholeProduct) {
  const Propagation S = giant_and_dust();
  const Spectrum spectrum(S, torch::kFloat64, torch::kCPU, nullptr);
  const auto Q = spectrum.to_nodes(torch::eye(52, torch::kFloat64));
  EXPECT_LE(test::relative_error((Q * spectrum.lambda).mm(Q.t()), test::dense_S(S)), 1e-14);

  const auto Z_hat = test::random_matrix(52, 5, 1);
  const std::vector<torch::Tensor> indices = {
      torch::tensor({20, 3, 44}, torch::kInt64),         // few of the large component
      torch::arange(1, 52, torch::kInt64),               // nearly all nodes
      torch::tensor({50, 0, 45, 1}, torch::kInt64),      // none of the large component
      torch::tensor({7, 50, 7, 46, 46}, torch::kInt64),  // a node twice
      torch::arange(51, -1, -1, torch::kInt64),          // all, in another order
      torch::empty({0}, torch::kInt64)};
  for (int twice = 0; twice < 2; ++twice)  // the second time from what was kept
    for (const auto& index : indices) {
      const auto rows = Q.index_select(0, index), Y = test::random_matrix(index.size(0), 5, 2);
      EXPECT_LE(test::relative_error(spectrum.rows_to_nodes(Z_hat, index), rows.mm(Z_hat)), 1e-14) << index;
      EXPECT_LE(test::relative_error(spectrum.rows_to_spectral(Y, index), rows.t().mm(Y)), 1e-14) << index;
    }
}

}  // namespace
}  // namespace eignn
