#include "data/cell.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "data/text_lines.h"

namespace eignn {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_word(std::string_view text, std::string_view lower_word) {
  return text.size() == lower_word.size() && std::equal(text.begin(), text.end(), lower_word.begin(),
                                                        [](char a, char b) { return lower(a) == b; });
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> lower_words) {
  return std::any_of(lower_words.begin(), lower_words.end(),
                     [&](std::string_view word) { return is_word(text, word); });
}

// The digits that `text` begins with, up to `most`, which are taken off it.
size_t take_digits(std::string_view* text, size_t most) {
  size_t count = 0;
  while (count < most && count < text->size() && is_digit((*text)[count])) ++count;
  text->remove_prefix(count);
  return count;
}

// 2021-03-04, 2021/3/4, 04.03.2021, 3/4/21, each perhaps with a time after it; 12:30, 12:30:05.
bool is_date(std::string_view text) {
  const size_t first = take_digits(&text, 4);
  if (first == 0 || text.empty()) return false;
  const char sign = text[0];
  if (sign != '-' && sign != '/' && sign != '.' && sign != ':') return false;
  text.remove_prefix(1);
  const size_t second = take_digits(&text, 2);
  if (sign == ':') return first <= 2 && second == 2 && (text.empty() || text[0] == ':' || text[0] == ' ');
  if (second == 0 || text.empty() || text[0] != sign) return false;
  text.remove_prefix(1);
  const size_t third = take_digits(&text, 4);
  const bool year_first = first == 4 && third >= 1 && third <= 2;
  const bool year_last = first <= 2 && (third == 2 || third == 4);
  return (year_first || year_last) && (text.empty() || text[0] == ' ' || text[0] == 'T');
}

// 1,234,567  1,234.5  1.234,5  1.234.567  1 234
bool is_grouped(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0]) || !is_digit(text.back())) return false;
  size_t groups = 0;
  for (const char c : text) {
    if (is_digit(c)) continue;
    if (c != ',' && c != '.' && c != '\'' && c != ' ') return false;
    ++groups;
  }
  // Between two signs are three digits.
  size_t digits = 0;
  bool first = true;
  for (const char c : text) {
    if (is_digit(c)) {
      ++digits;
      continue;
    }
    if (first ? digits > 3 : digits != 3) return false;
    first = false;
    digits = 0;
  }
  return groups > 1 || (groups == 1 && digits == 3 && text.find_first_of("' ") != std::string_view::npos);
}

// Whether the whole of `text` is a number, finite or not.
bool parse(std::string_view text, Cell* cell) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) return false;
  const bool fits = error == std::errc() && std::isfinite(value);
  cell->kind = fits ? CellKind::number : CellKind::out_of_range;
  cell->number = fits ? value : 0;
  return true;
}

}  // namespace

Cell read_cell(std::string_view field) {
  Cell cell;
  const std::string_view text = trimmed(field);
  if (text.empty()) return cell;
  const bool sign = text[0] == '-' || text[0] == '+';
  const char first = text.size() > 1 && sign ? text[1] : text[0];
  if (!is_digit(first) && first != '.' && first != ',') {
    const std::string_view bare = sign ? text.substr(1) : text;
    cell.kind = is_any_of(text, {"na", "n/a", "#n/a", "null"}) || is_word(bare, "nan") ? CellKind::missing
                : is_any_of(bare, {"inf", "infinity"}) ? CellKind::out_of_range
                                                       : CellKind::word;
    return cell;
  }
  const std::string_view unsigned_plus = text[0] == '+' ? text.substr(1) : text;
  if (text[0] == '+' && sign && unsigned_plus.size() > 0 && unsigned_plus[0] == '-') {
    cell.kind = CellKind::word;
    return cell;
  }
  if (parse(unsigned_plus, &cell)) {
    cell.point = unsigned_plus.find('.') != std::string_view::npos;
    return cell;
  }
  constexpr size_t longest_number = 64;
  std::array<char, longest_number> copy = {};
  const size_t comma = unsigned_plus.find(',');
  if (comma != std::string_view::npos && unsigned_plus.size() <= longest_number &&
      unsigned_plus.find_first_of(",.", comma + 1) == std::string_view::npos &&
      unsigned_plus.substr(0, comma).find('.') == std::string_view::npos) {
    std::copy(unsigned_plus.begin(), unsigned_plus.end(), copy.begin());
    copy[comma] = '.';
    if (parse({copy.data(), unsigned_plus.size()}, &cell)) {
      cell.comma = true;
      const std::string_view before = unsigned_plus.substr(0, comma), after = unsigned_plus.substr(comma + 1);
      const size_t digits = before.size() - (before.find('-') == 0 ? 1 : 0);
      cell.may_be_thousands = digits >= 1 && digits <= 3 && before[before.size() - digits] != '0' &&
                              after.size() == 3 && std::all_of(after.begin(), after.end(), is_digit);
      return cell;
    }
  }
  cell.kind = is_date(text) ? CellKind::date : is_grouped(text) ? CellKind::grouped : CellKind::word;
  return cell;
}

}  // namespace eignn
