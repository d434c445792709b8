#include "train/captured.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <stdexcept>

namespace eignn {
namespace {

class CapturedOn : public testing::TestWithParam<torch::DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == torch::kCUDA && !torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  }
};

TEST_P(CapturedOn, DoesTheWorkOncePerCall) {
  const auto count = torch::zeros({3}, GetParam());
  Captured work([&] { count.add_(1); }, GetParam());
  for (int call = 0; call < 5; ++call) work();
  EXPECT_TRUE(torch::equal(count.cpu(), torch::full({3}, 5.0F)));
}

TEST_P(CapturedOn, WorksAgainAfterItsWorkHasThrown) {
  // The second call is the one that records on a GPU.
  const auto count = torch::zeros({3}, GetParam());
  int calls = 0;
  Captured work(
      [&] {
        if (++calls == 2) throw std::runtime_error("no");
        count.add_(1);
      },
      GetParam());
  work();
  EXPECT_THROW(work(), std::runtime_error);
  for (int call = 0; call < 3; ++call) work();
  EXPECT_TRUE(torch::equal(count.cpu(), torch::full({3}, 4.0F)));
}

INSTANTIATE_TEST_SUITE_P(Devices, CapturedOn, testing::Values(torch::kCPU, torch::kCUDA),
                         [](const auto& device) { return device.param == torch::kCPU ? "cpu" : "cuda"; });

}  // namespace
}  // namespace eignn
