#include "train/captured.h"

#ifdef EIGNN_HAVE_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace eignn {

#ifdef EIGNN_HAVE_CUDA

struct Captured::Recording {
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph;
  int64_t calls = 0;
};

Captured::Captured(std::function<void()> work, torch::Device device)
    : work_(std::move(work)), recording_(device.is_cuda() ? std::make_unique<Recording>() : nullptr) {}

void Captured::operator()() {
  if (!recording_) return work_();
  // Work that the caller has queued on its own stream must finish first.
  c10::cuda::getCurrentCUDAStream().synchronize();
  const c10::cuda::CUDAStreamGuard guard(recording_->stream);
  // The first call is not captured: libraries initialise themselves in it.
  if (const int64_t call = recording_->calls++; call == 0) {
    work_();
  } else {
    if (call == 1) {
      recording_->graph.capture_begin();
      work_();
      recording_->graph.capture_end();
    }
    recording_->graph.replay();
  }
  recording_->stream.synchronize();
}

#else

struct Captured::Recording {};

Captured::Captured(std::function<void()> work, torch::Device) : work_(std::move(work)) {}

void Captured::operator()() {
  work_();
}

#endif

Captured::~Captured() = default;

}  // namespace eignn
