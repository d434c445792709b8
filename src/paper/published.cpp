// published: the algorithm as its authors published it, for comparison in benchmarks. Not a test oracle.
//
//     Z = Q_F (G ∘ (Q_Fᵀ X Q_S)) Q_Sᵀ,   S = Q_S Λ Q_Sᵀ,   W likewise from Y,   R = W Sᵀ Zᵀ
//
// Q_S is dense, n×n, and computed once in O(n³). A step multiplies by it in both passes and costs O(m³ + m
// n²). Matrices have the paper's column form, m×n.
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/symmetric_eigen.h"

namespace eignn {

namespace {

struct DenseSpectrum {
  torch::Tensor Q_S, lambda;
  SparseProduct S;
};

class PublishedEquilibrium : public Equilibrium {
 public:
  PublishedEquilibrium(std::shared_ptr<const DenseSpectrum> spectrum, const torch::Tensor& F,
                       const torch::Tensor& X, const SolverOptions& options)
      : spectrum_(std::move(spectrum)), g_(F, options.gamma, options.epsilon) {
    std::tie(mu_, Q_F_) = symmetric_eigen(g_.g());
    G_ = 1 / (1 - options.gamma * torch::outer(mu_, spectrum_->lambda));
    Z_ = close(X.t());
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    return {index.defined() ? Z_.t().index_select(0, index) : Z_.t().contiguous(), {}};
  }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& cotangent, bool want_X) const override {
    auto Y = cotangent.plain();
    if (index.defined()) {
      const auto given = Y;
      Y = torch::zeros({Z_.size(1), Z_.size(0)}, given.options());
      Y.index_add_(0, index, given);
    }
    const auto W = close(Y.t());
    Gradients out;
    out.F = g_.pullback(W.mm(spectrum_->S.gather(Z_.t().contiguous())));
    if (want_X) out.X.values = W.t().contiguous();
    return out;
  }

 private:
  torch::Tensor close(const torch::Tensor& X) const {
    return Q_F_.mm(G_ * Q_F_.t().mm(X.mm(spectrum_->Q_S))).mm(spectrum_->Q_S.t());
  }
  std::shared_ptr<const DenseSpectrum> spectrum_;
  Contraction g_;
  torch::Tensor mu_, Q_F_, G_, Z_;
};

class PublishedSolver : public Solver {
 public:
  PublishedSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    if (!S_->symmetric)
      throw ArgumentError("solver", "the published algorithm takes symmetric matrices only",
                          "use direct or sparse for a directed graph, or direction undirected");
    require_decomposable(S_->nodes);
    const Stopwatch watch;
    const auto [lambda, Q_S] = symmetric_eigen(dense(*S_).to(options.device, options.dtype));
    spectrum_ = std::make_shared<DenseSpectrum>(
        DenseSpectrum{Q_S, lambda, SparseProduct(S_, options.dtype, options.device)});
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "published"; }
  bool shares_solves() const override { return false; }  // every forward pass decomposes g again

  bool takes_thin_F() const override { return true; }  // it forms g whatever F's rank

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    return std::make_shared<PublishedEquilibrium>(spectrum_, F, X.detach(), options_);
  }

 private:
  std::shared_ptr<const DenseSpectrum> spectrum_;
};

}  // namespace

std::unique_ptr<Solver> make_published(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<PublishedSolver>(std::move(S), options);
}

}  // namespace eignn
