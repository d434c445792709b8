// How much memory one input may take: a limit that follows the machine.
#pragma once

#include <cstdint>
#include <string>

namespace eignn {

/// Half of the memory that is free now, in bytes: of the machine, of the control groups that this process is
/// in, and of its own address space where that is limited (ulimit -v).
uint64_t memory_limit();

/// ResourceError where an input of so many bytes, once it is unpacked, exceeds the limit.
void require_memory(uint64_t bytes, const std::string& origin);

/// An amount of memory as people write it: "8G", "500M", "64K", "1.5G" or a number of bytes; K, M and G are
/// powers of 1024. ArgumentError{"memory"} for anything else, and for less than a byte.
uint64_t bytes_of(const std::string& text);

/// The same for people: "1.5G".
std::string bytes_in_words(uint64_t bytes);

/// What the control groups leave: the least of a group and the groups above it. Pages that the system keeps
/// of files count as free, since it drops them when memory is asked for. `groups` is the text of
/// /proc/self/cgroup, `root` the folder where the groups are mounted; all numbers there are when there is no
/// limit.
uint64_t free_in_groups(const std::string& groups, const std::string& root);

}  // namespace eignn
