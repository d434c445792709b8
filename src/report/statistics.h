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

}  // namespace eignn
