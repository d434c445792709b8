#include "train/adam.h"

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/torch.h>

#include <memory>

#include "support/oracle.h"
#include "train/adam_update.h"

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
  adam.clear_gradients();
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
  EXPECT_TRUE(torch::equal(strided.detach(), straight.detach()));
}

// The gradient of a run of a batch.
torch::Tensor batched_gradient(const torch::Tensor& p, int step) {
  return p.detach() * 0.3 + random_matrix(3 * 7, 5, 20 + static_cast<uint64_t>(step)).view({3, 7, 5}).to(p);
}

TEST(Adam, ParametersWithGapsInMemoryTakeTheSameSteps) {
  const auto columns = [] { return random_matrix(7, 9, 1).narrow(1, 2, 5); };
  auto dense = columns().contiguous().set_requires_grad(true), gaps = columns().set_requires_grad(true);
  Adam one({{{dense}, rate, decay}}), other({{{gaps}, rate, decay}});
  for (int step = 0; step < 5; ++step) {
    dense.mutable_grad() = gradient(dense, step);
    gaps.mutable_grad() = gradient(gaps, step);
    one.step();
    other.step();
  }
  EXPECT_LE(relative_error(gaps.detach(), dense.detach()), 1e-14);
}

TEST(Adam, DecoupledShrinksTheWeightsAsLibtorchsAdamWDoes) {
  auto ours = start(), theirs = start();
  Adam adam({{{ours}, rate, decay}}, /*decoupled=*/true);
  torch::optim::AdamW reference({theirs}, torch::optim::AdamWOptions(rate).weight_decay(decay));
  for (int step = 0; step < 5; ++step) {
    ours.mutable_grad() = gradient(ours, step);
    theirs.mutable_grad() = gradient(theirs, step);
    adam.step();
    reference.step();
  }
  EXPECT_LE(relative_error(ours.detach(), theirs.detach()), 1e-12);
}

TEST(BatchedAdam, TakesEachRunTheStepsThatAdamTakes) {
  const std::vector<BatchedAdam::Rates> rates = {{0.05, 0.01}, {0.2, 0}, {0, 0.5}};
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    auto batch = random_matrix(3 * 7, 5, 1).view({3, 7, 5}).to(dtype);
    std::vector<torch::Tensor> alone;
    std::vector<std::unique_ptr<Adam>> adams;
    for (int64_t k = 0; k < 3; ++k) {
      alone.push_back(batch[k].clone().set_requires_grad(true));
      adams.push_back(std::make_unique<Adam>(
          std::vector<Adam::Group>{{{alone.back()}, 0.5 * rates[k].rate, rates[k].decay}}));
    }
    BatchedAdam adam({{batch, rates}});
    std::vector<int64_t> live = {0, 1, 2};
    for (int step = 0; step < 6; ++step) {
      if (step == 3) {  // the middle one leaves
        live = {0, 2};
        adam.keep(live);
        batch = batch.index_select(0, torch::tensor(live, torch::kInt64));
      }
      auto all = torch::stack({alone[0], alone[1], alone[2]}).detach();
      const auto gradients = batched_gradient(all, step);
      for (int64_t k = 0; k < 3; ++k) {
        alone[k].mutable_grad() = gradients[k].clone();
        adams[k]->step();
      }
      adam.begin_step(0.5);
      adam.step(0, batch, gradients.index_select(0, torch::tensor(live, torch::kInt64)));
    }
    for (size_t at = 0; at < live.size(); ++at)
      EXPECT_TRUE(torch::equal(batch[static_cast<int64_t>(at)], alone[live[at]].detach())) << live[at];
  }
}

TEST(BatchedAdam, AGpuStepsAsTheCpuDoes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const std::vector<BatchedAdam::Rates> rates = {{0.05, 0.01}, {0.2, 0}, {0, 0.5}};
  auto here = random_matrix(3 * 7, 5, 1).view({3, 7, 5}), there = here.cuda();
  BatchedAdam one({{here, rates}}), other({{there, rates}});
  for (int step = 0; step < 5; ++step) {
    const auto gradient = batched_gradient(here, step);
    one.begin_step(1);
    other.begin_step(1);
    one.step(0, here, gradient);
    other.step(0, there, gradient.cuda());
  }
  EXPECT_LE(relative_error(there.cpu(), here), 1e-13);
}

// Where there is no kernel, libtorch computes the update from tensors.
TEST(AdamUpdate, IsTheSameOfNumbersAndOfTensors) {
  const auto update = AdamUpdate<double>::at_step(3, rate, decay);
  auto p = random_matrix(4, 3, 1), m = random_matrix(4, 3, 2), v = random_matrix(4, 3, 3).square();
  const auto g = random_matrix(4, 3, 4);
  double p0 = p[2][1].item<double>(), m0 = m[2][1].item<double>(), v0 = v[2][1].item<double>();
  update(g[2][1].item<double>(), p0, m0, v0);
  update(g, p, m, v);
  EXPECT_NEAR(p[2][1].item<double>(), p0, 1e-15);
  EXPECT_NEAR(m[2][1].item<double>(), m0, 1e-15);
  EXPECT_NEAR(v[2][1].item<double>(), v0, 1e-15);
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
