#include "train/batched_metrics.h"

#include <torch/torch.h>

namespace eignn {

namespace {

torch::Tensor sum_of_run(const torch::Tensor& t) {
  return t.sum(at::IntArrayRef({0, 2}));
}

}  // namespace

BatchedMetrics::BatchedMetrics(const Dataset& dataset, const std::vector<const Split*>& splits,
                               const torch::TensorOptions& type) {
  const int64_t n = dataset.nodes(), runs = static_cast<int64_t>(splits.size());
  auto truth = torch::one_hot(dataset.labels.clamp_min(0), dataset.classes).to(torch::kFloat64);
  truth.masked_fill_(dataset.labels.lt(0).unsqueeze(1), 0);
  auto share = torch::zeros({n, runs}, torch::kFloat64), is_val = torch::zeros_like(share),
       val_share = torch::zeros_like(share);
  for (int64_t k = 0; k < runs; ++k) {
    const Split& split = *splits[static_cast<size_t>(k)];
    const auto val_count = static_cast<double>(split.val.numel());
    share.select(1, k).index_fill_(0, split.train, 1 / static_cast<double>(split.train.numel()));
    is_val.select(1, k).index_fill_(0, split.val, 1);
    val_share.select(1, k).index_fill_(0, split.val, 1 / val_count);
    val_count_.push_back(val_count);
  }
  label_ = dataset.labels.unsqueeze(1).to(type.device());
  share_ = share.unsqueeze(2).to(type);
  is_val_ = is_val.to(type);
  train_truth_ = (share.unsqueeze(2) * truth.unsqueeze(1)).to(type);
  val_truth_ = (val_share.unsqueeze(2) * truth.unsqueeze(1)).to(type);
}

BatchedMetrics::Training BatchedMetrics::training(const torch::Tensor& scores) const {
  const auto log_p = torch::log_softmax(scores, 2);
  const auto loss = sum_of_run(train_truth_ * log_p).neg();
  return {loss, torch::addcmul(-train_truth_, share_, log_p.exp())};
}

BatchedMetrics::Validation BatchedMetrics::validation(const torch::Tensor& scores) const {
  const auto loss = sum_of_run(val_truth_ * torch::log_softmax(scores, 2)).neg();
  return {loss, (is_val_ * scores.argmax(2).eq(label_)).sum(0)};
}

void BatchedMetrics::keep(const std::vector<int64_t>& places) {
  const auto kept = torch::tensor(places, torch::kInt64).to(share_.device());
  for (torch::Tensor* t : {&share_, &train_truth_, &val_truth_, &is_val_}) *t = t->index_select(1, kept);
  std::vector<double> val_count;
  for (const int64_t place : places) val_count.push_back(val_count_.at(static_cast<size_t>(place)));
  val_count_ = val_count;
}

}  // namespace eignn
