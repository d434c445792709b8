#include "data/json_events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/message_of.h"

namespace eignn {
namespace {

// Writes each event down.
class Log : public JsonVisitor {
 public:
  void scalar(const JsonPath& path, const JsonScalar& value) override {
    switch (value.kind) {
      case JsonScalar::Kind::null:
        return add(path, "null");
      case JsonScalar::Kind::boolean:
        return add(path, value.whole != 0 ? "true" : "false");
      case JsonScalar::Kind::whole:
        return add(path, std::to_string(value.whole));
      case JsonScalar::Kind::real:
        return add(path, fmt::format("real {}", value.real));
      case JsonScalar::Kind::text:
        return add(path, "'" + std::string(value.text) + "'");
    }
  }
  void open(const JsonPath& path, bool object) override { add(path, object ? "{" : "["); }
  void close(const JsonPath& path) override { add(path, "end"); }

  std::vector<std::string> events;

 private:
  void add(const JsonPath& path, const std::string& what) {
    events.push_back(Error::sentence("f" + (path.depth() == 0 ? "" : ", " + path.text()), {}, {}) + ": " +
                     what);
  }
};

std::vector<std::string> events(const std::string& text) {
  Log log;
  walk_json(text, "f.json", log);
  return log.events;
}

std::string refusal(const std::string& text) {
  return message_of<DataError>([&] { events(text); });
}

using Events = std::vector<std::string>;

TEST(JsonEvents, TellEachValueWithItsPath) {
  EXPECT_EQ(
      events(R"({"a": [1, {"b": true}, []], "c": {"d": null}, "e": "x"})"),
      (Events{"f: {", "f, a: [", "f, a[0]: 1", "f, a[1]: {", "f, a[1].b: true", "f, a[1]: end", "f, a[2]: [",
              "f, a[2]: end", "f, a: end", "f, c: {", "f, c.d: null", "f, c: end", "f, e: 'x'", "f: end"}));
  EXPECT_EQ(events("[[], [[5]], 6]"),
            (Events{"f: [", "f, [0]: [", "f, [0]: end", "f, [1]: [", "f, [1][0]: [", "f, [1][0][0]: 5",
                    "f, [1][0]: end", "f, [1]: end", "f, [2]: 6", "f: end"}));
}

TEST(JsonEvents, KeepWholeNumbersApartFromOthers) {
  EXPECT_EQ(events("[-1, 9223372036854775807, 9223372036854775808, 1.0, 1e2, false]"),
            (Events{"f: [", "f, [0]: -1", "f, [1]: 9223372036854775807", "f, [2]: real 9.223372036854776e+18",
                    "f, [3]: real 1", "f, [4]: real 100", "f, [5]: false", "f: end"}));
}

TEST(JsonEvents, AcceptAByteOrderMarkAndWindowsLines) {
  EXPECT_EQ(events("\xef\xbb\xbf[\r\n7\r\n]\r\n"), (Events{"f: [", "f, [0]: 7", "f: end"}));
}

TEST(JsonEvents, NameTheLineAndByteOfWhatIsNotJson) {
  EXPECT_CONTAINS(refusal("[1,\n2,\nnan]"),
                  "not JSON: invalid literal, after '[1,\\x0a2,\\x0ana' (f.json, line 3, byte 9)");
  EXPECT_CONTAINS(refusal(""), "unexpected end of input, after '' (f.json, line 1, byte ");
  EXPECT_CONTAINS(refusal("{\"a\": 1"), "unexpected end of input");
  EXPECT_CONTAINS(refusal("[1] x"), "f.json, line 1, byte 5");
  for (const char* wrong : {"[1,]", "{'a': 1}", "[01]", "[NaN]", "[Infinity]", "// no\n[]", "[\"\t\"]",
                            "{1: 2}", "[1e999]", "[\"\\x\"]", "[\"\\ud800\"]"}) {
    EXPECT_CONTAINS(refusal(wrong), "not JSON: ");
    EXPECT_CONTAINS(refusal(wrong), "(f.json, line ");
  }
  EXPECT_CONTAINS(refusal(std::string("[1]\0x", 5)),
                  "a zero byte, after '[1]\\x00' (f.json, line 1, byte 4)");
}

TEST(JsonEvents, RefuseWhatIsNotUtf8) {
  for (const char* wrong : {"[\"\xff\"]", "{\"\xc3\": 1}", "[\"\xc0\x80\"]", "[\"\xed\xa0\x80\"]"}) {
    EXPECT_CONTAINS(refusal(wrong), "UTF-8");
  }
}

TEST(JsonEvents, RefuseDeepNestingWithoutOverflowingTheStack) {
  EXPECT_EQ(events(std::string(64, '[') + std::string(64, ']')).size(), 128U);
  EXPECT_CONTAINS(refusal(std::string(65, '[') + std::string(65, ']')),
                  "nested more than 64 deep (f.json, [0]");
  EXPECT_CONTAINS(refusal(std::string(10000000, '[')), "nested more than 64 deep");
  std::string objects;
  for (int k = 0; k < 1000; ++k) objects += "{\"a\":";
  EXPECT_CONTAINS(refusal(objects), "nested more than 64 deep");
}

TEST(JsonEvents, EscapeAndCutKeysInMessages) {
  const std::string message = refusal("{\"a\\nb\": [" + std::string(70, '[') + "]}");
  EXPECT_CONTAINS(message, "a\\x0ab[0]");
  EXPECT_LT(refusal("[\"" + std::string(100000, 'x')).size(), 300U);
}

TEST(JsonEvents, SurviveRandomDamage) {
  const std::string text = R"({"a": [1, -2.5e3, {"b": true}, []], "c": {"d": null}, "e": "x\u00e9\n"})";
  survive_random_damage(text, 20000, events);
  expect_every_truncation_refused(text, events);
}

}  // namespace
}  // namespace eignn
