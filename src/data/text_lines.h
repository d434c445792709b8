// Shared by the readers: errors about a place in a file, and the parsing of lines, words and whole numbers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/utf8.h"
#include "eignn/error.h"

namespace eignn {

/// The location of an error: a file, and a place in it (a line, a key, a byte) where one is known.
struct Where {
  std::string file, place;
  Where(std::string in_file) : file(std::move(in_file)) {}
  Where(std::string in_file, std::string at_place) : file(std::move(in_file)), place(std::move(at_place)) {}
};

/// Throws a DataError. All readers refuse data through this function.
[[noreturn]] inline void refuse(std::string_view what, const Where& where, std::string_view remedy) {
  throw DataError(where.file, where.place, std::string(what), std::string(remedy));
}

/// `text` between quotes, safe in a one-line message: bytes that are not printable become \xNN, and long text
/// is truncated. Letters beyond ASCII stay as they are; controls and signs that turn the direction of writing
/// do not.
inline std::string quote(std::string_view text) {
  constexpr size_t longest = 40;
  std::string result = "'";
  size_t at = 0;
  while (at < text.size() && at < longest) {
    const size_t length = utf8_length(text.substr(at));
    const std::string_view character = text.substr(at, std::max<size_t>(length, 1));
    const auto byte = static_cast<unsigned char>(character[0]);
    const bool control =
        length == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
    const bool format = character.substr(0, 2) == "\xe2\x80" || character.substr(0, 2) == "\xe2\x81" ||
                        character.substr(0, 2) == "\xef\xbb";
    if (length == 1 ? byte >= 0x20 && byte < 0x7f : length > 1 && !control && !format) {
      result += character;
    } else {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    at += character.size();
  }
  return result + (at < text.size() ? "...'" : "'");
}

/// "1 edge", "2 edges".
inline std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// `text` without the UTF-8 byte order mark that some editors write first.
inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.substr(0, mark.size()) == mark) text.remove_prefix(mark.size());
  return text;
}

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

inline void skip_blanks(std::string_view* rest) {
  size_t i = 0;
  while (i < rest->size() && is_blank((*rest)[i])) ++i;
  rest->remove_prefix(i);
}

/// `text` without the blanks and tabs at its ends.
inline std::string_view trimmed(std::string_view text) {
  skip_blanks(&text);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes the next word off `rest`: up to a blank, a tab or the character `stop`; empty at the line's end.
inline std::string_view take_word(std::string_view* rest, char stop = ' ') {
  skip_blanks(rest);
  size_t i = 0;
  while (i < rest->size() && !is_blank((*rest)[i]) && (*rest)[i] != stop) ++i;
  const std::string_view word = rest->substr(0, i);
  rest->remove_prefix(i);
  return word;
}

/// Iterates over the lines of a text in memory; lines end in LF or CRLF, the last one may end in neither.
///
///     TextLines lines(text, path);
///     while (lines.next()) use(lines.line());
class TextLines {
 public:
  /// `first_line`: the number of the text's first line, when it is a piece of a file.
  TextLines(std::string_view text, std::string origin, int64_t first_line = 1)
      : rest_(first_line == 1 ? without_byte_order_mark(text) : text),
        origin_(std::move(origin)),
        number_(first_line - 1) {}

  /// Steps to the next line; false after the last.
  bool next() {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    ++number_;
    return true;
  }

  std::string_view line() const { return line_; }

  int64_t number() const { return number_; }

  /// "line N" of the current line.
  std::string place() const { return fmt::format("line {}", std::max<int64_t>(number_, 1)); }

  /// Throws the DataError "what (file, line N); remedy" about the current line.
  [[noreturn]] void refuse(std::string_view what, std::string_view remedy) const {
    eignn::refuse(what, {origin_, place()}, remedy);
  }

  /// The number that `word`, a piece of the current line, spells; refused where it spells none. Returns what
  /// keeps it from being a weight, negative or out of range, and otherwise nothing.
  std::string parse_weight(std::string_view word, std::string_view remedy, double* weight) const {
    std::string_view digits = word;
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);  // from_chars takes no plus sign
    if (digits.empty()) refuse("a weight is missing", remedy);
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, *weight);
    if (error == std::errc::invalid_argument || stop != end) refuse(quote(word) + " is not a number", remedy);
    const bool in_range = error == std::errc() && *weight - *weight == 0;  // infinite and NaN are not
    if (in_range && *weight >= 0) return "";
    return fmt::format("the weight {} is {}", quote(word), in_range ? "negative" : "out of range");
  }

  /// The whole number that `word`, a piece of the current line, spells.
  int64_t whole_number(std::string_view word, std::string_view remedy) const {
    int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (word.empty()) refuse("a number is missing", remedy);
    if (error == std::errc::invalid_argument || stop != end) {
      refuse(quote(word) + " is not a whole number", remedy);
    }
    if (error == std::errc::result_out_of_range) refuse(quote(word) + " does not fit into 64 bits", remedy);
    return value;
  }

 private:
  std::string_view rest_;
  std::string origin_;
  std::string_view line_;
  int64_t number_;
};

}  // namespace eignn
