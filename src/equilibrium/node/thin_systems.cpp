#include "equilibrium/node/thin_systems.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "equilibrium/node/relaxation.h"
#include "equilibrium/sparse_product.h"

#ifdef EIGNN_HAVE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "equilibrium/node/semi_iteration_kernel.h"
#endif

namespace eignn {

namespace {

// y - c by one kernel on a GPU; undefined where no kernel fits.
#ifdef EIGNN_HAVE_CUDA
torch::Tensor correction_in_one_kernel(const torch::Tensor& c, const NodeOperator& S, bool adjoint,
                                       const std::vector<int64_t>& begin, const torch::Tensor& a,
                                       const torch::Tensor& omega) {
  if (!c.is_cuda() || S.in_memory() == nullptr) return {};
  const c10::cuda::CUDAGuard guard(c.device());
  const int64_t n = c.size(0), k = c.size(1), groups = (k + semi_iteration_group - 1) / semi_iteration_group;
  if (!semi_iteration_fits_on_gpu(n, k)) return {};
  torch::Tensor out;
  AT_DISPATCH_FLOATING_TYPES(c.scalar_type(), "semi-iteration", [&] {
    SemiIteration<scalar_t> problem{};
    problem.M = S.in_memory()->rows_on_gpu<scalar_t>(adjoint);
    if (problem.M.begin == nullptr) return;
    const auto from = c.contiguous(),
               space = torch::empty({2, n, groups * semi_iteration_group}, c.options());
    out = torch::empty_like(from);
    problem.columns = static_cast<int32_t>(k);
    problem.c = from.data_ptr<scalar_t>();
    problem.a = a.data_ptr<scalar_t>();
    problem.omega = omega.data_ptr<scalar_t>();
    // A group takes the steps of its last column.
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t last = std::min(k, (g + 1) * semi_iteration_group) - 1;
      problem.steps[g] = static_cast<int32_t>(
          std::count_if(begin.begin(), begin.end(), [&](int64_t first) { return first <= last; }));
    }
    problem.now = space.data_ptr<scalar_t>();
    problem.before = problem.now + space.numel() / 2;
    problem.correction = out.data_ptr<scalar_t>();
    run_semi_iteration_on_gpu(problem, c10::cuda::getCurrentCUDAStream().stream());
  });
  return out;
}
#else
torch::Tensor correction_in_one_kernel(const torch::Tensor&, const NodeOperator&, bool,
                                       const std::vector<int64_t>&, const torch::Tensor&,
                                       const torch::Tensor&) {
  return {};
}
#endif

}  // namespace

ThinSystems::ThinSystems(const torch::Tensor& theta, double gamma, bool symmetric,
                         const torch::TensorOptions& type) {
  constexpr double enough = 1e-4, most_steps = 400;
  const int64_t k = theta.numel();
  std::vector<double> a(k), asked(k);
  for (int64_t j = 0; j < k; ++j) {
    a[j] = gamma * std::clamp(theta.data_ptr<double>()[j], 0.0, 1.0);
    const double rate = symmetric ? a[j] / (1 + std::sqrt(std::max(0.0, 1 - a[j] * a[j]))) : a[j];
    asked[j] = std::clamp(std::ceil(std::log(enough) / std::log(std::min(rate, 1 - 1e-12))), 0.0, most_steps);
  }
  const auto steps = static_cast<int64_t>(*std::max_element(asked.begin(), asked.end()));
  for (int64_t step = 1; step <= steps; ++step)
    begin_.push_back(
        std::count_if(asked.begin(), asked.end(), [&](double s) { return s < static_cast<double>(step); }));
  auto rows = torch::empty({1 + steps, k}, torch::kFloat64);  // a, ω₁, ω₂ …
  double* at = rows.data_ptr<double>();
  for (int64_t j = 0; j < k; ++j) {
    at[j] = a[j];
    Relaxation<double> relaxation(a[j], symmetric);
    for (int64_t step = 1; step <= steps; ++step, relaxation.advance()) at[step * k + j] = relaxation.omega();
  }
  rows = rows.to(type);
  a_ = rows.narrow(0, 0, 1);
  omega_ = rows.narrow(0, 1, steps);
}

torch::Tensor ThinSystems::correction(const torch::Tensor& c, const NodeOperator& S, bool adjoint) const {
  if (auto done = correction_in_one_kernel(c, S, adjoint, begin_, a_, omega_); done.defined()) return done;
  auto y = c, before = c;
  for (size_t k = 0; k < begin_.size(); ++k) {
    const auto active = [&](const torch::Tensor& t) {
      return t.narrow(-1, begin_[k], t.size(-1) - begin_[k]);
    };
    // y_k+1 = y_k-1 + ω (c + a Sᵀ y_k - y_k-1)
    const auto now = active(y).contiguous(), last = active(before);
    auto next = torch::addcmul(active(c), active(a_), S.propagate(now, adjoint));
    if (k > 0) next = torch::lerp(last, next, active(omega_[static_cast<int64_t>(k)]).unsqueeze(0));
    before = y;
    y = begin_[k] == 0 ? next : torch::cat({y.narrow(1, 0, begin_[k]), next}, 1);
  }
  return y - c;
}

}  // namespace eignn
