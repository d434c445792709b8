// Means of repeated runs.
#pragma once

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

}  // namespace eignn
