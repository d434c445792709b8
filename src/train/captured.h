#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace eignn {

/// Repeated work with fixed shapes on fixed tensors. On a GPU it is called once, then captured as a CUDA
/// graph and replayed, with one launch for all its kernels; it must not read device values on the host. On
/// other devices it is called every time. The work has finished when the call returns.
class Captured {
 public:
  Captured(std::function<void()> work, torch::Device device);
  ~Captured();
  void operator()();

 private:
  struct Recording;
  std::function<void()> work_;
  std::unique_ptr<Recording> recording_;  // null where the device is no GPU
};

}  // namespace eignn
