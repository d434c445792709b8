#include "data/toml.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace eignn {
namespace {

using Values = std::vector<std::string>;

std::string refused(const std::string& text) {
  return message_of<DataError>([&] { parse_toml_settings(text, "file.toml"); });
}

TEST(Toml, NumbersKeepTheTextTheyWereWrittenWith) {
  const auto settings = parse_toml_settings(
      "lr = 5e-4  # a comment\n\"\xc3\xbc\" = [0.10, 1.0,\n  -3, 5e-06]\nepochs = 1_000\nmask = 0x1F\nbig = "
      "+2.5\n",
      "file.toml");
  ASSERT_EQ(settings.size(), 5u);
  EXPECT_EQ(settings[0].values, Values{"5e-4"});
  EXPECT_FALSE(settings[0].is_list);
  EXPECT_EQ(settings[1].name, "\xc3\xbc");
  EXPECT_EQ(settings[1].values, (Values{"0.10", "1.0", "-3", "5e-06"}));
  EXPECT_TRUE(settings[1].is_list);
  EXPECT_EQ(settings[2].values, Values{"1000"});
  EXPECT_EQ(settings[3].values, Values{"31"});
  EXPECT_EQ(settings[4].values, Values{"2.5"});
}

TEST(Toml, SettingsAndTablesComeInTheOrderOfTheFile) {
  const auto tables = parse_toml_tables("[z]\nb = 1\na = \"x\"\n[a]\n", "file.toml");
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].name, "z");
  EXPECT_EQ(tables[0].settings[0].name, "b");
  EXPECT_EQ(tables[0].settings[1].values, Values{"x"});
  EXPECT_EQ(tables[0].find("a")->place, "line 3, column 5");
  EXPECT_EQ(tables[0].find("c"), nullptr);
  EXPECT_EQ(tables[1].name, "a");
}

TEST(Toml, AnyTextSurvivesTheRoundTrip) {
  for (const std::string& text :
       {std::string("plain"), std::string("a#b/c = d"), std::string("\"quoted\" and 'quoted'"),
        std::string("back\\slash"), std::string("two\nlines\r\n\tand a tab"),
        std::string("\xc3\xbc\xe2\x82\xac\xf0\x9f\x8c\x8d"), std::string("\x01\x7f"), std::string("'''"),
        std::string("\"\"\""), std::string()}) {
    const std::string line = "dataset = " + toml_string(text) + "  # the data\n";
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(parse_toml_settings(line, "file.toml").at(0).values, Values{text}) << line;
  }
}

TEST(Toml, ErrorsNameFileLineAndColumn) {
  EXPECT_CONTAINS(refused("lr = 1\nsplit = all\n"), "(file.toml, line 2, column 9)");
  EXPECT_CONTAINS(refused("lr = 1\nlr = 2\n"), "file.toml, line 2");
  EXPECT_CONTAINS(refused("name = \"open\n"), "file.toml, line 1");
  EXPECT_CONTAINS(refused("name = \"\xff\"\n"), "file.toml, line 1");
  EXPECT_CONTAINS(refused("[+a]\n"), "file.toml");
  EXPECT_CONTAINS(refused("[table]\n"), "a table 'table'");
  EXPECT_CONTAINS(refused("x = [[1]]\n"), "neither a number nor text");
  EXPECT_CONTAINS(refused("x = 1979-05-27\n"), "neither a number nor text");
  EXPECT_CONTAINS(message_of<DataError>([] { parse_toml_tables("x = 1\n", "file.toml"); }),
                  "'x' is in no table");
  const auto list = parse_toml_settings("x = [1, 2]", "file.toml");
  EXPECT_CONTAINS(message_of<DataError>([&] { list[0].single("file.toml"); }), "'x' is a list");
}

TEST(Toml, AByteOrderMarkAndWindowsLineEndsAreSkipped) {
  const auto settings = parse_toml_settings("\xef\xbb\xbflr = 0.5\r\ngamma = 1\r\n", "file.toml");
  EXPECT_EQ(settings.at(0).values, Values{"0.5"});
  EXPECT_EQ(settings.at(1).values, Values{"1"});
}

}  // namespace
}  // namespace eignn
