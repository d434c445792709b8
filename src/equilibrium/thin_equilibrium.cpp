// A thin F has r rows. With G = F Fᵀ (r×r), ν = ‖G‖_F = ‖FᵀF‖_F and c = γ/(ν+ε) the rows of
//
//     Ỹ = F Z S = c G Ỹ S + F X S,      Z = X + c Fᵀ Ỹ
//
// are an equilibrium of width r with the features F X S and any F' for which F'ᵀF' = G. The adjoint
// W = γ g W Sᵀ + Y likewise is
//
//     V = F W = c G V Sᵀ + F Y,         W = Y + c Fᵀ V',   V' = V Sᵀ
//
// by the adjoint of the same narrow solver. With R = W Sᵀ Zᵀ and A = R + Rᵀ
//
//     F A = V' Zᵀ + Ỹ Wᵀ = V' Xᵀ + Ỹ Yᵀ + c (M + Mᵀ) F,      M = V' Ỹᵀ
//     ∂L/∂F = c (F A − ⟨F, F A⟩/(ν² + εν) G F)
//
// A solve costs a product X Fᵀ, one with S on r columns and the narrow solve; its adjoint the same and Xᵀ V'.
// Z and W are formed at the rows that are read; the projections Z C and the moments without them.
//
// Here matrices are node-major: Ỹ and V are (n, r), and Ft = Fᵀ is (m, r).
#include "equilibrium/thin_equilibrium.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "equilibrium/contraction.h"
#include "equilibrium/dense_kernels.h"
#include "equilibrium/scaled_rows.h"
#include "equilibrium/symmetric_eigen.h"

namespace eignn::detail {

class ThinEquilibrium : public Equilibrium {
 public:
  ThinEquilibrium(std::shared_ptr<const ThinProblem> problem, const torch::Tensor& F,
                  std::shared_ptr<const FeatureProduct> X, const SolveNarrow& solve)
      : problem_(std::move(problem)),
        Ft_(F.t().contiguous()),
        X_(std::move(X)),
        G_(gram_of(Ft_)),
        nu_(finite_nu(G_.norm())),
        c_(problem_->options.gamma / (nu_ + problem_->options.epsilon)) {
    // Marked as features that will change, so that the solver prepares nothing for solves to come.
    const auto XFS = problem_->product.gather(X_->times(Ft_)).set_requires_grad(true);
    narrow_ = solve(square_root(), XFS);
    iterations_ = narrow_->iterations_;
  }

 private:
  // F' (r, r) with F'ᵀF' = G: diag(√σ) Qᵀ.
  torch::Tensor square_root() const {
    auto [sigma, Q] = symmetric_eigen(G_.to(torch::kFloat64));
    if (problem_->options.refine) sigma = rayleigh_quotients(Ft_, Q).to(sigma.options());
    return (sigma.clamp_min(0).sqrt().unsqueeze(1) * Q.t()).to(G_.scalar_type()).contiguous();
  }

  // Ỹ at all nodes.
  const ScaledRows& Y() const {
    if (!Y_.values.defined()) {
      Y_ = narrow_->do_rows({});
      iterations_ = narrow_->iterations_;
    }
    return Y_;
  }
  ScaledRows Y(const torch::Tensor& index) const {
    if (!index.defined() || Y_.values.defined()) return rows_at(Y(), index);
    auto rows = narrow_->do_rows(index);
    iterations_ = narrow_->iterations_;
    return rows;
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    const auto y = Y(index);
    return sum_of({X_->at(index).dense(), {}}, {y.values.mm(c_ * Ft_.t()), y.exponents});
  }

  torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const override {
    const auto y = Y(index);
    return X_->at(index).times(C) + ScaledRows{y.values.mm(c_ * Ft_.t().mm(C)), y.exponents}.plain();
  }

  // mean Z = mean X + c Fᵀ mean Ỹ; with Ỹ_c = Ỹ − mean Ỹ the variance of feature i is
  // var x_i + 2c/n (Xᵀ Ỹ_c)_i F_i + c²/n F_iᵀ (Ỹ_cᵀ Ỹ_c) F_i.
  Moments do_moments() const override {
    const auto y = Y().plain(), y_mean = y.mean(0), apart = y - y_mean;
    const auto n = static_cast<double>(y.size(0));
    const auto mixed =
        X_->transposed_times(apart) * (2 * c_ / n) + Ft_.mm(apart.t().mm(apart) * (c_ * c_ / n));
    return {X_->mean() + c_ * Ft_.mv(y_mean), (X_->variance() + (Ft_ * mixed).sum(1)).clamp_min(0)};
  }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& cotangent, bool want_X) const override {
    const auto V = adjoint(index, {cotangent.values.mm(Ft_), cotangent.exponents});
    Gradients out;
    out.F = gradient_of_F(through_X(V).add_(transposed_product(cotangent, Y(index))), V);
    if (want_X) out.X = W(index, cotangent, V);
    return out;
  }

  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& cotangent) const override {
    return W(index, cotangent, adjoint(index, {cotangent.values.mm(Ft_), cotangent.exponents}));
  }

  // ∂L/∂Z = d Cᵀ for the cotangent d of Z C.
  ProjectedGradients do_pull_projected(const torch::Tensor& index, const torch::Tensor& d,
                                       const torch::Tensor& C) const override {
    const auto V = adjoint(index, {d.mm(Ft_.t().mm(C).t()), {}});
    const auto dY = d.t().mm(Y(index).plain());  // dᵀ Ỹ
    return {gradient_of_F(through_X(V).addmm_(C, dY), V),
            X_->at(index).transposed_times(d) + c_ * Ft_.mm(dY.t())};
  }

  // ∂L/∂Z is a + Z diag(s) everywhere and Y more at the index, of which only products with Fᵀ and Ỹ are
  // formed.
  Gradients do_pull_with_moments(const torch::Tensor& index, const ScaledRows& given, const Moments& bar,
                                 bool want_X) const override {
    const auto y = Y().plain(), at_index = given.plain();
    const auto n = static_cast<double>(y.size(0));
    const auto s = 2 / n * bar.variance, a = bar.mean / n - do_moments().mean * s;
    const auto sF = s.unsqueeze(1) * Ft_;
    auto through_F = torch::addmm(X_->times(sF), y, c_ * Ft_.t().mm(sF)) + Ft_.t().mv(a);
    add_at(through_F, index, at_index.mm(Ft_));
    const auto V = adjoint({}, {through_F, {}});
    auto FA = through_X(V);
    FA.add_(s.unsqueeze(1) * (X_->transposed_times(y) + c_ * Ft_.mm(y.t().mm(y)))).addr_(a, y.sum(0));
    FA.add_(at_index.t().mm(rows_at(Y(), index).plain()));
    Gradients out;
    out.F = gradient_of_F(FA, V);
    if (!want_X) return out;
    auto everywhere = torch::addcmul(a.unsqueeze(0), do_rows({}).plain(), s.unsqueeze(0));
    add_at(everywhere, index, at_index);
    out.X = W({}, {everywhere, {}}, V);
    return out;
  }

  // An error E of Ỹ becomes c Fᵀ E in Z, and ‖Fᵀ‖₂ = √‖G‖₂. ‖Z‖² is formed without Z.
  std::optional<ErrorBound> do_error_bound() const override {
    auto out = narrow_->do_error_bound();
    if (!out) return {};
    const auto sum = [](const torch::Tensor& a) { return a.sum(torch::kFloat64).item<double>(); };
    const auto y = Y().plain();
    out->bound *=
        c_ * std::sqrt(std::max(0.0, symmetric_eigen(G_.to(torch::kFloat64)).first[-1].item<double>()));
    const double of_X = static_cast<double>(y.size(0)) * sum(X_->variance() + X_->mean().square());
    const double of_Y = sum(y.t().mm(y) * G_);
    out->size = std::sqrt(std::max(0.0, of_X + c_ * (2 * sum(X_->times(Ft_) * y) + c_ * of_Y)));
    return out;
  }

  static void add_at(torch::Tensor& to, const torch::Tensor& index, const torch::Tensor& rows) {
    if (index.defined())
      to.index_add_(0, index, rows);
    else
      to += rows;
  }

  // V' for F Y at these nodes.
  ScaledRows adjoint(const torch::Tensor& index, const ScaledRows& FY) const {
    return scatter_scaled(*problem_->S, problem_->product,
                          narrow_->do_pull_X(index, {FY.values.contiguous(), FY.exponents}));
  }

  // W = Y + c Fᵀ V'
  ScaledRows W(const torch::Tensor& index, const ScaledRows& cotangent, const ScaledRows& V) const {
    const ScaledRows from_V{V.values.mm(c_ * Ft_.t()), V.exponents};
    if (!index.defined()) return sum_of(cotangent, from_V);
    auto values = from_V.values.new_zeros(from_V.values.sizes());
    values.index_add_(0, index, cotangent.values);
    torch::Tensor exponents;
    if (cotangent.exponents.defined())  // equal where a node appears twice: the solver refuses others
      exponents = torch::zeros({values.size(0)}, cotangent.exponents.options())
                      .index_copy_(0, index, cotangent.exponents);
    return sum_of({values, exponents}, from_V);
  }

  // (V' Xᵀ)ᵀ, (m, r), to which Yᵀ Ỹ is added. F may have many columns, so that it all happens in one matrix.
  torch::Tensor through_X(const ScaledRows& V) const {
    // Where a row of X is zero, that of V' may be out of range.
    const auto v = V.plain();
    return X_->transposed_times(V.exponents.defined() ? v.masked_fill(X_->filled().logical_not(), 0) : v);
  }

  // ∂L/∂F from V' Xᵀ + Ỹ Yᵀ, transposed, which is overwritten. The multiple of G F is taken off twice, as in
  // contraction.cpp, where the reason is: nothing cancels, even where F A is nothing but such a multiple.
  torch::Tensor gradient_of_F(torch::Tensor FA, const ScaledRows& V) const {
    if (nu_ == 0) return FA.zero_().t();
    const double epsilon = problem_->options.epsilon;
    const auto M = transposed_product(V, Y());
    const auto A = c_ * (M + M.t());
    const auto dot = [](const torch::Tensor& a, const torch::Tensor& b) {
      return a.flatten().dot(b.flatten()).item<double>();
    };
    const double first = (dot(Ft_, FA) + dot(G_, A)) / nu_ / nu_;
    FA.addmm_(Ft_, A - first * G_);
    const double second = dot(Ft_, FA) / nu_ / nu_;
    FA.addmm_(Ft_, G_, 1, (first + second) * (epsilon / (nu_ + epsilon)) - second);
    return FA.mul_(c_).t();
  }

  std::shared_ptr<const ThinProblem> problem_;
  torch::Tensor Ft_;
  std::shared_ptr<const FeatureProduct> X_;
  torch::Tensor G_;
  double nu_, c_;
  std::shared_ptr<const Equilibrium> narrow_;
  mutable ScaledRows Y_;  // undefined: not read yet
};

std::shared_ptr<Equilibrium> solve_thin(std::shared_ptr<const ThinProblem> problem, const torch::Tensor& F,
                                        std::shared_ptr<const FeatureProduct> X, const SolveNarrow& solve) {
  return std::make_shared<ThinEquilibrium>(std::move(problem), F, std::move(X), solve);
}

}  // namespace eignn::detail
