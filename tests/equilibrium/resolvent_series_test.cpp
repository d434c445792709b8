#include "equilibrium/node/resolvent_series.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace eignn {
namespace {

const std::vector<double> some_a = {0, 1e-9, 0.01, 0.3, 0.3, 0.3 + 1e-10, 0.5, 0.8, 0.95};

ResolventSeries series_of(const std::vector<double>& a, double tolerance, int64_t most_terms = 1000) {
  const auto t = torch::tensor(a, torch::kFloat64);
  return {t, 1 - t, tolerance, most_terms};
}

// T_p(λ) for |λ| ≤ 1.
double chebyshev(int64_t p, double lambda) {
  return std::cos(static_cast<double>(p) * std::acos(lambda));
}

// c_p in long double, whose rounding differences of it may be divided by.
long double coefficient(int64_t p, long double a) {
  const long double s = std::sqrt(1 - a * a), q = a / (1 + s);
  return (p == 0 ? 1 : 2) * std::pow(q, static_cast<long double>(p)) / s;
}

TEST(ResolventSeries, AddsUpToTheResolventWithinItsTolerance) {
  for (const double tolerance : {1e-3, 1e-7, 1e-14}) {
    const auto series = series_of(some_a, tolerance);
    ASSERT_TRUE(series.converges());
    const auto c = series.coefficients();
    for (size_t k = 0; k < some_a.size(); ++k)
      for (const double lambda : {-1.0, -0.7, 0.0, 0.2, 0.99, 1.0}) {
        double sum = 0;
        for (int64_t p = 0; p < series.terms(); ++p)
          if (static_cast<int64_t>(k) >= series.first(p))
            sum += c[p][static_cast<int64_t>(k)].item<double>() * chebyshev(p, lambda);
        const double exact = 1 / (1 - some_a[k] * lambda);
        EXPECT_NEAR(sum, exact, tolerance + 1e-14 * exact) << some_a[k] << " " << lambda;
      }
  }
}

// The derivative's terms are larger than the values', and of a tiny a the first of them is all there is.
TEST(ResolventSeries, LeavesOutLittleOfTheDerivative) {
  for (const double tolerance : {1e-3, 6e-7, 1e-14})
    for (const double a : {0.0, 1e-12, 1e-7, 1e-4, 0.1, 0.8, 0.95}) {
      const auto series = series_of({a}, tolerance);
      for (const double lambda : {-1.0, 0.2, 1.0}) {
        ResolventSeries::Slopes slope(series);
        double sum = 0;
        for (int64_t p = 0; p < series.terms(); ++p)
          sum += slope.next().item<double>() * chebyshev(p, lambda);
        const double exact = lambda / ((1 - a * lambda) * (1 - a * lambda));
        EXPECT_NEAR(sum, exact, tolerance + 1e-13 * std::abs(exact)) << a << " " << lambda;
      }
    }
}

TEST(ResolventSeries, LeavesColumnsWhenTheyAreDone) {
  const auto series = series_of(some_a, 1e-7);
  EXPECT_EQ(series.first(0), 0);
  EXPECT_EQ(series.first(series.terms() - 1), static_cast<int64_t>(some_a.size()) - 1);
  for (int64_t p = 1; p < series.terms(); ++p) EXPECT_GE(series.first(p), series.first(p - 1));
}

TEST(ResolventSeries, SaysWhenItWouldBeTooLong) {
  const auto terms = series_of({0.1, 0.95}, 1e-7).terms();
  EXPECT_TRUE(series_of({0.1, 0.95}, 1e-7, terms).converges());
  EXPECT_FALSE(series_of({0.1, 0.95}, 1e-7, terms - 1).converges());
  EXPECT_FALSE(series_of({0.1, 1.0}, 1e-7).converges());
}

// Equal a, nearly equal ones and ones far apart.
TEST(ResolventSeries, SlopesAreDividedDifferences) {
  const auto series = series_of(some_a, 1e-7);
  ResolventSeries::Slopes slopes(series);
  for (int64_t p = 0; p < 12; ++p) {
    const auto slope = slopes.next();
    for (size_t i = 0; i < some_a.size(); ++i)
      for (size_t j = 0; j < some_a.size(); ++j) {
        // Where the two are close, by a central difference between points far enough apart.
        const long double a = some_a[i], b = some_a[j], h = 1e-6L;
        const bool close = std::abs(a - b) < 1e-8L;
        const long double high = close ? std::max(a, h) + h : a, low = close ? std::max(a, h) - h : b;
        const double expected =
            static_cast<double>((coefficient(p, high) - coefficient(p, low)) / (high - low));
        EXPECT_NEAR(slope[static_cast<int64_t>(i)][static_cast<int64_t>(j)].item<double>(), expected,
                    2e-5 * std::abs(expected) * (close ? 1 : 1e-6) + (close ? 1e-5 : 1e-13))
            << p << " " << some_a[i] << " " << some_a[j];
      }
  }
}

}  // namespace
}  // namespace eignn
