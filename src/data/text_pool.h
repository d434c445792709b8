#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eignn {

/// Different texts, such as the ids of nodes, numbered in the order in which they first occur. Each is kept
/// once: an open hash table over one block of characters, so that a million ids of ten characters take some
/// 40 MB.
class TextPool {
 public:
  /// The number of a text, which is new or not.
  int64_t number_of(std::string_view text);
  /// The same without a new one: -1 where it is not known.
  int64_t find(std::string_view text) const;

  int64_t count() const { return static_cast<int64_t>(end_.size()); }
  /// Valid until the next new text.
  std::string_view text(int64_t number) const;

 private:
  size_t slot_of(std::string_view text) const;
  void grow();

  std::string characters_;      // of all texts, one after the other
  std::vector<size_t> end_;     // of each text
  std::vector<int64_t> slots_;  // number + 1 of a text; 0: free. Their count is a power of two
};

}  // namespace eignn
