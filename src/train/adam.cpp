#include "train/adam.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <stdexcept>

#include "train/adam_kernel.h"
#include "train/adam_update.h"

#ifdef EIGNN_HAVE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace eignn {

namespace {

template <class T>
void update_on_cpu(const AdamUpdate<T>& update, int64_t size, const T* gradient, T* p, T* m, T* v) {
  constexpr int64_t grain = 1 << 16;
  at::parallel_for(0, size, grain, [=](int64_t first, int64_t last) {
    const auto by = update;  // a local copy, which the compiler knows that no store changes
    for (int64_t k = first; k < last; ++k) by(gradient[k], p[k], m[k], v[k]);
  });
}

// Makes the update in one pass over memory, on a GPU by our kernel. Returns false where there is no kernel,
// and then nothing was done.
template <class T>
bool updated_in_one_pass(const AdamUpdate<T>& update, torch::Device device, int64_t size, const T* gradient,
                         T* p, T* m, T* v) {
  if (device.is_cpu()) {
    update_on_cpu(update, size, gradient, p, m, v);
    return true;
  }
#ifdef EIGNN_HAVE_CUDA
  const c10::cuda::CUDAGuard guard(device);
  if (device.is_cuda() && updates_on_gpu()) {
    update_on_gpu(update, size, gradient, p, m, v, c10::cuda::getCurrentCUDAStream().stream());
    return true;
  }
#endif
  return false;
}

// The same for `runs` blocks of `size` numbers, with an update for each in `updates`, on the device.
template <class T>
bool updated_in_one_pass(const AdamUpdate<T>* updates, int64_t runs, torch::Device device, int64_t size,
                         const T* gradient, T* p, T* m, T* v) {
  if (device.is_cpu()) {
    for (int64_t run = 0; run < runs; ++run) {
      const int64_t at = run * size;
      update_on_cpu(updates[run], size, gradient + at, p + at, m + at, v + at);
    }
    return true;
  }
#ifdef EIGNN_HAVE_CUDA
  const c10::cuda::CUDAGuard guard(device);
  if (device.is_cuda() && updates_on_gpu()) {
    update_runs_on_gpu(updates, runs, size, gradient, p, m, v, c10::cuda::getCurrentCUDAStream().stream());
    return true;
  }
#endif
  return false;
}

// The same by libtorch, for parameters that are not dense in memory and for GPUs without our kernel.
template <class T>
void update_tensors(const AdamUpdate<T>& by, const torch::Tensor& gradient, torch::Tensor& p,
                    torch::Tensor& m, torch::Tensor& v) {
  torch::Tensor next_m = m, next_v = v;
  by(gradient, p, next_m, next_v);
  m.copy_(next_m);  // in place, because a CUDA graph may hold the address
  v.copy_(next_v);
}

// The gradient in the memory layout of the parameter. An F that starts as the Q of a QR decomposition is
// column-major.
torch::Tensor laid_out_as(const torch::Tensor& p, const torch::Tensor& gradient) {
  return gradient.strides() == p.strides() ? gradient : torch::empty_like(p).copy_(gradient);
}

}  // namespace

Adam::Adam(std::vector<Group> groups, bool decoupled) : groups_(std::move(groups)), decoupled_(decoupled) {
  const torch::NoGradGuard guard;
  for (const Group& group : groups_)
    for (const auto& p : group.parameters) moments_.push_back({torch::zeros_like(p), torch::zeros_like(p)});
}

void Adam::clear_gradients() {
  for (Group& group : groups_)
    for (auto& p : group.parameters) p.mutable_grad().reset();
}

void Adam::step() {
  const torch::NoGradGuard guard;
  auto moments = moments_.begin();
  for (Group& group : groups_)
    for (auto& p : group.parameters) {
      Moments& now = *moments++;
      if (!p.grad().defined()) continue;
      ++now.steps;
      const auto gradient = laid_out_as(p, p.grad());
      bool done = false;
      if (p.is_non_overlapping_and_dense())
        AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "Adam", [&] {
          const auto update = AdamUpdate<scalar_t>::at_step(now.steps, group.rate, group.decay, decoupled_);
          done = updated_in_one_pass(update, p.device(), p.numel(), gradient.data_ptr<scalar_t>(),
                                     p.data_ptr<scalar_t>(), now.first.data_ptr<scalar_t>(),
                                     now.second.data_ptr<scalar_t>());
        });
      if (done)
        p.unsafeGetTensorImpl()->bump_version();  // marks solves with the old weights as out of date
      else
        update_tensors(AdamUpdate<double>::at_step(now.steps, group.rate, group.decay, decoupled_), gradient,
                       p, now.first, now.second);
    }
}

std::map<std::string, torch::Tensor> Adam::state() const {
  std::map<std::string, torch::Tensor> out;
  std::vector<int64_t> steps;
  for (const auto& [m, v, count] : moments_) {
    const std::string k = std::to_string(steps.size());
    out["first." + k] = m;
    out["second." + k] = v;
    steps.push_back(count);
  }
  out["steps"] = torch::tensor(steps, torch::kInt64);
  return out;
}

void Adam::load_state(const std::map<std::string, torch::Tensor>& state) {
  const auto load = [&](const std::string& name, torch::Tensor& into) {
    const torch::Tensor& from = state.at(name);
    if (from.sizes() != into.sizes()) throw std::invalid_argument(name + " has another shape");
    into.copy_(from);
  };
  auto steps = torch::empty({static_cast<int64_t>(moments_.size())}, torch::kInt64);
  load("steps", steps);
  for (size_t k = 0; k < moments_.size(); ++k) {
    load("first." + std::to_string(k), moments_[k].first);
    load("second." + std::to_string(k), moments_[k].second);
    moments_[k].steps = steps[static_cast<int64_t>(k)].item<int64_t>();
  }
}

BatchedAdam::BatchedAdam(const std::vector<Parameter>& parameters, bool decoupled) : decoupled_(decoupled) {
  for (const auto& [value, rates] : parameters)
    slots_.push_back({rates, torch::zeros_like(value), torch::zeros_like(value)});
  make_room();
}

void BatchedAdam::make_room() {
  const torch::Tensor& like = slots_.at(0).first;
  const std::vector<int64_t> sizes = {static_cast<int64_t>(slots_.size()), like.size(0),
                                      AdamUpdate<double>::fields};
  host_numbers_ = torch::zeros(sizes, like.options().device(torch::kCPU).pinned_memory(like.is_cuda()));
  numbers_ = like.is_cpu() ? host_numbers_ : torch::zeros(sizes, like.options());
}

void BatchedAdam::begin_step(double factor) {
  ++steps_;
  AT_DISPATCH_FLOATING_TYPES(host_numbers_.scalar_type(), "Adam", [&] {
    auto* update = reinterpret_cast<AdamUpdate<scalar_t>*>(host_numbers_.data_ptr<scalar_t>());
    for (const Slot& slot : slots_)
      for (const auto& [rate, decay] : slot.rates)
        *update++ = AdamUpdate<scalar_t>::at_step(steps_, factor * rate, decay, decoupled_);
  });
  if (!numbers_.is_same(host_numbers_)) numbers_.copy_(host_numbers_, /*non_blocking=*/true);
}

void BatchedAdam::step(size_t k, torch::Tensor& value, const torch::Tensor& given) {
  Slot& slot = slots_.at(k);
  const int64_t runs = value.size(0);
  const auto gradient = given.contiguous(), numbers = numbers_[static_cast<int64_t>(k)];
  bool done = false;
  AT_DISPATCH_FLOATING_TYPES(value.scalar_type(), "Adam", [&] {
    const auto* updates = reinterpret_cast<const AdamUpdate<scalar_t>*>(numbers.data_ptr<scalar_t>());
    done = updated_in_one_pass(updates, runs, value.device(), value.numel() / std::max<int64_t>(runs, 1),
                               gradient.data_ptr<scalar_t>(), value.data_ptr<scalar_t>(),
                               slot.first.data_ptr<scalar_t>(), slot.second.data_ptr<scalar_t>());
  });
  if (done) return value.unsafeGetTensorImpl()->bump_version();
  const auto column = [&](int64_t field) {
    std::vector<int64_t> sizes(static_cast<size_t>(value.dim()), 1);
    sizes[0] = runs;
    return numbers.select(1, field).reshape(sizes);
  };
  update_tensors(AdamUpdate<torch::Tensor>{column(0), column(1), column(2), column(3), column(4), column(5),
                                           column(6), column(7), column(8)},
                 gradient, value, slot.first, slot.second);
}

void BatchedAdam::keep(const std::vector<int64_t>& places) {
  for (Slot& slot : slots_) {
    const auto kept = torch::tensor(places, torch::kInt64).to(slot.first.device());
    std::vector<Rates> rates;
    for (const int64_t place : places) rates.push_back(slot.rates.at(static_cast<size_t>(place)));
    slot.rates = rates;
    slot.first = slot.first.index_select(0, kept);
    slot.second = slot.second.index_select(0, kept);
  }
  make_room();
}

}  // namespace eignn
