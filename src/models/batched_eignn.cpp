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

// Some of the channels, as runs of their own: the places `first` to `first + count` of F and B.
struct Block {
  int64_t first, count;

  // (runs, channels, m, m) to (runs · count, m, m)
  torch::Tensor of_F(const torch::Tensor& F) const { return F.narrow(1, first, count).flatten(0, 1); }
  // (runs, classes, channels · m) to (runs · count, classes, m)
  torch::Tensor of_B(const torch::Tensor& B, int64_t channels) const {
    return B.view({B.size(0), B.size(1), channels, -1}).narrow(2, first, count).transpose(1, 2).flatten(0, 1);
  }
  // The reverse, for gradients.
  torch::Tensor as_F(const torch::Tensor& flat) const {
    return flat.view({-1, count, flat.size(1), flat.size(2)});
  }
  torch::Tensor as_B(const torch::Tensor& flat) const {
    return flat.view({-1, count, flat.size(1), flat.size(2)}).transpose(1, 2).flatten(2, 3);
  }
};

std::vector<Block> blocks_of(const std::vector<BatchedChannels>& channels) {
  std::vector<Block> out;
  int64_t first = 0;
  for (const BatchedChannels& of : channels) {
    out.push_back({first, of.count});
    first += of.count;
  }
  return out;
}

// (n, runs, classes) to (n, runs · count, classes)
torch::Tensor for_each_channel(const torch::Tensor& of_runs, int64_t count) {
  return of_runs.unsqueeze(2).expand({-1, -1, count, -1}).flatten(1, 2);
}

torch::Tensor beside(const std::vector<torch::Tensor>& parts, int64_t dim) {
  return parts.size() == 1 ? parts[0] : torch::cat(parts, dim);
}

// f = Σ_k Z_k B_kᵀ
class PlainHead : public BatchedHead {
 public:
  PlainHead(const std::vector<BatchedChannels>& channels, int64_t runs, int64_t classes)
      : blocks_(blocks_of(channels)) {
    for (const BatchedChannels& of : channels) projections_.emplace_back(of.shared, runs * of.count, classes);
  }

  torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B) override {
    torch::Tensor sum;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const int64_t count = blocks_[b].count;
      auto f = projections_[b].solve(blocks_[b].of_F(F), blocks_[b].of_B(B, F.size(1)));
      if (count > 1) f = f.view({f.size(0), -1, count, f.size(2)}).sum(2);
      sum = sum.defined() ? sum + f : f;
    }
    return sum;
  }

  torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor&) const override {
    return scores;
  }

  Gradients pull(const torch::Tensor& F, const torch::Tensor& B,
                 const torch::Tensor& cotangent) const override {
    std::vector<torch::Tensor> of_F, of_B;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      const auto of_each = block.count == 1 ? cotangent : for_each_channel(cotangent, block.count);
      const auto [F_bar, B_bar] = projections_[b].pull(block.of_F(F), block.of_B(B, F.size(1)), of_each);
      of_F.push_back(block.as_F(F_bar));
      of_B.push_back(block.as_B(B_bar));
    }
    return {beside(of_F, 1), beside(of_B, 2)};
  }

  void resize(int64_t runs) override {
    for (size_t b = 0; b < blocks_.size(); ++b) projections_[b].resize(runs * blocks_[b].count);
  }

 private:
  std::vector<Block> blocks_;
  std::vector<BatchedProjections> projections_;
};

// f = (dropout of z/‖z‖) Bᵀ
class NormalisedHead : public BatchedHead {
 public:
  NormalisedHead(const std::vector<BatchedChannels>& channels, int64_t runs, double dropout)
      : dropout_(dropout), blocks_(blocks_of(channels)), type_(channels.at(0).shared->type) {
    const torch::Tensor& X = channels[0].shared->X;
    width_ = X.size(1);
    sizes_ = {runs, X.size(0), width_ * (blocks_.back().first + blocks_.back().count)};
    for (const BatchedChannels& of : channels) equilibria_.emplace_back(of.shared, runs * of.count);
  }

  torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B) override {
    std::vector<torch::Tensor> states;  // (runs, n, count · m) of each block
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const auto z = equilibria_[b].solve(blocks_[b].of_F(F));
      const int64_t count = blocks_[b].count;
      states.push_back(count == 1 ? z
                                  : z.view({-1, count, z.size(1), z.size(2)}).transpose(1, 2).flatten(2, 3));
    }
    const auto z = beside(states, 2);
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
    std::vector<torch::Tensor> of_F;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const auto& [first, count] = blocks_[b];
      auto here = z_bar.narrow(2, first * width_, count * width_);
      if (count > 1)
        here = here.reshape({sizes_[0], sizes_[1], count, width_}).transpose(1, 2).flatten(0, 1);
      else if (blocks_.size() > 1)
        here = here.contiguous();
      of_F.push_back(blocks_[b].as_F(equilibria_[b].pull(blocks_[b].of_F(F), here)));
    }
    return {beside(of_F, 1), by_run.transpose(1, 2).bmm(dropped(direction_))};
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
    for (size_t b = 0; b < blocks_.size(); ++b) equilibria_[b].resize(runs * blocks_[b].count);
  }

 private:
  static torch::Tensor scores_of(const torch::Tensor& u, const torch::Tensor& B) {
    return u.bmm(B.transpose(1, 2)).transpose(0, 1);
  }

  double dropout_;
  std::vector<Block> blocks_;
  torch::TensorOptions type_;
  int64_t width_;               // of a channel
  std::vector<int64_t> sizes_;  // of all states side by side: (runs, n, channels · m)
  std::vector<BatchedEquilibria> equilibria_;
  torch::Tensor direction_, over_length_;  // z/‖z‖ and 1/‖z‖: (runs, n, channels · m), (runs, n, 1)
  torch::Tensor mask_;
};

std::unique_ptr<BatchedHead> make_head(Head head, const std::vector<BatchedChannels>& channels, int64_t runs,
                                       int64_t classes, double dropout) {
  switch (head) {
    case Head::plain:
      return std::make_unique<PlainHead>(channels, runs, classes);
    case Head::l2:
      return std::make_unique<NormalisedHead>(channels, runs, dropout);
    case Head::batch_norm:
    case Head::residual:
      break;
  }
  throw ArgumentError("head", fmt::format("a batch of runs has no head {}", name(head)), "use plain or l2");
}

}  // namespace

BatchedEignn::BatchedEignn(const std::vector<BatchedChannels>& channels, Head head, double dropout,
                           torch::Tensor F_start, torch::Tensor B_start)
    : F(std::move(F_start)),
      B(std::move(B_start)),
      generator_(generator_on(channels.at(0).shared->type.device())),
      head_(make_head(head, channels, F.size(0), B.size(1), dropout)) {}

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
