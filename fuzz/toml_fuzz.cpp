#include "data/toml.h"

#include <cstdlib>

#include "eignn/error.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  const std::string text(bytes);
  try {
    parse_toml_tables(text, "fuzz.toml");
  } catch (const Error&) {
  }
  // What was read is written and read again.
  for (const TomlSetting& setting : parse_toml_settings(text, "fuzz.toml"))
    for (const std::string& value : setting.values)
      if (parse_toml_settings("a = " + toml_string(value), "again").at(0).values.at(0) != value) std::abort();
}

}  // namespace eignn
