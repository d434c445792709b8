#include "data/text_pool.h"

#include <functional>

namespace eignn {

std::string_view TextPool::text(int64_t number) const {
  const size_t begin = number == 0 ? 0 : end_[static_cast<size_t>(number) - 1];
  return std::string_view(characters_).substr(begin, end_[static_cast<size_t>(number)] - begin);
}

// The slot that has the text, or the free one where it belongs.
size_t TextPool::slot_of(std::string_view wanted) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>()(wanted) & mask;
  while (slots_[slot] != 0 && text(slots_[slot] - 1) != wanted) slot = (slot + 1) & mask;
  return slot;
}

void TextPool::grow() {
  constexpr size_t smallest = 64;
  slots_.assign(slots_.empty() ? smallest : 2 * slots_.size(), 0);
  for (int64_t number = 0; number < count(); ++number) slots_[slot_of(text(number))] = number + 1;
}

int64_t TextPool::number_of(std::string_view text) {
  if (2 * (end_.size() + 1) > slots_.size()) grow();
  int64_t& found = slots_[slot_of(text)];
  if (found == 0) {
    characters_.append(text);
    end_.push_back(characters_.size());
    found = count();
  }
  return found - 1;
}

int64_t TextPool::find(std::string_view text) const {
  return slots_.empty() ? -1 : slots_[slot_of(text)] - 1;
}

}  // namespace eignn
