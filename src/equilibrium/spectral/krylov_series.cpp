// krylov's projection f = Z C for a thin C, computed without Z. In the eigenbasis of a symmetric S
//
//     f̂_j = x̂_jᵀ (I - γ λ_j g)⁻¹ C = Σ_p α_p(λ_j) x̂_jᵀ T_p(2g - I) C
//     f̂ = Σ_p α_p(Λ) X̂ P_pᵀ,   P_p = Cᵀ T_p(2g - I)
//
// is a series in g whose terms P_p are the same for all j (chebyshev.h). A term costs one product with a thin
// factor, O(m² · columns). The gradient is the same recurrence run backwards.
#include "equilibrium/spectral/krylov_series.h"

#include <torch/torch.h>

#include <utility>

#include "equilibrium/chebyshev.h"
#include "equilibrium/contraction.h"

namespace eignn {

namespace {

class KrylovSeries : public Projection {
 public:
  KrylovSeries(std::shared_ptr<const RangeOfS> range, std::shared_ptr<const KrylovSource> source,
               torch::Tensor alpha, const torch::Tensor& F, const torch::Tensor& C,
               const SolverOptions& options)
      : range_(std::move(range)),
        source_(std::move(source)),
        alpha_(std::move(alpha)),
        C_(C.detach().clone()),
        contraction_(F, options.gamma, options.epsilon, Contraction::CheckNu::when_read),
        chain_(alpha_.size(1), 1, C.size(1), C.size(0), F.options()) {
    twice_argument_ = {contraction_.gram(), contraction_.scale()};
    chain_.run(C_.t().unsqueeze(0), twice_argument_);
    f_minus_XC_ = chebyshev_sum(source_->X_hat, alpha_, chain_.P) - source_->X_hat.mm(C_);
    contraction_.nu();  // throws where ν is not finite
  }

  // Z C = X C + Q_r (f̂ - X̂ C)
  torch::Tensor do_rows(const torch::Tensor& index) const override {
    return source_->rows(index).mm(C_) + range_->to_nodes(f_minus_XC_, index);
  }

  Gradients do_pull(const torch::Tensor& index, const torch::Tensor& cotangent) const override {
    const auto D = range_->to_spectral(cotangent, index);  // (r, columns)
    const auto P_bar = pull_chebyshev_sum(source_->X_hat, alpha_, D).view(chain_.P.sizes());
    const auto through = chain_.pull(P_bar, twice_argument_);
    const auto beside = source_->rows(index).t().mm(cotangent) - source_->X_hat.t().mm(D);
    return {contraction_.pull_g(through.left[0], through.right[0]), beside + through.P0[0].t()};
  }

 private:
  std::shared_ptr<const RangeOfS> range_;
  std::shared_ptr<const KrylovSource> source_;
  torch::Tensor alpha_, C_;
  Contraction contraction_;
  ChebyshevChain chain_;
  TwiceArgument twice_argument_;
  torch::Tensor f_minus_XC_;
};

}  // namespace

std::shared_ptr<Projection> make_krylov_series(std::shared_ptr<const RangeOfS> range,
                                               std::shared_ptr<const KrylovSource> source,
                                               torch::Tensor alpha, const torch::Tensor& F,
                                               const torch::Tensor& C, const SolverOptions& options) {
  return std::make_shared<KrylovSeries>(std::move(range), std::move(source), std::move(alpha), F, C, options);
}

}  // namespace eignn
