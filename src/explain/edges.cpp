// What becomes of a score without an edge. With f = head(z_v) and W the adjoint for y = ∂f/∂z_v
//
//     ∂f/∂S_ij = γ z_iᵀ g w_j      (P = I; a source that is S adds x_iᵀ w_j)
//
// and with p_ij = S_ij ∂f/∂S_ij, R_i = Σ_j p_ij, C_j = Σ_i p_ij the derivative along the weight a of an arc i
// → j, whose degrees d are computed again, follows from S_ij = Â_ij / √(d_i d_j):
//
//     sym:     a ∂f/∂a = p_ij - a/(2 d_i) (R_i + C_i)
//     out-in:  a ∂f/∂a = p_ij - a/(2 d_i) R_i - a/(2 d'_j) C_j,     d' the column sums
//
// An undirected edge is two arcs. Minus this is the first-order change without the edge; for the largest the
// change itself comes from a solve on the graph without it. Arcs that S drops, into nodes that send nothing
// (sym, no self-loops), are not listed.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "explain/explainer.h"
#include "run/checkpoint.h"
#include "train/assemble.h"

namespace eignn {

namespace {

struct HostRows {
  torch::Tensor values;  // float64, contiguous
  std::vector<int64_t> exponent;

  explicit HostRows(const ScaledRows& rows)
      : values(rows.values.detach().to(torch::kCPU, torch::kFloat64).contiguous()) {
    if (!rows.exponents.defined()) return;
    const auto e = rows.exponents.to(torch::kCPU).contiguous();
    exponent.assign(e.data_ptr<int64_t>(), e.data_ptr<int64_t>() + e.numel());
  }
  const double* row(int64_t i) const { return values.data_ptr<double>() + i * values.size(1); }
  int64_t exponent_of(int64_t i) const { return exponent.empty() ? 0 : exponent[i]; }
};

// p_ij += factor S_ij z_iᵀ q_j for each entry of S.
void add_sensitivities(const Propagation& S, const HostRows& Z, const HostRows& q, double factor,
                       std::vector<double>& p) {
  const int64_t m = Z.values.size(1);
  constexpr int64_t worth_a_thread = 256;
  at::parallel_for(0, S.nodes, worth_a_thread, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const double* z = Z.row(i);
      for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
        const int64_t j = S.column[e];
        const double* q_j = q.row(j);
        double dot = 0;
        for (int64_t c = 0; c < m; ++c) dot += z[c] * q_j[c];
        constexpr int64_t far = 1 << 20;
        const int64_t exponent = std::clamp(Z.exponent_of(i) + q.exponent_of(j), -far, far);
        p[e] += std::ldexp(factor * S.value(i, e) * dot, static_cast<int>(exponent));
      }
    }
  });
}

Graph without(const Graph& graph, const std::vector<std::pair<int64_t, int64_t>>& arcs) {
  Graph out = graph;
  for (const auto& [source, target] : arcs) {
    const auto begin = out.target.begin() + out.row_begin[source],
               end = out.target.begin() + out.row_begin[source + 1];
    const auto at = std::lower_bound(begin, end, target);
    if (at == end || *at != target) continue;
    const auto place = at - out.target.begin();
    out.target.erase(out.target.begin() + place);
    if (!out.weight.empty()) out.weight.erase(out.weight.begin() + place);
    for (int64_t v = source + 1; v <= out.nodes; ++v) --out.row_begin[v];
  }
  return out;
}

}  // namespace

// The solver of the solves without an edge: another graph each time, for which an eigenbasis is not worth
// making.
std::string Explainer::solver_for_edges() const {
  const std::string name = model_.solver_name();
  return name == "spectral" || name == "krylov" || name == "published" ? "sparse" : name;
}

double Explainer::score_on(const Graph& graph, int64_t node, int64_t class_number) const {
  Dataset other = data_;
  other.graph = graph;
  // An edge less changes the mean weight, by which all weights are divided: the scale of the whole graph
  // stays.
  TrainConfig config = with_weight_scale(data_, config_);
  config.eignn().solver = solver_for_edges();
  const auto model = make_model(other, config, nullptr);
  load_state(*model, state_of(model_), "the model");
  if (const auto labels = model_.labels()) model->use_labels(*labels);
  model->eval();
  const torch::NoGradGuard guard;
  const auto index = torch::tensor({node}, torch::kInt64).to(model_.type().device());
  return model->scores(index)[0][class_number].item<double>();
}

EdgeExplanation Explainer::edges(int64_t node, std::optional<int64_t> asked, const EdgeOptions& options) {
  require_one_process("edges", "edges are explained");
  check_node(node);
  if (!equilibria_)
    throw ArgumentError("model",
                        "edges are explained by the adjoint of an equilibrium, which this model has not",
                        "use a model eignn");
  if (equilibria_->solver_of(0).approximates())
    throw ArgumentError("solver",
                        "edges are explained by S itself, of which the solver truncated keeps a part",
                        "use solver sparse");
  if (!config_.further_directions.empty())
    throw ArgumentError("direction",
                        "an edge is part of several S here, and edges are explained for one direction",
                        "train with one direction");
  for (const auto& [field, count] : {std::pair("exact", options.exact), std::pair("keep", options.keep)})
    if (count < 0) throw ArgumentError(field, fmt::format("{} edges", count), "give 0 or more");
  const OneGraph& graph = solved_graph_of(node);
  const Propagation& S = *graph.S;
  const torch::NoGradGuard guard;
  const int64_t row = row_of(graph, node);
  const auto index = torch::tensor({node}, torch::kInt64).to(model_.type().device());
  const auto scores = model_.scores(index)[0].to(torch::kCPU, torch::kFloat64);
  EdgeExplanation out;
  out.node = node;
  out.predicted = !asked;
  const int64_t k = out.class_number = chosen_class(scores, asked);
  const double scale = units_.scale.empty() ? 1 : units_.scale.at(k),
               shift = units_.shift.empty() ? 0 : units_.shift.at(k);
  out.score = scale * scores[k].item<double>() + shift;
  out.directed = directed();

  const States at = states(graph, {row});
  const auto affine = equilibria_->affine_head();
  const auto y = head_gradient(graph, at, {row}, {k}, nullptr);
  const auto W = adjoints(graph, {row}, y, {affine && affine->of_unit_rows ? -at.exponent[0] : 0});
  std::vector<double> p(S.entries(), 0.0);
  const auto& solver = equilibria_->solver_of(equilibria_->place_of(node).graph).options();
  for (size_t j = 0; j < W.size(); ++j) {
    const auto F = equilibria_->propagation_weight(static_cast<int64_t>(j)).detach();
    // Z = γ g Z S + H P: S_ij carries γ g z_i to node j and, where P = S, h_i too.
    add_sensitivities(S, HostRows(graph.solved[j]->rows()),
                      HostRows({times_g(W[j].values, F, solver.epsilon), W[j].exponents}), solver.gamma, p);
    if (equilibria_->starts_from_neighbours(static_cast<int64_t>(j)))
      add_sensitivities(S, HostRows({graph.H, {}}), HostRows(W[j]), 1, p);
  }
  std::vector<double> R(S.nodes, 0.0), C(S.nodes, 0.0);
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      R[i] += p[e];
      C[S.column[e]] += p[e];
    }

  const auto hops = graph.hearing->hops_to(row);
  const int64_t* nodes = graph.nodes.data_ptr<int64_t>();
  const bool out_in = config_.propagation.normalise == Normalisation::out_in;
  const bool against = config_.propagation.direction == Direction::out;  // S was made of the reversed arcs
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      const int64_t j = S.column[e];
      if (j == i || (!out.directed && j < i)) continue;
      const double a = S.weight_of(i, e), over_i = a * S.left[i] * S.left[i] / 2,
                   over_j = a * S.right[j] * S.right[j] / 2;
      double slope = p[e];
      if (!out.directed) {
        const auto back =
            std::lower_bound(S.column.begin() + S.row_begin[j], S.column.begin() + S.row_begin[j + 1], i);
        slope += p[back - S.column.begin()] - over_i * (R[i] + C[i]) - over_j * (R[j] + C[j]);
      } else if (out_in) {
        slope -= over_i * R[i] + over_j * C[j];
      } else {
        slope -= over_i * (R[i] + C[i]);
      }
      if (slope == 0) continue;
      ++out.edges;
      const int64_t near = hops[i] < 0 ? hops[j] : hops[j] < 0 ? hops[i] : std::min(hops[i], hops[j]);
      out.changes.push_back({nodes[against ? j : i], nodes[against ? i : j], near, -scale * slope, {}});
    }
  const auto larger = [](const EdgeChange& a, const EdgeChange& b) {
    return std::make_tuple(-std::abs(a.first_order), a.source, a.target) <
           std::make_tuple(-std::abs(b.first_order), b.source, b.target);
  };
  const auto count = static_cast<int64_t>(out.changes.size());
  const int64_t kept = options.keep > 0 ? std::min(count, std::max(options.keep, options.exact)) : count;
  std::partial_sort(out.changes.begin(), out.changes.begin() + kept, out.changes.end(), larger);
  out.changes.resize(kept);
  const int64_t exact = std::min(kept, options.exact);
  if (exact == 0) return out;
  const double before =
      solver_for_edges() == model_.solver_name() ? scores[k].item<double>() : score_on(data_.graph, node, k);
  for (int64_t c = 0; c < exact; ++c) {
    EdgeChange& change = out.changes[c];
    std::vector<std::pair<int64_t, int64_t>> arcs = {{change.source, change.target}};
    if (!out.directed) arcs.emplace_back(change.target, change.source);
    change.change = scale * (score_on(without(data_.graph, arcs), node, k) - before);
  }
  if (options.keep > 0 && kept > options.keep) out.changes.resize(options.keep);
  return out;
}

}  // namespace eignn
