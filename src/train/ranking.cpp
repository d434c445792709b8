#include "train/ranking.h"

#include <torch/torch.h>

#include <cmath>
#include <utility>

namespace eignn {

namespace {

// Calls group(with, without) for each distinct score, ascending, with the number of its nodes that have the
// label and of those that do not. Returns false, without a call, when a score is not a number.
template <class Group>
bool for_each_score(const torch::Tensor& scores, const torch::Tensor& truth, const Group& group) {
  const auto [sorted, order] = scores.to(torch::kCPU, torch::kFloat64).sort();
  const auto labels = truth.to(torch::kCPU).ne(0).index_select(0, order).contiguous();
  const auto values = sorted.contiguous();
  const double* s = values.data_ptr<double>();
  const bool* y = labels.data_ptr<bool>();
  const int64_t n = values.numel();
  for (int64_t k = 0; k < n; ++k)
    if (std::isnan(s[k])) return false;
  for (int64_t first = 0; first < n;) {
    int64_t last = first, with = 0;
    for (; last < n && s[last] == s[first]; ++last) with += y[last];
    group(with, last - first - with);
    first = last;
  }
  return true;
}

}  // namespace

std::optional<double> roc_auc(const torch::Tensor& scores, const torch::Tensor& truth) {
  // Pairs (with, without) whose first has the higher score, equal ones counting half. In doubles, since a
  // million nodes of each kind make more pairs than 32 bits hold.
  double pairs = 0, with_all = 0, without_all = 0;
  const bool numbers = for_each_score(scores, truth, [&](int64_t with, int64_t without) {
    pairs += static_cast<double>(with) * (without_all + static_cast<double>(without) / 2);
    with_all += static_cast<double>(with);
    without_all += static_cast<double>(without);
  });
  if (!numbers || with_all == 0 || without_all == 0) return {};
  return pairs / (with_all * without_all);
}

std::optional<double> average_precision(const torch::Tensor& scores, const torch::Tensor& truth) {
  double with_all = 0, above = 0, found = 0, sum = 0;
  with_all = truth.to(torch::kCPU).ne(0).sum().item<double>();
  const bool numbers = for_each_score(scores.neg(), truth, [&](int64_t with, int64_t without) {
    found += static_cast<double>(with);
    above += static_cast<double>(with + without);
    sum += static_cast<double>(with) * found / above;
  });
  if (!numbers || with_all == 0) return {};
  return sum / with_all;
}

}  // namespace eignn
