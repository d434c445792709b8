#include "data/text_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

namespace eignn {
namespace {

TEST(TextPool, NumbersDifferentTextsInTheOrderOfTheirFirstOccurrence) {
  TextPool pool;
  EXPECT_EQ(pool.find("a"), -1) << "an empty pool has nothing";
  EXPECT_EQ(pool.number_of("b"), 0);
  EXPECT_EQ(pool.number_of("a"), 1);
  EXPECT_EQ(pool.number_of("b"), 0);
  EXPECT_EQ(pool.number_of(""), 2) << "the empty text is one too";
  EXPECT_EQ(pool.find("a"), 1);
  EXPECT_EQ(pool.find("c"), -1);
  EXPECT_EQ(pool.count(), 3);
  EXPECT_EQ(pool.text(0), "b");
  EXPECT_EQ(pool.text(2), "");
}

TEST(TextPool, AgreesWithAMapOverManyTexts) {
  TextPool pool;
  std::unordered_map<std::string, int64_t> map;
  for (int64_t k = 0; k < 30000; ++k) {
    const std::string text = std::to_string(k * k % 7919) + std::string(static_cast<size_t>(k % 3), '0');
    const auto [at, fresh] = map.emplace(text, static_cast<int64_t>(map.size()));
    ASSERT_EQ(pool.number_of(text), at->second);
  }
  EXPECT_EQ(pool.count(), static_cast<int64_t>(map.size()));
  for (const auto& [text, number] : map) ASSERT_EQ(pool.text(number), text);
}

}  // namespace
}  // namespace eignn
