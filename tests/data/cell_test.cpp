#include "data/cell.h"

#include <gtest/gtest.h>

namespace eignn {
namespace {

TEST(Cell, FieldsThatStandForNothingAreMissing) {
  for (const char* text : {"", "  ", "NA", "na", "N/A", "n/a", "n.a.", "#N/A", "<NA>", "NaN", "nan", "-nan",
                           "null", "NULL", " NA ", "None", "?"})
    EXPECT_EQ(read_cell(text).kind, CellKind::missing) << text;
  for (const char* text : {"none", "-", "--", ".", "N", "nano", "??"})
    EXPECT_EQ(read_cell(text).kind, CellKind::word) << text;
  for (const char* text : {"-", " -- ", "."}) EXPECT_TRUE(is_placeholder(text)) << text;
  for (const char* text : {"", "-1", "+", "a"}) EXPECT_FALSE(is_placeholder(text)) << text;
}

TEST(Cell, NumbersMayHaveASignAndADecimalComma) {
  const auto number = [](const char* text) {
    const Cell cell = read_cell(text);
    EXPECT_EQ(cell.kind, CellKind::number) << text;
    return cell.number;
  };
  EXPECT_EQ(number(" 1.5 "), 1.5);
  EXPECT_EQ(number("+2"), 2);
  EXPECT_EQ(number("-.5"), -0.5);
  EXPECT_EQ(number("2e-3"), 2e-3);
  EXPECT_EQ(number("007"), 7);
  EXPECT_EQ(number("1,5"), 1.5);
  EXPECT_EQ(number("-0,25e2"), -25);
  EXPECT_TRUE(read_cell("1,5").comma);
  EXPECT_TRUE(read_cell("1.5").point);
  for (const char* text : {"1,234", "-12,345", "123,456"})
    EXPECT_TRUE(read_cell(text).may_be_thousands) << text;
  for (const char* text : {"0,123", "1,23", "1,2345", "1234,567", "1,2e3", ",123"})
    EXPECT_FALSE(read_cell(text).may_be_thousands) << text;
  EXPECT_FALSE(read_cell("15").point || read_cell("15").comma);
}

TEST(Cell, NumbersBeyondTheRangeOfDoublesAreNone) {
  for (const char* text : {"inf", "-Inf", "Infinity", "1e999", "-1e400", "+inf"})
    EXPECT_EQ(read_cell(text).kind, CellKind::out_of_range) << text;
}

TEST(Cell, KnowsDatesAndTimes) {
  for (const char* text : {"2021-03-04", "2021/3/4", "04.03.2021", "3/4/21", "2021-03-04T12:00:00Z",
                           "2021-03-04 12:00", "12:30", "12:30:05", "2021-03", "2021/3", "03/2021",
                           "1 Mar 2021", "March 1, 2021", "1-mar-21", "Mon 1 Mar 2021 12:30", "Sep 2021"})
    EXPECT_EQ(read_cell(text).kind, CellKind::date) << text;
  for (const char* text : {"555-1234", "16:9", "1.2.3", "10-20", "2021-", "1:", "2021-13", "3021-03", "May",
                           "Mar", "may be 2", "1 marble 2021", "sun 1"})
    EXPECT_NE(read_cell(text).kind, CellKind::date) << text;
}

TEST(Cell, KnowsSignsBetweenThousands) {
  for (const char* text : {"1,234.5", "1.234,5", "1,234,567", "1.234.567", "1 234", "-1'234"})
    EXPECT_EQ(read_cell(text).kind, CellKind::grouped) << text;
  for (const char* text : {"1,2,3", "192.168.0.1", "12a", "+", "-", "+-1", "1.5.", "0x10"})
    EXPECT_EQ(read_cell(text).kind, CellKind::word) << text;
}

TEST(Cell, KnowsPercentSignsAndCurrencies) {
  for (const char* text : {"50%", "5 %", "$1.50", "-$3", "1,50 \xe2\x82\xac",
                           "\xc2\xa3"
                           "3",
                           "\xc2\xa5"
                           "1,000"})
    EXPECT_EQ(read_cell(text).kind, CellKind::marked) << text;
  for (const char* text : {"%", "$", "a%", "$a", "5%a"})
    EXPECT_EQ(read_cell(text).kind, CellKind::word) << text;
}

}  // namespace
}  // namespace eignn
