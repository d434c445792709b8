#include "attack/response.h"

#include <torch/torch.h>

#include <algorithm>

namespace eignn {

namespace {

class OwnRows : public Response {
 public:
  OwnRows(FixedModel& model, const torch::Tensor& nodes) : model_(model), nodes_(nodes) {}

  torch::Tensor none() const override {
    return torch::zeros({nodes_.size(0), model_.X().size(1)}, model_.X().options());
  }

  torch::Tensor scores(const torch::Tensor& delta) override {
    const torch::NoGradGuard guard;
    std::vector<torch::Tensor> rows;
    for (int64_t t = 0; t < nodes_.size(0); ++t) rows.push_back(model_.scores(changed(t, delta), node(t)));
    return torch::cat(rows, 0);
  }

  torch::Tensor gradient(const torch::Tensor& delta, const Cotangent& cotangent) override {
    std::vector<torch::Tensor> out;
    for (int64_t t = 0; t < nodes_.size(0); ++t) {
      const auto X = changed(t, delta).requires_grad_();
      const auto f = model_.scores(X, node(t));
      const auto W = torch::autograd::grad({f}, {X}, {cotangent(f.detach(), t)})[0];
      out.push_back(W.index_select(0, node(t)));
    }
    return torch::cat(out, 0);
  }

 private:
  torch::Tensor node(int64_t t) const { return nodes_.narrow(0, t, 1); }
  torch::Tensor changed(int64_t t, const torch::Tensor& delta) const {
    return model_.X().index_add(0, node(t), delta.narrow(0, t, 1));
  }

  FixedModel& model_;
  torch::Tensor nodes_;
};

class AllRows : public Response {
 public:
  AllRows(FixedModel& model, const torch::Tensor& nodes) : model_(model), nodes_(nodes) {}

  torch::Tensor none() const override { return torch::zeros_like(model_.X()); }

  torch::Tensor scores(const torch::Tensor& delta) override {
    const torch::NoGradGuard guard;
    return model_.scores(model_.X() + delta, nodes_);
  }

  torch::Tensor gradient(const torch::Tensor& delta, const Cotangent& cotangent) override {
    const auto X = (model_.X() + delta).requires_grad_();
    const auto f = model_.scores(X, nodes_);
    return torch::autograd::grad({f}, {X}, {cotangent(f.detach(), 0)})[0];
  }

 private:
  FixedModel& model_;
  torch::Tensor nodes_;
};

class LinearRows : public Response {
 public:
  explicit LinearRows(const Jacobians& jacobians) : f_(jacobians.scores), J_(jacobians.own) {}

  torch::Tensor none() const override { return torch::zeros({J_.size(0), J_.size(1)}, J_.options()); }
  torch::Tensor scores(const torch::Tensor& delta) override {
    return f_ + torch::bmm(delta.unsqueeze(1), J_).squeeze(1);
  }
  torch::Tensor gradient(const torch::Tensor& delta, const Cotangent& cotangent) override {
    return torch::bmm(J_, cotangent(scores(delta), 0).unsqueeze(2)).squeeze(2);
  }

 private:
  torch::Tensor f_, J_;
};

// Groups of targets such that no group has two targets of the same component.
std::vector<std::vector<int64_t>> apart(const torch::Tensor& nodes, const Components& components) {
  std::vector<int64_t> seen(components.count, 0);
  std::vector<std::vector<int64_t>> groups;
  for (int64_t t = 0; t < nodes.size(0); ++t) {
    const auto group = static_cast<size_t>(seen[components.label[nodes[t].item<int64_t>()]]++);
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(t);
  }
  return groups;
}

}  // namespace

std::unique_ptr<Response> own_rows(FixedModel& model, const torch::Tensor& nodes) {
  return std::make_unique<OwnRows>(model, nodes);
}

std::unique_ptr<Response> all_rows(FixedModel& model, const torch::Tensor& nodes) {
  return std::make_unique<AllRows>(model, nodes);
}

std::unique_ptr<Response> linear_rows(const Jacobians& jacobians) {
  return std::make_unique<LinearRows>(jacobians);
}

Jacobians jacobians(FixedModel& model, const Graph& graph, const torch::Tensor& nodes,
                    const torch::Tensor& labels, bool with_all_rows) {
  const Components components = weak_components(graph);
  const auto X = model.X().detach().clone().requires_grad_();
  const auto f = model.scores(X, nodes);
  const int64_t targets = nodes.size(0), classes = f.size(1), n = X.size(0);
  const auto on = X.device();
  const auto component_of = torch::tensor(components.label, torch::kInt64).to(on);
  Jacobians out;
  out.scores = f.detach();
  out.own = torch::zeros({targets, X.size(1), classes}, X.options().requires_grad(false));
  if (with_all_rows) out.slopes_of_all = torch::zeros_like(out.scores);
  for (const auto& group : apart(nodes.to(torch::kCPU), components)) {
    const auto at = torch::tensor(group, torch::kInt64).to(on);
    const auto group_nodes = nodes.index_select(0, at);
    std::vector<torch::Tensor> W;  // of each class; row u belongs to the target in u's component
    for (int64_t k = 0; k < classes; ++k) {
      auto cotangent = torch::zeros_like(out.scores);
      cotangent.select(1, k).index_fill_(0, at, 1);
      W.push_back(torch::autograd::grad({f}, {X}, {cotangent}, /*retain_graph=*/true)[0]);
      out.own.select(2, k).index_copy_(0, at, W.back().index_select(0, group_nodes));
      if (!with_all_rows) W.clear();
    }
    if (!with_all_rows) continue;
    const auto home = component_of.index_select(0, group_nodes);
    auto label_in = torch::zeros({components.count}, torch::dtype(torch::kInt64).device(on));
    label_in.index_copy_(0, home, labels.index_select(0, at));
    const auto y = label_in.index_select(0, component_of).view({1, n, 1}).expand({1, n, X.size(1)});
    const auto W_y = torch::stack(W).gather(0, y).squeeze(0);
    for (int64_t k = 0; k < classes; ++k) {
      auto sums = torch::zeros({components.count}, out.scores.options());
      sums.index_add_(0, component_of, (W_y - W[k]).abs().sum(1));
      out.slopes_of_all.select(1, k).index_copy_(0, at, sums.index_select(0, home));
    }
  }
  return out;
}

}  // namespace eignn
