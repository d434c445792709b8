// Sorts the arcs of a graph that need not fit into memory, on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace eignn {

struct SortedArc {
  int64_t source, target;
  double weight;
};

/// Takes arcs in any order and gives them back ascending by source and target, each once: what
/// Graph::from_arcs() makes of the same arcs, to the bit. Weights of duplicates are added up, in the order of
/// the weights, and arcs of weight 0 are left out.
///
///     ArcSorter sorter(folder.path("out"), 1 << 30, /*weighted=*/false);
///     sorter.add(3, 5);
///     SortedArc arc;
///     while (sorter.next(&arc)) use(arc);
///
/// Arcs are collected in `memory` bytes; each time these are full they are sorted and written to a file of
/// their own, a run. Runs are merged as many at a time as the memory has buffers for.
class ArcSorter {
 public:
  /// The files are called `scratch` and a number; they are removed when they have been read, or with the
  /// sorter. ArgumentError{"memory"} for less than least_memory.
  ArcSorter(std::string scratch, uint64_t memory, bool weighted);
  ~ArcSorter();
  ArcSorter(const ArcSorter&) = delete;
  ArcSorter& operator=(const ArcSorter&) = delete;

  static constexpr uint64_t least_memory = uint64_t{1} << 14;

  /// Ids are from 0 to 2^32 - 1, weights finite and not negative; not after next().
  void add(int64_t source, int64_t target, double weight = 1);

  /// The next distinct arc; false after the last. ArgumentError{"weight"} where weights add up to infinity.
  bool next(SortedArc* arc);

  /// How many runs were written, those that are merged from others among them.
  int64_t runs() const;

 private:
  class Sort;
  template <class Record>
  class SortOf;
  std::unique_ptr<Sort> sort_;
};

}  // namespace eignn
