// Means of repeated runs.
#pragma once

#include <string>
#include <vector>

namespace eignn {

struct MeanOfRuns {
  double mean = 0;
  double std = 0;   // n-1 in the denominator; 0 for a single run
  double ci95 = 0;  // half-width of Student's 95 % interval; 0 for a single run
};

MeanOfRuns mean_of_runs(const std::vector<double>& values);

/// The statistics of a series of runs.
struct Series {
  double mean, std, runs;
};
/// Welch's t-test: the two-sided p-value for equal means of two series. 1 when both are constant and equal, 0
/// when both are constant and differ, NaN when one has fewer than two runs.
double welch_p(const Series& a, const Series& b);

/// Jonckheere and Terpstra's test against a falling trend: the one-sided p-value for "values of later groups
/// tend to be lower", by the normal approximation with ties and a correction for continuity. 1 where there is
/// no pair of values from two groups, or where all values are equal. Groups are in the order of their x.
double falling_trend_p(const std::vector<std::vector<double>>& groups);

/// A p-value for people: two digits, below 1e-3 in powers of ten ("2.3e-9"). 0, of two series without any
/// spread, is "0 (no spread)"; one that is not known is "-".
std::string p_text(double p);

}  // namespace eignn
