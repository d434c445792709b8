// TOML as this program uses it: settings with a name and text values, alone or in tables.
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// `name = value` or `name = [value, …]`. Numbers keep their spelling ("5e-4", "1.0"), because the type
/// depends on the setting; strings are unquoted.
struct TomlSetting {
  std::string name;
  std::vector<std::string> values;  // one value, or those of the list
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
/// for text that is not TOML, and for tables, dates and lists of lists. `origin` names the text in messages.
std::vector<TomlSetting> parse_toml_settings(const std::string& text, const std::string& origin);

/// Tables of such settings (a recipe), in the order of the text. DataError also for a setting outside a
/// table.
std::vector<TomlTable> parse_toml_tables(const std::string& text, const std::string& origin);

/// `text` as a quoted TOML string on one line. parse_toml_settings() returns the same bytes, also for text
/// with quotes, newlines, # or letters beyond ASCII.
std::string toml_string(const std::string& text);

}  // namespace eignn
