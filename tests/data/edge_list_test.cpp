#include "data/edge_list.h"

#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;

ArcList parse(const std::string& text) {
  return parse_edge_list(text, "G.txt");
}

std::string refusal(const std::string& text) {
  return message_of<DataError>([&] { parse(text); });
}

TEST(EdgeList, TakesBlanksTabsAndCommas) {
  const ArcList arcs = parse("0 1\n1\t2\n2,3\n 3 ,  4 \n4, 5\n6   7");
  EXPECT_EQ(arcs.source, (Ids{0, 1, 2, 3, 4, 6}));
  EXPECT_EQ(arcs.target, (Ids{1, 2, 3, 4, 5, 7}));
  EXPECT_EQ(arcs.nodes, -1) << "an edge list does not state the number of nodes";
}

TEST(EdgeList, SkipsCommentsAndEmptyLines) {
  const ArcList arcs = parse("# title\n% other\n\n  \t\n  # indented\n0 1 # trailing\n1 2% tight\n");
  EXPECT_EQ(arcs.source, (Ids{0, 1}));
  EXPECT_EQ(arcs.target, (Ids{1, 2}));
}

TEST(EdgeList, AcceptsWindowsFiles) {
  const ArcList arcs = parse(
      "\xef\xbb\xbf"
      "0 1\r\n\r\n1,2\r\n");
  EXPECT_EQ(arcs.target, (Ids{1, 2}));
}

TEST(EdgeList, AcceptsAnEmptyFile) {
  EXPECT_TRUE(parse("").source.empty());
  EXPECT_TRUE(parse("# nothing").source.empty());
}

TEST(EdgeList, ReadsTheLargestId) {
  EXPECT_EQ(parse("9223372036854775807 007").source[0], INT64_MAX);
  EXPECT_EQ(parse("9223372036854775807 007").target[0], 7);
}

TEST(EdgeList, TheFirstLineMayNameTheColumns) {
  for (const char* header : {"source,target", "# mine\n\nsource\ttarget", "\"from\", \"to\"", "_u v # w"}) {
    const ArcList arcs = parse(header + std::string("\r\n0,1\n1,2\n"));
    EXPECT_EQ(arcs.source, (Ids{0, 1})) << header;
    EXPECT_EQ(arcs.target, (Ids{1, 2})) << header;
  }
  EXPECT_CONTAINS(refusal("source,target\na,b\n"), "'a' is not a whole number (G.txt, line 2)");
  EXPECT_CONTAINS(refusal("source,1\n0,1\n"), "'source' is not a whole number (G.txt, line 1)");
  EXPECT_CONTAINS(refusal("source,target,weight,year\n0,1,2,3\n"),
                  "more than three columns: ',year' (G.txt, line 1)");
}

TEST(EdgeList, NamesTheLineWithMoreColumns) {
  EXPECT_CONTAINS(refusal("0 1 2\n1 2 0.5 7\n"), "more than three columns: '7' (G.txt, line 2)");
  EXPECT_CONTAINS(refusal("0 1\n1 2 0.5\n"), "'0.5' (G.txt, line 2)");
  EXPECT_CONTAINS(refusal("0,1,\n"), "a weight is missing");
}

TEST(EdgeList, NamesTheLineOfAWrongId) {
  EXPECT_CONTAINS(refusal("0 1\n\n-1 2\n"), "negative node id '-1' (G.txt, line 3)");
  EXPECT_CONTAINS(refusal("0 9223372036854775808\n"), "does not fit into 64 bits (G.txt, line 1)");
  EXPECT_CONTAINS(refusal("0,1\nsource,target\n"), "'source' is not a whole number (G.txt, line 2)");
  EXPECT_CONTAINS(refusal("0 1.0\n"), "'1.0' is not a whole number");
  EXPECT_CONTAINS(refusal("0 1e3\n"), "'1e3' is not a whole number");
  EXPECT_CONTAINS(refusal("0 +1\n"), "'+1' is not a whole number");
  EXPECT_CONTAINS(refusal("5\n"), "a number is missing");
  EXPECT_CONTAINS(refusal("5,\n"), "a number is missing");
  EXPECT_CONTAINS(refusal(",5\n"), "a number is missing");
  EXPECT_CONTAINS(refusal("1,,5\n"), "a number is missing");
  EXPECT_CONTAINS(refusal(std::string("0 1\0", 4)), "'1\\x00' is not");
}

TEST(EdgeList, QuotesOnlyTheStartOfALongWord) {
  EXPECT_LT(refusal(std::string(100000, 'x')).size(), 300U);
}

TEST(EdgeList, SurvivesRandomDamage) {
  survive_random_damage("\xef\xbb\xbf# c\n0 1\r\n1,2\n3\t4 % x\n", 20000, parse);
}

}  // namespace
}  // namespace eignn
