// JSON read as a stream of events, so that a large file needs no tree in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eignn {

/// A value that is neither an object nor an array.
struct JsonScalar {
  enum class Kind { null, boolean, whole, real, text };
  Kind kind = Kind::null;
  int64_t whole = 0;      ///< whole numbers within 64 bits; 0 or 1 for false or true
  double real = 0;        ///< numbers with a fraction or an exponent, and those beyond 64 bits
  std::string_view text;  ///< of a text; valid during the event

  bool is_whole() const { return kind == Kind::whole; }
  bool is_text() const { return kind == Kind::text; }
  bool is_boolean() const { return kind == Kind::boolean; }
};

/// The path to a value: `links[3].source` has the depth 3 and the keys "links", none and "source".
class JsonPath {
 public:
  size_t depth() const { return depth_; }
  /// The key at a level that is in an object; empty in an array.
  const std::string& key(size_t level) const { return levels_[level].key; }
  /// The position at a level that is in an array; -1 in an object.
  int64_t index(size_t level) const { return levels_[level].index; }

  /// "links[3].source"; empty for the outermost value.
  std::string text() const;

 private:
  friend class JsonWalk;
  struct Level {
    std::string key;
    int64_t index = -1;
  };
  std::vector<Level> levels_;
  size_t depth_ = 0;
};

/// Receives the events of a JSON text in order. `path` is that of the value; the outermost value has depth 0.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual void scalar(const JsonPath& path, const JsonScalar& value) = 0;
  /// An object (or else an array) begins.
  virtual void open(const JsonPath& path, bool object) = 0;
  virtual void close(const JsonPath& path) = 0;
};

/// Parses a JSON text. DataError, with the line and the byte, for what is not JSON by RFC 8259 (such as NaN),
/// for bytes that are not UTF-8, and for nesting deeper than 64. Exceptions of the visitor pass through.
/// Duplicate keys are not detected here; the visitor must refuse them.
void walk_json(std::string_view text, const std::string& origin, JsonVisitor& visitor);

}  // namespace eignn
