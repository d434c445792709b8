#include "models/features.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::relative_error;

// One entry in twelve is not zero; a row and a column are empty.
torch::Tensor few_entries() {
  auto X = torch::zeros({30, 12}, torch::kFloat64);
  for (int64_t v = 0; v < 30; ++v)
    if (v != 7) X[v][(5 * v) % 11] = 0.5 + static_cast<double>(v);
  return X;
}

TEST(Features, ProductAndGradientAreThoseOfTheDenseMatrix) {
  for (const auto& X :
       {few_entries(), test::random_matrix(30, 12, 3), torch::zeros({4, 12}, torch::kFloat64)}) {
    for (const int64_t width : {1, 5, 16, 67}) {
      const auto W = test::random_matrix(12, width, 4).requires_grad_();
      const auto G = test::random_matrix(X.size(0), width, 5);
      const auto product = Features(X).mm(W);
      EXPECT_LE((product - X.mm(W)).abs().max().item<double>(), 1e-13 * 40);
      (product * G).sum().backward();
      EXPECT_LE((W.grad() - X.t().mm(G)).abs().max().item<double>(), 1e-12 * 40);
    }
  }
}

TEST(Features, AChangeOfTheEntriesIsOneOfTheMatrix) {
  const auto doubled = [](const torch::Tensor& entries) { return 2 * entries; };
  for (const auto& X : {few_entries(), test::random_matrix(30, 12, 3)}) {
    const Features features(X), changed = features.changed(doubled);
    EXPECT_TRUE(torch::equal(changed.dense(), 2 * X));
    EXPECT_TRUE(torch::equal(features.dense(), X));
    const auto W = test::random_matrix(12, 3, 4);
    EXPECT_LE(relative_error(changed.mm(W), 2 * X.mm(W)), 1e-14);
  }
}

TEST(Features, AGradientOfTheFeaturesIsKept) {
  const auto X = few_entries().requires_grad_();
  const auto W = test::random_matrix(12, 3, 4);
  Features(X).mm(W).sum().backward();
  EXPECT_LE(relative_error(X.grad(), W.sum(1).unsqueeze(0).expand_as(X)), 1e-14);
}

}  // namespace
}  // namespace eignn
