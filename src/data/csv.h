#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eignn {

struct CsvOptions {
  bool header = true;      ///< the first line names the columns
  int64_t first_line = 1;  ///< the number of the text's first line, when it is a piece of a file
  size_t columns = 0;      ///< 0: as many as the first line has
  /// Without a header: the first line says what separates the fields, and comments may stand before it.
  bool any_separator = false;
};

/// Iterates over the rows of a comma-separated text in memory (the rules are in csv.cpp). The text must
/// outlive the reader. The fields of a row are valid until the next row.
///
///     CsvReader rows(text, path);
///     const size_t id = rows.need("id");
///     while (rows.next()) use(rows.whole_number(id), rows.field(1));
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string origin, CsvOptions options = {});
  CsvReader(const CsvReader&) = delete;  // its fields point into it
  CsvReader& operator=(const CsvReader&) = delete;

  /// The column names, without blanks around them; empty when there is no header.
  const std::vector<std::string>& names() const { return names_; }
  std::optional<size_t> find(std::string_view name) const;
  /// The same; DataError where there is no such column.
  size_t need(std::string_view name) const;

  /// Steps to the next row; false after the last.
  bool next();

  /// Takes the current row for names of the columns, in a file that was opened without a header.
  void take_names();

  /// Fields in each row. Without a header and without rows: 0.
  size_t columns() const { return columns_; }
  /// The field with its blanks, without its quotes.
  std::string_view field(size_t column) const { return fields_[column]; }
  /// Whether the field is empty but for blanks.
  bool is_empty(size_t column) const;
  /// The finite number that the field spells; blanks around it are fine.
  double number(size_t column) const;
  int64_t whole_number(size_t column, std::string_view remedy = "write a whole number such as 0 or 12") const;

  int64_t line() const { return line_; }
  char separator() const { return separator_; }
  /// Throws the DataError "what (file, line N); remedy" about the current row.
  [[noreturn]] void refuse(std::string_view what, std::string_view remedy) const;
  /// The same with "file, line N, column 'name'".
  [[noreturn]] void refuse_field(size_t column, std::string_view what, std::string_view remedy) const;

 private:
  void read_header();
  bool skip_to_row(bool comments);
  void read_row();
  std::string_view quoted_field();
  void check_utf8() const;

  std::string_view text_;
  std::string origin_;
  size_t at_ = 0;      // the first unread byte
  int64_t next_line_;  // its line
  int64_t line_;       // where the current row starts
  char separator_ = ',';
  std::array<bool, 256> ends_plain_ = {};  // the bytes at which a field without quotes stops
  size_t columns_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields of the row that had doubled quotes
};

/// A field of a table with commas, for readers of all kinds: between quotes where its text would read
/// otherwise.
std::string csv_field(const std::string& text);

}  // namespace eignn
