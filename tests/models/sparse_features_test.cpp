// Features that stay sparse, from the tensor to the optimiser: the same model on the same numbers as a dense
// matrix.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/dataset.h"
#include "eignn/error.h"
#include "eignn/model.h"
#include "models/sparse_features.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "train/assemble.h"
#include "train/feature_transform.h"
#include "train/trainer.h"

namespace eignn {
namespace {

using test::relative_error;

constexpr int64_t n = 40, m = 60, classes = 3;

torch::Tensor few_entries() {
  return test::random_matrix(n, m, 1).abs() * test::random_matrix(n, m, 2).gt(1.4);
}

torch::Tensor sparse(const torch::Tensor& X) {
  return X.to_sparse().coalesce();
}

std::vector<std::pair<std::string, EignnOptions>> models() {
  std::vector<std::pair<std::string, EignnOptions>> all;
  const auto add = [&](const char* name, const std::map<std::string, std::string>& settings) {
    TrainConfig config;
    for (const auto& [setting, text] : settings) assign(config, setting, text);
    all.emplace_back(name, config.eignn());
  };
  add("plain", {{"rank", "4"}});
  add("one row", {{"rank", "1"}, {"intercept", "on"}});
  add("l2", {{"rank", "4"}, {"norm", "l2"}});
  add("batch norm", {{"rank", "4"}, {"norm", "batch"}});
  add("layer norm", {{"rank", "4"}, {"norm", "layer"}});
  add("residual", {{"rank", "4"}, {"head", "residual"}, {"width", "8"}});
  add("sources", {{"rank", "3"}, {"source", "both"}, {"equilibria", "2"}});
  add("encoder", {{"encoder", "6"}, {"encoder-activation", "relu"}});
  add("stack", {{"encoder", "6"}, {"rank", "2"}, {"layers", "2"}, {"hidden", "5"}});
  return all;
}

TEST(SparseFeatures, GiveTheScoresAndGradientsOfTheDenseMatrix) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 2, 3)));
  const auto X = few_entries(), weights = test::random_matrix(7, classes, 4);
  const auto index = torch::tensor({0, 5, 9, 9, 20, 33, 39}, torch::kInt64);
  for (const auto& [name, options] : models()) {
    SCOPED_TRACE(name);
    const auto model = [&, &options = options](const torch::Tensor& features) {
      return make_eignn(make_solver("sparse", S, {}, std::max<int64_t>(options.rank, 1)), features, classes,
                        options,
                        /*seed=*/5);
    };
    const auto dense = model(X), by_entries = model(sparse(X));
    for (const bool training : {true, false}) {
      dense->train(training);
      by_entries->train(training);
      const auto expected = dense->scores(index), got = by_entries->scores(index);
      EXPECT_LE(relative_error(got.detach(), expected.detach()), 1e-10);
      (expected * weights).sum().backward();
      (got * weights).sum().backward();
      for (const auto& parameter : dense->named_parameters()) {
        const auto other = by_entries->named_parameters()[parameter.key()];
        ASSERT_EQ(parameter.value().grad().defined(), other.grad().defined()) << parameter.key();
        if (!other.grad().defined()) continue;
        EXPECT_LE(relative_error(other.grad(), parameter.value().grad()), 1e-8) << parameter.key();
        parameter.value().mutable_grad() = torch::Tensor();
        other.mutable_grad() = torch::Tensor();
      }
    }
    const torch::NoGradGuard guard;
    EXPECT_LE(relative_error(by_entries->scores(index), dense->scores(index)), 1e-10);
    by_entries->use_features(2 * X);
    dense->use_features(2 * X);
    EXPECT_LE(relative_error(by_entries->scores(index), dense->scores(index)), 1e-10);
  }
}

TEST(SparseFeatures, AreRefusedWhereTheyCannotBeRead) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 2, 3)));
  const auto X = sparse(few_entries());
  EignnOptions stack;
  stack.layers = 2;
  EXPECT_CONTAINS(
      message_of<ArgumentError>([&] { make_eignn(make_solver("sparse", S, {}, m), X, classes, stack, 0); }),
      "sparse");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    make_baseline(GcnOptions{}, {{{}, S}}, X, classes, torch::kFloat64, 0);
                  }),
                  "sparse");
  const auto twice =
      torch::sparse_coo_tensor(torch::zeros({2, 2}, torch::kInt64), torch::ones({2}, torch::kFloat64), {n, m},
                               torch::dtype(torch::kFloat64).layout(torch::kSparse));
  EignnOptions thin;
  thin.rank = 2;
  EXPECT_CONTAINS(message_of<ArgumentError>(
                      [&] { make_eignn(make_solver("sparse", S, {}, 2), twice, classes, thin, 0); }),
                  "coalesce");
  thin.rank = m + 1;
  EXPECT_CONTAINS(
      message_of<ArgumentError>([&] { make_eignn(make_solver("sparse", S, {}, 2), X, classes, thin, 0); }),
      "cannot have rank 61");
  const auto solver = make_solver("sparse", S, {}, 2);
  EXPECT_THROW(solver->solve(test::random_matrix(2, m, 1), twice), ArgumentError);
  EXPECT_THROW(solver->solve(test::random_matrix(2, m + 1, 1), X), ArgumentError);
  EXPECT_THROW(make_solver("published", S, {}, m)->solve(test::random_matrix(2, m, 1), X), ArgumentError);
}

TEST(SparseFeatures, SolveWithASquareFToo) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 2, 3)));
  const auto X = few_entries(), F = test::random_matrix(m, m, 6);
  const auto solver = make_solver("spectral", S, {}, m);
  const auto X_sparse = sparse(X);
  EXPECT_LE(relative_error(solver->solve(F, X_sparse)->rows().plain(), solver->solve(F, X)->rows().plain()),
            1e-10);
}

TEST(SparseFeatures, AreGatheredAsTheDenseMatrixIs) {
  const Propagation S =
      make_propagation(test::random_graph(n, 2, 3), {Direction::in, Normalisation::sym, true});
  const auto X = few_entries();
  const auto gathered = gathered_features(S, sparse(X));
  EXPECT_TRUE(gathered.is_coalesced());
  EXPECT_LE(relative_error(gathered.to_dense(), test::dense_S(S).t().mm(X)), 1e-14);
}

Dataset made(const torch::Tensor& X) {
  const auto labels = torch::arange(n).remainder(classes);
  return make_dataset(test::random_graph(n, 2, 3), X, labels, /*seed=*/1);
}

TEST(SparseFeatures, TrainAsTheDenseMatrixDoes) {
  TrainConfig config;
  config.dataset = "memory";
  config.dtype = Precision::float64;
  config.eignn().rank = 5;
  for (const FeatureNorm norm : {FeatureNorm::none, FeatureNorm::row}) {
    config.feature_norm = norm;
    const Dataset dense = prepared(made(few_entries()), config),
                  by_entries = prepared(made(sparse(few_entries())), config);
    EXPECT_TRUE(by_entries.features.is_sparse());
    validate(by_entries);
    EXPECT_LE(relative_error(by_entries.features.to_dense(), dense.features), 1e-15);
    Trainer a(config, dense, 0, nullptr), b(config, by_entries, 0, nullptr);
    for (int64_t epoch = 0; epoch < 20; ++epoch) {
      const double loss = a.step(epoch);
      EXPECT_NEAR(b.step(epoch), loss, 1e-9 * loss);
    }
  }
  config.feature_norm = FeatureNorm::standard;  // no column has a zero any more
  const Dataset by_entries = prepared(made(sparse(few_entries())), config);
  EXPECT_FALSE(by_entries.features.is_sparse());
  EXPECT_LE(relative_error(by_entries.features, prepared(made(few_entries()), config).features), 1e-15);
}

// A model that reads dense features alone is given them.
TEST(SparseFeatures, BecomeDenseForOtherModels) {
  TrainConfig config;
  config.dataset = "memory";
  config.model = GcnOptions{};
  config.dtype = Precision::float64;
  Trainer a(config, prepared(made(few_entries()), config), 0, nullptr),
      b(config, prepared(made(sparse(few_entries())), config), 0, nullptr);
  EXPECT_EQ(a.step(0), b.step(0));
}

}  // namespace
}  // namespace eignn
