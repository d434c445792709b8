#include "eignn/propagation.h"

#include <cmath>

#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn {

namespace {

// Â = A (+ I), the loop of the data and that of I added.
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

// Under `sym` a node without outgoing weight has D^-1/2 = 0 by convention, which also silences what arrives
// at it.
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

}  // namespace

Propagation make_propagation(const Graph& graph, const PropagationOptions& options) {
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
