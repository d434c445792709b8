// deflated: products with g and S alone, for any S and wide features. With g ≈ V Θ Vᵀ (deflation.h) the k
// large eigenvalues of g are solved as k thin systems,
//
//     y - γ Sᵀ y Θ = r V,      M⁻¹ r = r + U Vᵀ,   U = y - r V,
//
// and Z ← Z + M⁻¹ r turns a residual r of Z - γ Sᵀ Z g = X into
//
//     r' = γ Sᵀ (r g + U Vᵀ g) - U Vᵀ,      ‖r'‖ ≈ γ μ_{k+1} ‖S‖ ‖r‖.
//
// For a trained F two such rounds are enough, and at most one of their two products n×m×m has full cost:
//
// - the first is with X, whose zeros are skipped, or with the labelled rows of the adjoint's right-hand side;
// - the last is needed for its norm alone, which r' Ω with a thin random Ω estimates.
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "eignn/interrupt.h"
#include "equilibrium/deflation.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/node/node_space.h"
#include "equilibrium/node/thin_systems.h"
#include "equilibrium/scale.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"

namespace eignn {

namespace {

// X, also as a sparse matrix where it has few entries.
struct Source {
  torch::Tensor X;
  double norm;
  std::shared_ptr<const SparseProduct> entries;  // null: X has too many
  torch::Tensor sketch;                          // Ω: entries N(0, 1/64), so that E ‖r Ω‖² = ‖r‖²

  Source(const NodeOperator& S, const torch::Tensor& features) : X(features), norm(norm_of(S, features)) {
    constexpr int64_t one_in = 8, columns = 64;
    if (X.count_nonzero().item<int64_t>() <= X.numel() / one_in)
      entries = std::make_shared<SparseProduct>(entries_of(X), X.scalar_type(), X.device());
    sketch = (torch::randn({X.size(1), columns}, at::detail::createCPUGenerator(1), torch::kFloat64) /
              std::sqrt(static_cast<double>(columns)))
                 .to(X.options());
  }
  torch::Tensor times(const torch::Tensor& gram) const {
    return entries ? entries->scatter(gram) : X.mm(gram);
  }
};

class DeflatedEquilibrium : public NodeSpaceEquilibrium {
 public:
  DeflatedEquilibrium(std::shared_ptr<const NodeOperator> S, std::shared_ptr<const Source> source,
                      const torch::Tensor& F, const SolverOptions& options)
      : NodeSpaceEquilibrium("deflated", std::move(S), F, options, Contraction::CheckNu::when_read),
        source_(std::move(source)),
        deflation_(deflate(contraction_)) {
    const ProductsInTf32 in_full(false, F.device());
    whole_ = {{}, {}, gram()};
    sketched_ = {{}, {}, gram().mm(source_->sketch)};
    if (!deflation_.empty()) {
      thin_ = ThinSystems(deflation_.theta, options.gamma, S_->symmetric(), gram().options());
      whole_ = {deflation_.V.t(), deflation_.gram_V.t(), gram()};
      sketched_ = {whole_.Vt.mm(source_->sketch), whole_.V_gram.mm(source_->sketch), sketched_.gram};
    }
    const double down = scale_down(source_->norm);
    const auto times = [&](const torch::Tensor& C) { return source_->times(down == 1 ? C : C * down); };
    Z_ = solve(down == 1 ? source_->X : source_->X * down, times, source_->norm * down, /*adjoint=*/false,
               iterations_);
    if (down != 1) Z_.div_(down);
  }

 private:
  // Vᵀ C, Vᵀ FᵀF C and FᵀF C, for C = I or C = Ω.
  struct ProductsWith {
    torch::Tensor Vt, V_gram, gram;
  };

  // Both norms with one synchronisation with the GPU.
  std::pair<double, double> norms_of(const torch::Tensor& A, const torch::Tensor& B) const {
    if (A.is_cpu() || S_->rows_here() != S_->rows()) return {S_->norm(A), S_->norm(B)};
    const auto both = torch::stack(at::_foreach_norm({A, B})).to(torch::kFloat64).cpu();
    return {both.data_ptr<double>()[0], both.data_ptr<double>()[1]};
  }

  static double scale_down(double norm) { return std::ldexp(1.0, -out_of_scale(norm)); }

  torch::Tensor solve_adjoint(const torch::Tensor& index, const torch::Tensor& Y,
                              int64_t& count) const override {
    const ProductsInTf32 in_full(false, Y.device());
    const auto everywhere = at_all_nodes(index, Y);
    const double norm = norm_of(*S_, everywhere), down = scale_down(norm);
    const auto rows = down == 1 ? Y : Y * down;
    const auto times = [&](const torch::Tensor& C) { return at_all_nodes(index, rows.mm(C)); };
    auto W = solve(down == 1 ? everywhere : everywhere * down, times, norm * down, /*adjoint=*/true, count);
    return down == 1 ? W : W.div_(down);
  }

  // r' C after a round; U is undefined for a round without deflation. Overwrites r FᵀF C.
  torch::Tensor next_residual(torch::Tensor r_gram_C, const torch::Tensor& U, const ProductsWith& C,
                              bool adjoint) const {
    if (!U.defined()) return propagate(r_gram_C, adjoint).mul_(scale_);
    return propagate(r_gram_C.addmm_(U, C.V_gram), adjoint).mul_(scale_).addmm_(U, C.Vt, 1, -1);
  }

  // Solves for Z in rounds; ‖X‖ must be in scale (out_of_scale() is 0). `count` becomes the number of rounds.
  // times(C) is X C.
  template <class Times>
  torch::Tensor solve(const torch::Tensor& X, const Times& times, double x_norm, bool adjoint,
                      int64_t& count) const {
    refuse_infinite(x_norm);
    const double tolerance = backward_tolerance(options_);
    torch::Tensor Z, r = X;
    double r_norm = x_norm;
    bool deflating = !deflation_.empty();
    // r is the residual by recurrence, which does not include the rounding of Z as it is summed up. Over a
    // few rounds with falling r that rounding stays below 10u; otherwise X - A Z itself is computed before
    // the solve ends.
    constexpr int64_t few = 8;
    const bool sketchable = deflating && X.size(1) > 2 * source_->sketch.size(1) &&
                            tolerance >= 10 * unit_roundoff(X.scalar_type());
    const auto recurrence_is_reliable = [&] { return deflating && sketchable && count <= few; };
    for (count = 0; r_norm > 0;) {
      if (++count > options_.max_iterations) give_up(count);
      check_interrupt();
      torch::Tensor U;
      if (deflating) {
        const auto c = count == 1 ? times(deflation_.V) : r.mm(deflation_.V);
        U = thin_.correction(c, *S_, adjoint);
      }
      Z = Z.defined() ? Z.add_(r) : r.clone();
      if (deflating) Z.addmm_(U, whole_.Vt);
      // Estimates the next residual r'. With 64 columns the sketch of a rank-one r' is below 0.67 ‖r'‖ once
      // in 20 000 times, and of a higher rank less often.
      constexpr double sketch_margin = 0.67;
      const auto sketched_residual = [&] {
        return next_residual(r.mm(sketched_.gram), U, sketched_, adjoint);
      };
      const auto bound_for = [&](double z_norm) { return tolerance * (x_norm + z_norm); };
      // r' is hardly ever small enough after the first round, so that a sketch would not pay there.
      std::optional<double> z_norm;
      if (count > 1 && recurrence_is_reliable()) {
        const auto [of_z, of_told] = norms_of(Z, sketched_residual());
        if (of_told <= sketch_margin * bound_for(of_z)) return Z;
        z_norm = of_z;
      }
      r = next_residual(count == 1 ? times(gram()) : r.mm(gram()), U, whole_, adjoint);
      const double before = r_norm;
      if (z_norm)
        r_norm = S_->norm(r);
      else
        std::tie(z_norm, r_norm) = norms_of(Z, r);
      const double bound = bound_for(*z_norm);
      if (r_norm <= bound && !recurrence_is_reliable()) {
        r = residual(X, Z, adjoint);
        r_norm = S_->norm(r);
      }
      refuse_infinite(r_norm);
      if (r_norm <= bound) return Z.add_(r);  // one more step of the recurrence at no cost
      // Where S is far from normal deflation may not reduce r; the plain recurrence converges for every S.
      if (r_norm > 0.5 * before) deflating = false;
    }
    return Z.defined() ? Z : X.clone();
  }

  std::shared_ptr<const Source> source_;
  Deflation deflation_;
  ThinSystems thin_;
  ProductsWith whole_, sketched_;
};

class DeflatedSolver : public Solver {
 public:
  DeflatedSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                 std::shared_ptr<const NodeOperator> product)
      : Solver(std::move(S), options), product_(std::move(product)) {
    const Stopwatch watch;
    if (!product_) product_ = std::make_shared<SparseProduct>(S_, options.dtype, options.device);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "deflated"; }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const auto& source = features_.get(
        X, [&](const torch::Tensor& x) { return std::make_shared<const Source>(*product_, x); });
    return std::make_shared<DeflatedEquilibrium>(product_, source, F, options_);
  }

 private:
  std::shared_ptr<const NodeOperator> product_;
  FeatureCache<std::shared_ptr<const Source>> features_;
};

}  // namespace

std::unique_ptr<Solver> make_deflated(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                      std::shared_ptr<const NodeOperator> product) {
  return std::make_unique<DeflatedSolver>(std::move(S), options, std::move(product));
}

}  // namespace eignn
