#include "equilibrium/extremes.h"

#include <torch/torch.h>

#include "equilibrium/sparse_product.h"
#include "equilibrium/spectral/spectrum.h"

namespace eignn {

namespace {

// Lanczos: the extreme eigenvalues of T = VᵀSV converge to those of S first. With full reorthogonalisation
// where V fits into memory; without it an eigenvalue may appear twice, which does not change the extremes.
SpectrumRange lanczos_range(const Propagation& S) {
  const bool keep_all = S.nodes <= 100'000;
  const int64_t steps = keep_all ? 200 : 60;
  const SparseProduct product(S, torch::kFloat64, torch::kCPU);
  auto generator = at::detail::createCPUGenerator(1);
  auto v = torch::randn({S.nodes, 1}, generator, torch::kFloat64);
  v = v / v.norm();
  std::vector<torch::Tensor> V = {v};
  auto T = torch::zeros({steps, steps}, torch::kFloat64);
  int64_t k = 0;
  for (; k < steps; ++k) {
    auto w = product.gather(V.back());
    T[k][k] = (w * V.back()).sum();
    const auto basis = torch::cat(V, 1);
    for (int twice = 0; twice < 2; ++twice) w = w - basis.mm(basis.t().mm(w));
    if (!keep_all) V.erase(V.begin(), V.end() - 1);
    const double beta = w.norm().item<double>();
    if (beta < 1e-12 || k + 1 == steps) break;
    T[k][k + 1] = T[k + 1][k] = beta;
    V.push_back(w / beta);
  }
  const auto values = torch::linalg_eigvalsh(T.narrow(0, 0, k + 1).narrow(1, 0, k + 1));
  return {values.min().item<double>(), values.max().item<double>()};
}

}  // namespace

SpectrumRange spectrum_range(const Propagation& S) {
  constexpr int64_t small = 1500;  // a component up to this is decomposed in about a second
  int64_t largest = 0;
  for (const auto& nodes : weak_components(S.pattern()).members())
    largest = std::max<int64_t>(largest, static_cast<int64_t>(nodes.size()));
  if (S.nodes == 0) return {};
  if (largest > small) return lanczos_range(S);
  const Spectrum spectrum(S, torch::kFloat64, torch::kCPU, nullptr);
  return {spectrum.lambda.min().item<double>(), spectrum.lambda.max().item<double>()};
}

}  // namespace eignn
