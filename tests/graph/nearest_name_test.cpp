#include "graph/nearest_name.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace eignn {
namespace {

const std::vector<std::string> solvers = {"auto",   "spectral", "direct",   "krylov",
                                          "sparse", "picard",   "published"};

TEST(NearestName, FindsANameWithOneLetterMissingAddedOrWrong) {
  EXPECT_EQ(nearest_name("spectrl", solvers), "spectral");
  EXPECT_EQ(nearest_name("dirrect", solvers), "direct");
  EXPECT_EQ(nearest_name("krilov", solvers), "krylov");
}

TEST(NearestName, FindsANameWithTwoLettersSwapped) {
  EXPECT_EQ(nearest_name("atuo", solvers), "auto");
  EXPECT_EQ(nearest_name("picrad", solvers), "picard");
}

TEST(NearestName, ReturnsANameThatIsKnown) {
  for (const std::string& name : solvers) EXPECT_EQ(nearest_name(name, solvers), name);
}

TEST(NearestName, PrefersTheSmallestDistance) {
  EXPECT_EQ(nearest_name("chain", {"chairs", "chains", "chin"}), "chains")
      << "one letter added, not two changed";
  EXPECT_EQ(nearest_name("cain", {"chains", "chain"}), "chain");
  EXPECT_EQ(nearest_name("sitting", {"kitten", "sittin"}), "sittin");
}

TEST(NearestName, TakesTheFirstOfTwoThatAreEquallyNear) {
  EXPECT_EQ(nearest_name("--gama", {"--gamma", "--gamba"}), "--gamma");
  EXPECT_EQ(nearest_name("--gama", {"--gamba", "--gamma"}), "--gamba");
}

TEST(NearestName, IsEmptyWhenNoneIsNear) {
  EXPECT_EQ(nearest_name("multigrid", solvers), "");
  EXPECT_EQ(nearest_name("zzz", solvers), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST(NearestName, AllowsMoreMistakesInALongerWord) {
  EXPECT_EQ(nearest_name("axto", {"auto"}), "auto");
  EXPECT_EQ(nearest_name("xyto", {"auto"}), "auto") << "two mistakes are always allowed";
  EXPECT_EQ(nearest_name("xyzo", {"auto"}), "");
  EXPECT_EQ(nearest_name("xyzctral", {"spectral"}), "spectral") << "three in a word of eight";
}

TEST(NearestName, CountsLevenshteinsDistance) {
  // kitten -> sitting takes three edits: allowed for a word of six letters, one more is not.
  EXPECT_EQ(nearest_name("kitten", {"sitting"}), "sitting");
  EXPECT_EQ(nearest_name("kitten", {"sittings"}), "");
  EXPECT_EQ(nearest_name("auxxto", {"auto"}), "auto") << "two letters too many";
  EXPECT_EQ(nearest_name("auto", {"auxxto"}), "auxxto") << "two letters missing";
}

TEST(UnknownName, NamesWhatWasGivenWhereAndTheNearest) {
  EXPECT_STREQ(
      unknown_name("solver", "solver", "spectrl", solvers).what(),
      "unknown solver 'spectrl' (solver); did you mean spectral? known: auto, spectral, direct, krylov, "
      "sparse, picard, published");
}

TEST(UnknownName, ListsTheKnownNamesWhenNoneIsNear) {
  const std::string message = unknown_name("data set", "dataset", "qqqqqqqqqq", {"chains", "karate"}).what();
  EXPECT_EQ(message, "unknown data set 'qqqqqqqqqq' (dataset); known: chains, karate");
}

TEST(UnknownName, IsAMessageAsEveryOther) {
  const std::string message =
      message_of<ArgumentError>([] { throw unknown_name("model", "model", "{}%s", {"eignn"}); });
  EXPECT_CONTAINS(message, "'{}%s'");
}

}  // namespace
}  // namespace eignn
