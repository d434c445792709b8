#include "equilibrium/feature_product.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>

namespace eignn {

namespace {

// The rows of X at an index.
SparseEntries selected(const SparseEntries& X, const torch::Tensor& index) {
  const auto rows = index.to(torch::kCPU).contiguous();
  SparseEntries out;
  out.columns = X.columns;
  for (int64_t k = 0; k < rows.numel(); ++k) {
    const int64_t i = rows.data_ptr<int64_t>()[k], begin = X.begin[i], end = X.begin[i + 1];
    out.column.insert(out.column.end(), X.column.begin() + begin, X.column.begin() + end);
    out.value.insert(out.value.end(), X.value.begin() + begin, X.value.begin() + end);
    out.begin.push_back(static_cast<int64_t>(out.column.size()));
  }
  return out;
}

}  // namespace

FeatureProduct::FeatureProduct(const torch::Tensor& X) : dtype_(X.scalar_type()), device_(X.device()) {
  if (X.is_sparse()) {
    entries_ = std::make_shared<SparseEntries>(entries_of(X.detach()));
    product_ = std::make_shared<SparseProduct>(*entries_, dtype_, device_);
    return;
  }
  X_ = X.detach();
  constexpr int64_t one_in = 8;
  // An X that requires a gradient will be another one in the next solve, not worth the preparation.
  if (!X.is_cpu() || X.requires_grad() || X_.count_nonzero().item<int64_t>() > X_.numel() / one_in) return;
  entries_ = std::make_shared<SparseEntries>(entries_of(X_));
  product_ = std::make_shared<SparseProduct>(*entries_, dtype_, device_);
}

FeatureProduct::FeatureProduct(std::shared_ptr<const SparseEntries> X, torch::Dtype dtype,
                               torch::Device device)
    : entries_(std::move(X)),
      product_(std::make_shared<SparseProduct>(*entries_, dtype, device)),
      dtype_(dtype),
      device_(device) {}

torch::Tensor FeatureProduct::times(const torch::Tensor& C) const {
  return product_ ? product_->scatter(C) : X_.mm(C);
}

torch::Tensor FeatureProduct::transposed_times(const torch::Tensor& V) const {
  return product_ ? product_->gather(V) : X_.t().mm(V);
}

torch::Tensor FeatureProduct::dense() const {
  if (X_.defined()) return X_;
  auto X = torch::zeros({nodes(), features()}, dtype_);
  AT_DISPATCH_FLOATING_TYPES(dtype_, "dense features", [&] {
    auto* out = X.data_ptr<scalar_t>();
    for (int64_t i = 0; i < nodes(); ++i)
      for (int64_t e = entries_->begin[i]; e < entries_->begin[i + 1]; ++e)
        out[i * features() + entries_->column[e]] += static_cast<scalar_t>(entries_->value[e]);
  });
  return X.to(device_);
}

const FeatureProduct& FeatureProduct::at(const torch::Tensor& index) const {
  if (!index.defined()) return *this;
  const auto seen = std::find_if(rows_.begin(), rows_.end(), [&](const Rows& rows) {
    return rows.index.is_same(index) && rows.version == index._version();
  });
  if (seen != rows_.end()) return *seen->product;
  std::unique_ptr<FeatureProduct> product;
  if (entries_) {
    product = std::make_unique<FeatureProduct>(std::make_shared<SparseEntries>(selected(*entries_, index)),
                                               dtype_, device_);
    if (X_.defined()) product->X_ = X_.index_select(0, index);
  } else {
    // requires_grad: the constructor then skips its search for zeros.
    product = std::make_unique<FeatureProduct>(X_.index_select(0, index).requires_grad_());
  }
  constexpr size_t kept = 4;  // train, validation, test and another
  if (rows_.size() == kept) rows_.erase(rows_.begin());
  rows_.push_back({index, index._version(), std::move(product)});
  return *rows_.back().product;
}

const torch::Tensor& FeatureProduct::filled() const {
  if (filled_.defined()) return filled_;
  if (!entries_) return filled_ = X_.ne(0).any(1, /*keepdim=*/true);
  auto filled = torch::zeros({nodes(), 1}, torch::kBool);
  for (int64_t i = 0; i < nodes(); ++i)
    filled.data_ptr<bool>()[i] =
        std::any_of(entries_->value.begin() + entries_->begin[i],
                    entries_->value.begin() + entries_->begin[i + 1], [](double x) { return x != 0; });
  return filled_ = filled.to(device_);
}

void FeatureProduct::find_moments() const {
  if (mean_.defined()) return;
  if (!entries_) {
    mean_ = X_.mean(0);
    variance_ = (X_ - mean_).square_().mean(0);
    return;
  }
  // Σ (x - x̄)² over the entries, and x̄² for each zero.
  auto mean = torch::zeros({features()}, torch::kFloat64), variance = torch::zeros_like(mean);
  double *sum = mean.data_ptr<double>(), *squares = variance.data_ptr<double>();
  std::vector<int64_t> count(static_cast<size_t>(features()), 0);
  const auto n = static_cast<double>(nodes());
  for (size_t e = 0; e < entries_->value.size(); ++e) {
    sum[entries_->column[e]] += entries_->value[e];
    ++count[entries_->column[e]];
  }
  mean /= n;
  for (size_t e = 0; e < entries_->value.size(); ++e) {
    const double apart = entries_->value[e] - sum[entries_->column[e]];
    squares[entries_->column[e]] += apart * apart;
  }
  for (int64_t j = 0; j < features(); ++j)
    squares[j] = (squares[j] + (n - static_cast<double>(count[j])) * sum[j] * sum[j]) / n;
  const auto type = torch::dtype(dtype_).device(device_);
  mean_ = mean.to(type);
  variance_ = variance.to(type);
}

const torch::Tensor& FeatureProduct::mean() const {
  find_moments();
  return mean_;
}

const torch::Tensor& FeatureProduct::variance() const {
  find_moments();
  return variance_;
}

}  // namespace eignn
