#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/model.h"
#include "support/oracle.h"

namespace eignn {
namespace {

constexpr int64_t nodes = 34, features = 6, classes = 3;

struct Parts {
  std::shared_ptr<Propagation> S = std::make_shared<Propagation>(make_propagation(karate_club()));
  torch::Tensor X = test::random_matrix(nodes, features, 1);
  std::shared_ptr<Model> model(const EignnOptions& options, const char* solver = "spectral",
                               uint64_t seed = 7) const {
    return make_eignn(make_solver(solver, S, {}, features), X, classes, options, seed);
  }
};

torch::Tensor parameter(const Model& model, const char* name) {
  return *model.named_parameters().find(name);
}

TEST(Eignn, ThePlainHeadIsLinearInZ) {
  const Parts parts;
  const auto model = parts.model({Head::plain, Start::xavier, 0});
  const auto Z = test::dense_equilibrium(*parts.S, parameter(*model, "F").detach(), parts.X, 0.8);
  const auto index = torch::tensor({3, 30, 11}, torch::kInt64);
  const auto expected = Z.index_select(0, index).mm(parameter(*model, "B").detach().t());
  EXPECT_LE(test::relative_error(model->scores(index).detach(), expected), 1e-10);
}

TEST(Eignn, TheL2HeadDoesNotDependOnTheScaleOfTheFeatures) {
  Parts parts;
  const auto index = torch::arange(nodes);
  const auto before = parts.model({Head::l2, Start::xavier, 0})->scores(index).detach();
  parts.X = parts.X * 1e-200;  // squares underflow
  const auto after = parts.model({Head::l2, Start::xavier, 0})->scores(index).detach();
  EXPECT_LE(test::relative_error(after, before), 1e-10);
}

TEST(Eignn, ANodeThatNoSignalReachesKeepsFiniteScoresAndGradients) {
  Parts parts;
  parts.S = std::make_shared<Propagation>(make_propagation(Graph::from_arcs(nodes, {0, 1}, {1, 2})));
  parts.X = torch::zeros({nodes, features}, torch::kFloat64);
  parts.X[0][0] = 1;
  const auto model = parts.model({Head::l2, Start::xavier, 0});
  const auto scores = model->scores(torch::arange(nodes));
  EXPECT_EQ(scores[20].detach().abs().max().item<double>(), 0);
  scores.square().sum().backward();
  EXPECT_TRUE(torch::isfinite(parameter(*model, "F").grad()).all().item<bool>());
}

TEST(Eignn, BatchNormSeesAllNodes) {
  const Parts parts;
  const auto model = parts.model({Head::batch_norm, Start::xavier, 0});
  model->train();
  const auto Z = test::dense_equilibrium(*parts.S, parameter(*model, "F").detach(), parts.X, 0.8);
  const auto normed = (Z - Z.mean(0)) / (Z.var(0, /*unbiased=*/false) + 1e-5).sqrt();
  const auto index = torch::tensor({2, 5}, torch::kInt64);
  EXPECT_LE(test::relative_error(model->scores(index).detach(),
                                 normed.index_select(0, index).mm(parameter(*model, "B").detach().t())),
            1e-9);
}

TEST(Eignn, EveryHeadHasTheGradientOfItsLoss) {
  const Parts parts;
  const auto index = torch::tensor({1, 8, 20, 33}, torch::kInt64);
  const auto target = test::random_matrix(4, classes, 9);
  for (Head head : {Head::plain, Head::l2, Head::batch_norm}) {
    for (const char* solver : {"spectral", "direct", "krylov"}) {
      const auto model = parts.model({head, Start::xavier, 0}, solver);
      model->train();
      auto loss = [&] { return (model->scores(index) * target).sum(); };
      model->zero_grad();
      loss().backward();
      for (auto& item : model->named_parameters()) {
        const auto D = test::random_matrix(item.value().numel(), 1, 11).reshape(item.value().sizes());
        const auto start = item.value().detach().clone();
        auto at = [&](double step) {
          const torch::NoGradGuard guard;
          item.value().copy_(start + step * D);
          return loss().item<double>();
        };
        const double h = 1e-6, numeric = (at(h) - at(-h)) / (2 * h);
        at(0);
        const double scale = item.value().grad().norm().item<double>() * D.norm().item<double>();
        EXPECT_NEAR((item.value().grad() * D).sum().item<double>(), numeric, 1e-6 * scale)
            << name(head) << " " << solver << " " << item.key();
      }
    }
  }
}

// f + c with every head and solver: the intercept passes by the solves.
TEST(Eignn, TheInterceptIsAddedToEveryScoreAndHasItsGradient) {
  const Parts parts;
  const auto index = torch::tensor({1, 8, 20, 33}, torch::kInt64);
  const auto G = test::random_matrix(4, classes, 9);
  for (const Head head : {Head::plain, Head::l2, Head::batch_norm}) {
    for (const char* solver : {"spectral", "direct", "krylov", "sparse", "deflated", "picard"}) {
      EignnOptions with{head, Start::xavier, 0};
      with.intercept = true;
      const auto model = parts.model(with, solver), plain = parts.model({head, Start::xavier, 0}, solver);
      {
        const torch::NoGradGuard guard;
        parameter(*model, "intercept").copy_(torch::tensor({0.5, -2.0, 7.0}, torch::kFloat64));
      }
      for (const bool training : {true, false}) {
        model->train(training);
        plain->train(training);
        const auto difference = (model->scores(index) - plain->scores(index)).detach();
        EXPECT_TRUE(torch::allclose(difference, parameter(*model, "intercept").detach().expand({4, classes}),
                                    1e-9, 1e-9))
            << name(head) << " " << solver;
        const torch::NoGradGuard guard;
        EXPECT_TRUE(torch::allclose(model->scores(index) - plain->scores(index), difference, 1e-9, 1e-9))
            << name(head) << " " << solver;
      }
      model->zero_grad();
      (model->scores(index) * G).sum().backward();
      EXPECT_TRUE(torch::allclose(parameter(*model, "intercept").grad(), G.sum(0), 1e-12));
    }
  }
}

TEST(Eignn, AnEncoderWithoutAnActivationKeepsTheScoresAffine) {
  Parts parts;
  EignnOptions options{Head::plain, Start::xavier, 0};
  options.encoder = 5;
  options.intercept = true;
  const auto solver = [&] { return make_solver("spectral", parts.S, {}, options.encoder); };
  const auto model = make_eignn(solver(), parts.X, classes, options, 7);
  EXPECT_TRUE(model->linear_in_features());
  model->eval();
  const auto index = torch::arange(nodes);
  const auto at = [&](const torch::Tensor& X) {
    model->use_features(X);
    return model->scores(index).detach();
  };
  const auto other = test::random_matrix(nodes, features, 31);
  const auto middle = at(0.25 * parts.X + 0.75 * other), mixed = 0.25 * at(parts.X) + 0.75 * at(other);
  EXPECT_LE(test::relative_error(middle, mixed), 1e-10);

  options.encoder_activation = Activation::relu;
  EXPECT_FALSE(make_eignn(solver(), parts.X, classes, options, 7)->linear_in_features());
}

TEST(Eignn, SolvesAgainWhenTheEncoderHasMoved) {
  Parts parts;
  EignnOptions options{Head::batch_norm, Start::xavier, 0};
  options.encoder = 5;
  const auto model = make_eignn(make_solver("spectral", parts.S, {}, 5), parts.X, classes, options, 7);
  model->eval();
  const auto index = torch::arange(nodes);
  const auto before = model->scores(index).detach();
  EXPECT_TRUE(model->scores(index).detach().equal(before));
  for (const char* name : {"encoder_weight", "encoder_bias"}) {
    const auto last = model->scores(index).detach();
    {
      const torch::NoGradGuard guard;
      parameter(*model, name).add_(0.3 * test::random_matrix(1, 1, 3).item<double>() + 0.2);
    }
    EXPECT_GT(test::relative_error(model->scores(index).detach(), last), 1e-3) << name;
  }
}

TEST(Eignn, OrthogonalStartHasEqualEigenvalues) {
  const auto F = parameter(*Parts().model({Head::plain, Start::orthogonal, 0}), "F").detach();
  EXPECT_LE((F.t().mm(F) - torch::eye(features, torch::kFloat64)).abs().max().item<double>(), 1e-14);
}

TEST(Eignn, XavierStartHasItsVariance) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  const auto model =
      make_eignn(make_solver("spectral", S, {}, 200), torch::ones({nodes, 200}, torch::kFloat64), 2,
                 {Head::plain, Start::xavier, 0}, 1);
  const auto F = parameter(*model, "F").detach();
  EXPECT_NEAR(F.var().item<double>() * 200, 1.0, 0.02);
  EXPECT_LE(F.abs().max().item<double>(), std::sqrt(3.0 / 200));
}

TEST(Eignn, DropoutFollowsItsSeedAndIsOffOutsideTraining) {
  const Parts parts;
  const auto model = parts.model({Head::l2, Start::xavier, 0.5});
  const auto index = torch::arange(nodes);
  model->train();
  model->seed_dropout(1);
  const auto a = model->scores(index).detach();
  model->seed_dropout(1);
  EXPECT_TRUE(model->scores(index).detach().equal(a));
  model->seed_dropout(2);
  EXPECT_FALSE(model->scores(index).detach().equal(a));
  model->eval();
  EXPECT_TRUE(model->scores(index).detach().equal(model->scores(index).detach()));
}

TEST(Eignn, SolvesAgainWhenFHasMoved) {
  const Parts parts;
  const auto model = parts.model({Head::plain, Start::xavier, 0});
  const auto index = torch::arange(nodes);
  const auto before = model->scores(index).detach();
  {
    const torch::NoGradGuard guard;
    parameter(*model, "F").mul_(-1).add_(0.1);
  }
  EXPECT_GT(test::relative_error(model->scores(index).detach(), before), 1e-3);
}

TEST(Eignn, OtherFeaturesAreSolvedForAnewWithAGradientInThem) {
  const Parts parts;
  const auto index = torch::tensor({1, 8, 20, 33}, torch::kInt64);
  const auto G = test::random_matrix(4, classes, 9);
  for (const Head head : {Head::plain, Head::l2, Head::batch_norm, Head::residual}) {
    for (const char* solver : {"spectral", "direct", "krylov", "sparse"}) {
      EignnOptions options{head, Start::xavier, 0};
      options.width = 8;
      const auto model = parts.model(options, solver);
      model->eval();
      model->scores(index);  // solves for the first features
      const auto X = test::random_matrix(nodes, features, 21).requires_grad_();
      const auto value = [&] {
        model->use_features(X);
        return (model->scores(index) * G).sum();
      };
      value().backward();
      const torch::NoGradGuard guard;
      for (const int64_t k : {int64_t{8}, int64_t{100}, nodes * features - 1}) {
        constexpr double h = 1e-6;
        auto flat = X.view({-1});
        flat[k] += h;
        const double above = value().item<double>();
        flat[k] -= 2 * h;
        const double below = value().item<double>();
        flat[k] += h;
        EXPECT_NEAR(X.grad().view({-1})[k].item<double>(), (above - below) / (2 * h), 1e-6)
            << name(head) << " " << solver << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace eignn
