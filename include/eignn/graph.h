// Directed graphs in compressed rows: components, distances and generators.
#pragma once

#include <cstdint>
#include <vector>

namespace eignn {

/// The distinct arcs of a graph in compressed rows, targets ascending in each row. A loop counts as one arc.
/// Arcs may have weights, for which only their ratios matter: see make_propagation().
///
///     Graph g = Graph::from_arcs(3, {0, 1, 1}, {1, 2, 2});   // the second 1 -> 2 is merged
///     Graph u = g.symmetrised();                             // 0 - 1 - 2
///     Graph w = Graph::from_arcs(3, {0, 1, 1}, {1, 2, 2}, {0.5, 1, 2});  // 1 -> 2 has the weight 3
struct Graph {
  int64_t nodes = 0;
  std::vector<int64_t> row_begin = {0};  // nodes + 1 offsets into target
  std::vector<int32_t> target;           // the heads of the arcs that leave each node: 4 bytes an arc
  std::vector<double> weight;            // of each arc, positive and finite; empty: all are 1

  /// The graph with the arcs source[k] → target[k]; duplicates are merged. With `weight`, a number for each
  /// arc, the weights of duplicates are added up, and arcs of weight 0 are left out. Throws ArgumentError
  /// when an id is negative or not below `nodes`, or a weight is negative or not finite; ResourceError for
  /// more than 2147483647 nodes, and where so many do not fit into memory.
  static Graph from_arcs(int64_t nodes, const std::vector<int64_t>& source,
                         const std::vector<int64_t>& target, const std::vector<double>& weight = {});

  /// i -> j and j -> i for every arc, both with the larger of the two weights: an edge that is written once
  /// and one that is written both ways are the same.
  Graph symmetrised() const;
  Graph transposed() const;  // every arc reversed

  int64_t arcs() const { return static_cast<int64_t>(target.size()); }
  double weight_of(int64_t arc) const { return weight.empty() ? 1 : weight[arc]; }
  int64_t loops() const;
  int64_t undirected_edges() const;  // unordered pairs joined by an arc, loops not counted
  int64_t isolated() const;          // nodes with no arc to or from another node
  bool is_symmetric() const;         // each arc has a reverse of the same weight
};

/// Throws ArgumentError where the offsets, targets or weights of a graph that was not made by from_arcs() are
/// inconsistent. Every function here and in propagation.h that takes a graph calls it first: one pass over
/// the arcs.
void check(const Graph& graph);

/// Weakly connected components: `label[v]` in 0 … count-1, numbered by their smallest node.
struct Components {
  int64_t count = 0;
  std::vector<int64_t> label;
  std::vector<std::vector<int64_t>> members() const;  // ascending within each component
};

Components weak_components(const Graph& graph);

/// A lower bound, in hops, on the largest diameter of a component; exact on trees. Found in each component by
/// a breadth-first search from an arbitrary node and another from the farthest node found. The arcs are read
/// both ways.
int64_t longest_hops(const Graph& graph);

/// `chains` directed paths of `length` nodes; node k of chain c is c·length + k, arcs run away from node 0.
/// ArgumentError for a negative number, or more nodes than can be counted.
Graph chain_graph(int64_t chains, int64_t length);

/// The probabilities of the four quarters of the adjacency matrix at every level; the fourth is 1 - a - b -
/// c.
struct RmatOptions {
  double a = 0.57, b = 0.19, c = 0.19;  // Graph500's
};

/// A recursive random graph (Chakrabarti, Zhan and Faloutsos, 2004): `edges` distinct pairs of different
/// nodes, one arc each, degrees skewed like those of the web. The nodes are renumbered at random, so that ids
/// and degrees are independent. The seed determines the graph. ArgumentError when there are not so many
/// pairs, or the options are no probabilities; ConvergenceError where drawing does not produce so many
/// distinct pairs.
Graph rmat_graph(int64_t nodes, int64_t edges, uint64_t seed, const RmatOptions& options = {});

/// Zachary's karate club (1977): 34 members, 78 friendships (both arcs of each).
Graph karate_club();

/// The faction each member of the karate club joined: 0 the instructor's (node 0), 1 the officers' (node 33).
std::vector<int64_t> karate_factions();

}  // namespace eignn
