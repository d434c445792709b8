// JSON (RFC 8259). nlohmann's parser keeps one bit per open bracket and calls no function per level, so that
// nesting cannot overflow the stack; the path that is kept here for messages is limited all the same.
#include "data/json_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text_lines.h"

namespace eignn {
namespace {

using json = nlohmann::json;

constexpr size_t deepest = 64;
constexpr const char* write_again = "copy the file again, or write it with a JSON library";

// The reason in nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error
// while parsing value - invalid literal; last read: 'nu'".
std::string_view reason_in(std::string_view message) {
  const size_t dash = message.find(" - ");
  if (dash == std::string_view::npos) return "a syntax error";
  message.remove_prefix(dash + 3);
  return message.substr(0, message.find(';'));
}

}  // namespace

std::string JsonPath::text() const {
  std::string path;
  for (size_t level = 0; level < depth_; ++level) {
    if (levels_[level].index >= 0) {
      path += fmt::format("[{}]", levels_[level].index);
    } else {
      const std::string key = quote(levels_[level].key);
      path += (level == 0 ? "" : ".") + key.substr(1, key.size() - 2);
    }
  }
  return path;
}

// Turns nlohmann's events into the visitor's, and keeps the path. The last level is that of the next value:
// in an object a key sets it, in an array each value increments it.
class JsonWalk {
 public:
  JsonWalk(std::string_view text, const std::string& origin, JsonVisitor& visitor)
      : text_(text), origin_(origin), visitor_(visitor) {}

  bool null() { return scalar({}); }
  bool boolean(bool value) { return scalar({JsonScalar::Kind::boolean, value ? 1 : 0, 0, {}}); }
  bool number_integer(int64_t value) { return scalar({JsonScalar::Kind::whole, value, 0, {}}); }
  bool number_unsigned(uint64_t value) {
    if (value > static_cast<uint64_t>(INT64_MAX)) return number_float(static_cast<double>(value), {});
    return number_integer(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) {
    return scalar({JsonScalar::Kind::real, 0, value, {}});
  }
  bool string(std::string& value) { return scalar({JsonScalar::Kind::text, 0, 0, value}); }
  bool binary(json::binary_t&) { return false; }  // does not occur in text

  bool key(std::string& value) {
    path_.levels_[path_.depth_ - 1].key = value;
    return true;
  }

  bool start_object(size_t) { return start(true); }
  bool end_object() { return end(); }
  bool start_array(size_t) { return start(false); }
  bool end_array() { return end(); }

  bool parse_error(size_t position, const std::string&, const json::exception& error) {
    fail(reason_in(error.what()), position);
  }

  // `position`: how many bytes were read, the wrong one included.
  [[noreturn]] void fail(std::string_view reason, size_t position) const {
    constexpr size_t shown = 20;
    const std::string_view before = text_.substr(0, position);
    refuse(fmt::format("not JSON: {}, after {}", reason,
                       quote(before.substr(before.size() - std::min(before.size(), shown)))),
           {origin_, fmt::format("line {}, byte {}", 1 + std::count(before.begin(), before.end(), '\n'),
                                 before.size())},
           write_again);
  }

 private:
  bool scalar(const JsonScalar& value) {
    step();
    visitor_.scalar(path_, value);
    return true;
  }

  bool start(bool object) {
    step();
    if (path_.depth_ == deepest) {
      refuse(fmt::format("nested more than {} deep", deepest), {origin_, path_.text()},
             "this is not a data set");
    }
    visitor_.open(path_, object);
    if (path_.levels_.size() == path_.depth_) path_.levels_.emplace_back();
    path_.levels_[path_.depth_].key.clear();
    path_.levels_[path_.depth_].index = -1;
    ++path_.depth_;
    in_object_.push_back(object);
    return true;
  }

  bool end() {
    in_object_.pop_back();
    --path_.depth_;
    visitor_.close(path_);
    return true;
  }

  // Moves the path to the next value.
  void step() {
    if (!in_object_.empty() && !in_object_.back()) ++path_.levels_[path_.depth_ - 1].index;
  }

  std::string_view text_;
  const std::string& origin_;
  JsonVisitor& visitor_;
  JsonPath path_;
  std::vector<bool> in_object_;
};

void walk_json(std::string_view text, const std::string& origin, JsonVisitor& visitor) {
  JsonWalk walk(text, origin, visitor);
  // nlohmann takes a NUL for the end of the text and would ignore the rest.
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) walk.fail("a zero byte", nul + 1);
  json::sax_parse(text.data(), text.data() + text.size(), &walk);
}

}  // namespace eignn
