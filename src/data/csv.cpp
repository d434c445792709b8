// Comma-separated values, as RFC 4180 has them:
//
//   id,title            the header, where one is expected: a name for each column, none twice
//   7,plain             one row per line, LF or CRLF; the last line may end in neither
//   8,"a, ""b"" and c"  between quotes commas, line breaks and doubled quotes are text: a, "b" and c
//
// - The header says what separates the fields: a comma if it has one, else a tab if it has one, else a
//   semicolon. Without a header it is the comma, unless the caller has the first line decide: a tab, else a
//   semicolon, else a comma, else blanks, of which several count as one.
// - Lines that begin with # are comments only before the header. Lines that are empty or blank are skipped
//   everywhere: in a file with one column write "" for an empty field.
// - Every row has as many fields as the header (without one: as the first row).
// - UTF-8, with or without a byte order mark. A first line of numbers alone is no header.
#include "data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "data/text_lines.h"
#include "data/utf8.h"

namespace eignn {
namespace {

bool spells_number(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string origin, CsvOptions options)
    : text_(without_byte_order_mark(text)),
      origin_(std::move(origin)),
      next_line_(options.first_line),
      line_(options.first_line),
      columns_(options.columns) {
  check_utf8();
  for (const char c : {'\n', '\r', '"'}) ends_plain_[static_cast<unsigned char>(c)] = true;
  if (options.header) read_header();
  if (options.any_separator && skip_to_row(true)) {
    // Unlike in a header, a comma may be that of a number here: a;b;0,5.
    const std::string_view first = text_.substr(at_, text_.find('\n', at_) - at_);
    separator_ = ' ';
    for (const char candidate : {',', ';', '\t'})
      if (first.find(candidate) != std::string_view::npos) separator_ = candidate;
    if (separator_ == ' ') ends_plain_[static_cast<unsigned char>('\t')] = true;
  }
  ends_plain_[static_cast<unsigned char>(separator_)] = true;
}

void CsvReader::check_utf8() const {
  const size_t bad = first_not_utf8(text_);
  if (bad == std::string_view::npos) return;
  const auto before = text_.substr(0, bad);
  eignn::refuse(
      fmt::format("{} is not UTF-8", quote(text_.substr(bad, 1))),
      {origin_, fmt::format("line {}", next_line_ + std::count(before.begin(), before.end(), '\n'))},
      "save it as UTF-8");
}

void CsvReader::read_header() {
  constexpr const char* name_columns = "put a line of column names first";
  if (!skip_to_row(true)) eignn::refuse("the file is empty", {origin_, "line 1"}, name_columns);
  const std::string_view first = text_.substr(at_, text_.find('\n', at_) - at_);
  for (const char candidate : {';', '\t', ','})
    if (first.find(candidate) != std::string_view::npos) separator_ = candidate;
  ends_plain_[static_cast<unsigned char>(separator_)] = true;
  read_row();
  take_names();
  if (std::all_of(names_.begin(), names_.end(), spells_number))
    refuse("the first line holds numbers, no column names", name_columns);
}

void CsvReader::take_names() {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const std::string_view field : fields_) {
    const std::string_view name = trimmed(field);
    if (name.empty())
      refuse(fmt::format("column {} of {} has no name", names.size() + 1, fields_.size()),
             "name it; from pandas, save with index=False");
    if (!seen.insert(name).second)
      refuse(fmt::format("two columns have the name {}", quote(name)), "give each its own");
    names.emplace_back(name);
  }
  names_ = std::move(names);
}

std::optional<size_t> CsvReader::find(std::string_view name) const {
  for (size_t k = 0; k < names_.size(); ++k)
    if (names_[k] == name) return k;
  return std::nullopt;
}

size_t CsvReader::need(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  std::string present;
  for (size_t k = 0; k < names_.size() && k < 8; ++k) present += (k == 0 ? "" : ", ") + quote(names_[k]);
  if (names_.size() > 8) present += ", ...";
  refuse(fmt::format("no column {} among {}", quote(name), present), "name it in the header");
}

bool CsvReader::next() {
  if (!skip_to_row(false)) return false;
  read_row();
  return true;
}

// Skips lines without a field, and comments where they are allowed. Returns false at the end.
bool CsvReader::skip_to_row(bool comments) {
  while (at_ < text_.size()) {
    size_t k = at_;
    const bool tabs_are_fields = separator_ == '\t';
    while (k < text_.size() && (text_[k] == ' ' || (text_[k] == '\t' && !tabs_are_fields))) ++k;
    if (comments && k < text_.size() && text_[k] == '#') k = std::min(text_.find('\n', k), text_.size());
    if (k < text_.size() && text_[k] == '\r' && k + 1 < text_.size() && text_[k + 1] == '\n') ++k;
    if (k < text_.size() && text_[k] != '\n') return true;
    at_ = std::min(k + 1, text_.size());
    ++next_line_;
  }
  return false;
}

void CsvReader::read_row() {
  line_ = next_line_;
  fields_.clear();
  if (!unescaped_.empty()) unescaped_.clear();
  const char* const begin = text_.data();
  const size_t size = text_.size();
  const bool blanks = separator_ == ' ';
  // Whether there were any.
  const auto skip_blanks_here = [&] {
    const size_t from = at_;
    while (at_ < size && is_blank(begin[at_])) ++at_;
    return at_ > from;
  };
  if (blanks) skip_blanks_here();
  while (true) {
    if (at_ < size && begin[at_] == '"') {
      fields_.push_back(quoted_field());
    } else {
      const size_t start = at_;
      while (at_ < size && !ends_plain_[static_cast<unsigned char>(begin[at_])]) ++at_;
      fields_.emplace_back(begin + start, at_ - start);
    }
    // After blanks that separate comes either the next field or the end of the line.
    if (blanks && skip_blanks_here() && at_ < size && begin[at_] != '\n' && begin[at_] != '\r') continue;
    if (at_ == size) break;
    const char stop = begin[at_++];
    if (stop == separator_) continue;
    if (stop == '\r' && at_ < size && begin[at_] == '\n')
      ++at_;
    else if (stop == '\r' && at_ < size)
      refuse("a carriage return inside the line", "end lines in LF or CRLF, or put the field between quotes");
    else if (stop == '"')
      refuse(fmt::format("a quote inside field {}", fields_.size()),
             "put the whole field between quotes, and write \"\" for a quote");
    else if (stop != '\n' && stop != '\r')
      refuse(fmt::format("{} after the closing quote of field {}", quote({&stop, 1}), fields_.size()),
             "write \"\" for a quote inside quotes");
    break;
  }
  ++next_line_;
  if (columns_ == 0) columns_ = fields_.size();
  if (fields_.size() != columns_)
    refuse(fmt::format("{}, not {} as in the lines before",
                       counted(static_cast<int64_t>(fields_.size()), "field"), columns_),
           separator_ == ','
               ? "put a field that has a comma between quotes; with decimal commas, separate by semicolons"
               : "put a field that holds the separator between quotes");
}

// The field whose opening quote is the next byte; stops after its closing quote.
std::string_view CsvReader::quoted_field() {
  size_t start = ++at_;
  std::string* own = nullptr;
  while (true) {
    const size_t end = text_.find('"', at_);
    if (end == std::string_view::npos)
      refuse(fmt::format("the quote of field {} is never closed", fields_.size() + 1),
             "close it, or write \"\" for a quote inside quotes");
    const auto piece = text_.substr(at_, end - at_);
    next_line_ += std::count(piece.begin(), piece.end(), '\n');
    at_ = end + 1;
    const bool doubled = at_ < text_.size() && text_[at_] == '"';
    if (doubled && own == nullptr) own = &unescaped_.emplace_back();
    if (own != nullptr) own->append(text_.substr(start, end - start + (doubled ? 1 : 0)));
    if (!doubled) return own != nullptr ? std::string_view(*own) : text_.substr(start, end - start);
    start = ++at_;
  }
}

bool CsvReader::is_empty(size_t column) const {
  return trimmed(fields_[column]).empty();
}

double CsvReader::number(size_t column) const {
  constexpr const char* remedy = "write a number such as 0, -1.5 or 2e-3";
  const std::string_view word = trimmed(fields_[column]);
  if (word.empty()) refuse_field(column, "the field is empty", remedy);
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end)
    refuse_field(column, quote(word) + " is not a number", remedy);
  if (error == std::errc::result_out_of_range || !std::isfinite(value))
    refuse_field(column, quote(word) + " is not in the range of finite numbers", remedy);
  return value;
}

int64_t CsvReader::whole_number(size_t column, std::string_view remedy) const {
  const std::string_view word = trimmed(fields_[column]);
  if (word.empty()) refuse_field(column, "the field is empty", remedy);
  int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end)
    refuse_field(column, quote(word) + " is not a whole number", remedy);
  if (error == std::errc::result_out_of_range)
    refuse_field(column, quote(word) + " does not fit into 64 bits", remedy);
  return value;
}

void CsvReader::refuse(std::string_view what, std::string_view remedy) const {
  eignn::refuse(what, {origin_, fmt::format("line {}", line_)}, remedy);
}

void CsvReader::refuse_field(size_t column, std::string_view what, std::string_view remedy) const {
  const std::string name = names_.empty() ? fmt::format("{}", column + 1) : quote(names_[column]);
  eignn::refuse(what, {origin_, fmt::format("line {}, column {}", line_, name)}, remedy);
}

std::string csv_field(const std::string& text) {
  const bool plain = text.find_first_of(",;\t\"\r\n") == std::string::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' ' && text.front() != '#'));
  if (plain) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace eignn
