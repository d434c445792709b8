#include "report/statistics.h"

#include <algorithm>
#include <cmath>

namespace eignn {

namespace {

// P(|T| > t) for Student's T with ν degrees of freedom, by Simpson's rule on its density.
double two_sided_tail(double t, double nu) {
  const double scale =
      std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2)) / std::sqrt(nu * std::acos(-1.0));
  auto density = [&](double x) { return scale * std::pow(1 + x * x / nu, -(nu + 1) / 2); };
  constexpr int steps = 2000;
  const double h = t / steps;
  double inside = density(0) + density(t);
  for (int k = 1; k < steps; ++k) inside += (k % 2 ? 4 : 2) * density(k * h);
  return 1 - 2 * inside * h / 3;
}

double student_quantile_975(double nu) {
  double low = 0, high = 20;
  for (int k = 0; k < 60; ++k) (two_sided_tail((low + high) / 2, nu) > 0.05 ? low : high) = (low + high) / 2;
  return low;
}

}  // namespace

MeanOfRuns mean_of_runs(const std::vector<double>& values) {
  MeanOfRuns out;
  const double n = static_cast<double>(values.size());
  for (double v : values) out.mean += v / n;
  if (values.size() < 2) return out;
  double squares = 0;
  for (double v : values) squares += (v - out.mean) * (v - out.mean);
  out.std = std::sqrt(squares / (n - 1));
  out.ci95 = student_quantile_975(n - 1) * out.std / std::sqrt(n);
  return out;
}

double welch_p(const Series& a, const Series& b) {
  if (a.runs < 2 || b.runs < 2) return std::nan("");
  const double va = a.std * a.std / a.runs, vb = b.std * b.std / b.runs;
  if (va + vb == 0) return a.mean == b.mean ? 1 : 0;
  const double t = std::abs(a.mean - b.mean) / std::sqrt(va + vb);
  const double nu = (va + vb) * (va + vb) / (va * va / (a.runs - 1) + vb * vb / (b.runs - 1));
  return std::max(0.0, two_sided_tail(t, nu));
}

}  // namespace eignn
