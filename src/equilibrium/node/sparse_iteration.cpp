// With g = Q diag(μ) Qᵀ, X̃ = X Q and a = γμ, each column z̃ of Z̃ = Z Q solves
//
//     (I - a Sᵀ) z̃ = x̃
//     r = x̃ + a Sᵀ z̃_k - z̃_k,   z̃_k+1 = z̃_k-1 + ω_k+1 (r + z̃_k - z̃_k-1)
//
// A symmetric S has its spectrum in [-1, 1], and ω are Chebyshev's weights for [-a, a]: the error falls by
// a/(1 + √(1-a²)) per product. The spectrum of a directed S lies in the unit disc, for which ω = 1 (Neumann's
// series) is optimal: the error falls by a. At most one μ is so near 1 that this is slow; for a symmetric S
// conjugate gradients solve that column.
//
// r is the true residual of z̃_k and not a recurrence for it, so the stopping test is a proven bound at no
// extra cost. A column with smaller μ converges sooner; μ ascends, so the columns still active are the last
// ones. Each iteration reads nnz + 3n rows and writes n.
#include "equilibrium/node/sparse_iteration.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "eignn/interrupt.h"
#include "equilibrium/conjugate_gradients.h"
#include "equilibrium/large_pages.h"
#include "equilibrium/node/relaxation.h"
#include "equilibrium/scale.h"
#include "equilibrium/sparse_kernel.h"
#include "equilibrium/sum_of_products.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

constexpr const char* remedy = "use solver direct, or a smaller γ";

// For larger a Chebyshev's method takes more than a hundred products in float32. Since Σμ² < 1, at most one μ
// is that large.
constexpr double slow_from = 0.98;

// Returns `kept`, allocated again only where it is not (n, columns).
torch::Tensor buffer(torch::Tensor& kept, int64_t n, int64_t columns, const torch::TensorOptions& options) {
  if (!kept.defined() || kept.size(0) != n || kept.size(1) != columns)
    kept = in_large_pages({n, columns}, options);
  return kept;
}

// The columns of Z - S Z diag(a) = X, S symmetric, as the `Systems` of conjugate_gradients.h.
struct ColumnSystems {
  const NodeOperator& S;
  torch::Tensor a;
  double x_norm, tolerance;

  torch::Tensor apply(const torch::Tensor& P) const { return P - S.apply_transposed(P) * a; }
  torch::Tensor precondition(const torch::Tensor& r) const { return r.clone(); }
  torch::Tensor dots(const torch::Tensor& P, const torch::Tensor& Q) const {
    return S.sum((P * Q).sum(0, /*keepdim=*/true, torch::kFloat64)).to(P.scalar_type());
  }
  double norm(const torch::Tensor& r) const { return dots(r, r).sum().sqrt().item<double>(); }
  double bound(const torch::Tensor& Z) const { return tolerance * (x_norm + S.norm(Z)); }
  bool accepts_without_recomputing(const torch::Tensor&, double) const {
    return false;
  }  // the true r is always recomputed

  struct Sweep {
    const ColumnSystems& systems;
    double bound;

    torch::Tensor active(const torch::Tensor& t) const { return t; }
    double reached(const torch::Tensor& r) const { return systems.norm(r); }
    double goal(const torch::Tensor&) const { return bound; }
  };
  Sweep begin_sweep(double, double bound) const { return {*this, bound}; }
};

}  // namespace

SparseIteration::SparseIteration(std::shared_ptr<const NodeOperator> S,
                                 std::shared_ptr<IterationBuffers> buffers, const DecomposedContraction& g,
                                 const SolverOptions& options)
    : S_(std::move(S)),
      buffers_(std::move(buffers)),
      options_(options),
      line_(cache_line / static_cast<int64_t>(c10::elementSize(options.dtype))) {
  const int64_t m = g.a.size(0), fill = (line_ - m % line_) % line_;
  Q_ = torch::cat({torch::zeros({m, fill}, g.Q.options()), g.Q}, 1).to(options.dtype);
  a_ = torch::cat({torch::zeros({fill}, g.a.options()), g.a}).to(options.dtype);
}

// Calls work(first, columns) for blocks of columns, each of most_lines cache lines but for the first, which
// has the rest.
template <class Work>
void SparseIteration::for_each_block(int64_t all, const Work& work) const {
  const int64_t most = most_lines * line_;
  for (int64_t first = 0, columns = all % most; first < all; first += columns, columns = most)
    if (columns > 0) work(first, columns);
}

torch::Tensor SparseIteration::solve(double x_norm, bool adjoint, int64_t& count,
                                     const Rotate& rotate) const {
  const int scale = out_of_scale(x_norm);
  const auto Q = torch::ldexp(Q_, torch::scalar_tensor(-scale, Q_.options()));
  const double norm = std::ldexp(x_norm, -scale);
  const int64_t all = a_.size(0);
  torch::Tensor Z;
  if (const ColumnShares* shares = S_->column_shares()) {
    auto X = torch::empty({S_->rows_here(), all}, a_.options());
    rotate(Q, X);
    X = shares->share(X, line_);
    const auto range = shares->range(all, line_);
    Z = solve_columns(*shares->nodes(), range, norm, adjoint, count,
                      [&](int64_t first, int64_t columns, torch::Tensor& to) {
                        to.copy_(X.narrow(1, first - range.first, columns));
                      });
    X.reset();
    Z = shares->whole(Z, all, line_);
  } else {
    Z = solve_columns(*S_, {0, all}, norm, adjoint, count,
                      [&](int64_t first, int64_t columns, torch::Tensor& to) {
                        rotate(Q.narrow(1, first, columns).contiguous(), to);
                      });
  }
  return scale == 0 ? Z : Z.ldexp_(torch::scalar_tensor(scale, Z.options()));
}

// These columns of Z̃, a block at a time; `fill` writes the first and so many more columns of X̃.
torch::Tensor SparseIteration::solve_columns(
    const NodeOperator& S, ColumnShares::Range range, double x_norm, bool adjoint, int64_t& count,
    const std::function<void(int64_t first, int64_t columns, torch::Tensor& to)>& fill) const {
  const int64_t n = S.rows_here();
  auto Z = in_large_pages({n, range.count}, a_.options());
  count = 0;
  for_each_block(range.count, [&](int64_t begin, int64_t columns) {
    const int64_t first = range.first + begin;
    auto X = buffer(buffers_->X, n, columns, a_.options());
    fill(first, columns, X);
    auto block = columns == Z.size(1) ? Z : torch::empty({n, columns}, a_.options());
    const int64_t products = iterate(S, X, a_.narrow(0, first, columns).contiguous(), x_norm, adjoint, block);
    count = std::max(count, products);
    if (!block.is_same(Z)) Z.narrow(1, begin, columns).copy_(block);
  });
  return Z;
}

torch::Tensor SparseIteration::adjoint_product(const torch::Tensor& W, const torch::Tensor& Z) const {
  std::vector<torch::Tensor> R;
  for_each_block(a_.size(0), [&](int64_t first, int64_t columns) {
    R.push_back(sum_of_products(W, S_->apply_transposed(Z.narrow(1, first, columns))));
  });
  return S_->sum(torch::cat(R, 1));
}

// The semi-iteration on a block of columns; Z becomes the solution. Returns the number of products.
int64_t SparseIteration::iterate(const NodeOperator& S, const torch::Tensor& X, const torch::Tensor& a,
                                 double x_norm, bool adjoint, torch::Tensor& Z) const {
  const int64_t width = X.size(1), slow = S.symmetric() ? (a > slow_from).sum().item<int64_t>() : 0;
  Z.copy_(X);
  auto now = Z, last = buffer(buffers_->other, X.size(0), width, X.options()).copy_(X);
  Relaxation<torch::Tensor> relaxation(a, S.symmetric());
  torch::Tensor x2;  // ‖x̃‖² of each column
  int64_t begin = 0, products = 0;
  while (begin < width) {
    if (products == options_.max_iterations) give_up(products);
    check_interrupt();
    const auto squares = S.advance(adjoint, now, X, a, relaxation.omega(), begin, last);
    if (!std::isfinite(squares.r.sum().item<double>())) give_up(products);
    if (++products == 1) x2 = squares.z;  // z̃₀ = x̃
    int64_t end = begin;
    while (end < width - slow && is_small(squares, end - begin, x2.data_ptr<double>()[end], x_norm)) ++end;
    end = end < width - slow ? end - end % line_ : width;
    // The residual belongs to `now`, which is Z and the other buffer in turn.
    if (end > begin && !now.is_same(Z))
      Z.narrow(1, begin, end - begin).copy_(now.narrow(1, begin, end - begin));
    begin = end;
    std::swap(now, last);
    relaxation.advance();
  }
  return slow == 0 ? products : products + solve_slow(S, X, a, slow, Z);
}

// Half of the squared residual allowed to a column is proportional to the column, and half is the same for
// all columns. Together they give ‖R‖ ≤ tol (‖X‖ + ‖Z‖), and no column is required to be below its own
// rounding.
bool SparseIteration::is_small(const NodeOperator::Squares& squares, int64_t column, double x2,
                               double x_norm) const {
  const double tolerance = backward_tolerance(options_), z2 = squares.z.data_ptr<double>()[column];
  const double own = std::pow(std::sqrt(x2) + std::sqrt(z2), 2),
               equal = x_norm * x_norm / static_cast<double>(a_.size(0));
  return squares.r.data_ptr<double>()[column] <= tolerance * tolerance * (own + equal) / 2;
}

// Conjugate gradients for the last columns of a symmetric S.
int64_t SparseIteration::solve_slow(const NodeOperator& S, const torch::Tensor& X, const torch::Tensor& a,
                                    int64_t slow, torch::Tensor& Z) const {
  const auto tail = [&](const torch::Tensor& t) { return t.narrow(-1, t.size(-1) - slow, slow); };
  SolverOptions options = options_;
  options.tolerance = backward_tolerance(options_) / std::sqrt(2);  // their half, as in is_small()
  const auto x = tail(X).contiguous();
  auto z = tail(Z).clone(torch::MemoryFormat::Contiguous);
  const ColumnSystems systems{S, tail(a), S.norm(x), options.tolerance};
  const int64_t products = conjugate_gradients(systems, x, /*r=*/x - systems.apply(z), /*products=*/1,
                                               options, "sparse", remedy, z);
  tail(Z).copy_(z);
  return products;
}

void SparseIteration::give_up(int64_t products) const {
  throw did_not_converge("sparse", products, "products", options_, remedy);
}

}  // namespace eignn
