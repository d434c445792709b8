#include "train/adam.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>
#include <stdexcept>

namespace eignn {

namespace {

constexpr double beta1 = AdamConstants::beta1, beta2 = AdamConstants::beta2, epsilon = AdamConstants::epsilon;

// One step of one parameter: p ← p - rate m̂ / (√v̂ + ε), with the moments' start corrected for in the numbers.
struct Update {
  double rate, decay, root;  // rate/(1-β₁ᵗ), and 1/√(1-β₂ᵗ)

  Update(const Adam::Group& group, int64_t t)
      : rate(group.rate / (1 - std::pow(beta1, t))),
        decay(group.decay),
        root(1 / std::sqrt(1 - std::pow(beta2, t))) {}
};

template <class T>
void advance(const Update& by, int64_t size, const T* gradient, T* p, T* m, T* v) {
  const T b1 = beta1, rest1 = 1 - beta1, b2 = beta2, rest2 = 1 - beta2, eps = epsilon;
  const T rate = by.rate, decay = by.decay, root = by.root;
  constexpr int64_t grain = 1 << 16;
  at::parallel_for(0, size, grain, [&](int64_t first, int64_t last) {
    for (int64_t k = first; k < last; ++k) {
      const T g = gradient[k] + decay * p[k];
      m[k] = b1 * m[k] + rest1 * g;
      v[k] = b2 * v[k] + rest2 * g * g;
      p[k] -= rate * m[k] / (std::sqrt(v[k]) * root + eps);
    }
  });
}

void advance_tensors(const Update& by, const torch::Tensor& gradient, torch::Tensor& p, torch::Tensor& m,
                     torch::Tensor& v) {
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
      const Update update(group, ++now.steps);
      if (!p.is_cpu() || !p.is_contiguous()) {
        advance_tensors(update, p.grad(), p, now.first, now.second);
        continue;
      }
      const auto gradient = p.grad().contiguous();
      AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "Adam", [&] {
        advance(update, p.numel(), gradient.data_ptr<scalar_t>(), p.data_ptr<scalar_t>(),
                now.first.data_ptr<scalar_t>(), now.second.data_ptr<scalar_t>());
      });
      p.unsafeGetTensorImpl()->bump_version();  // what was solved with the old weights is over
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
