// A matrix of few rows times a square one. A BLAS would first pack the square one, which costs more than the
// product.
#pragma once

#include <cstdint>

namespace eignn {

/// out[:, first:last] += P A[:, first:last] for P (k, m), A (m, m) and out (k, m), all row-major. The order
/// of summation in a column does not depend on the range.
void add_thin_product(int64_t k, int64_t m, const float* P, const float* A, float* out, int64_t first,
                      int64_t last);
void add_thin_product(int64_t k, int64_t m, const double* P, const double* A, double* out, int64_t first,
                      int64_t last);

}  // namespace eignn
