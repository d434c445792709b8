#include "data/cell.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

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

// 2021-03, 2021/3 and 03/2021, of the years 1000 to 2999.
bool is_month_of_year(std::string_view text) {
  const size_t sign = text.find_first_of("-/");
  if (sign == std::string_view::npos) return false;
  std::string_view year = text.substr(0, sign), month = text.substr(sign + 1);
  if (year.size() < month.size()) std::swap(year, month);
  const auto digits = [](std::string_view part) { return std::all_of(part.begin(), part.end(), is_digit); };
  if (year.size() != 4 || month.empty() || month.size() > 2 || !digits(year) || !digits(month)) return false;
  const int number = month.size() == 2 ? 10 * (month[0] - '0') + month[1] - '0' : month[0] - '0';
  return (year[0] == '1' || year[0] == '2') && number >= 1 && number <= 12;
}

// 1 Mar 2021, March 1, 2021, 1-mar-21, Mon 1 Mar 2021 12:30: the name of a month, numbers and perhaps a day
// of the week, with signs between them.
bool is_named_date(std::string_view text) {
  constexpr size_t longest = 40;
  if (text.size() > longest || std::none_of(text.begin(), text.end(), is_digit)) return false;
  static constexpr std::array<std::string_view, 12> months = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  static constexpr std::array<std::string_view, 7> days = {"monday", "tuesday",  "wednesday", "thursday",
                                                           "friday", "saturday", "sunday"};
  const auto is_name = [](std::string_view part, const auto& names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return is_word(part, name) || is_word(part, name.substr(0, 3));
    });
  };
  int months_seen = 0, numbers = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" -/.,"), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    if (is_digit(part[0])) {
      const bool fits = std::all_of(part.begin(), part.end(), [](char c) { return is_digit(c) || c == ':'; });
      if (!fits) return false;
      ++numbers;
    } else if (is_name(part, months)) {
      ++months_seen;
    } else if (!is_name(part, days)) {
      return false;
    }
  }
  return months_seen == 1 && numbers >= 1;
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

// The number between signs such as % and $; empty where there is no such sign.
std::string_view without_sign(std::string_view text) {
  for (const std::string_view sign : {"%", "$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"}) {  // € £ ¥
    if (text.size() <= sign.size()) continue;
    if (text.substr(text.size() - sign.size()) == sign)
      return trimmed(text.substr(0, text.size() - sign.size()));
    if (text.substr(0, sign.size()) == sign) return trimmed(text.substr(sign.size()));
  }
  return {};
}

// 50%, $1.50, -3 €.
bool is_marked(std::string_view text) {
  const bool minus = text.size() > 1 && text[0] == '-';
  const std::string_view number = without_sign(minus ? text.substr(1) : text);
  return !number.empty() && is_digit(number[0]) && is_digit(number.back()) &&
         std::all_of(number.begin(), number.end(),
                     [](char c) { return is_digit(c) || c == '.' || c == ',' || c == ' '; });
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
    const bool missing = is_any_of(text, {"na", "n/a", "n.a.", "#n/a", "<na>", "null", "?"}) ||
                         text == "None" || is_word(bare, "nan");
    cell.kind = missing                                ? CellKind::missing
                : is_any_of(bare, {"inf", "infinity"}) ? CellKind::out_of_range
                : is_named_date(text)                  ? CellKind::date
                : is_marked(text)                      ? CellKind::marked
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
  cell.kind = is_date(text) || is_month_of_year(text) || is_named_date(text) ? CellKind::date
              : is_grouped(text)                                             ? CellKind::grouped
              : is_marked(text)                                              ? CellKind::marked
                                                                             : CellKind::word;
  return cell;
}

bool is_placeholder(std::string_view field) {
  return is_any_of(trimmed(field), {"-", "--", "."});
}

}  // namespace eignn
