#include "train/adam.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>
#include <stdexcept>

#include "train/adam_kernel.h"

#ifdef EIGNN_HAVE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace eignn {

namespace {

constexpr double beta1 = AdamConstants::beta1, beta2 = AdamConstants::beta2, epsilon = AdamConstants::epsilon;

// What the step t of a group does.
template <class T>
AdamUpdate<T> update_of(const Adam::Group& group, int64_t t) {
  const double rate = group.rate / (1 - std::pow(beta1, t)), root = 1 / std::sqrt(1 - std::pow(beta2, t));
  return {T(beta1), T(1 - beta1), T(beta2), T(1 - beta2), T(epsilon), T(group.decay), T(rate), T(root)};
}

// Whether it was done, in one pass: on a GPU by our kernel, where there is one for it.
template <class T>
bool updated_in_one_pass(const AdamUpdate<T>& update, torch::Device device, int64_t size, const T* gradient,
                         T* p, T* m, T* v) {
  if (device.is_cpu()) {
    constexpr int64_t grain = 1 << 16;
    at::parallel_for(0, size, grain, [=](int64_t first, int64_t last) {
      const auto by = update;  // of its own: the compiler knows that nothing written is in it
      for (int64_t k = first; k < last; ++k) by(gradient[k], p[k], m[k], v[k]);
    });
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

// The same by libtorch, for what is not contiguous or has no kernel.
void update_tensors(const AdamUpdate<double>& by, const torch::Tensor& gradient, torch::Tensor& p,
                    torch::Tensor& m, torch::Tensor& v) {
  const auto g = by.decay == 0 ? gradient : torch::add(gradient, p, by.decay);
  m.lerp_(g, 1 - beta1);
  v.mul_(beta2).addcmul_(g, g, 1 - beta2);
  p.addcdiv_(m, v.sqrt().mul_(by.root).add_(epsilon), -by.rate);
}

}  // namespace

Adam::Adam(std::vector<Group> groups) : groups_(std::move(groups)) {
  const torch::NoGradGuard guard;
  for (const Group& group : groups_)
    for (const auto& p : group.parameters) moments_.push_back({torch::zeros_like(p), torch::zeros_like(p)});
}

void Adam::forget_gradients() {
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
      const auto gradient = p.grad().contiguous();
      bool done = false;
      if (p.is_contiguous())
        AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "Adam", [&] {
          done = updated_in_one_pass(update_of<scalar_t>(group, now.steps), p.device(), p.numel(),
                                     gradient.data_ptr<scalar_t>(), p.data_ptr<scalar_t>(),
                                     now.first.data_ptr<scalar_t>(), now.second.data_ptr<scalar_t>());
        });
      if (done)
        p.unsafeGetTensorImpl()->bump_version();  // what was solved with the old weights is over
      else
        update_tensors(update_of<double>(group, now.steps), gradient, p, now.first, now.second);
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

}  // namespace eignn
