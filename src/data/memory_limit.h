// How much memory one input may take: a limit that follows the machine.
#pragma once

#include <cstdint>
#include <string>

namespace eignn {

/// Half of the memory that is free now, in bytes: of the machine, and of the control group that this process
/// is in.
uint64_t memory_limit();

/// ResourceError where an input of so many bytes, once it is unpacked, exceeds the limit.
void require_memory(uint64_t bytes, const std::string& origin);

}  // namespace eignn
