#include "train/adam.h"

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/torch.h>

#include <memory>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

constexpr double rate = 0.05, decay = 0.01;

torch::Tensor start() {
  return random_matrix(7, 5, 1).set_requires_grad(true);
}

// A gradient that changes with the parameter and the step.
torch::Tensor gradient(const torch::Tensor& p, int step) {
  return p.detach() * 0.3 + random_matrix(7, 5, 10 + static_cast<uint64_t>(step));
}

TEST(Adam, StepsAsLibtorchDoes) {
  auto ours = start(), theirs = start();
  Adam adam({{{ours}, rate, decay}});
  torch::optim::Adam reference({theirs}, torch::optim::AdamOptions(rate).weight_decay(decay));
  for (int step = 0; step < 20; ++step) {
    ours.mutable_grad() = gradient(ours, step);
    theirs.mutable_grad() = gradient(theirs, step);
    adam.step();
    reference.step();
    EXPECT_LE(relative_error(ours.detach(), theirs.detach()), 1e-13) << step;
  }
}

TEST(Adam, AGpuStepsAsTheCpuDoes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const auto numbers = [&](uint64_t seed) { return random_matrix(29, 37, seed).to(dtype); };  // five blocks
    auto here = numbers(1).set_requires_grad(true), there = numbers(1).cuda().set_requires_grad(true);
    Adam one({{{here}, rate, decay}}), other({{{there}, rate, decay}});
    const auto version = there._version();
    for (uint64_t step = 0; step < 5; ++step) {
      here.mutable_grad() = numbers(2 + step);
      there.mutable_grad() = numbers(2 + step).cuda();
      one.step();
      other.step();
    }
    const double error =
        relative_error(there.detach().cpu().to(torch::kFloat64), here.detach().to(torch::kFloat64));
    EXPECT_LE(error, dtype == torch::kFloat32 ? 1e-5 : 1e-13);
    EXPECT_GT(there._version(), version);
  }
}

TEST(Adam, TellsThatAParameterMovedAndLeavesThoseWithoutAGradient) {
  auto moved = start(), resting = start();
  Adam adam({{{moved, resting}, rate, decay}});
  const auto version = moved._version();
  moved.mutable_grad() = gradient(moved, 0);
  adam.step();
  EXPECT_GT(moved._version(), version);
  EXPECT_TRUE(torch::equal(resting, start()));
  adam.forget_gradients();
  EXPECT_FALSE(moved.grad().defined());
}

TEST(Adam, StridedParametersTakeTheSameSteps) {
  auto straight = start(), strided = start().detach().t().contiguous().t().set_requires_grad(true);
  ASSERT_FALSE(strided.is_contiguous());
  Adam one({{{straight}, rate, decay}}), other({{{strided}, rate, decay}});
  for (int step = 0; step < 5; ++step) {
    straight.mutable_grad() = gradient(straight, step);
    strided.mutable_grad() = gradient(strided, step);
    one.step();
    other.step();
  }
  EXPECT_LE(relative_error(strided.detach(), straight.detach()), 1e-14);
}

TEST(Adam, GoesOnFromItsState) {
  auto whole = start(), parts = start();
  Adam through({{{whole}, rate, decay}});
  auto before = std::make_unique<Adam>(std::vector<Adam::Group>{{{parts}, rate, decay}});
  for (int step = 0; step < 6; ++step) {
    if (step == 3) {
      const auto state = before->state();
      before = std::make_unique<Adam>(std::vector<Adam::Group>{{{parts}, rate, decay}});
      before->load_state(state);
    }
    whole.mutable_grad() = gradient(whole, step);
    parts.mutable_grad() = gradient(parts, step);
    through.step();
    before->step();
  }
  EXPECT_TRUE(torch::equal(whole, parts));
}

TEST(Adam, RefusesTheStateOfAnother) {
  auto p = start(), small = random_matrix(2, 2, 1).set_requires_grad(true);
  Adam adam({{{p}, rate, decay}}), other({{{small}, rate, decay}}), two({{{p, small}, rate, decay}});
  EXPECT_THROW(adam.load_state(other.state()), std::exception);
  EXPECT_THROW(adam.load_state(two.state()), std::exception);
  EXPECT_THROW(adam.load_state({}), std::exception);
}

}  // namespace
}  // namespace eignn
