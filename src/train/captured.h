#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace eignn {

/// Work of fixed shapes on fixed tensors that is done over and over. On a GPU it is called once, then
/// recorded as a CUDA graph and replayed: one launch for all its kernels. It must not look at a value from
/// the host. Elsewhere it is called. Either way it has ended when the call returns.
class Captured {
 public:
  Captured(std::function<void()> work, torch::Device device);
  ~Captured();
  void operator()();

 private:
  struct Recording;
  std::function<void()> work_;
  std::unique_ptr<Recording> recording_;  // none where there is no GPU
};

}  // namespace eignn
