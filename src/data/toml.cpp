#include "data/toml.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <sstream>
#include <string_view>
#include <tuple>

#include "data/text_lines.h"
#include "eignn/error.h"

namespace eignn {

namespace {

std::string place_of(const toml::source_position& at) {
  return fmt::format("line {}, column {}", at.line, at.column);
}

// A document with its text: toml++ keeps of a number only its value, but also where it stood.
class Document {
 public:
  Document(const std::string& text, std::string origin) : origin_(std::move(origin)) {
    const std::string_view plain = without_byte_order_mark(text);
    for (size_t begin = 0; begin <= plain.size();) {
      const size_t end = std::min(plain.find('\n', begin), plain.size());
      lines_.emplace_back(plain.substr(begin, end - begin));
      begin = end + 1;
    }
    try {
      table_ = toml::parse(plain, std::string_view(origin_));
    } catch (const toml::parse_error& error) {
      throw DataError(origin_, place_of(error.source().begin), std::string(error.description()),
                      "write name = value lines, with text between quotes");
    }
  }

  const toml::table& root() const { return table_; }
  const std::string& origin() const { return origin_; }

  [[noreturn]] void refuse_at(const toml::node& node, const std::string& problem,
                              const std::string& remedy) const {
    throw DataError(origin_, place_of(node.source().begin), problem, remedy);
  }

  std::string text_of(const toml::node& node) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
    if (const auto* whole = node.as_integer()) {
      const std::string written = slice(node.source());
      // 1_000, 0xff and +1 are TOML's own spellings.
      return written.find_first_of("_xob+") == std::string::npos ? written : fmt::format("{}", whole->get());
    }
    if (const auto* number = node.as_floating_point()) {
      const std::string written = slice(node.source());
      return written.find('_') == std::string::npos && written[0] != '+' ? written
                                                                         : fmt::format("{}", number->get());
    }
    refuse_at(node, "neither a number nor text", "put it between quotes");
  }

 private:
  // toml++ counts columns in characters, not in bytes.
  std::string slice(const toml::source_region& region) const {
    const std::string_view line = lines_.at(region.begin.line - 1);
    const auto byte_of = [&](toml::source_index column) {
      size_t byte = 0;
      for (toml::source_index k = 1; k < column && byte < line.size(); ++k) do
          ++byte;
        while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xc0) == 0x80);
      return byte;
    };
    const size_t begin = byte_of(region.begin.column);
    return std::string(line.substr(begin, byte_of(region.end.column) - begin));
  }

  std::string origin_;
  std::vector<std::string> lines_;
  toml::table table_;
};

// toml++ sorts by name.
template <class Item>
void sort_by_place(std::vector<std::pair<toml::source_position, Item>>& items) {
  std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.line, a.first.column) < std::tie(b.first.line, b.first.column);
  });
}

template <class Item>
std::vector<Item> in_order(std::vector<std::pair<toml::source_position, Item>> items) {
  sort_by_place(items);
  std::vector<Item> out;
  for (auto& item : items) out.push_back(std::move(item.second));
  return out;
}

std::vector<TomlSetting> settings_of(const toml::table& table, const Document& document) {
  std::vector<std::pair<toml::source_position, TomlSetting>> found;
  for (auto&& [key, node] : table) {
    TomlSetting setting;
    setting.name = std::string(key.str());
    setting.place = place_of(node.source().begin);
    if (node.is_table())
      document.refuse_at(node, fmt::format("a table {} where a setting is expected", quote(setting.name)),
                         "write name = value lines");
    setting.is_list = node.is_array();
    if (const auto* list = node.as_array())
      for (const toml::node& element : *list) setting.values.push_back(document.text_of(element));
    else
      setting.values.push_back(document.text_of(node));
    found.emplace_back(key.source().begin, std::move(setting));
  }
  return in_order(std::move(found));
}

}  // namespace

const std::string& TomlSetting::single(const std::string& origin) const {
  if (is_list || values.size() != 1)
    throw DataError(origin, place, fmt::format("{} is a list", quote(name)), "give a single value");
  return values[0];
}

const TomlSetting* TomlTable::find(const std::string& setting) const {
  for (const TomlSetting& own : settings)
    if (own.name == setting) return &own;
  return nullptr;
}

std::vector<TomlSetting> parse_toml_settings(const std::string& text, const std::string& origin) {
  const Document document(text, origin);
  return settings_of(document.root(), document);
}

std::vector<TomlTable> parse_toml_tables(const std::string& text, const std::string& origin) {
  const Document document(text, origin);
  std::vector<std::pair<toml::source_position, TomlTable>> found;
  for (auto&& [key, node] : document.root()) {
    const auto* table = node.as_table();
    if (table == nullptr)
      document.refuse_at(node, fmt::format("the setting {} is in no table", quote(key.str())),
                         "put it under a [name]");
    found.emplace_back(key.source().begin, TomlTable{std::string(key.str()), place_of(key.source().begin),
                                                     settings_of(*table, document)});
  }
  return in_order(std::move(found));
}

std::string toml_string(const std::string& text) {
  std::ostringstream out;
  out << toml::toml_formatter{toml::value<std::string>{text}, toml::format_flags::allow_unicode_strings};
  return out.str();
}

}  // namespace eignn
