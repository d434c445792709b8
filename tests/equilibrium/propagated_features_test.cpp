#include "equilibrium/node/propagated_features.h"

#include <gtest/gtest.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

struct Problem {
  Propagation S;
  torch::Tensor X;
  PropagatedFeatures features;

  Problem(int64_t nodes, int64_t m, torch::Dtype dtype = torch::kFloat64)
      : S(make_propagation(test::random_graph(nodes, 4, 1), {})),
        X(random_matrix(nodes, m, 2).to(dtype)),
        features(std::make_shared<SparseProduct>(S, dtype, torch::kCPU), X) {}
};

// T_0 … T_terms-1 of S, dense.
torch::Tensor expected_rows(const Propagation& S, const torch::Tensor& X, const torch::Tensor& index,
                            int64_t terms) {
  const auto dense = test::dense_S(S);
  std::vector<torch::Tensor> T = {X, dense.mm(X)};
  while (static_cast<int64_t>(T.size()) < terms) T.push_back(2 * dense.mm(T.back()) - T[T.size() - 2]);
  T.resize(terms);
  return torch::stack(T).index_select(1, index);
}

TEST(PropagatedFeatures, AreChebyshevPolynomialsOfS) {
  for (const int64_t m : {1, 8, 20, 40, 70})
    for (const int64_t terms : {1, 2, 15}) {
      Problem problem(60, m);
      const auto index = torch::tensor({7, 3, 59, 3}, torch::kInt64);
      const auto& rows = problem.features.at(index, terms);
      ASSERT_EQ(static_cast<int64_t>(rows.size()), terms);
      EXPECT_LE(relative_error(torch::stack(rows), expected_rows(problem.S, problem.X, index, terms)), 1e-13)
          << m << " " << terms;
    }
}

TEST(PropagatedFeatures, DoNotDependOnWhatWasAskedBefore) {
  Problem asked(60, 20), fresh(60, 20);
  std::vector<torch::Tensor> places;
  // More than are kept.
  for (int64_t k = 0; k < 10; ++k) places.push_back(torch::tensor({k, 2 * k, 50 - k}, torch::kInt64));
  for (const size_t terms : {3, 4, 9, 2})
    for (const auto& place : places) {
      const auto rows = asked.features.at(place, static_cast<int64_t>(terms));
      ASSERT_GE(rows.size(), terms);
      // Another tensor that names the same nodes.
      EXPECT_TRUE(asked.features.at(place.clone(), static_cast<int64_t>(terms))[1].is_same(rows[1]));
    }
  for (const auto& place : places) {
    const auto &a = asked.features.at(place, 9), &b = fresh.features.at(place, 9);
    for (size_t p = 0; p < 9; ++p) EXPECT_TRUE(torch::equal(a[p], b[p])) << p;
  }
}

// A set that needs fewer terms than another has gets no more than it needs, and the rest when it asks for it.
TEST(PropagatedFeatures, AreNoLongerThanAskedFor) {
  Problem problem(60, 40);
  const auto first = torch::tensor({1, 2}, torch::kInt64), second = torch::tensor({5, 40}, torch::kInt64);
  EXPECT_EQ(problem.features.at(first, 7).size(), 7U);
  EXPECT_EQ(problem.features.at(second, 3).size(), 3U);
  EXPECT_EQ(problem.features.at(first, 8).size(), 8U);
  for (const int64_t terms : {3, 5, 8, 11}) {
    const auto& rows = problem.features.at(second, terms);
    ASSERT_EQ(static_cast<int64_t>(rows.size()), terms);
    EXPECT_LE(relative_error(torch::stack(rows), expected_rows(problem.S, problem.X, second, terms)), 1e-13);
  }
  problem.features.forget();
  EXPECT_EQ(problem.features.at(second, 2).size(), 2U);
}

// As training and validation nodes do: one product serves both.
TEST(PropagatedFeatures, GrowTogether) {
  Problem problem(60, 40);
  const auto first = torch::tensor({1, 2}, torch::kInt64), second = torch::tensor({5, 40}, torch::kInt64);
  problem.features.at(first, 5);
  problem.features.at(second, 5);
  problem.features.at(first, 7);
  EXPECT_EQ(problem.features.at(second, 5).size(), 7U);
}

TEST(PropagatedFeatures, KnowNodesThatChangedInPlace) {
  Problem problem(60, 8);
  auto index = torch::tensor({1, 2}, torch::kInt64);
  problem.features.at(index, 3);
  index.add_(1);
  EXPECT_LE(relative_error(torch::stack(problem.features.at(index, 3)),
                           expected_rows(problem.S, problem.X, index, 3)),
            1e-13);
}

TEST(PropagatedFeatures, AreKeptUpToAGibibyte) {
  Problem problem(60, 64, torch::kFloat32);
  EXPECT_TRUE(problem.features.affordable(1 << 20, 4));
  EXPECT_FALSE(problem.features.affordable(1 << 20, 5));
  EXPECT_TRUE(problem.features.affordable(0, 1000));
}

}  // namespace
}  // namespace eignn
