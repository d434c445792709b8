#include "equilibrium/batched_series.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <limits>
#include <vector>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

int64_t terms_for(const SolverOptions& options) {
  return chebyshev_terms(options.gamma, backward_tolerance(options));
}

// Returns S. Throws where the series does not apply to it.
const Propagation& checked(const Propagation& S, const SolverOptions& options) {
  if (!S.symmetric)
    throw ArgumentError("direction", "the series in g needs a symmetric S", "use an undirected graph");
  if (!series_ends(options))
    throw ArgumentError("gamma", fmt::format("the series for gamma {} has no end in sight", options.gamma),
                        "use a smaller gamma");
  return S;
}

torch::Tensor checked_live_features(const SharedSeries& shared) {
  const auto live = shared.live_features();
  if (live.size(0) == 0 || live.size(0) > most_live_features)
    throw ArgumentError(
        "X",
        fmt::format("{} features are not zero everywhere, and the series from them is for 1 to {}",
                    live.size(0), most_live_features),
        "use another solver");
  return live;
}

}  // namespace

void put(torch::Tensor& slot, const torch::Tensor& value) {
  if (slot.defined() && slot.sizes() == value.sizes())
    slot.copy_(value);
  else
    slot = value.clone();
}

bool series_ends(const SolverOptions& options) {
  constexpr int64_t most_terms = 200;
  return options.gamma < 1 && terms_for(options) <= most_terms;
}

SharedSeries::SharedSeries(const Propagation& S, const torch::Tensor& features, const SolverOptions& options)
    : type(torch::dtype(options.dtype).device(options.device)),
      epsilon(options.epsilon),
      range(std::make_shared<RangeOfS>(checked(S, options), options, backward_tolerance(options) / 2)) {
  X = features.to(type);
  alpha = chebyshev_coefficients(range->lambda, options.gamma, terms_for(options));
}

SharedSeries SharedSeries::with_features(const torch::Tensor& features) const {
  SharedSeries out = *this;
  out.X = features.to(type);
  return out;
}

torch::Tensor SharedSeries::live_features() const {
  return X.ne(0).any(0).nonzero().squeeze(1);
}

BatchedChain::BatchedChain(const SharedSeries& shared, int64_t runs, int64_t rows)
    : epsilon_(shared.epsilon),
      chain_(shared.terms(), runs, rows, shared.X.size(1), shared.type, /*recorded=*/true) {}

void BatchedChain::run(const torch::Tensor& F, const torch::Tensor& P0) {
  put(gram_, grams_of(F));
  // With an infinite ν, g would be 0 and Z = X would look like a solution. NaN reaches the loss, where the
  // trainer reports it.
  const auto nu = gram_.flatten(1).norm(2, 1).view({-1, 1, 1});
  put(nu_, nu.masked_fill(nu.isinf(), std::numeric_limits<double>::quiet_NaN()));
  put(twice_argument_, twice_argument_of(gram_, (nu_ + epsilon_).reciprocal()));
  chain_.run(P0, twice_argument_);
}

BatchedChain::Gradients BatchedChain::pull(const torch::Tensor& F, torch::Tensor P_bar) const {
  const auto through = chain_.pull(std::move(P_bar), twice_argument_);
  return {pull_contractions(F, gram_, nu_, epsilon_, through.g()), through.P0};
}

BatchedProjections::BatchedProjections(std::shared_ptr<const SharedSeries> shared, int64_t runs,
                                       int64_t columns)
    : shared_(std::move(shared)),
      columns_(columns),
      X_hat_(shared_->range->to_spectral(shared_->X, {})),
      chain_(*shared_, runs, columns) {
  if (shared_->range->lambda.size(0) < shared_->range->nodes)
    X_rest_ = shared_->range->rest_of(shared_->X, X_hat_);
}

void BatchedProjections::resize(int64_t runs) {
  chain_ = BatchedChain(*shared_, runs, columns_);
}

// f = X_rest Bᵀ + Q Σ_p α_p(Λ) X̂ P_pᵀ with P_p = B T_p
torch::Tensor BatchedProjections::solve(const torch::Tensor& F, const torch::Tensor& B) {
  chain_.run(F, B);
  auto f = shared_->range->to_nodes(chebyshev_sum(X_hat_, shared_->alpha, chain_.P()), {});
  if (X_rest_.defined()) f = torch::addmm(f, X_rest_, B.flatten(0, 1).t());
  return f.view({-1, B.size(0), B.size(1)});
}

BatchedProjections::Gradients BatchedProjections::pull(const torch::Tensor& F, const torch::Tensor& B,
                                                       const torch::Tensor& cotangent) const {
  const auto flat = cotangent.flatten(1);
  const auto P_bar = pull_chebyshev_sum(X_hat_, shared_->alpha, shared_->range->to_spectral(flat, {}));
  const auto beside = X_rest_.defined() ? flat.t().mm(X_rest_).view(B.sizes()) : torch::zeros_like(B);
  const auto through = chain_.pull(F, P_bar.view({shared_->terms(), B.size(0), B.size(1), B.size(2)}));
  return {through.F, beside + through.P0};
}

BatchedEquilibria::BatchedEquilibria(std::shared_ptr<const SharedSeries> shared, int64_t runs)
    : shared_(std::move(shared)),
      E_(torch::eye(shared_->X.size(1), shared_->type).index_select(0, checked_live_features(*shared_))),
      chain_(*shared_, runs, E_.size(0)) {
  const auto U = shared_->X.index_select(1, shared_->live_features());
  const auto U_hat = shared_->range->to_spectral(U, {});
  std::vector<torch::Tensor> N;
  for (int64_t p = 0; p < shared_->terms(); ++p)
    N.push_back(shared_->range->to_nodes(shared_->alpha.narrow(1, p, 1) * U_hat, {}));
  N[0] = N[0] + shared_->range->rest_of(U, U_hat);  // there λ = 0: α_0 = 1, α_p = 0
  N_ = torch::cat(N, 1);
}

void BatchedEquilibria::resize(int64_t runs) {
  chain_ = BatchedChain(*shared_, runs, E_.size(0));
}

// Z = Σ_p N_p P_p with N_p = α_p(S) U and P_p = E T_p
torch::Tensor BatchedEquilibria::solve(const torch::Tensor& F) {
  chain_.run(F, E_.unsqueeze(0).expand({F.size(0), E_.size(0), E_.size(1)}));
  const torch::Tensor& P = chain_.P();
  return torch::matmul(N_, P.transpose(0, 1).reshape({P.size(1), P.size(0) * P.size(2), P.size(3)}));
}

torch::Tensor BatchedEquilibria::pull(const torch::Tensor& F, const torch::Tensor& Z_bar) const {
  const auto P_bar = torch::matmul(N_.t(), Z_bar).view({F.size(0), -1, E_.size(0), E_.size(1)});
  return chain_.pull(F, P_bar.transpose(0, 1).contiguous()).F;
}

}  // namespace eignn
