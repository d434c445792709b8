#include "run/statistics.h"

#include <fmt/format.h>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>

namespace eignn {

namespace {

// P(|T| > t) for Student's T with ν degrees of freedom.
double two_sided_tail(double t, double nu) {
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(nu), t));
}

double student_quantile_975(double nu) {
  return boost::math::quantile(boost::math::students_t(nu), 0.975);
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
  return two_sided_tail(t, nu);
}

double falling_trend_p(const std::vector<std::vector<double>>& groups) {
  // Σ over groups, and over sets of equal values, of t(t-1)(2t+5), t(t-1)(t-2) and t(t-1), t being the size.
  struct Sums {
    double linear = 0, cubic = 0, pairs = 0;
    void add(double t) {
      linear += t * (t - 1) * (2 * t + 5);
      cubic += t * (t - 1) * (t - 2);
      pairs += t * (t - 1);
    }
  };
  std::map<double, double> count_of;
  Sums of_groups, of_ties;
  double n = 0, squares = 0, falling = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto size = static_cast<double>(groups[i].size());
    n += size;
    squares += size * size;
    of_groups.add(size);
    for (const double value : groups[i]) {
      ++count_of[value];
      for (size_t j = i + 1; j < groups.size(); ++j)
        for (const double later : groups[j]) falling += later < value ? 1 : later == value ? 0.5 : 0;
    }
  }
  for (const auto& [value, count] : count_of) of_ties.add(count);
  const double above_mean = falling - (n * n - squares) / 4;
  double variance = (n * (n - 1) * (2 * n + 5) - of_groups.linear - of_ties.linear) / 72;
  if (n > 2) variance += of_groups.cubic * of_ties.cubic / (36 * n * (n - 1) * (n - 2));
  if (n > 1) variance += of_groups.pairs * of_ties.pairs / (8 * n * (n - 1));
  if (!(variance > 1e-9)) return 1;
  const double z = (above_mean - 0.5) / std::sqrt(variance);
  return boost::math::cdf(boost::math::complement(boost::math::normal(), z));
}

std::string p_text(double p) {
  if (!std::isfinite(p)) return "-";
  if (p == 0) return "0 (no spread)";
  if (p >= 1e-3) return fmt::format("{:.2g}", p);
  const auto exponent = static_cast<int>(std::floor(std::log10(p)));
  const std::string digits = fmt::format("{:.1f}", p / std::pow(10.0, exponent));
  return digits == "10.0" ? fmt::format("1.0e{}", exponent + 1) : fmt::format("{}e{}", digits, exponent);
}

}  // namespace eignn
