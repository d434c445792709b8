#include "equilibrium/node/propagated_features.h"

#include <gtest/gtest.h>

#include "equilibrium/sparse_product.h"
#include "support/message_of.h"
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

MemoryBudget budget_of(double bytes, uint64_t taken = 0) {
  return {taken + static_cast<uint64_t>(bytes), [taken] { return taken; }};
}

// What the recurrence takes for one cache line of columns, and what is kept of it.
double least_bytes(int64_t nodes, int64_t read, int64_t terms, int64_t m) {
  return (2.0 * static_cast<double>(nodes) + static_cast<double>(read)) * 64 +
         static_cast<double>(read * terms * m * 8);
}

TEST(PropagatedFeatures, HaveTheSameBitsInBlocksOfColumnsWithinALimit) {
  constexpr int64_t n = 300, line = 8;
  const auto S = std::make_shared<const Propagation>(make_propagation(test::random_graph(n, 4, 1), {}));
  const auto product = std::make_shared<SparseProduct>(S, torch::kFloat64, torch::kCPU);
  const auto index = torch::tensor({7, 3, 299, 3}, torch::kInt64);
  for (const int64_t m : {1, 8, 20, 70, 130}) {
    for (const int64_t lines : {1, 2, 100}) {
      const auto X = random_matrix(n, m, 2);
      PropagatedFeatures free(product, X);
      constexpr int64_t terms = 9, with_spare = terms + terms / 4 + 1;
      const double limit =
          least_bytes(n, 4, with_spare, m) + static_cast<double>(lines - 1) * (2 * n + 4) * 64;
      PropagatedFeatures tight(product, X, budget_of(limit, 1'000'000));
      const auto& rows = tight.at(index, terms);
      ASSERT_GE(static_cast<int64_t>(rows.size()), terms);
      const auto& expected = free.at(index, static_cast<int64_t>(rows.size()));
      for (size_t p = 0; p < rows.size(); ++p)
        EXPECT_TRUE(torch::equal(rows[p], expected[p])) << m << " " << p;
      const int64_t at_once = std::min<int64_t>(lines, most_lines) * line;
      EXPECT_EQ(tight.blocks().count, (m + at_once - 1) / at_once) << m << " " << lines;
      EXPECT_LE(static_cast<double>(tight.blocks().largest_bytes), limit);
      tight.at(index, terms);
      EXPECT_EQ(tight.blocks().count, (m + at_once - 1) / at_once) << "formed again";
    }
  }
}

TEST(PropagatedFeatures, MoreTermsAndOtherNodesWithinALimitAreTheSameToo) {
  constexpr int64_t n = 200, m = 20;
  const auto S = std::make_shared<const Propagation>(make_propagation(test::random_graph(n, 4, 3), {}));
  const auto product = std::make_shared<SparseProduct>(S, torch::kFloat64, torch::kCPU);
  const auto X = random_matrix(n, m, 4), one = torch::tensor({1, 5}, torch::kInt64),
             other = torch::tensor({0, 199, 7}, torch::kInt64);
  PropagatedFeatures tight(product, X, budget_of(least_bytes(n, 3, 30, m))), free(product, X);
  for (const int64_t terms : {2, 3, 7, 20, 4}) {
    for (const auto& index : {one, other}) {
      const auto rows = tight.at(index, terms);
      const auto& expected = free.at(index, static_cast<int64_t>(rows.size()));
      for (int64_t p = 0; p < terms; ++p)
        EXPECT_TRUE(torch::equal(rows[p], expected[p])) << terms << " " << p;
    }
  }
}

TEST(PropagatedFeatures, ALimitThatIsTooSmallIsRefused) {
  constexpr int64_t n = 300, m = 20;
  const auto S = std::make_shared<const Propagation>(make_propagation(test::random_graph(n, 4, 1), {}));
  const auto product = std::make_shared<SparseProduct>(S, torch::kFloat64, torch::kCPU);
  const auto X = random_matrix(n, m, 2), index = torch::tensor({7}, torch::kInt64);
  PropagatedFeatures tight(product, X, budget_of(least_bytes(n, 1, 4, m) - 1, 5 << 20));
  const std::string message = message_of<ResourceError>([&] { tight.at(index, 3); });
  EXPECT_CONTAINS(message, "T_p(S) X at 1 nodes, 8 columns at a time,");
  EXPECT_CONTAINS(message, "beside the 5M that are taken");
  EXPECT_CONTAINS(message, "or train on fewer nodes");
  EXPECT_EQ(tight.blocks().count, 0);
}

}  // namespace
}  // namespace eignn
