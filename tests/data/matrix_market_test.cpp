#include "data/matrix_market.h"

#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;

ArcList parse(const std::string& text) {
  return parse_matrix_market(text, "G.mtx");
}

std::string refusal(const std::string& text) {
  return message_of<DataError>([&] { parse(text); });
}

const std::string general = "%%MatrixMarket matrix coordinate pattern general\n";

TEST(MatrixMarket, ReadsAGeneralPattern) {
  const ArcList arcs = parse(general + "% comment\n\n4 4 3\n1 2\n  2\t1  \n\n% more\n4 4\n");
  EXPECT_EQ(arcs.nodes, 4);
  EXPECT_EQ(arcs.source, (Ids{0, 1, 3}));
  EXPECT_EQ(arcs.target, (Ids{1, 0, 3}));
}

TEST(MatrixMarket, ExpandsASymmetricMatrixIntoBothArcs) {
  const ArcList arcs = parse("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  EXPECT_EQ(arcs.source, (Ids{1, 0, 2}));
  EXPECT_EQ(arcs.target, (Ids{0, 1, 2}));
}

TEST(MatrixMarket, IgnoresValuesAndKeepsExplicitZeros) {
  const ArcList real =
      parse("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 0.0\n2 1 +1e-999\n2 2 -3E5");
  EXPECT_EQ(real.source, (Ids{0, 1, 1}));
  const ArcList integer = parse("%%matrixmarket MATRIX Coordinate Integer General\n2 2 1\n1 2 0\n");
  EXPECT_EQ(integer.target, Ids{1});
}

TEST(MatrixMarket, AcceptsWindowsLineEnds) {
  const ArcList arcs = parse("%%MatrixMarket matrix coordinate real general\r\n2 2 1\r\n1 2 1.5\r\n\r\n");
  EXPECT_EQ(arcs.target, Ids{1});
}

TEST(MatrixMarket, ReadsAnEmptyMatrix) {
  EXPECT_EQ(parse(general + "0 0 0\n").nodes, 0);
  EXPECT_TRUE(parse(general + "5 5 0").source.empty());
}

TEST(MatrixMarket, RefusesOtherBannersByTheirWord) {
  EXPECT_CONTAINS(refusal(""), "%%MatrixMarket");
  EXPECT_CONTAINS(refusal("3 3 0\n"), "%%MatrixMarket (G.mtx, line 1)");
  EXPECT_CONTAINS(refusal("%%MatrixMarket vector coordinate real general\n"), "'vector'");
  EXPECT_CONTAINS(refusal("%%MatrixMarket matrix array real general\n"), "'array'");
  EXPECT_CONTAINS(refusal("%%MatrixMarket matrix coordinate complex general\n"), "'complex'");
  EXPECT_CONTAINS(refusal("%%MatrixMarket matrix coordinate real skew-symmetric\n"), "'skew-symmetric'");
  EXPECT_CONTAINS(refusal("%%MatrixMarket matrix coordinate real hermitian\n"), "'hermitian'");
  EXPECT_CONTAINS(refusal("%%MatrixMarket matrix coordinate real\n"), "symmetry ''");
}

TEST(MatrixMarket, RefusesAWrongSize) {
  EXPECT_CONTAINS(refusal(general), "before the size");
  EXPECT_CONTAINS(refusal(general + "2 3 1\n1 1\n"), "2 x 3 (G.mtx, line 2)");
  EXPECT_CONTAINS(refusal(general + "2 2\n1 1\n"), "a number is missing (G.mtx, line 2)");
  EXPECT_CONTAINS(refusal(general + "-2 -2 1\n1 1\n"), "negative");
  EXPECT_CONTAINS(refusal(general + "2 2 1 9\n1 1\n"), "something follows");
}

TEST(MatrixMarket, RefusesTheWrongNumberOfEntries) {
  EXPECT_CONTAINS(refusal(general + "2 2 2\n1 1\n"), "after 1 of 2 entries");
  EXPECT_CONTAINS(refusal(general + "2 2 9000000000000000000\n1 1\n"), "after 1 of 9000000000000000000");
  EXPECT_CONTAINS(refusal(general + "2 2 1\n1 1\n2 2\n"), "more than the 1 entries stated (G.mtx, line 4)");
}

TEST(MatrixMarket, NamesTheLineOfAWrongEntry) {
  EXPECT_CONTAINS(refusal(general + "2 2 2\n1 1\n0 1\n"), "index 0 is outside 1..2 (G.mtx, line 4)");
  EXPECT_CONTAINS(refusal(general + "2 2 2\n1 1\n1 3\n"), "index 3 is outside 1..2 (G.mtx, line 4)");
  EXPECT_CONTAINS(refusal(general + "2 2 1\n1 x\n"), "'x' is not a whole number (G.mtx, line 3)");
  EXPECT_CONTAINS(refusal(general + "2 2 1\n1\n"), "a number is missing");
  EXPECT_CONTAINS(refusal(general + "2 2 1\n1 2 3\n"), "something follows the last column: '3'");
  const std::string real = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
  EXPECT_CONTAINS(refusal(real + "1 2\n"), "the value is missing");
  EXPECT_CONTAINS(refusal(real + "1 2 one\n"), "'one' is not a number");
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n";
  EXPECT_CONTAINS(refusal(integer + "1 2 1.5\n"), "'1.5' is not a whole number");
}

TEST(MatrixMarket, SurvivesRandomDamage) {
  survive_random_damage(
      "%%MatrixMarket matrix coordinate real symmetric\r\n% c\n3 3 3\n1 1 2\n2 1 0.5\n3 2 1e9\n", 20000,
      parse);
}

}  // namespace
}  // namespace eignn
