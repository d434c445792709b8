#include "data/keyed_numbers.h"

#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/message_of.h"

namespace eignn {
namespace {

KeyedNumbers parse(const std::string& text) {
  return parse_keyed_numbers(text, "m.json");
}

std::string refusal(const std::string& text) {
  return message_of<DataError>([&] { parse(text); });
}

TEST(KeyedNumbers, ReadsLists) {
  const auto map = parse(R"({"1": [3, 17], "b": [], "0": [2.0]})");
  EXPECT_TRUE(map.lists);
  EXPECT_EQ(map.keys, (std::vector<std::string>{"1", "b", "0"}));
  EXPECT_EQ(map.numbers, (std::vector<int64_t>{3, 17, 2}));
  EXPECT_EQ(map.begin, (std::vector<size_t>{0, 2, 2, 3}));
  EXPECT_EQ(map.place.at("0"), 2U);
}

TEST(KeyedNumbers, ReadsSingleNumbers) {
  const auto map = parse(R"({"x": 5, "y": -1})");
  EXPECT_FALSE(map.lists);
  EXPECT_EQ(map.numbers, (std::vector<int64_t>{5, -1}));
  EXPECT_EQ(map.begin, (std::vector<size_t>{0, 1, 2}));
  EXPECT_TRUE(parse("{}").keys.empty());
}

TEST(KeyedNumbers, NamesTheKeyOfWhatDoesNotFit) {
  EXPECT_CONTAINS(refusal("[]"), "not an object (m.json)");
  EXPECT_CONTAINS(refusal("5"), "not an object (m.json)");
  EXPECT_CONTAINS(refusal(R"({"a": 1, "a": 2})"), "the key comes twice (m.json, key 'a')");
  EXPECT_CONTAINS(refusal(R"({"a": [1], "b": 2})"), "a single number after lists (m.json, key 'b')");
  EXPECT_CONTAINS(refusal(R"({"a": 1, "b": []})"), "a list after single numbers (m.json, key 'b')");
  EXPECT_CONTAINS(refusal(R"({"a": {}})"), "neither a whole number nor a list of them (m.json, key 'a')");
  EXPECT_CONTAINS(refusal(R"({"a": [[1]]})"), "(m.json, key 'a', entry 0)");
  EXPECT_CONTAINS(refusal(R"({"a": [1, 0.5]})"), "not a whole number (m.json, key 'a', entry 1)");
  for (const char* wrong : {"\"1\"", "null", "true", "1e300", "99999999999999999999"})
    EXPECT_CONTAINS(refusal(std::string("{\"a\": ") + wrong + "}"), "not a whole number (m.json, key 'a')");
  EXPECT_CONTAINS(refusal(R"({"a": )"), "not JSON");
}

TEST(KeyedNumbers, SurvivesDamage) {
  const std::string text = R"({"1": [3, 17], "b": [], "0": [2.0]})";
  survive_random_damage(text, 20000, parse);
  expect_every_truncation_refused(text, parse);
}

}  // namespace
}  // namespace eignn
