#include "eignn/propagation.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "eignn/error.h"
#include "graph/check_rows.h"
#include "graph/nearest_name.h"
#include "graph/within_memory.h"

namespace eignn {

namespace {

// Â = A (+ I); a loop of the data adds to the 1 of I.
void add_rows(const Graph& graph, bool self_loops, Propagation& S) {
  for (int64_t i = 0; i < graph.nodes; ++i) {
    bool diagonal_done = !self_loops;
    auto put = [&](int64_t j, double w) {
      S.column.push_back(j);
      S.weight.push_back(w);
    };
    for (int64_t a = graph.row_begin[i]; a < graph.row_begin[i + 1]; ++a) {
      const int64_t j = graph.target[a];
      if (!diagonal_done && j > i) put(i, 1.0);
      if (!diagonal_done && j == i) put(i, 2.0);
      if (diagonal_done || j != i) put(j, 1.0);
      if (j >= i) diagonal_done = true;
    }
    if (!diagonal_done) put(i, 1.0);
    S.row_begin.push_back(S.entries());
  }
}

std::vector<double> row_sums(const Propagation& S) {
  std::vector<double> sum(S.nodes, 0.0);
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) sum[i] += S.weight[e];
  return sum;
}

std::vector<double> column_sums(const Propagation& S) {
  std::vector<double> sum(S.nodes, 0.0);
  for (int64_t e = 0; e < S.entries(); ++e) sum[S.column[e]] += S.weight[e];
  return sum;
}

std::vector<double> inverse_roots(const std::vector<double>& degree) {
  std::vector<double> scale(degree.size());
  for (size_t i = 0; i < degree.size(); ++i) scale[i] = degree[i] > 0 ? 1 / std::sqrt(degree[i]) : 1;
  return scale;
}

// Under `sym` a node without outgoing weight has D^-1/2 = 0 by convention, which makes its column of S zero
// too.
void drop_arcs_into(const std::vector<double>& degree, Propagation& S) {
  Propagation kept;
  kept.nodes = S.nodes;
  for (int64_t i = 0; i < S.nodes; ++i) {
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      if (degree[S.column[e]] == 0) continue;
      kept.column.push_back(S.column[e]);
      kept.weight.push_back(S.weight[e]);
    }
    kept.row_begin.push_back(kept.entries());
  }
  S = kept;
}

// A hash of an entry. The sum over a set of entries does not depend on their order.
uint64_t mixed(int64_t row, int64_t column, double weight) {
  uint64_t bits;
  std::memcpy(&bits, &weight, sizeof bits);
  uint64_t x = static_cast<uint64_t>(row) * 0x9e3779b97f4a7c15 ^
               (static_cast<uint64_t>(column) + 0x7f4a7c15) * 0xc2b2ae3d27d4eb4f ^ bits;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Propagation assembled(const Graph& graph, const PropagationOptions& options) {
  Propagation S;
  S.nodes = graph.nodes;
  switch (options.direction) {
    case Direction::undirected:
      add_rows(graph.symmetrised(), options.self_loops, S);
      break;
    case Direction::in:
      add_rows(graph, options.self_loops, S);
      break;
    case Direction::out:
      add_rows(graph.transposed(), options.self_loops, S);
      break;
  }
  const bool symmetric = options.direction == Direction::undirected || graph.is_symmetric();

  const std::vector<double> out_degree = row_sums(S);
  if (symmetric || options.normalise == Normalisation::sym) {
    if (!symmetric) drop_arcs_into(out_degree, S);
    S.left = S.right = inverse_roots(out_degree);
    const std::vector<double> kept = row_sums(S);
    S.slack.resize(S.nodes);
    // h_i is the degree, or 1 for a node without any: both are integers, so the slack is exact.
    for (int64_t i = 0; i < S.nodes; ++i) S.slack[i] = out_degree[i] > 0 ? out_degree[i] - kept[i] : 1.0;
  } else {
    S.left = inverse_roots(out_degree);
    S.right = inverse_roots(column_sums(S));
  }
  S.symmetric = symmetric;
  return S;
}

}  // namespace

Propagation make_propagation(const Graph& graph, const PropagationOptions& options) {
  check(graph);
  return within_memory(graph.nodes, graph.arcs(), [&] { return assembled(graph, options); });
}

void check(const Propagation& S) {
  const auto refuse = [](const std::string& field, const std::string& problem) {
    throw ArgumentError("S." + field, problem, "make S with make_propagation");
  };
  const auto require = [&](const std::vector<double>& numbers, int64_t length, const char* field,
                           double least) {
    if (static_cast<int64_t>(numbers.size()) != length)
      refuse(field, fmt::format("{} numbers where {} belong", numbers.size(), length));
    for (const double x : numbers)
      if (!(x >= least && x <= std::numeric_limits<double>::max()))
        refuse(field, fmt::format("{} is out of range", x));
  };
  check_rows({S.nodes, S.row_begin, S.column, "S", "column", "make S with make_propagation"});
  constexpr double smallest = std::numeric_limits<double>::min();
  require(S.weight, S.entries(), "weight", 0);
  require(S.left, S.nodes, "left", smallest);
  require(S.right, S.nodes, "right", smallest);
  if (!S.slack.empty()) require(S.slack, S.nodes, "slack", 0);
  if (!S.symmetric) return;
  if (S.left != S.right)
    refuse("symmetric", "left and right differ in a matrix that is said to be symmetric");
  uint64_t above = 0, below = 0;
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      const int64_t j = S.column[e];
      if (i < j) above += mixed(i, j, S.weight[e]);
      if (i > j) below += mixed(j, i, S.weight[e]);
    }
  if (above != below)
    refuse("symmetric", "an entry of a matrix that is said to be symmetric has no counterpart");
}

Graph Propagation::pattern() const {
  Graph graph;
  graph.nodes = nodes;
  graph.row_begin = row_begin;
  graph.target = column;
  return graph;
}

Direction parse_direction(const std::string& text) {
  return parse_name<Direction>(text, "direction", "direction",
                               {Direction::undirected, Direction::in, Direction::out});
}

Normalisation parse_normalisation(const std::string& text) {
  return parse_name<Normalisation>(text, "normalisation", "normalise",
                                   {Normalisation::sym, Normalisation::out_in});
}

const char* name(Direction direction) {
  switch (direction) {
    case Direction::undirected:
      return "undirected";
    case Direction::in:
      return "in";
    case Direction::out:
      return "out";
  }
  return "";
}

const char* name(Normalisation normalise) {
  return normalise == Normalisation::sym ? "sym" : "out-in";
}

}  // namespace eignn
