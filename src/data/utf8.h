// Well-formed UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace eignn {

/// The place of the first byte that is not UTF-8; npos when there is none. Reads eight bytes at a time while
/// they are ASCII.
size_t first_not_utf8(std::string_view text);

/// Bytes of the UTF-8 character at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return first_not_utf8(text) == std::string_view::npos;
}

}  // namespace eignn
