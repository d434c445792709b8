#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text_lines.h"

namespace eignn {

/// A JSON object whose values are whole numbers, or lists of them.
struct KeyedNumbers {
  std::unordered_map<std::string, size_t> place;  ///< of a key among the keys, from 0
  std::vector<std::string> keys;                  ///< in the file's order, each once
  bool lists = false;                             ///< all values are lists, rather than numbers
  std::vector<int64_t> numbers;                   ///< of all keys
  std::vector<size_t> begin = {0};  ///< the numbers of key k are those from begin[k] to begin[k+1]
};

/// Reads such an object: {"0": [3, 17], "1": []} or {"0": 5, "b": 2}. A number may be written 1.0.
KeyedNumbers parse_keyed_numbers(std::string_view text, const std::string& origin);

/// The place of a key, for messages.
Where at_key(const std::string& origin, std::string_view key);

}  // namespace eignn
