// Adam's step on a GPU in one pass over memory.
#pragma once

#include <cstdint>

#include "train/adam_update.h"

namespace eignn {

/// Whether the kernel runs on the current GPU.
bool updates_on_gpu();

/// One step for `size` numbers. `stream` is a cudaStream_t.
template <class T>
void update_on_gpu(const AdamUpdate<T>& by, int64_t size, const T* gradient, T* p, T* m, T* v, void* stream);

/// The same for `runs` consecutive blocks of `size` numbers. `by` has an update for each block and is in the
/// GPU's memory, so that a captured launch reads the coefficients of the current step.
template <class T>
void update_runs_on_gpu(const AdamUpdate<T>* by, int64_t runs, int64_t size, const T* gradient, T* p, T* m,
                        T* v, void* stream);

}  // namespace eignn
