// IGNN: its fixed point, its gradient, its ball, and what it says when it does not converge.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/implicit_state.h"
#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

constexpr PicardOptions exact = {1e-14, 5000};

struct Layer {
  SmallProblem problem{test::directed_graph(), test::inwards()};
  SharedProduct S = make_product(*problem.S, torch::kFloat64);
  double rho = spectral_radius(*problem.S);
  torch::Tensor W = project_rows(test::random_matrix(5, 5, 2), 0.9 / rho), B = test::random_matrix(7, 5, 3);
  std::shared_ptr<PicardCounts> counts = std::make_shared<PicardCounts>();

  torch::Tensor state(const PicardOptions& options) const { return implicit_state(S, W, B, options, counts); }
  torch::Tensor step(const torch::Tensor& Z) const {
    return torch::relu(problem.received().mm(Z).mm(W.t()) + B);
  }
};

TEST(ImplicitState, IsAFixedPointToTheTolerance) {
  const Layer layer;
  for (const double tolerance : {3e-6, 1e-12}) {
    const auto Z = layer.state({tolerance, 5000});
    EXPECT_LE((layer.step(Z) - Z).abs().max().item<double>(), tolerance);
  }
  EXPECT_GT(layer.state(exact).abs().max().item<double>(), 0.1);
  EXPECT_EQ(layer.counts->non_converged, 0);
}

TEST(ImplicitState, GradientsMatchCentralDifferences) {
  Layer layer;
  layer.W.requires_grad_();
  layer.B.requires_grad_();
  const auto G = test::random_matrix(7, 5, 4);
  const auto value = [&] { return (layer.state(exact) * G).sum(); };
  value().backward();
  for (const torch::Tensor& t : {layer.W, layer.B})
    for (int64_t k = 0; k < t.numel(); k += 3)
      EXPECT_NEAR(t.grad().view({-1})[k].item<double>(),
                  test::central_difference(t, k, 1e-6, [&] { return value().item<double>(); }), 1e-7)
          << k;
}

TEST(ImplicitState, ASmallGradientIsSolvedAsWellAsALargeOne) {
  Layer layer;
  layer.W.requires_grad_();
  const auto G = test::random_matrix(7, 5, 4);
  const PicardOptions options = {1e-10, 5000};
  layer.state(options).backward(G);
  const auto large = layer.W.grad().clone();
  layer.W.mutable_grad().zero_();
  layer.state(options).backward(1e-9 * G);
  EXPECT_LE(relative_error(layer.W.grad() * 1e9, large), 1e-8);
}

TEST(ImplicitState, SolvesThatStopShortAreCounted) {
  Layer layer;
  layer.W.requires_grad_();
  const auto Z = layer.state({1e-12, 3});
  EXPECT_EQ(layer.counts->non_converged, 1);
  Z.sum().backward();
  EXPECT_EQ(layer.counts->non_converged, 2);
  EXPECT_EQ(layer.counts->solves, 2);
  // Outside the ball there may be no state at all.
  layer.W = 50 * layer.W.detach().abs();
  layer.state({1e-6, 2000});
  EXPECT_EQ(layer.counts->non_converged, 3);
}

TEST(ProjectRows, GivesTheNearestPointOfTheBall) {
  const auto W = test::random_matrix(6, 8, 5);
  const double radius = 2;
  const auto P = project_rows(W, radius);
  EXPECT_LE(P.abs().sum(1).max().item<double>(), radius * (1 + 1e-15));
  EXPECT_TRUE(project_rows(P, radius).equal(P));  // a point of the ball stays
  const double distance = (P - W).norm().item<double>();
  for (uint64_t seed = 0; seed < 200; ++seed) {  // and none of the ball is nearer
    const auto Q = test::random_matrix(6, 8, 100 + seed);
    const auto inside = Q * (radius / Q.abs().sum(1, true));
    for (const double t : {1.0, 0.1, 0.01})
      EXPECT_GE((P + t * (inside - P) - W).norm().item<double>(), distance - 1e-12);
  }
}

TEST(SpectralRadius, IsTheLargestEigenvalue) {
  PropagationOptions without;
  without.self_loops = false;  // a bipartite graph then has -ρ too
  for (const Propagation& S : {make_propagation(karate_club()), make_propagation(chain_graph(1, 6), without),
                               make_propagation(test::directed_graph(), test::inwards()),
                               make_propagation(test::random_graph(30, 2, 8), test::inwards())}) {
    const auto values = torch::linalg_eigvals(test::dense_S(S));
    EXPECT_NEAR(spectral_radius(S), values.abs().max().item<double>(), 1e-4);
  }
}

TEST(Ignn, IsTheStatedNetwork) {
  const SmallProblem problem;
  for (const Head head : {Head::plain, Head::l2}) {
    test::AnyOptions options;
    options.hidden = 5;
    options.head = head;
    options.tolerance = 1e-14;
    options.max_iterations = 5000;
    const auto model = problem.model("ignn", options);
    const auto bias = problem.received().mm(problem.X).mm(weight(*model, "Omega"));
    auto Z = torch::zeros({34, 5}, torch::kFloat64);
    for (int k = 0; k < 1000; ++k)
      Z = torch::relu(problem.received().mm(Z).mm(weight(*model, "W").t()) + bias);
    if (head == Head::l2) Z = Z / Z.norm(2, 1, true).clamp_min(1e-300);
    EXPECT_LE(relative_error(scores(*model, 34), Z.mm(weight(*model, "B"))), 1e-11);
    EXPECT_EQ(model->non_converged_solves(), 0);
  }
}

TEST(Ignn, WStaysInTheBallAfterEveryStep) {
  const SmallProblem problem(test::random_graph(30, 2, 8), test::inwards());
  test::AnyOptions options;
  options.kappa = 0.7;
  const auto model = problem.model("ignn", options);
  const double radius = 0.7 / spectral_radius(*problem.S);
  const auto norm = [&] { return weight(*model, "W").abs().sum(1).max().item<double>(); };
  EXPECT_LE(norm(), radius * (1 + 1e-12));
  {
    const torch::NoGradGuard guard;
    model->named_parameters()["W"].mul_(10);
  }
  EXPECT_GT(norm(), radius);
  model->after_step();
  EXPECT_LE(norm(), radius * (1 + 1e-12));
}

TEST(Ignn, SaysThatASolveDidNotConverge) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.max_iterations = 2;
  const auto model = problem.model("ignn", options);
  scores(*model, 34);
  EXPECT_EQ(model->non_converged_solves(), 1);
  EXPECT_FALSE(problem.model("gcn")->non_converged_solves().has_value());
}

TEST(IgnnFinite, TendsToIgnnAsTheStepsGrow) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.hidden = 5;
  options.kappa = 0.5;
  options.tolerance = 1e-14;
  const auto limit = scores(*problem.model("ignn", options), 34);
  double last = 1e300;
  for (const int64_t layers : {1, 4, 16, 40}) {
    options.layers = layers;
    const double error = relative_error(scores(*problem.model("ignn-finite", options), 34), limit);
    EXPECT_LT(error, last) << layers;
    last = error;
  }
  EXPECT_LE(last, 1e-11);
}

TEST(IgnnFinite, TheGradientStaysFiniteWhereStatesUnderflow) {
  PropagationOptions in;
  in.direction = Direction::in;
  constexpr int64_t length = 300;
  const auto S = std::make_shared<Propagation>(make_propagation(chain_graph(1, length), in));
  auto X = torch::zeros({length, 2}, torch::kFloat32);
  X[0][0] = 1;
  test::AnyOptions options;
  options.layers = length;
  options.hidden = 4;
  options.head = Head::l2;
  const auto model =
      make_baseline(test::options_for("ignn-finite", options), {{{}, S}}, X, 2, torch::kFloat32, 1);
  {
    const torch::NoGradGuard guard;  // every unit hands the signal on
    model->named_parameters()["W"].copy_(0.9 * torch::eye(4));
    model->named_parameters()["Omega"].abs_();
  }
  const auto f = model->scores(torch::arange(length));
  EXPECT_EQ(f[length - 1].abs().max().item<double>(), 0);
  EXPECT_GT(f[60].abs().max().item<double>(), 0.01);  // far away, in range
  f.square().sum().backward();
  for (const auto& parameter : model->parameters())
    EXPECT_TRUE(torch::isfinite(parameter.grad()).all().item<bool>());
}

TEST(IgnnFinite, ItsWIsFreeWhereKappaIsZero) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.kappa = 0;
  const auto model = problem.model("ignn-finite", options);
  const auto before = weight(*model, "W").clone();
  model->after_step();
  EXPECT_TRUE(weight(*model, "W").equal(before));
}

TEST(Ignn, FiveImplicitLayersHaveLinearSkips) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.hidden = 2;
  options.implicit_layers = 5;
  const auto model = problem.model("ignn", options);
  const torch::NoGradGuard guard;
  auto H = problem.X;
  for (int k = 0; k < 5; ++k) {
    const std::string l = std::to_string(k);
    EXPECT_EQ(weight(*model, "W" + l).size(0), (std::vector<int64_t>{8, 4, 4, 2, test::classes})[k]);
    model->named_parameters()["Omega" + l].zero_();  // the states vanish, the skips are left
    H = H.mm(weight(*model, "V" + l)) + weight(*model, "c" + l);
    if (k < 4) H = torch::elu(H);
  }
  EXPECT_LE(relative_error(scores(*model, 34), H), 1e-13);
}

}  // namespace
}  // namespace eignn
