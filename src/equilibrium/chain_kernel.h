// The recurrence of a ChebyshevChain on a GPU, with all terms in one kernel for each direction: on small
// problems launches take most of an epoch. The rows of P are independent, so each block has one row and the
// whole argument in shared memory and never synchronises with others. An argument too wide for shared memory
// is supported for one run of few rows: all blocks work on a term and synchronise after it.
#pragma once

#include <cstdint>

namespace eignn {

constexpr int64_t most_chain_columns = 128;  // whose argument fits into a block's shared memory
constexpr int64_t most_wide_rows = 8, most_wide_columns = 1 << 15;

struct ChainShape {
  int64_t terms, batch, rows, m;  // P is (terms, batch, rows, m)
  bool apart;                     // do not use the kernel that synchronises the grid
};

/// Whether the current GPU can run a chain of this shape; `item` is the size of a number in bytes.
bool chain_fits_on_gpu(const ChainShape& shape, int64_t item);

/// P_1 … from P_0; `argument` is 2(2g - I), (batch, m, m), symmetric. `stream` is a cudaStream_t.
template <class T>
void run_chain_on_gpu(T* P, const T* argument, const ChainShape& shape, void* stream);

/// Runs the recurrence backwards on the cotangents C of P, in place.
template <class T>
void pull_chain_on_gpu(T* C, const T* argument, const ChainShape& shape, void* stream);

}  // namespace eignn
