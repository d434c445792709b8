#include "equilibrium/node/resolvent_series.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

namespace eignn {

namespace {

// The least k for which the terms from p = k on, and those of the derivative in a, add up to at most
// `tolerance`; most + 1 where that takes more than `most` terms. With q' = 1/(s(1+s)):
//
//     Σ 2 q^p / s = 2 q^k/(1-q) / s
//     Σ 2 (q^p / s)' = 2 q^(k-1) (k/(1-q) + q/(1-q)²) q'/s + 2 q^k/(1-q) a/s³
int64_t terms_for(double a, double s, double q, double tolerance, int64_t most) {
  double before = 1;  // q^(k-1)
  for (int64_t k = 1; k <= most; ++k, before *= q) {
    const double n = static_cast<double>(k), value = 2 * before * q / (1 - q) / s;
    const double slope =
        2 * before * (n / (1 - q) + q / ((1 - q) * (1 - q))) / (s * s * (1 + s)) + value * a / (s * s);
    if (value <= tolerance && slope <= tolerance) return k;
  }
  return most + 1;
}

}  // namespace

ResolventSeries::ResolventSeries(const torch::Tensor& a, const torch::Tensor& one_minus_a, double tolerance,
                                 int64_t most_terms)
    : a_(a), s_((one_minus_a * (1 + a)).sqrt()), q_(a / (1 + s_)) {
  const auto numbers = torch::stack({a_, s_, q_}).cpu();
  const double* a_data = numbers.data_ptr<double>();
  for (int64_t c = 0, m = a.size(0); c < m; ++c)
    terms_.push_back(terms_for(a_data[c], a_data[m + c], a_data[2 * m + c], tolerance, most_terms));
  converges_ = terms_.back() <= most_terms;
}

int64_t ResolventSeries::first(int64_t p) const {
  return std::upper_bound(terms_.begin(), terms_.end(), p) - terms_.begin();
}

torch::Tensor ResolventSeries::coefficients() const {
  std::vector<torch::Tensor> c = {1 / s_};
  for (int64_t p = 1; p < terms(); ++p) c.push_back(p == 1 ? 2 * q_ * c[0] : c.back() * q_);
  return torch::stack(c);
}

// With ∂ for a divided difference in a:
//
//     ∂s = -(a_i + a_j)/(s_i + s_j),  ∂(1/s) = -∂s/(s_i s_j),  ∂q = (1 + s_j - a_j ∂s)/((1+s_i)(1+s_j))
//     ∂(q^p/s) = ∂q · (q_i^p - q_j^p)/(q_i - q_j) / s_i + q_j^p ∂(1/s)
ResolventSeries::Slopes::Slopes(const ResolventSeries& series)
    : q_(series.q_),
      weight_((1 / series.s_).unsqueeze(1)),
      power_(torch::ones_like(q_)),
      quotient_(torch::zeros({q_.size(0), q_.size(0)}, q_.options())) {
  const auto &a = series.a_, &s = series.s_;
  const auto a_i = a.unsqueeze(1), s_i = s.unsqueeze(1);
  const auto s_slope = -(a_i + a) / (s_i + s);
  weight_slope_ = -s_slope / (s_i * s);
  q_slope_ = (1 + s - a * s_slope) / ((1 + s_i) * (1 + s));
}

torch::Tensor ResolventSeries::Slopes::next() {
  auto slope = q_slope_ * quotient_ * weight_ + power_ * weight_slope_;
  quotient_ = power_.unsqueeze(1) + q_ * quotient_;
  power_ = power_ * q_;
  if (!first_) slope *= 2;
  first_ = false;
  return slope;
}

}  // namespace eignn
