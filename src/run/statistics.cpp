#include "run/statistics.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

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

}  // namespace eignn
