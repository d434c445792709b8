// The JSON objects that map the ids of nodes to rows, classes or features: {"0": 5, "b": 2}, and with a list
// for each key {"0": [3, 17], "1": []}. All values are numbers or all are lists; no key comes twice.
#include "data/keyed_numbers.h"

#include <fmt/format.h>

#include "data/json_events.h"
#include "data/text_lines.h"
#include "data/whole_value.h"

namespace eignn {
namespace {

class KeyedNumbersVisitor : public JsonVisitor {
 public:
  explicit KeyedNumbersVisitor(const std::string& origin) : origin_(origin) {}

  void open(const JsonPath& path, bool object) override {
    if (path.depth() == 0) {
      if (!object) fail("not an object", path);
    } else if (path.depth() > 1 || object) {
      fail("neither a whole number nor a list of them", path);
    } else {
      begin_key(path, true);
    }
  }

  void scalar(const JsonPath& path, const JsonScalar& value) override {
    if (path.depth() == 0) fail("not an object", path);
    if (path.depth() == 1) begin_key(path, false);
    result.numbers.push_back(whole(path, value));
    if (path.depth() == 1) result.begin.push_back(result.numbers.size());
  }

  void close(const JsonPath& path) override {
    if (path.depth() == 1) result.begin.push_back(result.numbers.size());
  }

  KeyedNumbers result;

 private:
  void begin_key(const JsonPath& path, bool list) {
    const std::string& key = path.key(0);
    if (!result.place.try_emplace(key, result.keys.size()).second) fail("the key comes twice", path);
    if (!result.keys.empty() && list != result.lists) {
      fail(list ? "a list after single numbers" : "a single number after lists", path);
    }
    result.lists = list;
    result.keys.push_back(key);
  }

  int64_t whole(const JsonPath& path, const JsonScalar& value) const {
    if (value.is_whole()) return value.whole;
    const auto number = value.kind == JsonScalar::Kind::real ? whole_value(value.real) : std::nullopt;
    if (!number) fail("not a whole number", path);
    return *number;
  }

  [[noreturn]] void fail(const char* what, const JsonPath& path) const {
    Where where = path.depth() == 0 ? Where(origin_) : at_key(origin_, path.key(0));
    if (path.depth() > 1) where.place += fmt::format(", entry {}", path.index(1));
    refuse(what, where, R"(write {"0": 5, ...} or {"0": [3, 17], ...})");
  }

  const std::string& origin_;
};

}  // namespace

Where at_key(const std::string& origin, std::string_view key) {
  return {origin, fmt::format("key {}", quote(key))};
}

KeyedNumbers parse_keyed_numbers(std::string_view text, const std::string& origin) {
  KeyedNumbersVisitor visitor(origin);
  walk_json(text, origin, visitor);
  return std::move(visitor.result);
}

}  // namespace eignn
