#include "models/batched_eignn.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "models/dropout_mask.h"

namespace eignn {

/// Maps the weights of all runs to their scores, and cotangents of the scores back to gradients.
class BatchedHead {
 public:
  using Gradients = BatchedEignn::Gradients;

  virtual ~BatchedHead() = default;
  /// (n, runs, classes), without dropout.
  virtual torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B) = 0;
  /// The scores with dropout; `scores` must be what the last solve() returned.
  virtual torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor& B) const = 0;
  virtual Gradients pull(const torch::Tensor& F, const torch::Tensor& B,
                         const torch::Tensor& cotangent) const = 0;
  virtual void draw_dropout(at::Generator&) {}
  /// Allocates for another number of runs.
  virtual void resize(int64_t runs) = 0;
};

namespace {

// f = Z Bᵀ
class PlainHead : public BatchedHead {
 public:
  PlainHead(std::shared_ptr<const SharedSeries> shared, int64_t runs, int64_t classes)
      : projections_(std::move(shared), runs, classes) {}

  torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B) override {
    return projections_.solve(F, B);
  }

  torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor&) const override {
    return scores;
  }

  Gradients pull(const torch::Tensor& F, const torch::Tensor& B,
                 const torch::Tensor& cotangent) const override {
    const auto [F_bar, B_bar] = projections_.pull(F, B, cotangent);
    return {F_bar, B_bar};
  }

  void resize(int64_t runs) override { projections_.resize(runs); }

 private:
  BatchedProjections projections_;
};

// f = (dropout of z/‖z‖) Bᵀ
class NormalisedHead : public BatchedHead {
 public:
  NormalisedHead(std::shared_ptr<const SharedSeries> shared, int64_t runs, double dropout)
      : dropout_(dropout),
        sizes_({runs, shared->X.size(0), shared->X.size(1)}),
        type_(shared->type),
        equilibria_(std::move(shared), runs) {}

  torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B) override {
    const auto z = equilibria_.solve(F);
    // The series is accurate relative to the largest row, so that a row whose squares underflow has no
    // correct digits anyway.
    const auto length = z.norm(2, 2, /*keepdim=*/true);
    put(over_length_, length.reciprocal().masked_fill_(length == 0, 0));
    put(direction_, z * over_length_);
    return scores_of(direction_, B);
  }

  torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor& B) const override {
    return dropout_ == 0 ? scores : scores_of(direction_ * mask_, B);
  }

  Gradients pull(const torch::Tensor& F, const torch::Tensor& B,
                 const torch::Tensor& cotangent) const override {
    const auto dropped = [&](const torch::Tensor& t) { return dropout_ == 0 ? t : t * mask_; };
    const auto by_run = cotangent.transpose(0, 1);  // (runs, n, classes)
    // With u = z/‖z‖:  z̄ = (ū - ⟨u, ū⟩ u) / ‖z‖
    const auto u_bar = dropped(by_run.bmm(B));
    const auto along = (direction_ * u_bar).sum(2, true);
    const auto z_bar = torch::addcmul(u_bar, along, direction_, -1) * over_length_;
    return {equilibria_.pull(F, z_bar), by_run.transpose(1, 2).bmm(dropped(direction_))};
  }

  void draw_dropout(at::Generator& generator) override {
    if (dropout_ == 0) return;
    const auto drawn = dropout_mask(sizes_, type_, dropout_, generator);
    if (drawn.is_cpu())
      mask_ = drawn;
    else
      put(mask_, drawn);
  }

  void resize(int64_t runs) override {
    sizes_[0] = runs;
    for (torch::Tensor* t : {&direction_, &over_length_, &mask_}) *t = torch::Tensor();
    equilibria_.resize(runs);
  }

 private:
  static torch::Tensor scores_of(const torch::Tensor& u, const torch::Tensor& B) {
    return u.bmm(B.transpose(1, 2)).transpose(0, 1);
  }

  double dropout_;
  std::vector<int64_t> sizes_;
  torch::TensorOptions type_;
  BatchedEquilibria equilibria_;
  torch::Tensor direction_, over_length_;  // z/‖z‖ and 1/‖z‖: (runs, n, m), (runs, n, 1)
  torch::Tensor mask_;
};

std::unique_ptr<BatchedHead> make_head(Head head, const std::shared_ptr<const SharedSeries>& shared,
                                       int64_t runs, int64_t classes, double dropout) {
  switch (head) {
    case Head::plain:
      return std::make_unique<PlainHead>(shared, runs, classes);
    case Head::l2:
      return std::make_unique<NormalisedHead>(shared, runs, dropout);
    case Head::batch_norm:
    case Head::residual:
      break;
  }
  throw ArgumentError("head", fmt::format("a batch of runs has no head {}", name(head)), "use plain or l2");
}

}  // namespace

BatchedEignn::BatchedEignn(std::shared_ptr<const SharedSeries> shared, Head head, double dropout,
                           torch::Tensor F_start, torch::Tensor B_start)
    : F(std::move(F_start)),
      B(std::move(B_start)),
      generator_(generator_on(shared->type.device())),
      head_(make_head(head, shared, F.size(0), B.size(1), dropout)) {}

BatchedEignn::~BatchedEignn() = default;

void BatchedEignn::solve() {
  const torch::NoGradGuard guard;
  put(scores_, head_->solve(F, B));
}

torch::Tensor BatchedEignn::training_scores() const {
  return head_->training_scores(scores_, B);
}

BatchedEignn::Gradients BatchedEignn::pull(const torch::Tensor& cotangent) const {
  const torch::NoGradGuard guard;
  return head_->pull(F, B, cotangent);
}

void BatchedEignn::draw_dropout(uint64_t seed) {
  generator_.set_current_seed(seed);
  head_->draw_dropout(generator_);
}

void BatchedEignn::keep(const std::vector<int64_t>& places) {
  const torch::NoGradGuard guard;
  const auto kept = torch::tensor(places, torch::kInt64).to(F.device());
  F = F.index_select(0, kept);
  B = B.index_select(0, kept);
  scores_ = torch::Tensor();
  head_->resize(F.size(0));
}

}  // namespace eignn
