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
#include "graph/unique_components.h"

// OpenBLAS's own threads would fight with ours for the cores; see use_threads.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));

namespace eignn {

namespace {

class SingleThreadedBlas {
 public:
  SingleThreadedBlas() {
    if (openblas_set_num_threads && openblas_get_num_threads) {
      before_ = openblas_get_num_threads();
      openblas_set_num_threads(1);
    }
  }
  ~SingleThreadedBlas() {
    if (before_ > 0) openblas_set_num_threads(before_);
  }
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

 private:
  int before_ = 0;
};

// The whole graph as pieces to eliminate: equal components share one analysis and one factorisation.
struct Pieces {
  std::vector<Elimination> kinds;
  struct Instance {
    size_t kind;
    int64_t begin, size;  // its places, in the elimination order of its kind
  };
  std::vector<Instance> instances;
  std::vector<int64_t> place, instance_of;  // of each node
  std::vector<int64_t> instance_at;         // of each place
  std::vector<double> left, right;          // at each place

  int64_t nodes() const { return static_cast<int64_t>(place.size()); }
};

Pieces analyse(const Propagation& S, int64_t shifts, int64_t bytes_per_number) {
  Pieces pieces;
  pieces.place.resize(S.nodes);
  pieces.instance_of.resize(S.nodes);
  int64_t begin = 0;
  for (const ComponentKind& kind : unique_components(S)) {
    pieces.kinds.push_back(analyse_elimination(kind.S, shifts, bytes_per_number));
    const Elimination& e = pieces.kinds.back();
    for (const auto& nodes : kind.instances) {
      for (int64_t k = 0; k < e.nodes; ++k) {
        pieces.place[nodes[k]] = begin + e.position[k];
        pieces.instance_of[nodes[k]] = static_cast<int64_t>(pieces.instances.size());
      }
      pieces.left.insert(pieces.left.end(), e.left.begin(), e.left.end());
      pieces.right.insert(pieces.right.end(), e.right.begin(), e.right.end());
      pieces.instance_at.insert(pieces.instance_at.end(), e.nodes, static_cast<int64_t>(pieces.instances.size()));
      pieces.instances.push_back({pieces.kinds.size() - 1, begin, e.nodes});
      begin += e.nodes;
    }
  }
  return pieces;
}

// Right-hand sides: rows for some nodes, sorted by the instance that their node belongs to.
struct Sources {
  std::vector<int64_t> begin;  // instances + 1 offsets
  std::vector<int64_t> row, place;

  Sources() = default;
  Sources(const Pieces& pieces, const torch::Tensor& nodes) : begin(pieces.instances.size() + 1, 0) {
    const int64_t* node = nodes.data_ptr<int64_t>();
    const int64_t count = nodes.size(0);
    for (int64_t r = 0; r < count; ++r) ++begin[pieces.instance_of[node[r]] + 1];
    for (size_t i = 0; i + 1 < begin.size(); ++i) begin[i + 1] += begin[i];
    std::vector<int64_t> cursor(begin.begin(), begin.end() - 1);
    row.resize(count);
    place.resize(count);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t at = cursor[pieces.instance_of[node[r]]]++;
      row[at] = r;
      place[at] = pieces.place[node[r]];
    }
  }
};

int64_t block_count(int64_t m, int lanes) {
  return (m + lanes - 1) / lanes;
}

// All lane blocks of an n×m matrix in the eigenbasis of g: [instance][block][place][lane], so that a component's numbers
// lie together.
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
  int64_t start(const Pieces::Instance& instance) const { return instance.begin * block_count(width, W) * W; }
  LaneVector<T> block(const Pieces::Instance& instance, int64_t b) {
    const int64_t at = start(instance) + b * instance.size * W;
    return {mantissa.data() + at, digit.data() + at};
  }
  LaneBlocks<T> of(const Pieces::Instance& instance) const {
    return {mantissa.data() + start(instance), digit.data() + start(instance), instance.size * W, width};
  }
};

// Buffers of one solve; kept and reused, since fresh pages would cost more than the arithmetic.
template <class T>
struct Workspace {
  std::vector<GthFactor<T>> factors;  // [block][kind]
  Lanes<T> y, v;
  torch::Tensor V, T_;  // packed for the product R̃
};

template <class T>
class DirectEquilibrium : public Equilibrium {
  static constexpr int W = Digits<T>::lanes;
  using Int = typename Digits<T>::Int;

 public:
  DirectEquilibrium(std::shared_ptr<const Pieces> pieces, std::shared_ptr<Workspace<T>> work, const torch::Tensor& F,
                    const torch::Tensor& X_rows, const Sources& sources, const SolverOptions& options)
      : pieces_(std::move(pieces)),
        work_(std::move(work)),
        device_(F.device()),
        g_(F.to(torch::kCPU), options.gamma, options.epsilon, options.refine),
        blocks_(block_count(g_.Q.size(0), W)) {
    factor();
    work_->y.resize(pieces_->nodes(), g_.Q.size(0));
    solve(sources, X_rows.mm(g_.Q), {}, pieces_->right, /*transposed=*/false, work_->y);
  }

  ScaledRows rows(const torch::Tensor& index) const override {
    const SingleThreadedBlas guard;
    return unpack_rows(work_->y, nodes_of(index), pieces_->left);
  }

  Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const SingleThreadedBlas guard;
    Lanes<T>& v = work_->v;
    v.resize(pieces_->nodes(), g_.Q.size(0));
    const auto exponents = Y.exponents.defined() ? Y.exponents.to(torch::kCPU) : torch::Tensor();
    solve(Sources(*pieces_, nodes_of(index)), Y.values.to(torch::kCPU).mm(g_.Q), exponents, pieces_->left,
          /*transposed=*/true, v);
    const auto R_tilde = product(work_->y, v);
    if (!std::isfinite(R_tilde.abs().max().template item<double>()))
      throw InputError(
          "the gradient of F leaves the floating range (direct); lower the learning rate or use --dtype float64");
    Gradients out;
    out.F = g_.pullback(g_.Q.mm(R_tilde).mm(g_.Q.t())).to(device_);
    if (want_X) out.X = unpack_rows(v, torch::arange(pieces_->nodes()), pieces_->right);
    return out;
  }

 private:
  torch::Tensor nodes_of(const torch::Tensor& index) const {
    return index.defined() ? index.to(torch::kCPU).contiguous() : torch::arange(pieces_->nodes());
  }

  // One factorisation per block of shifts and kind of component.
  void factor() {
    const int64_t kinds = static_cast<int64_t>(pieces_->kinds.size()), m = g_.a.size(0);
    work_->factors.resize(blocks_ * kinds);
    std::vector<char> regular(blocks_ * kinds);
    at::parallel_for(0, blocks_ * kinds, 1, [&](int64_t first, int64_t last) {
      for (int64_t f = first; f < last; ++f) {
        alignas(64) T a[W], complement[W];
        for (int l = 0; l < W; ++l) {  // lanes past m solve the identity
          const int64_t column = f / kinds * W + l;
          a[l] = column < m ? g_.a.data_ptr<T>()[column] : T(0);
          complement[l] = column < m ? g_.one_minus_a.data_ptr<T>()[column] : T(1);
        }
        regular[f] = work_->factors[f].factor(pieces_->kinds[f % kinds], a, complement);
      }
    });
    for (char ok : regular)
      if (!ok)
        throw InputError(
            "the equilibrium does not exist: I - γ S⊗g is singular in this precision (γ = 1 and ε = 0?); use γ below 1, or "
            "ε above 0");
  }

  // y M = b, instance by instance: a chain's numbers stay in the nearest cache from load to back-substitution.
  void solve(const Sources& sources, const torch::Tensor& rows, const torch::Tensor& exponents,
             const std::vector<double>& scale, bool transposed, Lanes<T>& y) const {
    const int64_t kinds = static_cast<int64_t>(pieces_->kinds.size());
    const int64_t tasks = static_cast<int64_t>(pieces_->instances.size()) * blocks_;
    const torch::Tensor b = rows.contiguous();
    at::parallel_for(0, tasks, 1, [&](int64_t first, int64_t last) {
      for (int64_t task = first; task < last; ++task) {
        const int64_t i = task / blocks_, block = task % blocks_;
        const Pieces::Instance& instance = pieces_->instances[i];
        const LaneVector<T> lanes = y.block(instance, block);
        std::fill_n(lanes.mantissa, instance.size * W, T(0));
        std::fill_n(lanes.digit, instance.size * W, Int(0));
        for (int64_t s = sources.begin[i]; s < sources.begin[i + 1]; ++s)
          load_row(block, sources.row[s], sources.place[s], instance, b, exponents, scale, lanes);
        const int64_t kind = static_cast<int64_t>(instance.kind);
        work_->factors[block * kinds + kind].solve(pieces_->kinds[kind], lanes, transposed);
      }
    });
  }

  // Adds the block's columns of a row, divided by the node's scale.
  static void load_row(int64_t block, int64_t r, int64_t place, const Pieces::Instance& instance, const torch::Tensor& b,
                       const torch::Tensor& exponents, const std::vector<double>& scale, LaneVector<T> lanes) {
    const int64_t m = b.size(1), columns = std::min<int64_t>(W, m - block * W), bits = Digits<T>::bits;
    const T* row = b.data_ptr<T>() + r * m + block * W;
    const int64_t exponent = exponents.defined() ? exponents.data_ptr<int64_t>()[r] : 0;
    const int64_t digits = exponent >= 0 ? exponent / bits : -((-exponent + bits - 1) / bits);
    const T factor = static_cast<T>(std::ldexp(1 / scale[place], static_cast<int>(exponent - digits * bits)));
    const int64_t at = (place - instance.begin) * W;
    for (int64_t l = 0; l < columns; ++l) {
      if (lanes.mantissa[at + l] != 0 && lanes.digit[at + l] != digits)
        throw InputError("a node appears twice with different exponents (cotangent); add its rows up first");
      lanes.mantissa[at + l] += row[l] * factor;
      lanes.digit[at + l] = static_cast<Int>(digits);
    }
  }

  // Z̃ Q_Fᵀ at these nodes, each row with the exponent of its largest eigen-component.
  ScaledRows unpack_rows(const Lanes<T>& from, const torch::Tensor& nodes, const std::vector<double>& scale) const {
    const int64_t count = nodes.size(0), m = from.width;
    auto rows = torch::empty({count, m}, g_.Q.options());
    auto exponents = torch::empty({count}, torch::kInt64);
    const int64_t* node = nodes.data_ptr<int64_t>();
    T* row = rows.template data_ptr<T>();
    int64_t* exponent = exponents.data_ptr<int64_t>();
    at::parallel_for(0, count, 64, [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) {
        const int64_t place = pieces_->place[node[r]];
        const LaneBlocks<T> lanes = at_place(from, place);
        const Int digits = leading_digit(lanes);
        exponent[r] = int64_t(digits) * Digits<T>::bits;
        unpack(lanes, digits, static_cast<T>(1 / scale[place]), row + r * m);
      }
    });
    ScaledRows out{rows.mm(g_.Q.t()).to(device_), {}};
    if (exponents.ne(0).any().template item<bool>()) out.exponents = exponents.to(device_);
    return out;
  }

  LaneBlocks<T> at_place(const Lanes<T>& from, int64_t place) const {
    const Pieces::Instance& instance = pieces_->instances[pieces_->instance_at[place]];
    return from.of(instance).at(place - instance.begin);
  }

  // R̃ = Vᵀ T over the nodes, with t = what y sends to each; node i's rows are scaled by 2^-k and 2^k, which leaves the
  // product as it is. Each thread multiplies what it packed.
  torch::Tensor product(const Lanes<T>& y, const Lanes<T>& v) const {
    const int64_t n = v.nodes, m = v.width, threads = at::get_num_threads(), share = (n + threads - 1) / threads;
    if (!work_->V.defined() || work_->V.size(1) != m) {
      work_->V = torch::empty({n, m}, g_.Q.options());
      work_->T_ = torch::empty({n, m}, g_.Q.options());
    }
    T *V = work_->V.template data_ptr<T>(), *packed = work_->T_.template data_ptr<T>();
    auto partial = torch::zeros({threads, m, m}, g_.Q.options());
    at::parallel_for(0, threads, 1, [&](int64_t first_thread, int64_t last_thread) {
      const torch::NoGradGuard guard;
      std::vector<T> mantissa(blocks_ * W);
      std::vector<Int> digit(blocks_ * W);
      for (int64_t thread = first_thread; thread < last_thread; ++thread) {
        const int64_t first = std::min(n, thread * share), last = std::min(n, first + share);
        for (int64_t i = first; i < last; ++i) {
          const Pieces::Instance& instance = pieces_->instances[pieces_->instance_at[i]];
          const int64_t local = i - instance.begin;
          receive(pieces_->kinds[instance.kind], y.of(instance), local, mantissa.data(), digit.data());
          const LaneBlocks<T> t = {mantissa.data(), digit.data(), W, m};
          const Int digits = leading_digit(t);
          unpack(t, digits, T(1), packed + i * m);
          unpack(v.of(instance).at(local), static_cast<Int>(-digits), T(1), V + i * m);
        }
        auto out = partial[thread];
        torch::mm_out(out, work_->V.narrow(0, first, last - first).t(), work_->T_.narrow(0, first, last - first));
      }
    });
    return partial.sum(0);
  }

  std::shared_ptr<const Pieces> pieces_;
  std::shared_ptr<Workspace<T>> work_;
  torch::Device device_;
  DecomposedContraction g_;
  int64_t blocks_;
};

template <class T>
class DirectSolver : public Solver {
 public:
  DirectSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options, int64_t features)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    constexpr int W = Digits<T>::lanes;
    pieces_ = std::make_shared<Pieces>(analyse(*S_, block_count(features, W) * W, sizeof(T)));
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "direct"; }

  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const SingleThreadedBlas guard;
    const Stopwatch watch;
    if (!seen_.is_same(X) || version_ != X._version()) {  // only rows of X with something in them are sources
      seen_ = X;
      version_ = X._version();
      const auto x = X.detach().to(torch::kCPU);
      const auto nodes = x.ne(0).any(1).nonzero().squeeze(1);
      X_rows_ = x.index_select(0, nodes);
      sources_ = Sources(*pieces_, nodes);
    }
    auto solved = std::make_shared<DirectEquilibrium<T>>(pieces_, workspace(), F.detach(), X_rows_, sources_, options_);
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

  std::shared_ptr<const Pieces> pieces_;
  std::vector<std::shared_ptr<Workspace<T>>> workspaces_;
  torch::Tensor seen_, X_rows_;
  Sources sources_;
  int64_t version_ = -1;
};

}  // namespace

std::unique_ptr<Solver> make_direct(std::shared_ptr<const Propagation> S, const SolverOptions& options, int64_t features) {
  if (options.dtype == torch::kFloat32) return std::make_unique<DirectSolver<float>>(std::move(S), options, features);
  return std::make_unique<DirectSolver<double>>(std::move(S), options, features);
}

}  // namespace eignn
