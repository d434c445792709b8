// sparse: graphs with millions of nodes, any S. With g = Q diag(μ) Qᵀ, X̃ = X Q and a = γμ, column by column
//
//     (I - a Sᵀ) z̃ = x̃
//     r = x̃ + a Sᵀ z̃_k - z̃_k,   z̃_k+1 = z̃_k-1 + ω_k+1 (r + z̃_k - z̃_k-1)
//     R = Q W̃ᵀ (Sᵀ Z̃) Qᵀ
//
// A symmetric S has its spectrum in [-1, 1], and ω are Chebyshev's for [-a, a]: the error falls by
// a/(1 + √(1-a²)) a product. A directed one has it in the disc, where ω = 1 (Neumann's series) is the best
// that one can do without knowing more: it falls by a. At most one μ is so near 1 that this is slow; for a
// symmetric S conjugate gradients take that column.
//
// r is the residual of z̃_k itself and not a recurrence, so stopping on it is a proven bound that costs
// nothing. The smaller μ, the sooner a column is done: μ ascends, and the columns still active are the last.
// A step: one m×m eigendecomposition, three products n×m×m, O(K · nnz · m) with K about 8 in float32 for
// the first weights; each iteration reads nnz + 3n rows and writes n. Memory: X, Z̃, W̃ and four blocks of at
// most 64 columns; nothing n×n.
//
// Training asks for Z at the labelled nodes L alone, of an X that stays. There, for a symmetric S,
//
//     Z_L = Σ_p (T_p(S) X)_L Q diag(c_p(a)) Qᵀ
//
// with scalar c_p (resolvent_series.h): T_p(S) X is computed once, and neither a solve at these nodes nor its
// gradient in F has a product with S any more. Memory then: two n×m matrices, from which the recurrence goes
// on when training makes the series longer, and the rows (propagated_features.h).
#include <fmt/format.h>
#include <torch/torch.h>

#include <optional>

#include "eignn/error.h"
#include "equilibrium/conjugate_gradients.h"
#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/large_pages.h"
#include "equilibrium/propagated_features.h"
#include "equilibrium/relaxation.h"
#include "equilibrium/resolvent_series.h"
#include "equilibrium/scale.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_kernel.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

constexpr const char* remedy = "use solver direct, or a smaller γ";

// Buffers of a block of columns; kept and reused, since fresh pages cost as much as a product.
struct Workspace {
  torch::Tensor X, other;
};

// (n, columns) in memory that is there already, where it is.
torch::Tensor buffer(torch::Tensor& kept, int64_t n, int64_t columns, const torch::TensorOptions& options) {
  if (!kept.defined() || kept.size(0) != n || kept.size(1) != columns)
    kept = in_large_pages({n, columns}, options);
  return kept;
}

class SparseEquilibrium : public Equilibrium {
 public:
  /// `features` are X's, where the same X is to be solved for many F.
  SparseEquilibrium(std::shared_ptr<const SparseProduct> S, const Propagation& structure,
                    std::shared_ptr<Workspace> work, std::shared_ptr<PropagatedFeatures> features,
                    const torch::Tensor& F, const torch::Tensor& X, const SolverOptions& options)
      : S_(std::move(S)),
        symmetric_(structure.symmetric),
        entries_(structure.entries()),
        work_(std::move(work)),
        features_(std::move(features)),
        options_(options),
        g_(F.to(torch::kFloat64), options.gamma, options.epsilon),
        n_(X.size(0)),
        line_(cache_line / static_cast<int64_t>(X.element_size())),
        X_(X) {
    // Whole cache lines of columns: those that fill up have μ = 0 and come first.
    const int64_t m = g_.a.size(0), fill = (line_ - m % line_) % line_;
    Q_ = torch::cat({torch::zeros({m, fill}, g_.Q.options()), g_.Q}, 1).to(X.scalar_type());
    a_ = torch::cat({torch::zeros({fill}, g_.a.options()), g_.a}).to(X.scalar_type());
    // A tolerance below ten round-offs is for those who see their residual.
    if (features_ && in_range(features_->norm()) &&
        backward_tolerance(options) >= 10 * unit_roundoff(options.dtype)) {
      series_.emplace(g_.a, g_.one_minus_a, backward_tolerance(options),
                      std::min(most_terms, options.max_iterations));
      if (!series_->converges()) {
        series_.reset();
        features_->forget();
      }
    }
    if (!series_) Z();
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    if (const Terms* T = propagated(index, Q_.size(0))) return {through_series(*T, {}).mm(basis().t()), {}};
    return {(index.defined() ? Z().index_select(0, index) : Z()).mm(Q_.t()), {}};
  }

  torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const override {
    const Terms* T = propagated(index, C.size(1));
    if (!T) return Equilibrium::do_project(index, C);
    return through_series(*T, g_.Q.t().mm(C.to(torch::kFloat64)));
  }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& cotangent, bool want_X) const override {
    const auto Y = cotangent.plain();
    const double y_norm = norm_of(Y);
    Gradients out;
    if (!want_X && in_range(y_norm))
      if (const Terms* T = propagated(index, Q_.size(0))) {
        out.F = pull_series(*T, Y.mm(basis()), {}).F;
        return out;
      }
    const auto W =
        solve(y_norm, /*adjoint=*/true, out.iterations, [&](const torch::Tensor& Q, torch::Tensor& to) {
          if (index.defined())
            to.zero_().index_add_(0, index, Y.mm(Q));
          else
            torch::mm_out(to, Y, Q);
        });
    std::vector<torch::Tensor> R;  // W̃ᵀ (Sᵀ Z̃), block by block
    for_each_block([&](int64_t first, int64_t columns) {
      R.push_back(W.t().mm(S_->gather(Z().narrow(1, first, columns))));
    });
    out.F = g_.pullback(Q_.mm(torch::cat(R, 1)).mm(Q_.t()).to(torch::kFloat64)).to(Q_.scalar_type());
    if (want_X) out.X.values = W.mm(Q_.t());
    return out;
  }

  ProjectedGradients do_pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                       const torch::Tensor& C) const override {
    if (in_range(norm_of(cotangent)))
      if (const Terms* T = propagated(index, C.size(1)))
        return pull_series(*T, cotangent, g_.Q.t().mm(C.to(torch::kFloat64)));
    return Equilibrium::do_pull_projected(index, cotangent, C);
  }

 private:
  // Products of two such stay in range, and so do their sums.
  static bool in_range(double norm) { return norm == 0 || (norm > 1e-12 && norm < 1e12); }

  // Q without the columns that fill up.
  torch::Tensor basis() const {
    const int64_t m = Q_.size(0);
    return Q_.narrow(1, Q_.size(1) - m, m);
  }

  using Terms = std::vector<torch::Tensor>;

  // T_p(S) X at these nodes, where a product of it with so many columns costs less than one with S; else
  // null.
  const Terms* propagated(const torch::Tensor& index, int64_t columns) const {
    constexpr int64_t least_columns = 8;  // to read T takes as long
    if (!series_ || !index.defined()) return nullptr;
    const int64_t nodes = index.size(0), terms = series_->terms();
    // An entry of S, gathered twice, costs as much as two to five of a dense product: on PPI, whose nodes
    // have 29 neighbours and 50 features, both ways take the same time.
    if (nodes * std::max(columns, least_columns) > entries_ || !features_->affordable(nodes, terms))
      return nullptr;
    return &features_->at(index, terms);
  }

  // Z C at the nodes of T, with Ĉ = Qᵀ C: Σ_p T_p Q diag(c_p) Ĉ. Z Q where Ĉ is undefined. Each term counts
  // for the last columns of Q alone, and there are fewer and fewer of them.
  torch::Tensor through_series(const Terms& T, const torch::Tensor& C_hat) const {
    const auto c = series_->coefficients();
    const int64_t m = c.size(1);
    auto sum = torch::zeros({T[0].size(0), C_hat.defined() ? C_hat.size(1) : m}, T[0].options());
    for (int64_t p = 0; p < series_->terms(); ++p) {
      const int64_t first = series_->first(p), active = m - first;
      const auto Q = g_.Q.narrow(1, first, active) * c[p].narrow(0, first, active);
      auto to = C_hat.defined() ? sum : sum.narrow(1, first, active);
      to.addmm_(T[p], (C_hat.defined() ? Q.mm(C_hat.narrow(0, first, active)) : Q).to(sum.scalar_type()));
    }
    return sum;
  }

  // For the cotangent Y = D Êᵀ Qᵀ of Z at the nodes of T (Ê undefined: the identity), with P_p = Qᵀ T_pᵀ D:
  //
  //     ∂L/∂(γg) = Q (Σ_p (P_p Êᵀ) ∘ ∂c_p) Qᵀ,   ∂c_p the divided differences of c_p;   Zᵀ D = Q Σ_p c_p P_p
  ProjectedGradients pull_series(const Terms& T, const torch::Tensor& D, const torch::Tensor& E_hat) const {
    const auto c = series_->coefficients();
    ResolventSeries::Slopes slopes(*series_);
    torch::Tensor R, C;
    for (int64_t p = 0; p < series_->terms(); ++p) {
      const auto P = g_.Q.t().mm(T[p].t().mm(D).to(torch::kFloat64));
      const auto term = slopes.next().mul_(E_hat.defined() ? P.mm(E_hat.t()) : P);
      R = p == 0 ? term : R.add_(term);
      if (E_hat.defined()) {
        const auto part = c[p].unsqueeze(1) * P;
        C = p == 0 ? part : C.add_(part);
      }
    }
    const auto dtype = Q_.scalar_type();
    return {g_.pullback(g_.Q.mm(R).mm(g_.Q.t())).to(dtype),
            E_hat.defined() ? g_.Q.mm(C).to(dtype) : torch::Tensor()};
  }

  // Z̃ at all nodes, solved when it is first asked for.
  const torch::Tensor& Z() const {
    if (!Z_.defined()) {
      const Stopwatch watch;
      Z_ = solve(features_ ? features_->norm() : norm_of(X_), /*adjoint=*/false, iterations_,
                 [&](const torch::Tensor& Q, torch::Tensor& to) { torch::mm_out(to, X_, Q); });
      seconds_ += watch.seconds();
    }
    return Z_;
  }

  // Blocks of columns that a step of the iteration takes, the last of them full.
  template <class Work>
  void for_each_block(const Work& work) const {
    const int64_t all = a_.size(0), most = most_lines * line_;
    for (int64_t first = 0, columns = all % most; first < all; first += columns, columns = most)
      if (columns > 0) work(first, columns);
  }

  // Z̃ for X̃ = X Q, which `rotate` writes block by block; `count` becomes the products that the slowest column
  // took.
  template <class Rotate>
  torch::Tensor solve(double x_norm, bool adjoint, int64_t& count, const Rotate& rotate) const {
    const int scale = out_of_scale(x_norm);
    const auto Q = torch::ldexp(Q_, torch::scalar_tensor(-scale, Q_.options()));
    auto Z = in_large_pages({n_, a_.size(0)}, a_.options());
    count = 0;
    for_each_block([&](int64_t first, int64_t columns) {
      auto X = buffer(work_->X, n_, columns, a_.options());
      rotate(Q.narrow(1, first, columns).contiguous(), X);
      auto block = columns == Z.size(1) ? Z : torch::empty({n_, columns}, a_.options());
      const int64_t products =
          iterate(X, a_.narrow(0, first, columns).contiguous(), std::ldexp(x_norm, -scale), adjoint, block);
      count = std::max(count, products);
      if (!block.is_same(Z)) Z.narrow(1, first, columns).copy_(block);
    });
    return scale == 0 ? Z : Z.ldexp_(torch::scalar_tensor(scale, Z.options()));
  }

  // The semi-iteration on a block of columns; Z becomes the solution. Returns the number of products.
  int64_t iterate(const torch::Tensor& X, const torch::Tensor& a, double x_norm, bool adjoint,
                  torch::Tensor& Z) const {
    const int64_t width = X.size(1), slow = symmetric_ ? (a > slow_from).sum().item<int64_t>() : 0;
    Z.copy_(X);
    auto now = Z, last = buffer(work_->other, n_, width, X.options()).copy_(X);
    Relaxation<torch::Tensor> relaxation(a, symmetric_);
    torch::Tensor x2;  // ‖x̃‖² of each column
    int64_t begin = 0, products = 0;
    while (begin < width) {
      if (products == options_.max_iterations) give_up(products);
      const auto squares = S_->advance(adjoint, now, X, a, relaxation.omega(), begin, last);
      if (!std::isfinite(squares.r.sum().item<double>())) give_up(products);
      if (++products == 1) x2 = squares.z;  // z̃₀ = x̃
      int64_t end = begin;
      while (end < width - slow && is_small(squares, end - begin, x2.data_ptr<double>()[end], x_norm)) ++end;
      end = end < width - slow ? end - end % line_ : width;
      // The residual was that of `now`; Z and the other buffer take turns at being that.
      if (end > begin && !now.is_same(Z))
        Z.narrow(1, begin, end - begin).copy_(now.narrow(1, begin, end - begin));
      begin = end;
      std::swap(now, last);
      relaxation.advance();
    }
    return slow == 0 ? products : products + solve_slow(X, a, slow, Z);
  }

  // Half of what a column's residual may be is in proportion to the column, half is the same for all:
  // together ‖R‖ ≤ tol (‖X‖ + ‖Z‖), and no column has to go below its own rounding.
  bool is_small(const SparseProduct::Squares& squares, int64_t column, double x2, double x_norm) const {
    const double tolerance = backward_tolerance(options_), z2 = squares.z.data_ptr<double>()[column];
    const double own = std::pow(std::sqrt(x2) + std::sqrt(z2), 2),
                 equal = x_norm * x_norm / static_cast<double>(a_.size(0));
    return squares.r.data_ptr<double>()[column] <= tolerance * tolerance * (own + equal) / 2;
  }

  // Conjugate gradients for the last columns of a symmetric S.
  int64_t solve_slow(const torch::Tensor& X, const torch::Tensor& a, int64_t slow, torch::Tensor& Z) const {
    const auto tail = [&](const torch::Tensor& t) { return t.narrow(-1, t.size(-1) - slow, slow); };
    SolverOptions options = options_;
    options.tolerance = backward_tolerance(options_) / std::sqrt(2);  // their half, as above
    auto z = tail(Z).contiguous();
    const int64_t products =
        conjugate_gradients([&](const torch::Tensor& P) { return P - S_->gather(P) * tail(a); },
                            tail(X).contiguous(), options, "sparse", remedy, z);
    tail(Z).copy_(z);
    return products;
  }

  [[noreturn]] void give_up(int64_t products) const {
    throw did_not_converge("sparse", products, "products", options_, remedy);
  }

  // Beyond, Chebyshev's method takes more than a hundred products in float32; Σμ² < 1 lets one μ at most be
  // there.
  static constexpr double slow_from = 0.98;

  // Beyond, rounding of the recurrence for T_p is no longer small beside the tolerance.
  static constexpr int64_t most_terms = 100;

  std::shared_ptr<const SparseProduct> S_;
  bool symmetric_;
  int64_t entries_;
  std::shared_ptr<Workspace> work_;
  std::shared_ptr<PropagatedFeatures> features_;
  std::optional<ResolventSeries> series_;
  SolverOptions options_;
  DecomposedContraction g_;  // in float64: a basis that is orthogonal to float32 alone would spend the bound
  int64_t n_, line_;         // line_: columns in a cache line
  torch::Tensor X_;
  torch::Tensor Q_, a_;      // (m, m'), (m')
  mutable torch::Tensor Z_;  // Z̃ (n, m')
};

class SparseSolver : public Solver {
 public:
  SparseSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    product_ = std::make_shared<SparseProduct>(*S_, options.dtype, options.device);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "sparse"; }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    // An X that is to be differentiated is another one next time, and Z at all nodes is needed anyway.
    std::shared_ptr<PropagatedFeatures> features;
    if (S_->symmetric && options_.features_stay && !X.requires_grad())
      features = features_.get(
          X, [&](const torch::Tensor& x) { return std::make_shared<PropagatedFeatures>(product_, x); });
    return std::make_shared<SparseEquilibrium>(product_, *S_, work_, std::move(features), F, X.detach(),
                                               options_);
  }

 private:
  std::shared_ptr<const SparseProduct> product_;
  std::shared_ptr<Workspace> work_ = std::make_shared<Workspace>();
  FeatureCache<std::shared_ptr<PropagatedFeatures>> features_;
};

}  // namespace

std::unique_ptr<Solver> make_sparse(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<SparseSolver>(std::move(S), options);
}

}  // namespace eignn
