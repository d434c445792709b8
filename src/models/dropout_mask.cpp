#include "models/dropout_mask.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <mutex>

#include "graph/random_stream.h"

namespace eignn {

namespace {

// Entries 2k and 2k + 1 have a half each of the k-th number of the stream.
template <class T>
void fill(T* mask, int64_t size, double p, uint64_t seed) {
  const auto dropped = static_cast<uint32_t>(p * 4294967296.0);  // of 2³²
  const T kept = static_cast<T>(1 / (1 - p));
  // Without a branch: at p = ½ it would be guessed wrong every other time.
  const auto entry = [&](uint64_t half) {
    return kept * static_cast<T>(static_cast<int32_t>(static_cast<uint32_t>(half) >= dropped));
  };
  constexpr int64_t grain = 16384;  // pairs
  at::parallel_for(0, size / 2, grain, [&](int64_t first, int64_t last) {
    for (int64_t k = first; k < last; ++k) {
      const uint64_t drawn = stream_seed(seed, Stream::dropout, static_cast<uint64_t>(k));
      mask[2 * k] = entry(drawn);
      mask[2 * k + 1] = entry(drawn >> 32);
    }
  });
  if (size % 2 == 1)
    mask[size - 1] = entry(stream_seed(seed, Stream::dropout, static_cast<uint64_t>(size / 2)));
}

}  // namespace

torch::Tensor dropout_mask(at::IntArrayRef sizes, const torch::TensorOptions& type, double p,
                           at::Generator& generator) {
  auto mask = torch::empty(sizes, type);
  if (mask.is_cuda()) return mask.bernoulli_(1 - p).div_(1 - p);
  uint64_t seed = 0;
  {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    seed = at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
  }
  AT_DISPATCH_FLOATING_TYPES(mask.scalar_type(), "dropout_mask",
                             [&] { fill(mask.data_ptr<scalar_t>(), mask.numel(), p, seed); });
  return mask;
}

}  // namespace eignn
