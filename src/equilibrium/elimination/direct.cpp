// direct: sparse elimination for any S. Where S has slack every entry keeps its relative accuracy at any
// distance. With g = Q_F diag(μ) Q_Fᵀ and a = γμ, for each eigen-row
//
//     z (I - a S) = x,   S = L Â R   ⇔   y (diag(h) - a Â) = x R⁻¹,   y = z L,   h = 1/(L R)
//     w (I - a Sᵀ) = y'              ⇔   v (diag(h) - a Â)ᵀ = y' L⁻¹,  v = w R
//     R̃_pq = Σ_i w_pi (z_q S)_i = Σ_i v_pi t_qi,   t_qi = Σ_j y_qj Â_ji        (the scalings cancel)
//
// One symbolic elimination serves all shifts a; the numeric one works on a block of shifts at once, one per
// SIMD lane (gth_kernel). A step costs one m×m eigendecomposition, O(fill · m), and one m×n×m product for R̃;
// nothing is n×n.
//
// Z at a node far from its source may be below the floating range, so each row is returned with an exponent
// of its own. The products in R̃ are in the ordinary range again, because w is as large at a node as z is
// small.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <map>

#include "eignn/error.h"
#include "equilibrium/blas_threads.h"
#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/fingerprint.h"
#include "equilibrium/gth_kernel.h"
#include "equilibrium/solvers.h"
#include "equilibrium/stopwatch.h"
#include "graph/unique_components.h"

namespace eignn {

namespace {

// Where the numbers of each node are stored. Places are numbered instance by instance, in the elimination
// order of the instance's kind; nodes whose numbers must be equal share a place.
struct Layout {
  struct Instance {
    int64_t kind;
    int64_t begin, size;  // its places
  };
  std::vector<Instance> instances;
  std::vector<int64_t> place, instance_of;  // of each node
  std::vector<int64_t> instance_at;         // of each place
  std::vector<double> left, right;          // at each place

  int64_t places() const { return static_cast<int64_t>(instance_at.size()); }
};

// One symbolic elimination per kind of component (components that are equal entry for entry), and the kind
// and nodes of every component.
struct Analysis {
  std::vector<Elimination> kinds;
  std::vector<std::pair<int64_t, std::vector<int64_t>>> components;  // kind, nodes in its numbering

  Analysis(const Propagation& S, int64_t shifts, int64_t bytes_per_number) {
    for (ComponentKind& kind : unique_components(S)) {
      kinds.push_back(analyse_elimination(kind.S, shifts, bytes_per_number));
      for (auto& nodes : kind.instances)
        components.emplace_back(static_cast<int64_t>(kinds.size()) - 1, std::move(nodes));
    }
  }

  // Components of one kind with equal keys share their places.
  template <class Key>
  Layout layout(int64_t nodes, const Key& key_of) const {
    Layout out;
    out.place.resize(nodes);
    out.instance_of.resize(nodes);
    std::map<std::pair<int64_t, int64_t>, int64_t> known;
    for (const auto& [kind, members] : components) {
      const Elimination& e = kinds[kind];
      const auto [at, fresh] =
          known.emplace(std::make_pair(kind, key_of(members)), static_cast<int64_t>(out.instances.size()));
      const int64_t instance = at->second;
      if (fresh) {
        out.instances.push_back({kind, out.places(), e.nodes});
        out.instance_at.insert(out.instance_at.end(), e.nodes, instance);
        out.left.insert(out.left.end(), e.left.begin(), e.left.end());
        out.right.insert(out.right.end(), e.right.begin(), e.right.end());
      }
      for (int64_t k = 0; k < e.nodes; ++k) {
        out.place[members[k]] = out.instances[instance].begin + e.position[k];
        out.instance_of[members[k]] = instance;
      }
    }
    return out;
  }

  Layout separate(int64_t nodes) const {
    return layout(nodes, [](const std::vector<int64_t>& members) { return members[0]; });
  }

  // Equal components with equal features, such as the paper's chains of one class, have equal equilibria.
  // Since R is linear in W, their cotangents may be summed before one adjoint solve.
  Layout merged(const torch::Tensor& X) const {
    RowsByContent rows(X.contiguous());
    return layout(X.size(0), [&](const std::vector<int64_t>& members) {
      return static_cast<int64_t>(rows.number_of(members));
    });
  }
};

// Which rows of a right-hand side go to which places, sorted by instance.
struct Sources {
  std::vector<int64_t> begin;  // instances + 1 offsets
  std::vector<int64_t> row, place;

  Sources() = default;
  Sources(const Layout& layout, const torch::Tensor& nodes) : begin(layout.instances.size() + 1, 0) {
    const int64_t* node = nodes.data_ptr<int64_t>();
    const int64_t count = nodes.size(0);
    for (int64_t r = 0; r < count; ++r) ++begin[layout.instance_of[node[r]] + 1];
    for (size_t i = 0; i + 1 < begin.size(); ++i) begin[i + 1] += begin[i];
    std::vector<int64_t> cursor(begin.begin(), begin.end() - 1);
    row.resize(count);
    place.resize(count);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t at = cursor[layout.instance_of[node[r]]]++;
      row[at] = r;
      place[at] = layout.place[node[r]];
    }
  }
};

// The least number of tasks, of `numbers` numbers each, that is worth another thread: about 100 µs of work.
int64_t worth_a_thread(int64_t numbers) {
  constexpr int64_t enough = 1 << 17;
  return std::max<int64_t>(1, enough / std::max<int64_t>(1, numbers));
}

int64_t block_count(int64_t m, int lanes) {
  return (m + lanes - 1) / lanes;
}

// An n×m matrix in the eigenbasis of g as [instance][block of shifts][place][lane], so that the numbers of a
// component are adjacent.
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
  int64_t start(const Layout::Instance& instance) const { return instance.begin * block_count(width, W) * W; }
  LaneVector<T> block(const Layout::Instance& instance, int64_t b) {
    const int64_t at = start(instance) + b * instance.size * W;
    return {mantissa.data() + at, digit.data() + at};
  }
  LaneBlocks<T> of(const Layout::Instance& instance) const {
    return {mantissa.data() + start(instance), digit.data() + start(instance), instance.size * W, width};
  }
};

// Buffers of one solve. They are reused, since page faults in fresh memory would cost more than the
// arithmetic.
template <class T>
struct Workspace {
  std::vector<GthFactor<T>> factors;  // [block][kind]
  Lanes<T> y, v, w;
  torch::Tensor V, T_;  // packed for the product R̃
};

// What depends on the graph alone, and what depends on the graph and X.
struct Problem {
  std::shared_ptr<const Analysis> analysis;
  std::shared_ptr<const Layout> separate, merged;
  torch::Tensor X_rows;  // the non-zero rows of X, one for each place
  Sources sources;
};

template <class T>
class DirectEquilibrium : public Equilibrium {
  static constexpr int W = Digits<T>::lanes;
  using Int = typename Digits<T>::Int;

 public:
  DirectEquilibrium(std::shared_ptr<const Problem> problem, std::shared_ptr<Workspace<T>> work,
                    const torch::Tensor& F, const SolverOptions& options)
      : problem_(std::move(problem)),
        work_(std::move(work)),
        device_(F.device()),
        g_(F.to(torch::kCPU), options.gamma, options.epsilon, options.refine),
        blocks_(block_count(g_.Q.size(0), W)) {
    factor();
    const Layout& layout = *problem_->merged;
    solve(layout, problem_->sources, problem_->X_rows.mm(g_.Q), {}, layout.right, /*transposed=*/false,
          work_->y);
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    const SingleThreadedBlas guard;
    const Layout& layout = *problem_->merged;
    return unpack_rows(layout, work_->y, nodes_of(index), layout.left);
  }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const SingleThreadedBlas guard;
    const Layout &merged = *problem_->merged, &separate = *problem_->separate;
    const auto nodes = nodes_of(index), Y_tilde = Y.values.to(torch::kCPU).mm(g_.Q);
    const auto exponents = Y.exponents.defined() ? Y.exponents.to(torch::kCPU) : torch::Tensor();
    solve(merged, Sources(merged, nodes), Y_tilde, exponents, merged.left, /*transposed=*/true, work_->v);
    const auto R_tilde = product(merged, work_->y, work_->v);
    if (!std::isfinite(R_tilde.abs().max().template item<double>()))
      throw ConvergenceError("the gradient of F leaves the floating range", "direct",
                             "scale the cotangent down, or use dtype float64");
    Gradients out;
    out.F = g_.pullback(g_.Q.mm(R_tilde).mm(g_.Q.t())).to(device_);
    if (want_X) {  // nodes that share a place in `merged` have different gradients
      solve(separate, Sources(separate, nodes), Y_tilde, exponents, separate.left, /*transposed=*/true,
            work_->w);
      out.X = unpack_rows(separate, work_->w, nodes_of({}), separate.right);
    }
    return out;
  }

  // Without the gradient of F, which may leave the floating range where W, with its exponents, does not.
  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const override {
    const SingleThreadedBlas guard;
    const Layout& separate = *problem_->separate;
    solve(separate, Sources(separate, nodes_of(index)), Y.values.to(torch::kCPU).mm(g_.Q),
          Y.exponents.defined() ? Y.exponents.to(torch::kCPU) : torch::Tensor(), separate.left,
          /*transposed=*/true, work_->w);
    return unpack_rows(separate, work_->w, nodes_of({}), separate.right);
  }

 private:
  torch::Tensor nodes_of(const torch::Tensor& index) const {
    return index.defined() ? index.to(torch::kCPU).contiguous()
                           : torch::arange(static_cast<int64_t>(problem_->merged->place.size()));
  }

  // One factorisation per block of shifts and kind of component.
  void factor() {
    const auto& eliminations = problem_->analysis->kinds;
    const int64_t kinds = static_cast<int64_t>(eliminations.size()), m = g_.a.size(0);
    work_->factors.resize(blocks_ * kinds);
    std::vector<char> regular(blocks_ * kinds);
    const int64_t slots = eliminations.empty() ? 0 : eliminations.back().slots();
    at::parallel_for(0, blocks_ * kinds, worth_a_thread(slots * W), [&](int64_t first, int64_t last) {
      for (int64_t f = first; f < last; ++f) {
        alignas(64) T a[W], complement[W];
        for (int l = 0; l < W; ++l) {  // lanes past m have a = 0
          const int64_t column = f / kinds * W + l;
          a[l] = column < m ? g_.a.data_ptr<T>()[column] : T(0);
          complement[l] = column < m ? g_.one_minus_a.data_ptr<T>()[column] : T(1);
        }
        regular[f] = work_->factors[f].factor(eliminations[f % kinds], a, complement);
      }
    });
    for (char ok : regular)
      if (!ok)
        throw ConvergenceError("the equilibrium does not exist: I - γ S⊗g is singular in this precision",
                               "γ = 1 and ε = 0?", "use γ below 1, or ε above 0");
  }

  // Solves y M = b, with b = rows / scale, one instance after the other, so that a small component stays in
  // the L1 cache from load to back-substitution.
  void solve(const Layout& layout, const Sources& sources, const torch::Tensor& rows,
             const torch::Tensor& exponents, const std::vector<double>& scale, bool transposed,
             Lanes<T>& y) const {
    const auto& eliminations = problem_->analysis->kinds;
    const int64_t kinds = static_cast<int64_t>(eliminations.size());
    const int64_t tasks = static_cast<int64_t>(layout.instances.size()) * blocks_;
    const torch::Tensor b = rows.contiguous();
    y.resize(layout.places(), g_.Q.size(0));
    const int64_t places = layout.instances.empty() ? 0 : layout.instances.back().size;
    at::parallel_for(0, tasks, worth_a_thread(places * W), [&](int64_t first, int64_t last) {
      for (int64_t task = first; task < last; ++task) {
        const int64_t i = task / blocks_, block = task % blocks_;
        const Layout::Instance& instance = layout.instances[i];
        const LaneVector<T> lanes = y.block(instance, block);
        std::fill_n(lanes.mantissa, instance.size * W, T(0));
        std::fill_n(lanes.digit, instance.size * W, Int(0));
        for (int64_t s = sources.begin[i]; s < sources.begin[i + 1]; ++s)
          load_row(block, sources.row[s], sources.place[s], instance, b, exponents, scale, lanes);
        work_->factors[block * kinds + instance.kind].solve(eliminations[instance.kind], lanes, transposed);
      }
    });
  }

  // Adds the columns of row r that belong to the block, divided by the scale of the place.
  static void load_row(int64_t block, int64_t r, int64_t place, const Layout::Instance& instance,
                       const torch::Tensor& b, const torch::Tensor& exponents,
                       const std::vector<double>& scale, LaneVector<T> lanes) {
    const int64_t m = b.size(1), columns = std::min<int64_t>(W, m - block * W), bits = Digits<T>::bits;
    const T* row = b.data_ptr<T>() + r * m + block * W;
    const int64_t exponent = exponents.defined() ? exponents.data_ptr<int64_t>()[r] : 0;
    const int64_t digits = exponent >= 0 ? exponent / bits : -((-exponent + bits - 1) / bits);
    const T factor = static_cast<T>(std::ldexp(1 / scale[place], static_cast<int>(exponent - digits * bits)));
    const int64_t at = (place - instance.begin) * W;
    for (int64_t l = 0; l < columns; ++l) {
      if (lanes.mantissa[at + l] != 0 && lanes.digit[at + l] != digits)
        throw ArgumentError("Y.exponents", "a node appears twice with different exponents",
                            "add its rows up first");
      lanes.mantissa[at + l] += row[l] * factor;
      lanes.digit[at + l] = static_cast<Int>(digits);
    }
  }

  // Z̃ Q_Fᵀ at these nodes, each row with the exponent of its largest eigen-component.
  ScaledRows unpack_rows(const Layout& layout, const Lanes<T>& from, const torch::Tensor& nodes,
                         const std::vector<double>& scale) const {
    const int64_t count = nodes.size(0), m = from.width;
    auto rows = torch::empty({count, m}, g_.Q.options());
    auto exponents = torch::empty({count}, torch::kInt64);
    const int64_t* node = nodes.data_ptr<int64_t>();
    T* row = rows.template data_ptr<T>();
    int64_t* exponent = exponents.data_ptr<int64_t>();
    at::parallel_for(0, count, worth_a_thread(m), [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) {
        const int64_t place = layout.place[node[r]];
        const Layout::Instance& instance = layout.instances[layout.instance_of[node[r]]];
        const LaneBlocks<T> lanes = from.of(instance).at(place - instance.begin);
        const Int digits = leading_digit(lanes);
        exponent[r] = int64_t(digits) * Digits<T>::bits;
        unpack(lanes, digits, static_cast<T>(1 / scale[place]), row + r * m);
      }
    });
    ScaledRows out{rows.mm(g_.Q.t()).to(device_), {}};
    if (exponents.ne(0).any().template item<bool>()) out.exponents = exponents.to(device_);
    return out;
  }

  // R̃ = Vᵀ T, with row i of T being t_i = Σ_j y_j Â_ji. Row i of T is scaled by 2^-k and row i of V by 2^k,
  // which leaves the product unchanged and brings both into range. Each thread multiplies the rows that it
  // packed.
  torch::Tensor product(const Layout& layout, const Lanes<T>& y, const Lanes<T>& v) const {
    const int64_t n = v.nodes, m = v.width;
    const int64_t threads = std::clamp<int64_t>(n / worth_a_thread(m), 1, at::get_num_threads());
    const int64_t share = (n + threads - 1) / threads;
    if (!work_->V.defined() || work_->V.size(0) != n || work_->V.size(1) != m) {
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
          const Layout::Instance& instance = layout.instances[layout.instance_at[i]];
          const int64_t local = i - instance.begin;
          receive(problem_->analysis->kinds[instance.kind], y.of(instance), local, mantissa.data(),
                  digit.data());
          const LaneBlocks<T> t = {mantissa.data(), digit.data(), W, m};
          const Int digits = leading_digit(t);
          unpack(t, digits, T(1), packed + i * m);
          unpack(v.of(instance).at(local), static_cast<Int>(-digits), T(1), V + i * m);
        }
        auto out = partial[thread];
        torch::mm_out(out, work_->V.narrow(0, first, last - first).t(),
                      work_->T_.narrow(0, first, last - first));
      }
    });
    return partial.sum(0);
  }

  std::shared_ptr<const Problem> problem_;
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
    analysis_ = std::make_shared<Analysis>(*S_, block_count(features, W) * W, sizeof(T));
    separate_ = std::make_shared<Layout>(analysis_->separate(S_->nodes));
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "direct"; }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const SingleThreadedBlas guard;
    const auto& problem = problem_.get(X, [&](const torch::Tensor& x) { return analyse(x.to(torch::kCPU)); });
    return std::make_shared<DirectEquilibrium<T>>(problem, workspace(), F, options_);
  }

 private:
  std::shared_ptr<const Problem> analyse(const torch::Tensor& X) const {
    auto problem = std::make_shared<Problem>();
    problem->analysis = analysis_;
    problem->separate = separate_;
    problem->merged = std::make_shared<Layout>(analysis_->merged(X));
    // Only non-zero rows of X are sources. Nodes that share a place have equal rows, and one of them is
    // loaded.
    const auto filled = X.ne(0).any(1).nonzero().squeeze(1);
    std::vector<char> fed(problem->merged->places(), 0);
    std::vector<int64_t> nodes;
    for (int64_t r = 0; r < filled.size(0); ++r) {
      const int64_t node = filled.data_ptr<int64_t>()[r];
      char& there = fed[problem->merged->place[node]];
      if (!there) nodes.push_back(node);
      there = 1;
    }
    const auto index = torch::tensor(nodes, torch::kInt64);
    problem->X_rows = X.index_select(0, index);
    problem->sources = Sources(*problem->merged, index);
    return problem;
  }

  // A workspace that no living equilibrium uses.
  std::shared_ptr<Workspace<T>> workspace() {
    for (auto& w : workspaces_)
      if (w.use_count() == 1) return w;
    workspaces_.push_back(std::make_shared<Workspace<T>>());
    return workspaces_.back();
  }

  std::shared_ptr<const Analysis> analysis_;
  std::shared_ptr<const Layout> separate_;
  FeatureCache<std::shared_ptr<const Problem>> problem_;
  std::vector<std::shared_ptr<Workspace<T>>> workspaces_;
};

}  // namespace

std::unique_ptr<Solver> make_direct(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                    int64_t features) {
  if (options.dtype == torch::kFloat32)
    return std::make_unique<DirectSolver<float>>(std::move(S), options, features);
  return std::make_unique<DirectSolver<double>>(std::move(S), options, features);
}

}  // namespace eignn
