// Eigenbases of S that all solvers of this process share, so that the layers of a model on one graph
// decompose it once and hold one copy.
#pragma once

#include "eignn/solver.h"

namespace eignn::python {

/// Keeps the last bases up to half a gigabyte, whoever uses them besides.
SpectrumStore& shared_spectra();

}  // namespace eignn::python
