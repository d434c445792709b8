#pragma once

#include <string>
#include <string_view>

namespace eignn {

/// The SHA-256 sum of bytes, as 64 small hex digits.
std::string sha256_of(std::string_view bytes);

/// The same of a file, which is not held in memory.
std::string sha256_of_file(const std::string& path);

}  // namespace eignn
