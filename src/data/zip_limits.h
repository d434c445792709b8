// A limit on the size to which a zip archive may unpack.
#pragma once

#include <cstdint>

namespace eignn {

/// True for sizes that deflate cannot produce, which packs 1032 to 1 at best. Otherwise a few kilobytes could
/// claim to unpack to more than fits into memory or on the disk.
inline bool unpacks_too_far(uint64_t packed, uint64_t unpacked) {
  constexpr uint64_t always_fine = uint64_t{64} << 20;
  constexpr uint64_t largest_ratio = 1100;
  return unpacked > always_fine && unpacked / largest_ratio > packed;
}

}  // namespace eignn
