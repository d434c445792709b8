#pragma once

#include <cstdint>

namespace eignn {

/// The bytes of memory that this process has now (its resident set); 0 where the system does not say.
uint64_t resident_memory();

}  // namespace eignn
