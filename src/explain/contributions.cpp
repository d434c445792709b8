// The contributions of nodes and features to one score. With h = encoder(x) and an affine head f_v = Cᵀ z_v +
// c the score of class k at node v is linear in H:
//
//     W = γ g W Sᵀ + C_k e_vᵀ,      f_vk = c_k + Σ_u ⟨h_u, (W Pᵀ)_u⟩
//
// one adjoint solve. An encoder acts node by node, so that node u gives ⟨h(x_u) - h(0), (W Pᵀ)_u⟩, which is
// what the score loses when x_u goes, for any encoder; the rest, Σ_u ⟨h(0), (W Pᵀ)_u⟩, joins the constant.
// Under the l2 head f_v = Cᵀ z_v/‖z_v‖ + c, and all terms are divided by ‖z_v‖.
//
// A feature j gives Σ_u (x_uj - 0_j) ∂f/∂x_uj, exact where the encoder is affine. Other heads and models have
// the gradient times the input for nodes too.
//
// Numbers below the range of a double: rows of Z and W may carry exponents, which are kept until the sum.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "equilibrium/tf32.h"
#include "explain/explainer.h"
#include "train/feature_transform.h"
#include "train/plan_request.h"

namespace eignn {

namespace {

constexpr int64_t rows_at_a_time = 1 << 16;  // that are copied to float64

std::vector<double> numbers_of(const torch::Tensor& t) {
  const auto values = t.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

std::vector<int64_t> integers_of(const torch::Tensor& t) {
  const auto values = t.detach().to(torch::kCPU).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

double scaled(double x, int64_t exponent) {
  constexpr int64_t most = 1 << 20;  // far outside of the range already
  return std::ldexp(x, static_cast<int>(std::clamp(exponent, -most, most)));
}

double sum_of(const std::vector<double>& terms) {
  long double sum = 0;
  for (const double x : terms) sum += x;
  return static_cast<double>(sum);
}

// The exponent of the largest number; nothing where all are 0.
std::optional<int64_t> leading_exponent(const std::vector<double>& values,
                                        const std::vector<int64_t>& exponents) {
  std::optional<int64_t> top;
  for (size_t u = 0; u < values.size(); ++u)
    if (values[u] != 0)
      top = std::max(top.value_or(std::numeric_limits<int64_t>::min()),
                     std::ilogb(values[u]) + (exponents.empty() ? 0 : exponents[u]));
  return top;
}

// Calls work(first, count) for blocks of rows.
template <class Work>
void for_blocks(int64_t rows, const Work& work) {
  for (int64_t first = 0; first < rows; first += rows_at_a_time)
    work(first, std::min(rows_at_a_time, rows - first));
}

}  // namespace

Explainer::Explainer(Model& model, const Dataset& data, const TrainConfig& config, ScoreUnits units)
    : fixed_(model, dense_matrix(data.features, "an explanation").to(model.type().device())),
      model_(model),
      equilibria_(dynamic_cast<EquilibriumModel*>(&model)),
      data_(data),
      config_(config),
      units_(std::move(units)),
      spread_(data.spread.get()) {
  if (model.has_clusters())
    throw ArgumentError("coarsen",
                        "a coarsened graph has scores of clusters, and none of a node alone to explain",
                        "explain a run with coarsen 1");
  if (spread_ && !spread_->S) {
    throw ArgumentError("ranks", "a node of a set of several graphs is explained by one process",
                        "start one process");
  }
  if (data.features.is_sparse()) model_.use_features(fixed_.X());  // every part reads rows
}

bool Explainer::directed() const {
  return config_.further_directions.empty() && config_.propagation.direction != Direction::undirected;
}

// ---- several processes

void Explainer::require_one_process(const char* field, const std::string& what) const {
  if (spread_) throw ArgumentError(field, what + " in one process alone", "start one process");
}

int64_t Explainer::all_nodes() const {
  return spread_ ? spread_->nodes : data_.nodes();
}

// The row of a node, if this process has it.
std::vector<int64_t> Explainer::rows_here(const OneGraph& graph, int64_t node) const {
  if (!spread_) return {row_of(graph, node)};
  const int64_t place = spread_->own.place(node);
  return place < 0 ? std::vector<int64_t>() : std::vector<int64_t>{place};
}

torch::Tensor Explainer::summed(const torch::Tensor& here) const {
  return spread_ ? spread_->ranks.sum(here) : here;
}

// Distances along the arcs of S as Hearing has them, of this process's nodes: a node hears others where a
// product of S with the indicator of those that it is heard by is not zero.
torch::Tensor Explainer::hops_together(int64_t node) const {
  auto hops = torch::full({data_.nodes()}, -1, torch::kInt64);
  auto reached = torch::zeros({data_.nodes(), 1}, c10::typeMetaToScalarType(model_.type().dtype()));
  if (const int64_t place = spread_->own.place(node); place >= 0) reached[place][0] = 1;
  for (int64_t distance = 0;; ++distance) {
    hops.masked_fill_(reached.squeeze(1) > 0, distance);
    const auto next = (spread_->S->apply(reached) > 0).squeeze(1).logical_and(hops < 0);
    if (!spread_->ranks.any(next.any().item<bool>())) return hops;
    reached = next.unsqueeze(1).to(reached.scalar_type());
  }
}

// ---- graphs and states

Explainer::OneGraph& Explainer::graph_of(int64_t node) {
  if (spread_) {
    OneGraph& graph = graphs_[0];
    graph.nodes = torch::arange(data_.nodes(), torch::kInt64);
    return graph;
  }
  int64_t g = 0;
  if (equilibria_) {
    g = equilibria_->place_of(node).graph;
  } else {
    if (matrices_.empty()) matrices_ = graph_matrices(data_, config_);
    if (matrices_.size() > 1) g = data_.graph_of.at(node);
  }
  // A model that reads labels has other inputs, and so other states, for a node whose own label it knows.
  constexpr int64_t sets_of_labels = 3;
  OneGraph& graph = graphs_[sets_of_labels * g + model_.show_labels_for(node)];
  if (graph.S) return graph;
  if (equilibria_) {
    graph.S = &equilibria_->solver_of(g).propagation();
    graph.nodes = equilibria_->nodes_of(g);
  } else {
    graph.S = matrices_[g].S.get();
    graph.nodes = matrices_[g].nodes.empty() ? torch::arange(data_.nodes(), torch::kInt64)
                                             : torch::tensor(matrices_[g].nodes, torch::kInt64);
  }
  if (graph.nodes.numel() < data_.nodes()) {
    graph.row_of.assign(data_.nodes(), -1);
    for (int64_t row = 0; row < graph.nodes.numel(); ++row)
      graph.row_of[graph.nodes.data_ptr<int64_t>()[row]] = row;
  }
  // With several directions a node hears along all of them, which is along all arcs unless there is one
  // direction alone.
  if (config_.further_directions.empty()) {
    graph.hearing = std::make_unique<Hearing>(*graph.S);
  } else {
    PropagationOptions along_all = config_.propagation;
    along_all.direction = Direction::undirected;
    graph.heard = std::make_unique<Propagation>(make_propagation(graph.S->pattern(), along_all));
    graph.hearing = std::make_unique<Hearing>(*graph.heard);
  }
  return graph;
}

int64_t Explainer::row_of(const OneGraph& graph, int64_t node) const {
  return graph.row_of.empty() ? node : graph.row_of[node];
}

Explainer::OneGraph& Explainer::solved_graph_of(int64_t node) {
  OneGraph& graph = graph_of(node);
  if (!graph.solved.empty()) return graph;
  const torch::NoGradGuard guard;
  const int64_t g = spread_ ? 0 : equilibria_->place_of(node).graph;
  graph.H = equilibria_->encode(equilibria_->features_of(g));
  for (int64_t k = 0; k < equilibria_->equilibria(); ++k)
    graph.solved.push_back(equilibria_->solved_for(g, k, graph.H));
  return graph;
}

Explainer::States Explainer::states(const OneGraph& graph, const std::vector<int64_t>& rows) const {
  const auto index = torch::tensor(rows, torch::kInt64).to(model_.type().device());
  std::vector<ScaledRows> parts;
  for (const auto& solved : graph.solved) parts.push_back(solved->rows(index));
  States out;
  out.exponent.assign(rows.size(), 0);
  if (std::none_of(parts.begin(), parts.end(), [](const ScaledRows& z) { return z.exponents.defined(); })) {
    std::vector<torch::Tensor> beside;
    for (const ScaledRows& part : parts) beside.push_back(part.values);
    out.z = torch::cat(beside, 1);
    return out;
  }
  // The exponent of a row is that of its largest part; zero parts have none.
  std::vector<std::optional<int64_t>> top(rows.size());
  std::vector<std::vector<int64_t>> exponents;
  for (const ScaledRows& part : parts) {
    exponents.push_back(part.exponents.defined() ? integers_of(part.exponents)
                                                 : std::vector<int64_t>(rows.size(), 0));
    const auto size = numbers_of(part.values.abs().amax(1));
    for (size_t r = 0; r < rows.size(); ++r)
      if (size[r] > 0) top[r] = std::max(top[r].value_or(exponents.back()[r]), exponents.back()[r]);
  }
  for (size_t r = 0; r < rows.size(); ++r) out.exponent[r] = top[r].value_or(0);
  std::vector<torch::Tensor> beside;
  const auto common = torch::tensor(out.exponent, torch::kInt64);
  for (size_t k = 0; k < parts.size(); ++k)
    beside.push_back(ScaledRows{
        parts[k].values, (torch::tensor(exponents[k], torch::kInt64) - common).to(parts[k].values.device())}
                         .plain());
  out.z = torch::cat(beside, 1);
  return out;
}

// W of each equilibrium for the cotangents y · 2^exponent of z at these rows.
std::vector<ScaledRows> Explainer::adjoints(const OneGraph& graph, const std::vector<int64_t>& rows,
                                            const torch::Tensor& y,
                                            const std::vector<int64_t>& exponents) const {
  const ProductsInTf32 in_full(false, model_.type().device());
  const auto device = model_.type().device();
  const auto index = torch::tensor(rows, torch::kInt64).to(device);
  const bool carried = std::any_of(exponents.begin(), exponents.end(), [](int64_t e) { return e != 0; });
  const auto e = carried ? torch::tensor(exponents, torch::kInt64).to(device) : torch::Tensor();
  const int64_t m = graph.H.size(1);
  std::vector<ScaledRows> W;
  for (size_t k = 0; k < graph.solved.size(); ++k)
    W.push_back(graph.solved[k]->pull_X(
        index, {y.narrow(1, static_cast<int64_t>(k) * m, m).to(graph.H.scalar_type()).contiguous(), e}));
  return W;
}

// ∂f/∂H = W Pᵀ for the W of adjoints().
std::vector<ScaledRows> Explainer::of_features(int64_t node, std::vector<ScaledRows> W) const {
  const int64_t g = spread_ ? 0 : equilibria_->place_of(node).graph;
  for (size_t k = 0; k < W.size(); ++k) W[k] = equilibria_->pull_source(g, static_cast<int64_t>(k), W[k]);
  return W;
}

// ∂/∂x of ⟨encoder(x), w⟩ for rows x and w.
torch::Tensor Explainer::through_encoder(const torch::Tensor& X, const torch::Tensor& W) const {
  const torch::AutoGradMode with_gradients(true);
  const auto x = X.detach().clone().requires_grad_();
  const auto h = equilibria_->encode(x);
  if (h.is_same(x)) return W;
  return torch::autograd::grad({h}, {x}, {W.to(h.scalar_type())})[0];
}

// The features that the model reads where those of people are zero: 0, unless raw units are asked for and a
// standardisation moved the zero. Undefined: all are 0.
torch::Tensor Explainer::zero_features(bool raw_units) const {
  if (!raw_units || !data_.transform || !data_.transform->is_fitted()) return {};
  std::vector<double> zero;  // raw = value · scale + shift
  for (const auto& [scale, shift] : data_.transform->raw_units()) zero.push_back(-shift / scale);
  return torch::tensor(zero, torch::kFloat64);
}

// ---- one score

void Explainer::check_node(int64_t node) const {
  if (node < 0 || node >= all_nodes())
    throw ArgumentError("node", fmt::format("there is no node {}", node),
                        fmt::format("the data have {} nodes, numbered from 0", all_nodes()));
}

int64_t Explainer::chosen_class(const torch::Tensor& scores, std::optional<int64_t> asked) const {
  const int64_t classes = model_.classes();
  if (!asked) {
    if (data_.is_regression() && classes > 1)
      throw ArgumentError("class",
                          fmt::format("the model predicts {} numbers, and none is likeliest", classes),
                          "name one of them");
    return scores.argmax().item<int64_t>();
  }
  if (*asked < 0 || *asked >= classes)
    throw ArgumentError("class", fmt::format("there is no class {}", *asked),
                        fmt::format("the model has {}, numbered from 0", classes));
  return *asked;
}

Explanation Explainer::explain(int64_t node, std::optional<int64_t> class_number,
                               const ExplainOptions& options) {
  check_node(node);
  return equilibria_ && equilibria_->affine_head() ? through_equilibria(node, class_number, options)
                                                   : by_gradient(node, class_number, options);
}

Explanation Explainer::through_equilibria(int64_t node, std::optional<int64_t> asked,
                                          const ExplainOptions& options) {
  const torch::NoGradGuard guard;
  const OneGraph& graph = solved_graph_of(node);
  const auto head = *equilibria_->affine_head();
  const std::vector<int64_t> row = rows_here(graph, node);
  const int64_t n = graph.H.size(0);
  States at = states(graph, row);
  if (spread_) {  // all need the node's state
    at.z = summed(row.empty() ? torch::zeros({1, at.z.size(1)}, torch::kFloat64) : at.z.to(torch::kFloat64));
    at.exponent = {0};  // sparse, the solver of several processes, has none
  }

  // The scores without the constant: z C, or z C/‖z‖, times 2^score_exponent.
  const auto z = at.z.to(torch::kFloat64), C = head.slope.to(torch::kFloat64);
  const double norm = head.of_unit_rows ? z.norm().item<double>() : 1;
  const auto linear =
      norm > 0 ? z.mm(C).squeeze(0) / norm : torch::zeros_like(head.constant, torch::kFloat64);
  const int64_t score_exponent = head.of_unit_rows ? 0 : at.exponent[0];
  Explanation out;
  out.node = node;
  out.predicted = !asked;
  const auto head_constants = numbers_of(head.constant), linear_parts = numbers_of(linear);
  std::vector<double> scores;
  const bool constants =
      std::any_of(head_constants.begin(), head_constants.end(), [](double c) { return c != 0; });
  for (size_t k = 0; k < linear_parts.size(); ++k)
    scores.push_back(constants ? scaled(linear_parts[k], score_exponent) + head_constants[k]
                               : linear_parts[k]);
  const int64_t k = out.class_number = chosen_class(torch::tensor(scores, torch::kFloat64), asked);
  out.exact = !head.of_unit_rows;
  out.kind = out.exact ? ContributionKind::exact : ContributionKind::normalised;
  out.features_exact = out.exact && equilibria_->encoder_is_affine();
  out.raw_units = options.raw_units;

  // y = C_k, or C_k/‖z‖ where ‖z‖ has the exponent of z.
  const auto y = norm > 0 ? C.select(1, k).unsqueeze(0) / norm : torch::zeros_like(z);
  const auto count = static_cast<int64_t>(row.size());
  const auto W =
      of_features(node, adjoints(graph, row, y.narrow(0, 0, count),
                                 std::vector<int64_t>(row.size(), head.of_unit_rows ? -at.exponent[0] : 0)));

  const auto X = equilibria_->features_of(spread_ ? 0 : equilibria_->place_of(node).graph);
  auto zero = zero_features(options.raw_units);
  if (zero.defined())  // of columns of labels it is 0
    zero = torch::cat({zero, torch::zeros({X.size(1) - zero.size(0)}, zero.options())});
  const auto x_0 = zero.defined() ? zero.to(X.options()) : torch::zeros({X.size(1)}, X.options());
  const auto h_0 = equilibria_->encode(x_0.unsqueeze(0)).to(torch::kFloat64);
  std::vector<std::vector<double>> own, base;  // ⟨h_u - h_0, w_u⟩, ⟨h_0, w_u⟩ for each equilibrium …
  std::vector<std::vector<int64_t>> exponents;  // … times 2 to these; empty: 0
  for (const ScaledRows& w : W) {
    auto own_terms = torch::empty({n}, z.options()), base_terms = torch::empty({n}, z.options());
    for_blocks(n, [&](int64_t first, int64_t count) {
      const auto w_rows = w.values.narrow(0, first, count).to(torch::kFloat64);
      const auto h = graph.H.narrow(0, first, count).to(torch::kFloat64);
      own_terms.narrow(0, first, count).copy_(((h - h_0) * w_rows).sum(1));
      base_terms.narrow(0, first, count).copy_(w_rows.mv(h_0.squeeze(0)));
    });
    own.push_back(numbers_of(own_terms));
    base.push_back(numbers_of(base_terms));
    exponents.push_back(w.exponents.defined() ? integers_of(w.exponents) : std::vector<int64_t>());
  }

  // Numbers outside of the range of a double keep the largest exponent; a constant, which is of ordinary
  // size, or units with a shift would drown them anyway.
  const double c = head_constants[k], scale = units_.scale.empty() ? 1 : units_.scale.at(k),
               shift = units_.shift.empty() ? 0 : units_.shift.at(k);
  std::optional<int64_t> top;
  for (size_t j = 0; j < own.size(); ++j)
    for (const auto* terms : {&own[j], &base[j]})
      if (const auto here = leading_exponent(*terms, exponents[j]))
        top = std::max(top.value_or(*here), *here);
  if (spread_) {
    constexpr double none = -1e9;
    const double largest = spread_->ranks.largest(top ? static_cast<double>(*top) : none);
    if (largest > none) top = static_cast<int64_t>(largest);
  }
  constexpr int64_t safe = 900;
  out.exponent = c == 0 && shift == 0 && top && std::abs(*top) > safe ? *top : 0;
  std::vector<double> contributions(n, 0.0), rest;
  for (size_t j = 0; j < own.size(); ++j)
    for (int64_t u = 0; u < n; ++u) {
      const int64_t e = (exponents[j].empty() ? 0 : exponents[j][u]) - out.exponent;
      contributions[u] += scale * scaled(own[j][u], e);
      rest.push_back(scale * scaled(base[j][u], e));
    }
  out.constant = scale * c + shift + summed(torch::full({1}, sum_of(rest), torch::kFloat64)).item<double>();
  out.score = scale * (scaled(linear_parts[k], score_exponent - out.exponent) + c) + shift;

  auto features = torch::zeros({X.size(1)}, z.options());
  for_blocks(n, [&](int64_t first, int64_t count) {
    torch::Tensor w_rows;
    for (size_t j = 0; j < W.size(); ++j) {
      auto e = torch::full({count}, -out.exponent, torch::dtype(torch::kInt64).device(X.device()));
      if (W[j].exponents.defined()) e += W[j].exponents.narrow(0, first, count);
      const auto rows = ScaledRows{W[j].values.narrow(0, first, count).to(torch::kFloat64), e}.plain();
      w_rows = w_rows.defined() ? w_rows + rows : rows;
    }
    const auto x = X.narrow(0, first, count);
    const auto change = (x - x_0).to(torch::kFloat64), slope = through_encoder(x, w_rows).to(torch::kFloat64);
    // A slope far above the score's exponent may be infinite: what did not change gives nothing all the same.
    features += torch::where(change != 0, change * slope, torch::zeros_like(change)).sum(0);
  });
  finish(out, graph, node, contributions, numbers_of(summed(features.to(torch::kCPU)) * scale));
  return out;
}

// Gradient times input, with the score of features that are all zero as the constant. Exact for the models
// that are affine in their features.
Explanation Explainer::by_gradient(int64_t node, std::optional<int64_t> asked,
                                   const ExplainOptions& options) {
  require_one_process("norm", "this head is explained by gradients,");
  const OneGraph& graph = graph_of(node);
  const auto index = torch::tensor({node}, torch::kInt64).to(model_.type().device());
  const auto zero = zero_features(options.raw_units);
  auto x_0 = torch::zeros_like(fixed_.X());
  if (zero.defined()) x_0 += zero.to(x_0.options());
  const torch::AutoGradMode with_gradients(true);
  const auto X = fixed_.X().detach().clone().requires_grad_();
  const auto f = fixed_.scores(X, index).squeeze(0);
  Explanation out;
  out.node = node;
  out.predicted = !asked;
  const int64_t k = out.class_number = chosen_class(f.detach(), asked);
  out.exact = out.features_exact = model_.linear_in_features();
  out.kind = out.exact ? ContributionKind::exact : ContributionKind::first_order;
  out.raw_units = options.raw_units;
  const auto slope = torch::autograd::grad({f[k]}, {X}, {}, {}, false, /*allow_unused=*/true)[0];
  const auto terms = slope.defined() ? (X.detach() - x_0) * slope : torch::zeros_like(x_0);
  const double scale = units_.scale.empty() ? 1 : units_.scale.at(k),
               shift = units_.shift.empty() ? 0 : units_.shift.at(k);
  out.score = scale * f[k].item<double>() + shift;
  {
    const torch::NoGradGuard guard;
    out.constant = scale * fixed_.scores(x_0, index)[0][k].item<double>() + shift;
  }
  model_.use_features(fixed_.X());
  const auto of_nodes = numbers_of((terms.sum(1) * scale).index_select(0, graph.nodes.to(terms.device())));
  finish(out, graph, node, of_nodes, numbers_of(terms.sum(0) * scale));
  return out;
}

// Measures distances. `contributions` are those of the graph's rows.
void Explainer::finish(Explanation& out, const OneGraph& graph, int64_t node,
                       const std::vector<double>& contributions, const std::vector<double>& features) const {
  if (!spread_)
    return list(out, integers_of(graph.nodes), graph.hearing->hops_to(row_of(graph, node)), contributions,
                features);
  const Ranks& ranks = spread_->ranks;
  std::vector<int64_t> number;
  for (int64_t v = 0; v < spread_->own.count(); ++v) number.push_back(spread_->own.number(v));
  const auto nodes = ranks.rows_on_first(torch::tensor(number, torch::kInt64)),
             hops = ranks.rows_on_first(hops_together(node)),
             parts = ranks.rows_on_first(torch::tensor(contributions, torch::kFloat64));
  if (!ranks.is_first()) return;
  list(out, integers_of(nodes), integers_of(hops), numbers_of(parts), features);
}

// Sorts and adds up.
void Explainer::list(Explanation& out, const std::vector<int64_t>& nodes, const std::vector<int64_t>& hops,
                     const std::vector<double>& contributions, const std::vector<double>& features) const {
  std::map<int64_t, std::pair<long double, long double>> raised_lowered;
  std::map<int64_t, int64_t> counts;
  long double sum = out.constant, of_nodes = 0, of_features = 0;
  for (size_t row = 0; row < contributions.size(); ++row) {
    const double x = contributions[row];
    // Equilibria have no other paths than the arcs of S.
    if (hops[row] < 0 && (x == 0 || equilibria_)) continue;
    out.nodes.push_back({nodes[row], hops[row], x});
    of_nodes += x;
    ++counts[hops[row]];
    (x > 0 ? raised_lowered[hops[row]].first : raised_lowered[hops[row]].second) += x;
  }
  sum += of_nodes;
  for (size_t j = 0; j < features.size(); ++j) {
    out.features.push_back({static_cast<int64_t>(j), features[j]});
    of_features += features[j];
  }
  out.sum = static_cast<double>(sum);
  out.remainder = out.score - out.sum;
  out.features_remainder = static_cast<double>(of_nodes - of_features);
  const auto larger = [](const auto& a, const auto& b) {
    return std::abs(a.contribution) > std::abs(b.contribution);
  };
  std::stable_sort(out.nodes.begin(), out.nodes.end(), larger);
  std::stable_sort(out.features.begin(), out.features.end(), larger);
  for (const auto& [distance, count] : counts) {
    const auto& [raising, lowering] = raised_lowered[distance];
    const HopContribution total{distance, count, static_cast<double>(raising + lowering),
                                static_cast<double>(raising), static_cast<double>(lowering)};
    out.by_hop.push_back(total);
  }
  if (!out.by_hop.empty() && out.by_hop[0].hops < 0)
    std::rotate(out.by_hop.begin(), out.by_hop.begin() + 1, out.by_hop.end());
}

std::vector<int64_t> Explainer::on_paths(const std::vector<int64_t>& from, int64_t node) {
  const OneGraph& graph = graph_of(node);
  std::vector<int64_t> next;
  const auto hops = graph.hearing->hops_to(row_of(graph, node), next);
  std::set<int64_t> rows = {row_of(graph, node)};
  for (const int64_t v : from) {
    int64_t row = row_of(graph, v);
    if (row < 0) continue;
    if (hops[row] < 0) rows.insert(row);
    while (row >= 0 && hops[row] >= 0 && rows.insert(row).second) row = next[row];
  }
  std::vector<int64_t> out;
  for (const int64_t row : rows) out.push_back(graph.nodes.data_ptr<int64_t>()[row]);
  return out;
}

std::vector<std::pair<int64_t, int64_t>> Explainer::arcs_among(const std::vector<int64_t>& nodes) {
  std::vector<std::pair<int64_t, int64_t>> arcs;
  if (nodes.empty()) return arcs;
  const OneGraph& graph = graph_of(nodes[0]);
  const Propagation& S = graph.heard ? *graph.heard : *graph.S;
  std::map<int64_t, int64_t> node_of_row;
  for (const int64_t v : nodes) node_of_row[row_of(graph, v)] = v;
  for (const auto& [row, v] : node_of_row)
    for (int64_t e = S.row_begin[row]; e < S.row_begin[row + 1]; ++e) {
      const int64_t other = S.column[e];
      const bool once = other > row || (directed() && other != row);
      if (const auto u = node_of_row.find(other); once && u != node_of_row.end())
        arcs.emplace_back(v, u->second);
    }
  return arcs;
}

}  // namespace eignn
