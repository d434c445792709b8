#include "models/dropout_mask.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "eignn/execution.h"

namespace eignn {
namespace {

torch::Tensor mask_of(at::IntArrayRef sizes, double p, uint64_t seed, torch::Dtype dtype = torch::kFloat32) {
  auto generator = at::detail::createCPUGenerator(seed);
  return dropout_mask(sizes, dtype, p, generator);
}

TEST(DropoutMask, KeepsTheMeanAndTheShare) {
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto mask = mask_of({1000, 301}, p, 7);
    const double n = 301000, kept = mask.ne(0).sum().item<double>();
    EXPECT_NEAR(kept / n, 1 - p, 5 * std::sqrt(p * (1 - p) / n)) << p;
    EXPECT_NEAR(mask.max().item<double>() * (1 - p), 1, 1e-4);  // p in 65536 parts
    EXPECT_EQ(mask.eq(0).logical_or(mask.eq(mask.max())).sum().item<int64_t>(), 301000);
  }
}

TEST(DropoutMask, NeighboursAndMasksAreIndependent) {
  auto generator = at::detail::createCPUGenerator(3);
  const auto first = dropout_mask({200, 1000}, torch::kFloat64, 0.5, generator) - 1,
             second = dropout_mask({200, 1000}, torch::kFloat64, 0.5, generator) - 1;
  const double bound = 5 / std::sqrt(200.0 * 1000);
  const auto correlation = [](const torch::Tensor& a, const torch::Tensor& b) {
    return std::abs((a * b).mean().item<double>());
  };
  EXPECT_LT(correlation(first, second), bound);
  for (const int64_t apart : {1, 2, 3, 7})
    EXPECT_LT(correlation(first.narrow(1, 0, 900), first.narrow(1, apart, 900)), bound) << apart;
  EXPECT_LT(correlation(first.narrow(0, 0, 199), first.narrow(0, 1, 199)), bound);
}

TEST(DropoutMask, IsTheSeedsForAnyNumberOfThreads) {
  const auto with = [](int64_t threads, uint64_t seed) {
    const Execution execution({threads});
    return mask_of({301, 301}, 0.3, seed);
  };
  const auto two = with(2, 5), one = with(1, 5), other = with(1, 6);
  EXPECT_TRUE(torch::equal(one, two));
  EXPECT_FALSE(torch::equal(one, other));
  EXPECT_TRUE(torch::equal(mask_of({3}, 0.3, 5), two.view({-1}).narrow(0, 0, 3)));
}

TEST(DropoutMask, ReluInTheSamePassHasTheSameMask) {
  auto generator = at::detail::createCPUGenerator(4), again = at::detail::createCPUGenerator(4);
  const auto x = torch::randn({37, 51}, torch::kFloat64).requires_grad_();  // not a multiple of four
  const auto fused = relu_and_dropout(x, 0.3, generator);
  const auto plain = torch::relu(x) * dropout_mask(x.sizes(), torch::kFloat64, 0.3, again);
  EXPECT_TRUE(torch::allclose(fused, plain, 1e-15, 0));
  const auto G = torch::randn({37, 51}, torch::kFloat64);
  const auto gradient = [&](const torch::Tensor& y) {
    return torch::autograd::grad({(y * G).sum()}, {x})[0];
  };
  EXPECT_TRUE(torch::allclose(gradient(fused), gradient(plain), 1e-15, 0));
}

}  // namespace
}  // namespace eignn
