// The recurrence of a ChebyshevChain on a GPU, all terms in one kernel each way: on small problems launches
// are most of an epoch. Every row of P goes its own way, so that a block has one row and the whole argument
// in shared memory, and no block waits for another. Where the argument is wider than that, all blocks work on
// a term, for one run of few rows.
#pragma once

#include <cstdint>

namespace eignn {

constexpr int64_t most_chain_columns = 128;  // in a block's shared memory
constexpr int64_t most_wide_rows = 8, most_wide_columns = 1 << 15;

struct ChainShape {
  int64_t terms, batch, rows, m;  // P is (terms, batch, rows, m)
  bool apart;                     // no kernel whose blocks wait for each other
};

/// Whether the current GPU can, with `item` bytes a number.
bool chain_fits_on_gpu(const ChainShape& shape, int64_t item);

/// P_1 … from P_0; `argument` is 2(2g - I), (batch, m, m), symmetric. `stream` is a cudaStream_t.
template <class T>
void run_chain_on_gpu(T* P, const T* argument, const ChainShape& shape, void* stream);

/// The cotangents C of P, run backwards in place.
template <class T>
void pull_chain_on_gpu(T* C, const T* argument, const ChainShape& shape, void* stream);

}  // namespace eignn
