#include "models/dropout_mask.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <mutex>

#include "graph/random_stream.h"

namespace eignn {

namespace {

// Each 64-bit number of the stream gives 16 random bits to each of four entries.
constexpr int64_t per_number = 4;

// p in units of 1/65536, to be compared with 16 random bits. Less than 1, so that an entry can always be
// kept.
uint32_t share_of(double p) {
  return std::min(static_cast<uint32_t>(p * 65536 + 0.5), uint32_t{65535});
}
double scale_of(double p) {
  return 65536 / static_cast<double>(65536 - share_of(p));  // from the rounded p, so that the mean is kept
}

// Calls put(k, 1) for every entry k that is kept and put(k, 0) for the others, in parallel.
template <class Put>
void for_each_entry(int64_t size, double p, uint64_t seed, const Put& put) {
  const uint32_t dropped = share_of(p);
  constexpr int64_t grain = 8192;  // numbers
  at::parallel_for(0, (size + per_number - 1) / per_number, grain, [&](int64_t first, int64_t last) {
    const auto draw = [&](int64_t k) { return stream_seed(seed, Stream::dropout, static_cast<uint64_t>(k)); };
    // Branch-free, since at p = ½ a branch would be mispredicted half of the time.
    const auto kept = [&](uint64_t number, int64_t part) {
      return static_cast<int32_t>(static_cast<uint32_t>(number >> (16 * part) & 0xffff) >= dropped);
    };
    const int64_t whole = std::min(last, size / per_number);
    for (int64_t k = first; k < whole; ++k) {
      const uint64_t number = draw(k);
      for (int64_t part = 0; part < per_number; ++part) put(per_number * k + part, kept(number, part));
    }
    for (int64_t k = std::max(first, whole); k < last; ++k)
      for (int64_t at = per_number * k; at < size; ++at) put(at, kept(draw(k), at - per_number * k));
  });
}

// The same for some rows of a matrix: the entries of row r are `width` from rows[r] · width on, and put() has
// their numbers among those of these rows.
template <class Put>
void for_each_entry_of(const torch::Tensor& rows, int64_t width, double p, uint64_t seed, const Put& put) {
  const uint32_t dropped = share_of(p);
  const int64_t* row = rows.data_ptr<int64_t>();
  constexpr int64_t grain = 256;  // rows
  at::parallel_for(0, rows.numel(), grain, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      for (int64_t c = 0; c < width;) {
        const int64_t k = row[r] * width + c, end = std::min(width, c + per_number - k % per_number);
        const uint64_t number = stream_seed(seed, Stream::dropout, static_cast<uint64_t>(k / per_number));
        for (int64_t part = k % per_number; c < end; ++c, ++part) {
          put(r * width + c,
              static_cast<int32_t>(static_cast<uint32_t>(number >> (16 * part) & 0xffff) >= dropped));
        }
      }
    }
  });
}

uint64_t seed_from(at::Generator& generator) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

class ReluAndDropoutFunction : public torch::autograd::Function<ReluAndDropoutFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x_, double p,
                               int64_t seed) {
    const auto x = x_.contiguous();
    auto out = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ReLU and dropout", [&] {
      const scalar_t* from = x.data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      const auto scale = static_cast<scalar_t>(scale_of(p));
      for_each_entry(x.numel(), p, static_cast<uint64_t>(seed), [=](int64_t k, int32_t kept) {
        to[k] = std::max(from[k], scalar_t{0}) * (scale * static_cast<scalar_t>(kept));
      });
    });
    context->save_for_backward({out});
    context->saved_data["p"] = p;
    return out;
  }

  // The gradient passes where the result is positive: there x > 0 and the entry was kept.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto out = context->get_saved_variables()[0];
    const double scale = scale_of(context->saved_data["p"].toDouble());
    return {torch::threshold_backward(gradients[0], out, 0).mul_(scale), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

at::Generator generator_on(torch::Device device) {
  if (device.is_cpu()) return at::detail::createCPUGenerator(0);
  return at::globalContext().defaultGenerator(device).clone();
}

torch::Tensor dropout_mask(at::IntArrayRef sizes, const torch::TensorOptions& type, double p,
                           at::Generator& generator, const torch::Tensor& rows) {
  auto mask = torch::empty(sizes, type);
  if (mask.is_cuda()) return mask.bernoulli_(1 - p, generator).div_(1 - p);
  const uint64_t seed = seed_from(generator);
  AT_DISPATCH_FLOATING_TYPES(mask.scalar_type(), "dropout_mask", [&] {
    scalar_t* to = mask.data_ptr<scalar_t>();
    const auto scale = static_cast<scalar_t>(scale_of(p));
    const auto put = [=](int64_t k, int32_t kept) { to[k] = scale * static_cast<scalar_t>(kept); };
    if (rows.defined())
      for_each_entry_of(rows, mask.size(1), p, seed, put);
    else
      for_each_entry(mask.numel(), p, seed, put);
  });
  return mask;
}

torch::Tensor relu_and_dropout(const torch::Tensor& x, double p, at::Generator& generator) {
  return ReluAndDropoutFunction::apply(x, p, static_cast<int64_t>(seed_from(generator)));
}

}  // namespace eignn
