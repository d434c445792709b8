// TOML as this program uses it: settings that are a name and a text, alone or in tables.
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// `name = value` or `name = [value, …]`. Numbers keep the text they were written with ("5e-4", "1.0"), so
/// that whoever reads them decides on their type; strings are unquoted.
struct TomlSetting {
  std::string name;
  std::vector<std::string> values;  // one, or those of the list
  bool is_list = false;
  std::string place;  // "line 3, column 8": where the value begins

  /// The value, or DataError when it is a list.
  const std::string& single(const std::string& origin) const;
};

struct TomlTable {
  std::string name;
  std::string place;
  std::vector<TomlSetting> settings;

  /// The setting of this name; null when there is none.
  const TomlSetting* find(const std::string& setting) const;
};

/// Settings without tables (a config.toml, a search grid), in the order of the text. DataError with the place
/// for what is no TOML, and for tables, dates and lists of lists. `origin` names the text in messages.
std::vector<TomlSetting> parse_toml_settings(const std::string& text, const std::string& origin);

/// Tables of such settings (a recipe), in the order of the text. DataError also for a setting outside a
/// table.
std::vector<TomlTable> parse_toml_tables(const std::string& text, const std::string& origin);

/// `text` as a TOML string on one line, with its quotes: parse_toml_settings gives back the same bytes, be
/// there quotes, newlines, # or letters beyond ASCII among them.
std::string toml_string(const std::string& text);

}  // namespace eignn
