#pragma once

#include "eignn/propagation.h"

namespace eignn {

struct SpectrumRange {
  double min = 0, max = 0;
};

/// The smallest and largest eigenvalue of a symmetric S, to about 1e-8: by decomposition for small
/// components, by Lanczos' method otherwise; to about 1e-3 for more than 100000 nodes.
SpectrumRange spectrum_range(const Propagation& S);

}  // namespace eignn
