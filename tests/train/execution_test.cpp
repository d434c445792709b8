#include "eignn/execution.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <optional>

namespace eignn {
namespace {

bool tf32() {
  return at::globalContext().allowTF32CuBLAS();
}

// The process's setting, put back as it was.
class Setting {
 public:
  explicit Setting(bool on) : before_(tf32()) { at::globalContext().setAllowTF32CuBLAS(on); }
  ~Setting() { at::globalContext().setAllowTF32CuBLAS(before_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  bool before_;
};

TEST(Execution, WorkOnACpuLeavesTheProcessesTf32Alone) {
  const Setting on(true);
  const Execution direct({1});
  EXPECT_TRUE(tf32());
  const Execution of_run(TrainConfig{});
  EXPECT_TRUE(tf32());
  at::globalContext().setAllowTF32CuBLAS(false);  // the caller may change it meanwhile
  { const Execution inner({1}); }
  EXPECT_FALSE(tf32()) << "an execution on a CPU has nothing to restore";
}

TEST(Execution, WorkOnAGpuIsInFullPrecisionAndPutsTheSettingBack) {
  const Setting on(true);
  {
    const Execution on_cpu({1});
    std::optional<Execution> first, second;
    first.emplace(Execution::Options{1, false, DeviceKind::cuda});
    EXPECT_FALSE(tf32());
    second.emplace(Execution::Options{1, false, DeviceKind::cuda});
    first.reset();
    EXPECT_FALSE(tf32()) << "the other one still runs";
    second.reset();
    EXPECT_TRUE(tf32()) << "work on a CPU does not hold it";
  }
  {
    const Execution with_tf32({1, /*tf32=*/true});
    EXPECT_FALSE(tf32()) << "until a training step switches it on";
  }
  EXPECT_TRUE(tf32());
}

}  // namespace
}  // namespace eignn
