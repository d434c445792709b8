#include "data/arc_sorter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "data/atomic_file.h"
#include "eignn/graph.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

struct Arcs {
  std::vector<int64_t> source, target;
  std::vector<double> weight;
};

// With loops and duplicates; some weights are zero, and duplicates differ by many orders of magnitude, so
// that the order in which they are added shows.
Arcs random_arcs(int64_t nodes, int64_t count, bool weighted, uint64_t seed) {
  std::mt19937_64 random(seed);
  Arcs out;
  for (int64_t a = 0; a < count; ++a) {
    out.source.push_back(static_cast<int64_t>(random() % nodes));
    out.target.push_back(static_cast<int64_t>(random() % nodes));
    if (weighted) {
      out.weight.push_back(
          random() % 10 == 0 ? 0 : std::ldexp(static_cast<double>(random() % 1000), int(random() % 40)));
    }
  }
  return out;
}

Graph sorted(const Arcs& arcs, int64_t nodes, uint64_t memory, int64_t* runs = nullptr) {
  const TemporaryFolder folder;
  ArcSorter sorter(folder.path("run"), memory, !arcs.weight.empty());
  for (size_t a = 0; a < arcs.source.size(); ++a)
    sorter.add(arcs.source[a], arcs.target[a], arcs.weight.empty() ? 1 : arcs.weight[a]);
  Graph out;
  out.nodes = nodes;
  SortedArc arc;
  for (bool more = sorter.next(&arc); out.row_begin.size() <= static_cast<size_t>(nodes);
       out.row_begin.push_back(out.arcs())) {
    for (const auto v = static_cast<int64_t>(out.row_begin.size()) - 1; more && arc.source == v;
         more = sorter.next(&arc)) {
      out.target.push_back(arc.target);
      if (!arcs.weight.empty()) out.weight.push_back(arc.weight);
    }
  }
  EXPECT_FALSE(sorter.next(&arc)) << "an arc after the last node";
  if (runs != nullptr) *runs = sorter.runs();
  return out;
}

void expect_same(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.row_begin, b.row_begin);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.weight, b.weight);  // to the bit
}

TEST(ArcSorter, GivesWhatTheGraphInMemoryHasWhateverTheMemory) {
  for (const bool weighted : {false, true}) {
    for (const int64_t nodes : {1, 2, 50, 5000}) {
      const Arcs arcs = random_arcs(nodes, 40'000, weighted, 7);
      const Graph expected = Graph::from_arcs(nodes, arcs.source, arcs.target, arcs.weight);
      for (const uint64_t memory : {ArcSorter::least_memory, uint64_t{100'000}, uint64_t{1} << 24}) {
        SCOPED_TRACE(testing::Message()
                     << "weighted " << weighted << ", nodes " << nodes << ", memory " << memory);
        expect_same(sorted(arcs, nodes, memory), expected);
      }
    }
  }
}

TEST(ArcSorter, MergesMoreRunsThanItCanReadAtOnceAndRemovesThem) {
  const Arcs arcs = random_arcs(100'000, 60'000, true, 3);
  int64_t runs = 0;
  expect_same(sorted(arcs, 100'000, ArcSorter::least_memory, &runs),
              Graph::from_arcs(100'000, arcs.source, arcs.target, arcs.weight));
  EXPECT_GT(runs, 60'000 * 16 / static_cast<int64_t>(ArcSorter::least_memory))
      << "none was merged from others";
  const TemporaryFolder folder;
  {
    ArcSorter sorter(folder.path("run"), ArcSorter::least_memory, false);
    for (int64_t a = 0; a < 10'000; ++a) sorter.add(a, a);
    EXPECT_FALSE(names_in_folder(folder.path("")).empty());
    SortedArc arc;
    EXPECT_TRUE(sorter.next(&arc));
  }
  EXPECT_TRUE(names_in_folder(folder.path("")).empty()) << "runs were left behind";
}

TEST(ArcSorter, TakesTheLargestIdsAndNoArcsAtAll) {
  const TemporaryFolder folder;
  constexpr int64_t most = std::numeric_limits<uint32_t>::max();
  SortedArc arc;
  ArcSorter sorter(folder.path("run"), ArcSorter::least_memory, false);
  sorter.add(most, 0);
  sorter.add(0, most);
  ASSERT_TRUE(sorter.next(&arc));
  EXPECT_EQ(arc.source, 0);
  EXPECT_EQ(arc.target, most);
  EXPECT_EQ(arc.weight, 1);
  ASSERT_TRUE(sorter.next(&arc));
  EXPECT_EQ(arc.source, most);
  EXPECT_FALSE(sorter.next(&arc));
  EXPECT_FALSE(sorter.next(&arc));
  ArcSorter none(folder.path("none"), ArcSorter::least_memory, true);
  EXPECT_FALSE(none.next(&arc));
}

TEST(ArcSorter, RefusesWhatIsNoArc) {
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { ArcSorter(folder.path("run"), 100, false); }), "100 bytes");
  ArcSorter sorter(folder.path("run"), ArcSorter::least_memory, true);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { sorter.add(-1, 0); }), "-1 -> 0");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { sorter.add(0, int64_t{1} << 32); }), "4294967295");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { sorter.add(0, 1, -1); }), "weight -1");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { sorter.add(0, 1, NAN); }), "weight nan");
  sorter.add(0, 1, 1e308);
  sorter.add(0, 1, 1e308);
  SortedArc arc;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { sorter.next(&arc); }), "add up to infinity");
}

}  // namespace
}  // namespace eignn
