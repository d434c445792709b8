#include "data/csv.h"

#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows parse(const std::string& text, CsvOptions options = {}) {
  CsvReader reader(text, "T.csv", options);
  Rows rows;
  while (reader.next()) {
    rows.emplace_back();
    for (size_t k = 0; k < reader.columns(); ++k) rows.back().emplace_back(reader.field(k));
  }
  return rows;
}

std::string refusal(const std::string& text, CsvOptions options = {}) {
  return message_of<DataError>([&] { parse(text, options); });
}

TEST(Csv, ReadsRowsUnderAHeader) {
  const std::string text = "id, name \n1,a\n2,\n";
  const CsvReader reader(text, "T.csv");
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"id", "name"}));
  EXPECT_EQ(reader.find("name"), 1U);
  EXPECT_FALSE(reader.find("names"));
  EXPECT_EQ(parse(text), (Rows{{"1", "a"}, {"2", ""}}));
  EXPECT_EQ(parse("id,name"), Rows{}) << "a header alone has no rows";
}

TEST(Csv, TakesCommasQuotesAndLineBreaksBetweenQuotes) {
  const Rows rows = parse("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"one\ntwo\",\"\"\n\"\"\"\",\"\"\"\"\"\"\n");
  EXPECT_EQ(rows, (Rows{{"x, y", "say \"hi\""}, {"one\ntwo", ""}, {"\"", "\"\""}}));
}

TEST(Csv, AcceptsWindowsFilesAndAMissingLastLineEnd) {
  EXPECT_EQ(parse("\xef\xbb\xbf"
                  "a,b\r\n1,\"2\"\r\n\r\n3,4"),
            (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(parse("a,b\r\n1,2\r"), (Rows{{"1", "2"}})) << "cut inside the last CRLF";
}

TEST(Csv, SkipsBlankLinesEverywhereAndCommentsBeforeTheHeader) {
  EXPECT_EQ(parse("\n# made by hand, today\n \t\na,b\n\n1,2\n  \n#3,4\n"), (Rows{{"1", "2"}, {"#3", "4"}}));
  EXPECT_EQ(parse("a\n\"\"\n\n1\n"), (Rows{{""}, {"1"}})) << "an empty field of a single column is quoted";
}

TEST(Csv, TheHeaderSaysWhatSeparates) {
  EXPECT_EQ(parse("a\tb\n1,5\t2\n\t\n"), (Rows{{"1,5", "2"}, {"", ""}}));
  EXPECT_EQ(parse("a;b\n1,5;2\n"), (Rows{{"1,5", "2"}}));
  EXPECT_EQ(parse("a,b;c\n1,2;3\n"), (Rows{{"1", "2;3"}}));
}

TEST(Csv, ReadsFilesWithoutAHeader) {
  CsvOptions plain;
  plain.header = false;
  EXPECT_EQ(parse("0,1\n1,2\n", plain), (Rows{{"0", "1"}, {"1", "2"}}));
  EXPECT_EQ(parse("", plain), Rows{});
  plain.columns = 3;
  plain.first_line = 40;
  EXPECT_CONTAINS(refusal("\n0,1\n", plain), "2 fields, not 3 as in the lines before (T.csv, line 41)");
}

TEST(Csv, WithoutAHeaderTheFirstLineMaySaySoToo) {
  CsvOptions any;
  any.header = false;
  any.any_separator = true;
  EXPECT_EQ(parse("# remark\na;b;0,5\n", any), (Rows{{"a", "b", "0,5"}}));
  EXPECT_EQ(parse("a\tb\n", any), (Rows{{"a", "b"}}));
  EXPECT_EQ(parse("a,b c\n", any), (Rows{{"a", "b c"}}));
  EXPECT_EQ(parse("  a  b 1 \n\n\"c d\" e\t2\r\nf g 3", any),
            (Rows{{"a", "b", "1"}, {"c d", "e", "2"}, {"f", "g", "3"}}));
  EXPECT_CONTAINS(refusal("a b\nc\n", any), "1 field, not 2");
  EXPECT_CONTAINS(refusal("a b\n\"c\"d e\n", any), "after the closing quote");
}

TEST(Csv, ARowMayNameTheColumnsLater) {
  CsvOptions plain;
  plain.header = false;
  const std::string text = "a,b\n1,x\n";
  CsvReader rows(text, "T.csv", plain);
  ASSERT_TRUE(rows.next());
  rows.take_names();
  EXPECT_EQ(rows.find("b"), 1U);
  ASSERT_TRUE(rows.next());
  EXPECT_CONTAINS(message_of<DataError>([&] { rows.number(1); }), "(T.csv, line 2, column 'b')");
}

TEST(Csv, ParsesNumbers) {
  const std::string text = "a,b,c\n 1.5 ,-7,\"2e-3\"\n";
  CsvReader reader(text, "T.csv");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number(0), 1.5);
  EXPECT_EQ(reader.number(1), -7);
  EXPECT_EQ(reader.whole_number(1), -7);
  EXPECT_EQ(reader.number(2), 2e-3);
  EXPECT_FALSE(reader.is_empty(0));
  EXPECT_CONTAINS(message_of<DataError>([&] { reader.whole_number(0); }),
                  "'1.5' is not a whole number (T.csv, line 2, column 'a')");
}

TEST(Csv, NamesLineAndColumnOfAFieldThatIsNoNumber) {
  const auto number = [](const std::string& field) {
    const std::string text = "a,b\n\"two\nlines\",1\n1," + field + "\n";
    return message_of<DataError>([&] {
      CsvReader reader(text, "T.csv");
      while (reader.next()) reader.number(1);
    });
  };
  EXPECT_CONTAINS(number("x"), "'x' is not a number (T.csv, line 4, column 'b')");
  EXPECT_CONTAINS(number(""), "the field is empty (T.csv, line 4, column 'b')");
  EXPECT_CONTAINS(number("1.5.2"), "'1.5.2' is not a number");
  EXPECT_CONTAINS(number("nan"), "finite");
  EXPECT_CONTAINS(number("inf"), "finite");
  EXPECT_CONTAINS(number("1e999"), "finite");
}

TEST(Csv, RefusesRaggedRows) {
  EXPECT_CONTAINS(refusal("a,b\n1,2\n\n3\n"), "1 field, not 2 as in the lines before (T.csv, line 4)");
  EXPECT_CONTAINS(refusal("a,b\n\"1\n\",2\n3,4,5\n"),
                  "3 fields, not 2 as in the lines before (T.csv, line 4)");
}

TEST(Csv, RefusesHeadersThatCannotBeUsed) {
  EXPECT_CONTAINS(refusal(""), "the file is empty (T.csv, line 1)");
  EXPECT_CONTAINS(refusal("# only\n\n"), "the file is empty (T.csv, line 1)");
  EXPECT_CONTAINS(refusal("0,1.5\n1,2\n"), "no column names (T.csv, line 1)");
  EXPECT_CONTAINS(refusal(",a\n0,1\n"), "column 1 of 2 has no name (T.csv, line 1)");
  EXPECT_CONTAINS(refusal("a,b,a\n"), "two columns have the name 'a' (T.csv, line 1)");
  const std::string message = message_of<DataError>([] { CsvReader("a,b\n", "T.csv").need("id"); });
  EXPECT_CONTAINS(message, "no column 'id' among 'a', 'b' (T.csv, line ");
}

TEST(Csv, RefusesQuotesInTheWrongPlace) {
  EXPECT_CONTAINS(refusal("a,b\n1,x\"y\"\n"), "a quote inside field 2 (T.csv, line 2)");
  EXPECT_CONTAINS(refusal("a,b\n\"x\"y,1\n"), "'y' after the closing quote of field 1 (T.csv, line 2)");
  EXPECT_CONTAINS(refusal("a,b\n1,2\n3,\"open\n4,5\n"), "field 2 is never closed (T.csv, line 3)");
  EXPECT_CONTAINS(refusal("a,b\n1,2\r3,4\n"), "a carriage return inside the line (T.csv, line 2)");
}

TEST(Csv, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(parse("a,b\n\xc3\xa4,\xf0\x9f\x8c\x8d\n"), (Rows{{"\xc3\xa4", "\xf0\x9f\x8c\x8d"}}));
  for (const char* bytes :
       {"\xff", "\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_CONTAINS(refusal("a,b\n1,2\n3," + std::string(bytes) + "\n"), "is not UTF-8 (T.csv, line 3)");
  EXPECT_CONTAINS(refusal("a,b\n1,\xe2\x82"), "is not UTF-8 (T.csv, line 2)");
}

TEST(Csv, SurvivesRandomDamage) {
  const std::string text = "# c\na,b\n1,\"x, \"\"y\"\"\n\"\r\n\n\xc3\xa4,2\n";
  const auto read = [](const std::string& bytes) {
    CsvReader reader(bytes, "T.csv");
    while (reader.next())
      if (!reader.is_empty(0)) reader.number(0);
  };
  survive_random_damage(text, 20000, read);
  for (size_t length = 0; length < text.size(); ++length)
    survive_random_damage(text.substr(0, length) + '"', 50, read);
}

}  // namespace
}  // namespace eignn
