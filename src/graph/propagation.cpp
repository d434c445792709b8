#include "eignn/propagation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "eignn/error.h"
#include "graph/check_rows.h"
#include "graph/merged_rows.h"
#include "graph/nearest_name.h"
#include "graph/scaled_weight.h"
#include "graph/within_memory.h"

namespace eignn {

namespace {

// Appends the rows of Â = A (+ I); a loop of the data adds to the 1 of I. each_arc(i, put) calls put(j, w)
// for the arcs of row i, ascending.
template <class EachArc>
void add_rows(bool weighted, bool self_loops, double scale, const EachArc& each_arc, Propagation& S) {
  for (int64_t i = 0; i < S.nodes; ++i) {
    bool diagonal_done = !self_loops;
    const auto put = [&](int64_t j, double w) {
      S.column.push_back(static_cast<int32_t>(j));
      if (weighted) {
        S.weight.push_back(w);
      } else if (w != 1) {  // a loop beside I
        if (S.diagonal.empty()) S.diagonal.assign(S.nodes, 1);
        S.diagonal[i] = w;
      }
    };
    each_arc(i, [&](int64_t j, double arc_weight) {
      const double w = scaled_weight(arc_weight, scale);
      if (!diagonal_done && j > i) put(i, 1.0);
      if (!diagonal_done && j == i) put(i, 1.0 + w);
      if (diagonal_done || j != i) put(j, w);
      if (j >= i) diagonal_done = true;
    });
    if (!diagonal_done) put(i, 1.0);
    S.row_begin.push_back(S.entries());
  }
}

void add_rows(const Graph& graph, const PropagationOptions& options, double scale, Propagation& S) {
  const bool weighted = !graph.weight.empty(), both_ways = options.direction == Direction::undirected;
  const Graph turned = options.direction == Direction::in ? Graph() : graph.transposed();
  const int64_t most = graph.arcs() * (both_ways ? 2 : 1) + (options.self_loops ? graph.nodes : 0);
  S.column.reserve(most);
  if (weighted) S.weight.reserve(most);
  S.row_begin.reserve(graph.nodes + 1);
  if (both_ways) {
    return add_rows(
        weighted, options.self_loops, scale,
        [&](int64_t i, const auto& put) { merge_row(graph, turned, i, put); }, S);
  }
  const Graph& rows = options.direction == Direction::in ? graph : turned;
  add_rows(
      weighted, options.self_loops, scale,
      [&](int64_t i, const auto& put) {
        for (int64_t a = rows.row_begin[i]; a < rows.row_begin[i + 1]; ++a)
          put(static_cast<int64_t>(rows.target[a]), rows.weight_of(a));
      },
      S);
}

// Sums in extended precision, so that the degrees of hubs have the accuracy of those of leaves.
std::vector<double> row_sums(const Propagation& S) {
  std::vector<double> sums(S.nodes);
  for (int64_t i = 0; i < S.nodes; ++i) {
    long double sum = 0;
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) sum += S.weight_of(i, e);
    sums[i] = static_cast<double>(sum);
  }
  return sums;
}

std::vector<double> column_sums(const Propagation& S) {
  std::vector<long double> sum(S.nodes, 0);
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) sum[S.column[e]] += S.weight_of(i, e);
  return std::vector<double>(sum.begin(), sum.end());
}

std::vector<double> inverse_roots(const std::vector<double>& degree) {
  std::vector<double> scale(degree.size());
  for (size_t i = 0; i < degree.size(); ++i) scale[i] = degree[i] > 0 ? 1 / std::sqrt(degree[i]) : 1;
  return scale;
}

// Under `sym` a node without outgoing weight has D^-1/2 = 0 by convention, which makes its column of S zero
// too. Returns the sum of the entries that each row lost.
std::vector<double> drop_arcs_into(const std::vector<double>& degree, Propagation& S) {
  std::vector<double> lost(S.nodes);
  int64_t kept = 0;
  for (int64_t i = 0, begin = 0; i < S.nodes; ++i) {
    long double sum = 0;
    const int64_t end = S.row_begin[i + 1];
    for (int64_t e = begin; e < end; ++e) {
      if (degree[S.column[e]] == 0) {
        sum += S.weight_of(i, e);
        continue;
      }
      S.column[kept] = S.column[e];
      if (!S.weight.empty()) S.weight[kept] = S.weight[e];
      ++kept;
    }
    begin = end;
    S.row_begin[i + 1] = kept;
    lost[i] = static_cast<double>(sum);
  }
  S.column.resize(kept);
  if (!S.weight.empty()) S.weight.resize(kept);
  return lost;
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

// The sum is taken in units of the largest weight: the mean of equal weights is exactly that weight, and
// nothing overflows.
double mean_weight(const Graph& graph) {
  const double largest = *std::max_element(graph.weight.begin(), graph.weight.end());
  long double sum = 0;
  for (const double w : graph.weight) sum += static_cast<long double>(w) / largest;
  return static_cast<double>(sum / static_cast<long double>(graph.weight.size()) * largest);
}

double checked_scale(const Graph& graph, double scale) {
  if (!(scale >= 0 && scale <= std::numeric_limits<double>::max()))
    throw ArgumentError("weight-scale", fmt::format("{} is no scale of weights", scale),
                        "give a positive number, or 0 for the mean");
  if (graph.weight.empty()) return 1;
  return scale > 0 ? scale : mean_weight(graph);
}

Propagation assembled(const Graph& given, const PropagationOptions& options) {
  Propagation S;
  S.nodes = given.nodes;
  const bool symmetric = options.direction == Direction::undirected || given.is_symmetric();
  const double scale = checked_scale(given, options.weight_scale);
  add_rows(given, options, scale, S);

  const std::vector<double> out_degree = row_sums(S);
  if (symmetric || options.normalise == Normalisation::sym) {
    // h_i is the degree, or 1 for a node without any.
    S.slack.assign(S.nodes, 0.0);
    if (!symmetric) S.slack = drop_arcs_into(out_degree, S);
    for (int64_t i = 0; i < S.nodes; ++i)
      if (!(out_degree[i] > 0)) S.slack[i] = 1;
    S.left = S.right = inverse_roots(out_degree);
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

double scale_of_weights(const Graph& graph, const PropagationOptions& options) {
  check(graph);
  return checked_scale(graph, options.weight_scale);
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
  if (!S.weight.empty() || !S.diagonal.empty()) {
    if (!S.weight.empty() && !S.diagonal.empty())
      refuse("diagonal", "the diagonal beside the weights that have it");
    if (!S.weight.empty()) require(S.weight, S.entries(), "weight", 0);
    if (!S.diagonal.empty()) require(S.diagonal, S.nodes, "diagonal", 0);
  }
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
      if (i < j) above += mixed(i, j, S.weight_of(i, e));
      if (i > j) below += mixed(j, i, S.weight_of(i, e));
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
