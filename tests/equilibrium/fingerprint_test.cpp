#include "equilibrium/fingerprint.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace eignn {
namespace {

TEST(RowsByContent, NumbersEqualRowsAlike) {
  const auto X = torch::tensor({1.0, 2.0, 1.0, 2.0, 3.0, 1.0}, torch::kFloat64).view({6, 1});
  const std::vector<std::vector<int64_t>> lists = {{0, 1}, {2, 3}, {1, 0}, {4, 5}, {5, 3}};
  RowsByContent rows(X);
  std::vector<size_t> numbers;
  for (const auto& nodes : lists) numbers.push_back(rows.number_of(nodes));
  EXPECT_EQ(numbers, (std::vector<size_t>{0, 0, 1, 2, 0}));
  EXPECT_EQ(&rows.first(0), lists.data());
  EXPECT_EQ(rows.count(), 3u);
}

TEST(RowsByContent, TellsRowsApartWhereTheirHashesCollide) {
  const auto X = torch::eye(3, torch::kFloat32);
  const std::vector<std::vector<int64_t>> lists = {{0, 1}, {0, 2}, {0, 1}, {0}};
  RowsByContent rows(X, [](const torch::Tensor&, const std::vector<int64_t>&) { return std::string(); });
  std::vector<size_t> numbers;
  for (const auto& nodes : lists) numbers.push_back(rows.number_of(nodes));
  EXPECT_EQ(numbers, (std::vector<size_t>{0, 1, 0, 2}));
}

}  // namespace
}  // namespace eignn
