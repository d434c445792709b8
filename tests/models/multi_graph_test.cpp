// EIGNN over several graphs, with several equilibria, an encoder and the residual head.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "eignn/model.h"
#include "support/oracle.h"

namespace eignn {

// What a failing test prints of its parameter.
void PrintTo(const EignnOptions& options, std::ostream* out);
void PrintTo(const EignnOptions& options, std::ostream* out) {
  *out << name(options.head) << options.equilibria << (options.encoder > 0 ? "-encoded" : "");
}

namespace {

constexpr int64_t features = 5, classes = 4;

std::shared_ptr<Propagation> path(int64_t nodes) {
  return std::make_shared<Propagation>(make_propagation(chain_graph(1, nodes)));
}

// Two paths whose nodes alternate: even nodes are of the first (7), odd ones of the second (6).
struct TwoGraphs {
  std::vector<int64_t> even = {0, 2, 4, 6, 8, 10, 12}, odd = {1, 3, 5, 7, 9, 11};
  torch::Tensor X = test::random_matrix(13, features, 5);

  std::shared_ptr<Model> together(const EignnOptions& options) const {
    std::vector<GraphPart> parts;
    parts.push_back({even, make_solver("spectral", path(7), {}, features)});
    parts.push_back({odd, make_solver("spectral", path(6), {}, features)});
    return make_eignn(std::move(parts), X, classes, options, 3);
  }
  std::shared_ptr<Model> alone(const std::vector<int64_t>& nodes, const EignnOptions& options) const {
    const auto rows = X.index_select(0, torch::tensor(nodes, torch::kInt64));
    return make_eignn(make_solver("spectral", path(static_cast<int64_t>(nodes.size())), {}, features), rows,
                      classes, options, 3);
  }
};

EignnOptions with(Head head, int64_t equilibria, int64_t encoder = 0) {
  EignnOptions options;
  options.head = head;
  options.equilibria = equilibria;
  options.encoder = encoder;
  options.width = 8;
  return options;
}

class SeveralGraphs : public ::testing::TestWithParam<EignnOptions> {};

TEST_P(SeveralGraphs, ScoreAsEachByItself) {
  const TwoGraphs graphs;
  const auto together = graphs.together(GetParam()), first = graphs.alone(graphs.even, GetParam()),
             second = graphs.alone(graphs.odd, GetParam());
  for (const auto& model : {together, first, second}) model->eval();
  // In any order, and from one graph or both.
  const auto f = together->scores(torch::tensor({9, 4, 0, 11}, torch::kInt64));
  const auto a = first->scores(torch::tensor({2, 0}, torch::kInt64)),
             b = second->scores(torch::tensor({4, 5}, torch::kInt64));
  EXPECT_LE(test::relative_error(f, torch::stack({b[0], a[0], a[1], b[1]})), 1e-10);
  EXPECT_LE(test::relative_error(together->scores(torch::tensor({4, 0}, torch::kInt64)), a), 1e-10);
}

TEST_P(SeveralGraphs, GradientsMatchCentralDifferences) {
  const TwoGraphs graphs;
  const auto model = graphs.together(GetParam());
  model->eval();
  const auto index = torch::tensor({1, 2, 3, 12}, torch::kInt64);
  const auto weight = test::random_matrix(4, classes, 9);
  auto value = [&] { return (model->scores(index) * weight).sum(); };
  model->zero_grad();
  value().backward();
  for (auto& item : model->named_parameters()) {
    auto& p = item.value();
    const auto grad = p.grad().clone();
    const torch::NoGradGuard guard;
    auto flat = p.view({-1});
    for (const int64_t k : {int64_t{0}, flat.numel() / 2, flat.numel() - 1}) {
      constexpr double h = 1e-6;
      flat[k] += h;
      const double above = value().item<double>();
      flat[k] -= 2 * h;
      const double below = value().item<double>();
      flat[k] += h;
      EXPECT_NEAR(grad.view({-1})[k].item<double>(), (above - below) / (2 * h), 2e-6)
          << item.key() << " " << k;
    }
  }
}

TEST_P(SeveralGraphs, AnEmptyIndexHasNoScores) {
  const auto model = TwoGraphs().together(GetParam());
  for (const bool training : {false, true}) {
    model->train(training);
    EXPECT_EQ(model->scores(torch::empty({0}, torch::kInt64)).sizes(), (at::IntArrayRef{0, classes}));
  }
}

std::string describe(const ::testing::TestParamInfo<EignnOptions>& info) {
  std::string head = name(info.param.head);
  head.erase(std::remove(head.begin(), head.end(), '-'), head.end());
  return head + std::to_string(info.param.equilibria) + (info.param.encoder > 0 ? "encoded" : "");
}

INSTANTIATE_TEST_SUITE_P(Heads, SeveralGraphs,
                         ::testing::Values(with(Head::plain, 1), with(Head::l2, 2), with(Head::batch_norm, 1),
                                           with(Head::residual, 1), with(Head::residual, 3),
                                           with(Head::residual, 2, 6), with(Head::plain, 1, 3)),
                         describe);

TEST(SeveralEquilibria, StandSideBySideInTheHead) {
  const TwoGraphs graphs;
  const auto model = graphs.alone(graphs.even, with(Head::plain, 2));
  const auto X = graphs.X.index_select(0, torch::tensor(graphs.even, torch::kInt64));
  std::vector<torch::Tensor> Z;
  for (const auto& F : model->propagation_weights())
    Z.push_back(test::dense_equilibrium(*path(7), F.detach(), X, 0.8));
  ASSERT_EQ(Z.size(), 2u);
  const auto B = model->named_parameters()["B"].detach();
  const auto expected = torch::cat(Z, 1).mm(B.t());
  EXPECT_LE(test::relative_error(model->scores(torch::arange(7)).detach(), expected), 1e-10);
}

TEST(ResidualHead, IsTheStatedNetwork) {
  const TwoGraphs graphs;
  const auto model = graphs.alone(graphs.odd, with(Head::residual, 1));
  model->eval();
  const auto X = graphs.X.index_select(0, torch::tensor(graphs.odd, torch::kInt64));
  const auto P = [&](const char* name) { return model->named_parameters()[name].detach(); };
  // In evaluation a fresh batch norm divides by √(1 + 1e-5).
  const auto layer = [](const torch::Tensor& h) { return torch::elu(h / std::sqrt(1 + 1e-5)); };
  const auto Z = test::dense_equilibrium(*path(6), P("F"), X, 0.8);
  auto h = layer(Z.mm(P("head.W_z").t()) + X.mm(P("head.W_x").t()));
  for (const char* W : {"head.W0", "head.W1"}) h = layer(h + h.mm(P(W).t()));
  const auto expected = h.mm(P("head.W_out").t()) + P("head.b_out");
  EXPECT_LE(test::relative_error(model->scores(torch::arange(6)).detach(), expected), 1e-10);
}

}  // namespace
}  // namespace eignn
