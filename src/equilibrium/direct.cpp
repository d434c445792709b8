// direct: exact to the last hop, for any S. With g = Q_F diag(μ) Q_Fᵀ, a = γμ, eigen-row by eigen-row
//
//     z (I - a S) = x,   S = L Â R   ⇔   y (diag(h) - a Â) = x R⁻¹,   y = z L,   h = 1/(L R)
//     w (I - a Sᵀ) = y'              ⇔   v (diag(h) - a Â)ᵀ = y' L⁻¹,  v = w R
//     R̃_pq = Σ_i w_pi (z_q S)_i = Σ_i v_pi t_qi,   t_qi = Σ_j y_qj Â_ji        (the scalings cancel)
//
// One symbolic elimination for all shifts; numerically a block of shifts fills the SIMD lanes (gth_kernel). A
// step: one m×m eigendecomposition, O(fill · m), and one m×n×m product for R̃. Nothing n×n.
//
// A node far from its source may hold numbers below any floating range: rows leave with an exponent of their
// own, and the products of R̃ come back to the ordinary range, because w at a node grows as z falls.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/gth_kernel.h"
#include "equilibrium/solvers.h"
#include "equilibrium/stopwatch.h"

namespace eignn {

namespace {

int64_t block_count(int64_t m, int lanes) {
  return (m + lanes - 1) / lanes;
}

// All lane blocks of an n×m matrix in the eigenbasis of g: [block][node][lane], nodes in elimination order.
template <class T>
struct Lanes {
  using Int = typename Digits<T>::Int;
  static constexpr int W = Digits<T>::lanes;
  int64_t nodes = 0, width = 0;
  std::vector<T> mantissa;
  std::vector<Int> digit;

  void resize(int64_t n, int64_t m) {
    nodes = n;
    width = m;
    mantissa.resize(block_count(m, W) * n * W);
    digit.resize(mantissa.size());
  }
  LaneVector<T> block(int64_t b) { return {mantissa.data() + b * nodes * W, digit.data() + b * nodes * W}; }
  size_t at(int64_t node, int64_t column) const {
    return static_cast<size_t>(((column / W) * nodes + node) * W + column % W);
  }
  void clear_block(int64_t b) {
    std::fill_n(mantissa.begin() + b * nodes * W, nodes * W, T(0));
    std::fill_n(digit.begin() + b * nodes * W, nodes * W, Int(0));
  }
  // The largest digit among a node's non-zero entries; 0 for a row of zeros.
  Int leading_digit(int64_t node) const {
    bool found = false;
    Int leading = 0;
    for (int64_t c = 0; c < width; ++c) {
      const size_t k = at(node, c);
      if (mantissa[k] == 0) continue;
      leading = found ? std::max(leading, digit[k]) : digit[k];
      found = true;
    }
    return leading;
  }
  // row = entries · scale · 2^(-bits·digits), in the ordinary range
  void unpack(int64_t node, Int digits, T scale, T* row) const {
    for (int64_t c = 0; c < width; ++c) {
      const size_t k = at(node, c);
      row[c] = ordinary<T>(mantissa[k], static_cast<Int>(digit[k] - digits)) * scale;
    }
  }
};

// Buffers of one solve; kept and reused, since fresh pages would cost more than the arithmetic.
template <class T>
struct Workspace {
  std::vector<GthFactor<T>> factors;
  Lanes<T> y, v, t;
  torch::Tensor V, T_;  // packed for the product R̃
};

template <class T>
class DirectEquilibrium : public Equilibrium {
  static constexpr int W = Digits<T>::lanes;
  using Int = typename Digits<T>::Int;

 public:
  DirectEquilibrium(std::shared_ptr<const Elimination> elimination, std::shared_ptr<Workspace<T>> work,
                    const torch::Tensor& F, const torch::Tensor& X, const torch::Tensor& sources,
                    const SolverOptions& options)
      : e_(std::move(elimination)),
        work_(std::move(work)),
        device_(F.device()),
        g_(F.to(torch::kCPU), options.gamma, options.epsilon, options.refine) {
    // Only rows of X with something in them are sources.
    const auto X_tilde = X.index_select(0, sources).mm(g_.Q);
    const int64_t blocks = block_count(g_.Q.size(0), W);
    work_->factors.resize(blocks);
    work_->y.resize(e_->nodes, g_.Q.size(0));
    std::vector<char> regular(blocks);
    at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        regular[b] = factor(b);
        if (!regular[b]) continue;
        work_->y.clear_block(b);
        load_block(b, sources, X_tilde, {}, e_->right, work_->y);
        work_->factors[b].solve(*e_, work_->y.block(b), /*transposed=*/false);
      }
    });
    for (char ok : regular)
      if (!ok)
        throw InputError(
            "the equilibrium does not exist: I - γ S⊗g is singular in this precision (γ = 1 and ε = 0?); "
            "use γ below 1, or ε above 0");
  }

  ScaledRows rows(const torch::Tensor& index) const override {
    const auto nodes = index.defined() ? index.to(torch::kCPU) : torch::arange(e_->nodes);
    return unpack_rows(work_->y, nodes, e_->left);
  }

  Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const auto nodes = index.defined() ? index.to(torch::kCPU) : torch::arange(e_->nodes);
    const auto Y_tilde = Y.values.to(torch::kCPU).mm(g_.Q);
    const int64_t m = g_.Q.size(0), blocks = block_count(m, W);
    Lanes<T>&v = work_->v, &t = work_->t;
    v.resize(e_->nodes, m);
    t.resize(e_->nodes, m);
    at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        v.clear_block(b);
        load_block(b, nodes, Y_tilde, Y.exponents, e_->left, v);
        work_->factors[b].solve(*e_, v.block(b), /*transposed=*/true);
        receive<T>(*e_, work_->y.block(b), t.block(b));
      }
    });
    Gradients out;
    const auto R_tilde = product(v, t);
    if (!std::isfinite(R_tilde.abs().max().template item<double>()))
      throw InputError(
          "the gradient of F leaves the floating range (direct); lower the learning rate or use --dtype "
          "float64");
    out.F = g_.pullback(g_.Q.mm(R_tilde).mm(g_.Q.t())).to(device_);
    if (want_X) out.X = unpack_rows(v, torch::arange(e_->nodes), e_->right);
    return out;
  }

 private:
  bool factor(int64_t b) {
    // Lanes past m solve the identity.
    alignas(64) T a[W], complement[W];
    for (int l = 0; l < W; ++l) {
      const int64_t column = b * W + l;
      a[l] = column < g_.a.size(0) ? g_.a.data_ptr<T>()[column] : T(0);
      complement[l] = column < g_.a.size(0) ? g_.one_minus_a.data_ptr<T>()[column] : T(1);
    }
    return work_->factors[b].factor(*e_, a, complement);
  }

  // The block's columns of `rows` (one per node, possibly with exponents) divided by the node's scale. A node
  // may appear twice; its rows add up.
  void load_block(int64_t b, const torch::Tensor& nodes, const torch::Tensor& rows,
                  const torch::Tensor& exponents, const std::vector<double>& scale, Lanes<T>& to) const {
    const int64_t* node = nodes.data_ptr<int64_t>();
    const T* row = rows.data_ptr<T>();
    const int64_t m = rows.size(1), columns = std::min<int64_t>(W, m - b * W);
    for (int64_t r = 0; r < nodes.size(0); ++r) {
      const int64_t place = e_->position[node[r]];
      const int64_t exponent = exponents.defined() ? exponents.data_ptr<int64_t>()[r] : 0;
      const int64_t bits = Digits<T>::bits,
                    digits = exponent >= 0 ? exponent / bits : -((-exponent + bits - 1) / bits);
      const T factor =
          static_cast<T>(1 / scale[place]) * std::ldexp(T(1), static_cast<int>(exponent - digits * bits));
      for (int64_t l = 0; l < columns; ++l) {
        const size_t k = to.at(place, b * W + l);
        const T value = row[r * m + b * W + l] * factor;
        if (to.mantissa[k] != 0 && to.digit[k] != digits)
          throw InputError(
              "a node appears twice with different exponents (cotangent); add its rows up first");
        to.mantissa[k] += value;
        to.digit[k] = static_cast<Int>(digits);
      }
    }
  }

  // Z̃ Q_Fᵀ at these nodes, each row with the exponent of its largest eigen-component.
  ScaledRows unpack_rows(const Lanes<T>& from, const torch::Tensor& nodes,
                         const std::vector<double>& scale) const {
    const int64_t count = nodes.size(0), m = from.width;
    auto rows = torch::empty({count, m}, g_.Q.options());
    auto exponents = torch::empty({count}, torch::kInt64);
    const int64_t* node = nodes.data_ptr<int64_t>();
    T* row = rows.template data_ptr<T>();
    int64_t* exponent = exponents.data_ptr<int64_t>();
    at::parallel_for(0, count, 64, [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) {
        const int64_t place = e_->position[node[r]];
        const Int digits = from.leading_digit(place);
        exponent[r] = int64_t(digits) * Digits<T>::bits;
        from.unpack(place, digits, static_cast<T>(1 / scale[place]), row + r * m);
      }
    });
    ScaledRows out{rows.mm(g_.Q.t()).to(device_), {}};
    if (exponents.ne(0).any().template item<bool>()) out.exponents = exponents.to(device_);
    return out;
  }

  // R̃ = Vᵀ T over the nodes; node i's rows are scaled by 2^-k and 2^k, which leaves the product as it is.
  torch::Tensor product(const Lanes<T>& v, const Lanes<T>& t) const {
    const int64_t n = v.nodes, m = v.width;
    if (!work_->V.defined() || work_->V.size(1) != m) {
      work_->V = torch::empty({n, m}, g_.Q.options());
      work_->T_ = torch::empty({n, m}, g_.Q.options());
    }
    T *V = work_->V.template data_ptr<T>(), *packed = work_->T_.template data_ptr<T>();
    at::parallel_for(0, n, 64, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const Int digits = t.leading_digit(i);
        t.unpack(i, digits, T(1), packed + i * m);
        v.unpack(i, static_cast<Int>(-digits), T(1), V + i * m);
      }
    });
    return work_->V.t().mm(work_->T_);
  }

  std::shared_ptr<const Elimination> e_;
  std::shared_ptr<Workspace<T>> work_;
  torch::Device device_;
  DecomposedContraction g_;
};

template <class T>
class DirectSolver : public Solver {
 public:
  DirectSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    elimination_ = std::make_shared<Elimination>(analyse_elimination(*S_, Digits<T>::lanes));
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "direct"; }

  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const Stopwatch watch;
    if (!seen_.is_same(X) || version_ != X._version()) {
      seen_ = X;
      version_ = X._version();
      X_ = X.detach().to(torch::kCPU).contiguous();
      sources_ = X_.ne(0).any(1).nonzero().squeeze(1);
    }
    auto solved =
        std::make_shared<DirectEquilibrium<T>>(elimination_, workspace(), F.detach(), X_, sources_, options_);
    solved->seconds = watch.seconds();
    return solved;
  }

 private:
  // A workspace that no living equilibrium holds.
  std::shared_ptr<Workspace<T>> workspace() {
    for (auto& w : workspaces_)
      if (w.use_count() == 1) return w;
    workspaces_.push_back(std::make_shared<Workspace<T>>());
    return workspaces_.back();
  }

  std::shared_ptr<const Elimination> elimination_;
  std::vector<std::shared_ptr<Workspace<T>>> workspaces_;
  torch::Tensor seen_, X_, sources_;
  int64_t version_ = -1;
};

}  // namespace

std::unique_ptr<Solver> make_direct(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  if (options.dtype == torch::kFloat32) return std::make_unique<DirectSolver<float>>(std::move(S), options);
  return std::make_unique<DirectSolver<double>>(std::move(S), options);
}

}  // namespace eignn
