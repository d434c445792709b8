// How far a model hears: the share of |∂f_v/∂x_u|₁ that nodes at each distance have, over a sample of nodes
// v.
//
// For EIGNN one adjoint solve with y = ∂f_v/∂z_v gives ∂f_v/∂x_u for all u; nodes v in different components
// share one, since none hears another's part. Other models take a backward pass for each v.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>

#include "eignn/error.h"
#include "explain/explainer.h"
#include "graph/random_stream.h"

namespace eignn {

namespace {

// Ascending, so that nodes of one graph come together.
std::vector<int64_t> drawn(int64_t nodes, const InfluenceOptions& options) {
  auto generator = at::detail::createCPUGenerator(stream_seed(options.seed, Stream::explain));
  const auto order =
      torch::randperm(nodes, generator, torch::kInt64).narrow(0, 0, std::min(nodes, options.sample));
  std::vector<int64_t> sample(order.data_ptr<int64_t>(), order.data_ptr<int64_t>() + order.numel());
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace

// Nodes whose influences come from one pass: of one graph, and no two of one component.
std::vector<std::vector<int64_t>> Explainer::passes(const std::vector<int64_t>& sample) {
  std::vector<std::vector<int64_t>> out;
  if (!equilibria_) {
    for (const int64_t v : sample) out.push_back({v});
    return out;
  }
  std::map<const OneGraph*, Components> components;
  std::map<std::pair<const OneGraph*, int64_t>, size_t> seen;               // in a component
  std::map<std::pair<const OneGraph*, size_t>, std::vector<int64_t>> pass;  // of a graph
  for (const int64_t v : sample) {
    const OneGraph* graph = &graph_of(v);
    auto& here = components[graph];
    if (here.label.empty()) here = weak_components(graph->S->pattern());
    pass[{graph, seen[{graph, here.label[row_of(*graph, v)]}]++}].push_back(v);
  }
  for (auto& [of, nodes] : pass) out.push_back(std::move(nodes));
  return out;
}

// The gradient of Σ_r f_r,classes[r] in z · 2^exponent at these rows, (rows, width); under the l2 head, which
// does not depend on the scale of z, in z alone. `of_x`, if given, becomes the gradient in the rows of x that
// the head reads, undefined where it reads none.
torch::Tensor Explainer::head_gradient(const OneGraph& graph, const States& at,
                                       const std::vector<int64_t>& rows, const std::vector<int64_t>& classes,
                                       torch::Tensor* of_x) const {
  const torch::AutoGradMode with_gradients(true);
  const auto affine = equilibria_->affine_head();
  const auto exponents = torch::tensor(at.exponent, torch::kInt64).to(at.z.device());
  const bool scale_free = affine && affine->of_unit_rows;
  const auto z = (scale_free ? at.z : ScaledRows{at.z, exponents}.plain()).detach().clone().requires_grad_();
  const auto index = torch::tensor(rows, torch::kInt64).to(at.z.device());
  const int64_t first = graph.nodes.data_ptr<int64_t>()[rows[0]];
  const auto x = equilibria_->features_of(equilibria_->place_of(first).graph)
                     .index_select(0, index)
                     .detach()
                     .clone()
                     .requires_grad_();
  const auto f = equilibria_->head(z, x);
  const auto chosen = torch::tensor(classes, torch::kInt64).to(at.z.device()).unsqueeze(1);
  const auto gradients = torch::autograd::grad({f.gather(1, chosen).sum()}, {z, x}, {}, {}, false, true);
  if (of_x) *of_x = gradients[1];
  return gradients[0].defined() ? gradients[0] : torch::zeros_like(z);
}

Explainer::Heard Explainer::heard_through_equilibria(const std::vector<int64_t>& targets) {
  const OneGraph& graph = solved_graph_of(targets[0]);
  const torch::NoGradGuard guard;
  std::vector<int64_t> rows;
  for (const int64_t v : targets) rows.push_back(row_of(graph, v));
  const auto index = torch::tensor(rows, torch::kInt64).to(model_.type().device());
  const auto X = equilibria_->features_of(equilibria_->place_of(targets[0]).graph);
  const States at = states(graph, rows);
  const auto affine = equilibria_->affine_head();
  const bool scale_free = affine && affine->of_unit_rows;
  auto exponents = at.exponent;
  for (int64_t& e : exponents) e = scale_free ? -e : 0;
  const auto z = scale_free
                     ? at.z
                     : ScaledRows{at.z, torch::tensor(at.exponent, torch::kInt64).to(at.z.device())}.plain();
  const auto f = equilibria_->head(z, X.index_select(0, index)).to(torch::kCPU);
  std::vector<int64_t> classes(rows.size(), 0);
  for (size_t r = 0; r < rows.size() && !data_.is_regression(); ++r)
    classes[r] = f[static_cast<int64_t>(r)].argmax().item<int64_t>();
  torch::Tensor own;
  const auto y = head_gradient(graph, at, rows, classes, &own);
  const auto W = of_features(targets[0], adjoints(graph, rows, y, exponents));
  Heard out{&graph, {}};
  const int64_t n = graph.H.size(0);
  constexpr int64_t rows_at_a_time = 1 << 16;
  std::vector<int64_t> place(n, -1);  // in `rows`
  if (own.defined())
    for (size_t r = 0; r < rows.size(); ++r) place[rows[r]] = static_cast<int64_t>(r);
  for (int64_t first = 0; first < n; first += rows_at_a_time) {
    const int64_t count = std::min(rows_at_a_time, n - first);
    torch::Tensor w;
    for (const ScaledRows& part : W) {
      const auto here =
          ScaledRows{part.values.narrow(0, first, count),
                     part.exponents.defined() ? part.exponents.narrow(0, first, count) : part.exponents}
              .plain();
      w = w.defined() ? w + here : here;
    }
    auto gradient = through_encoder(X.narrow(0, first, count), w);
    if (own.defined())  // the head reads x_v itself
      for (int64_t r = 0; r < count; ++r)
        if (place[first + r] >= 0)
          gradient =
              gradient.index_add(0, torch::tensor({r}, torch::dtype(torch::kInt64).device(gradient.device())),
                                 own.narrow(0, place[first + r], 1));
    const auto sizes = gradient.to(torch::kFloat64).abs().sum(1).to(torch::kCPU);
    out.size.insert(out.size.end(), sizes.data_ptr<double>(), sizes.data_ptr<double>() + count);
  }
  return out;
}

Explainer::Heard Explainer::heard_by(const std::vector<int64_t>& targets) {
  if (equilibria_) return heard_through_equilibria(targets);
  const torch::AutoGradMode with_gradients(true);
  const OneGraph& graph = graph_of(targets[0]);
  const auto X = fixed_.X().detach().clone().requires_grad_();
  const auto f = fixed_.scores(X, torch::tensor(targets, torch::kInt64).to(model_.type().device()));
  const auto chosen = data_.is_regression() ? f.select(1, 0) : std::get<0>(f.max(1));
  const auto gradient = torch::autograd::grad({chosen.sum()}, {X}, {}, {}, false, /*allow_unused=*/true)[0];
  Heard out{&graph, std::vector<double>(graph.nodes.numel(), 0.0)};
  if (!gradient.defined()) return out;
  const auto sizes = gradient.to(torch::kFloat64).abs().sum(1).to(torch::kCPU).index_select(0, graph.nodes);
  out.size.assign(sizes.data_ptr<double>(), sizes.data_ptr<double>() + sizes.numel());
  return out;
}

Influence Explainer::influence(const InfluenceOptions& options) {
  require_one_process("influence", "the influence of nodes is measured");
  if (options.sample < 1)
    throw ArgumentError("sample", fmt::format("a sample of {} nodes", options.sample), "give 1 or more");
  Influence out;
  std::vector<double> share, nodes;  // by hops
  for (const auto& targets : passes(drawn(data_.nodes(), options))) {
    const Heard heard = heard_by(targets);
    for (const int64_t v : targets) {
      const auto hops = heard.graph->hearing->hops_to(row_of(*heard.graph, v));
      std::vector<double> of_hop, count;
      double reached = 0, everywhere = 0;
      for (size_t u = 0; u < hops.size(); ++u) {
        everywhere += heard.size[u];
        if (hops[u] < 0) continue;
        const auto d = static_cast<size_t>(hops[u]);
        if (d >= of_hop.size()) {
          of_hop.resize(d + 1, 0);
          count.resize(d + 1, 0);
        }
        of_hop[d] += heard.size[u];
        count[d] += 1;
        reached += heard.size[u];
      }
      // The other nodes of a pass are in other components; alone, v may hear nodes without a path.
      const double total = equilibria_ ? reached : everywhere;
      ++out.sample;
      if (!(total > 0)) {
        ++out.silent;
        continue;
      }
      if (of_hop.size() > share.size()) {
        share.resize(of_hop.size(), 0);
        nodes.resize(of_hop.size(), 0);
      }
      for (size_t d = 0; d < of_hop.size(); ++d) {
        share[d] += of_hop[d] / total;
        nodes[d] += count[d];
      }
      out.elsewhere += (total - reached) / total;
    }
  }
  if (!equilibria_) model_.use_features(fixed_.X());
  const auto heard = static_cast<double>(std::max<int64_t>(1, out.sample - out.silent));
  out.elsewhere = std::max(0.0, out.elsewhere / heard);
  double cumulative = 0;
  for (size_t d = 0; d < share.size(); ++d) {
    cumulative += share[d] / heard;
    out.mean_hops += static_cast<double>(d) * share[d] / heard;
    out.by_hop.push_back({static_cast<int64_t>(d), nodes[d] / heard, share[d] / heard, cumulative});
  }
  return out;
}

}  // namespace eignn
