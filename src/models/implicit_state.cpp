#include "models/implicit_state.h"

#include <torch/torch.h>

#include <cmath>

namespace eignn {

namespace {

// V ← next(V) from `start` until no entry changes by more than the tolerance.
template <class Next>
torch::Tensor picard(const torch::Tensor& start, const PicardOptions& options, PicardCounts& counts,
                     const Next& next) {
  auto V = start;
  ++counts.solves;
  for (int64_t k = 0; k < options.max_iterations; ++k) {
    auto moved = next(V);
    ++counts.iterations;
    // Reading the distance makes the host wait for a GPU, so there it is read only every few iterations.
    constexpr int64_t between_looks = 8;
    if (V.is_cuda() && (k + 1) % between_looks != 0 && k + 1 < options.max_iterations) {
      V = std::move(moved);
      continue;
    }
    const double distance = (moved - V).abs().max().template item<double>();
    V = std::move(moved);
    if (distance <= options.tolerance) return V;
    if (!std::isfinite(distance)) break;
  }
  ++counts.non_converged;
  return V;
}

struct Solve : torch::CustomClassHolder {
  SharedProduct S;
  PicardOptions options;
  std::shared_ptr<PicardCounts> counts;
};

class ImplicitFunction : public torch::autograd::Function<ImplicitFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& W,
                               const torch::Tensor& B, const c10::intrusive_ptr<Solve>& solve) {
    const auto Z = picard(torch::zeros_like(B), solve->options, *solve->counts, [&](const torch::Tensor& z) {
      return torch::addmm(B, solve->S->gather(z), W.t()).relu_();
    });
    context->save_for_backward({W, Z});
    context->saved_data["solve"] = c10::IValue::make_capsule(solve);
    return Z;
  }

  // With P = Sᵀ Z Wᵀ + B, Z = ReLU(P) and the incoming gradient G = ∂L/∂Z, V = ∂L/∂P solves
  //     V = ReLU'(P) ∘ (S V W + G),      ∂L/∂B = V,      ∂L/∂W = Vᵀ (Sᵀ Z).
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["solve"].toCapsule();
    const auto& solve = static_cast<Solve&>(*capsule);
    const auto saved = context->get_saved_variables();
    const auto &W = saved[0], &Z = saved[1], &G = gradients[0];
    const auto slope = (Z > 0).to(Z.scalar_type());
    // The tolerance is absolute and meant for states of order 1, so G is scaled to that size for the solve.
    const auto top = G.abs().max(), size = torch::where(top > 0, top, torch::ones_like(top));
    const auto unit = G / size;
    auto V = picard(torch::zeros_like(G), solve.options, *solve.counts, [&](const torch::Tensor& v) {
      return torch::addmm(unit, solve.S->scatter(v), W).mul_(slope);
    });
    V = V * size;
    return {V.t().mm(solve.S->gather(Z)), V, torch::Tensor()};
  }
};

}  // namespace

torch::Tensor implicit_state(const SharedProduct& S, const torch::Tensor& W, const torch::Tensor& B,
                             const PicardOptions& options, const std::shared_ptr<PicardCounts>& counts) {
  auto solve = c10::make_intrusive<Solve>();
  solve->S = S;
  solve->options = options;
  solve->counts = counts;
  return ImplicitFunction::apply(W, B, solve);
}

torch::Tensor project_rows(const torch::Tensor& W, double radius) {
  // Row by row (Duchi et al., 2008): all |w| are reduced by the θ for which Σ|w| = radius.
  const auto size = W.abs();
  const auto falling = std::get<0>(size.sort(1, /*descending=*/true));
  const auto excess = falling.cumsum(1) - radius;
  const auto k = torch::arange(1, W.size(1) + 1, W.options());
  const auto kept = (falling * k > excess).sum(1, true).clamp_min(1);
  const auto theta = excess.gather(1, kept - 1) / kept;
  const auto outside = size.sum(1, true) > radius;
  const auto inside_now = W.sign() * (size - theta).clamp_min(0);
  const auto sum = inside_now.abs().sum(1, true).clamp_min(radius);  // above radius by rounding at most
  return torch::where(outside, inside_now * (radius / sum), W);
}

double spectral_radius(const Propagation& S) {
  const SparseProduct product(S, torch::kFloat64, torch::kCPU);
  auto x = torch::ones({S.nodes, 1}, torch::kFloat64) / std::sqrt(static_cast<double>(S.nodes));
  double radius = 0;
  for (int64_t k = 0; k < 2000; ++k) {
    const auto y = product.gather(x) + x;
    const double length = y.norm().item<double>();
    const bool still = std::abs(length - 1 - radius) <= 1e-10 * length;
    radius = length - 1;
    x = y / length;
    if (still) break;
  }
  return std::max(radius, 0.0);
}

}  // namespace eignn
