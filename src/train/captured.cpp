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
  enum class State { cold, warm, recorded } state = State::cold;

  // Work that throws must not leave the stream in capture; the next call then captures again.
  void capture(const std::function<void()>& work) {
    graph.capture_begin();
    try {
      work();
    } catch (...) {
      try {
        graph.capture_end();
      } catch (...) {  // the capture is over, and what the work threw says why
      }
      graph.reset();
      throw;
    }
    graph.capture_end();
  }
};

Captured::Captured(std::function<void()> work, torch::Device device)
    : work_(std::move(work)), recording_(device.is_cuda() ? std::make_unique<Recording>() : nullptr) {}

void Captured::operator()() {
  if (!recording_) return work_();
  // Work that the caller has queued on its own stream must finish first.
  c10::cuda::getCurrentCUDAStream().synchronize();
  const c10::cuda::CUDAStreamGuard guard(recording_->stream);
  switch (recording_->state) {
    case Recording::State::cold:  // libraries initialise themselves in the first call, which is not captured
      work_();
      recording_->state = Recording::State::warm;
      break;
    case Recording::State::warm:
      recording_->capture(work_);
      recording_->state = Recording::State::recorded;
      [[fallthrough]];
    case Recording::State::recorded:
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
