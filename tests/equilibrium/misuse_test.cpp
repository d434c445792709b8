// Every wrong argument at every public function of every solver: our own error or a right answer, never
// libtorch's exception, and nothing outside the memory it was given (./dev asan runs this under
// AddressSanitizer).
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

constexpr int64_t n = 12, m = 5, k = 2;
const double nan = std::numeric_limits<double>::quiet_NaN(),
             infinity = std::numeric_limits<double>::infinity();

std::shared_ptr<Propagation> S_of(const Graph& graph) {
  return std::make_shared<Propagation>(make_propagation(graph));
}

torch::Tensor int64_index(const std::vector<int64_t>& nodes) {
  return torch::tensor(nodes, torch::kInt64);
}

std::vector<std::string> every_solver() {
  auto names = solver_names();
  names.erase(names.begin());  // auto is one of the others
  return names;
}

class Misuse : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const Propagation> S = S_of(test::random_graph(n, 2, 1));
  std::unique_ptr<Solver> solver = make_solver(GetParam(), S, {}, m);
  torch::Tensor F = random_matrix(m, m, 2), X = random_matrix(n, m, 3), C = random_matrix(m, k, 4);
  torch::Tensor index = int64_index({7, 0, 3}), Y = random_matrix(3, m, 5), D = random_matrix(3, k, 6);
  std::shared_ptr<const Equilibrium> solved = solver->solve(F, X);
  std::shared_ptr<const Projection> projection = solver->project(F, X, C);
};

// Tensors that are no matrix of this shape, type or device.
std::vector<torch::Tensor> not_matrices(int64_t rows, int64_t columns) {
  const auto type = torch::dtype(torch::kFloat64);
  return {torch::Tensor(),
          torch::ones({rows - 1, columns}, type),
          torch::ones({rows + 1, columns}, type),
          torch::ones({rows, columns + 1}, type),
          torch::ones({0, columns}, type),
          torch::ones({rows * columns}, type),
          torch::ones({1, rows, columns}, type),
          torch::ones({rows, columns}, torch::kFloat32),
          torch::ones({rows, columns}, torch::kInt64),
          torch::ones({rows, columns}, torch::kComplexDouble),
          torch::ones({rows, columns}, type.device(torch::kMeta)),
          torch::ones({rows, columns}, type).to_sparse()};
}

TEST_P(Misuse, MatricesOfAnotherShapeTypeOrDeviceAreRefused) {
  const auto is_read = [](const torch::Tensor& X) {  // sparse features are, but by the published algorithm
    return X.defined() && X.is_sparse() && GetParam() != std::string("published");
  };
  for (const auto& wrong : not_matrices(n, m)) {
    if (is_read(wrong)) continue;
    EXPECT_THROW(solver->solve(F, wrong), ArgumentError);
    EXPECT_THROW(solver->project(F, wrong, C), ArgumentError);
  }
  for (const auto& wrong : not_matrices(m, m)) {
    if (wrong.defined() && wrong.dim() == 2 && wrong.size(0) == m - 1) continue;  // a thin F
    EXPECT_THROW(solver->solve(wrong, X), ArgumentError);
    EXPECT_THROW(solver->project(wrong, X, C), ArgumentError);
  }
  for (const auto& wrong : not_matrices(m, 1)) {
    if (wrong.defined() && wrong.dim() == 2 && wrong.size(0) == m && wrong.scalar_type() == torch::kFloat64 &&
        wrong.is_cpu() && !wrong.is_sparse())
      continue;  // two columns are as good as one
    EXPECT_THROW(solver->project(F, X, wrong), ArgumentError);
    EXPECT_THROW(solved->project(index, wrong), ArgumentError);
    EXPECT_THROW(solved->pull_projected(index, D, wrong), ArgumentError);
  }
  for (const auto& wrong : not_matrices(3, m)) {
    EXPECT_THROW(solved->pull(index, {wrong, {}}, true), ArgumentError);
    EXPECT_THROW(solved->pull_X(index, {wrong, {}}), ArgumentError);
    EXPECT_THROW(solved->pull_with_moments(index, {wrong, {}}, {C.new_zeros({m}), C.new_zeros({m})}, false),
                 ArgumentError);
  }
  for (const auto& wrong : not_matrices(n, m))
    EXPECT_THROW(solved->pull({}, {wrong, {}}, false), ArgumentError);
  for (const auto& wrong : not_matrices(3, k)) {
    EXPECT_THROW(solved->pull_projected(index, wrong, C), ArgumentError);
    EXPECT_THROW(projection->pull(index, wrong), ArgumentError);
  }
  for (const auto& wrong : {torch::Tensor(), C.new_zeros({m + 1}), C.new_zeros({m, 1}), torch::zeros({m})}) {
    EXPECT_THROW(solved->pull_with_moments(index, {Y, {}}, {wrong, C.new_zeros({m})}, false), ArgumentError);
    EXPECT_THROW(solved->pull_with_moments(index, {Y, {}}, {C.new_zeros({m}), wrong}, true), ArgumentError);
  }
}

TEST_P(Misuse, IndicesThatNameNoNodeAreRefused) {
  const std::vector<torch::Tensor> wrong = {
      int64_index({-1}),
      int64_index({0, n, 1}),
      int64_index({0, 1, -n}),
      int64_index({INT64_MAX}),
      int64_index({INT64_MIN}),
      torch::tensor({1, 2, 3}, torch::kInt32),
      torch::tensor({1.0, 2.0}, torch::kFloat64),
      torch::ones({1, 3}, torch::kInt64),
      torch::tensor(1, torch::kInt64),
      torch::ones({3}, torch::kBool),
      torch::ones({3}, torch::dtype(torch::kInt64).device(torch::kMeta))};
  for (const auto& i : wrong) {
    const int64_t rows = i.dim() == 0 ? 1 : i.size(0);
    const auto y = random_matrix(rows, m, 1), d = random_matrix(rows, k, 1);
    const Moments zero{C.new_zeros({m}), C.new_zeros({m})};
    EXPECT_THROW(solved->rows(i), ArgumentError);
    EXPECT_THROW(solved->project(i, C), ArgumentError);
    EXPECT_THROW(solved->pull(i, {y, {}}, true), ArgumentError);
    EXPECT_THROW(solved->pull_X(i, {y, {}}), ArgumentError);
    EXPECT_THROW(solved->pull_with_moments(i, {y, {}}, zero, false), ArgumentError);
    EXPECT_THROW(solved->pull_projected(i, d, C), ArgumentError);
    EXPECT_THROW(projection->rows(i), ArgumentError);
    EXPECT_THROW(projection->pull(i, d), ArgumentError);
    EXPECT_THROW(equilibrium(*solver, F, X, i), ArgumentError);
    EXPECT_THROW(equilibrium_with_moments(*solver, F, X, i), ArgumentError);
    EXPECT_THROW(projected(projection, F, C, i), ArgumentError);
  }
}

TEST_P(Misuse, AnIndexThatIsOverwrittenIsReadAgain) {
  const auto moving = index.clone();
  const auto before = solved->rows(moving).plain();
  moving.copy_(int64_index({1, 2, 11}));
  EXPECT_TRUE(torch::allclose(solved->rows(moving).plain(), solved->rows().plain().index_select(0, moving)));
  EXPECT_TRUE(torch::allclose(solved->project(moving, C), solved->rows(moving).plain().mm(C)));
  moving[1] = n;
  EXPECT_THROW(solved->rows(moving), ArgumentError);
}

TEST_P(Misuse, ExponentsThatDoNotBelongToTheirRowsAreRefused) {
  for (const auto& wrong : {torch::zeros({2}, torch::kInt64), torch::zeros({3}, torch::kInt32),
                            torch::zeros({3, 1}, torch::kInt64), int64_index({0L, INT64_MIN, 0L}),
                            int64_index({0L, INT64_MAX, 0L})})
    EXPECT_THROW(solved->pull(index, {Y, wrong}, true), ArgumentError);
  const auto strided = torch::zeros({3, 2}, torch::kInt64).select(1, 0);
  EXPECT_LE(relative_error(solved->pull(index, {Y, strided}, true).F, solved->pull(index, {Y, {}}, true).F),
            1e-12);
  EXPECT_THROW((ScaledRows{Y, torch::zeros({2}, torch::kInt64)}.plain()), ArgumentError);
}

TEST_P(Misuse, ValuesThatAreNotFiniteAreRefused) {
  for (const double bad : {nan, infinity, -infinity}) {
    auto x = X.clone(), f = F.clone();
    x[n - 1][0] = bad;
    f[0][m - 1] = bad;
    EXPECT_THROW(solver->solve(F, x), ArgumentError);
    EXPECT_THROW(solver->project(F, x, C), ArgumentError);
    EXPECT_THROW(solver->solve(f, X), ConvergenceError);
    x[n - 1][0] = 1;  // written to: looked through again
    EXPECT_NO_THROW(solver->solve(F, x));
    x[0][0] = bad;
    EXPECT_THROW(solver->solve(F, x), ArgumentError);
  }
}

TEST_P(Misuse, ViewsGiveTheAnswersOfTheirCopies) {
  const auto wide = torch::stack({X, 2 * X}, 2).select(2, 0), turned = X.t().contiguous().t();
  const auto F_turned = F.t().contiguous().t();
  const auto i = torch::stack({index, index}, 1).select(1, 1), y = Y.t().contiguous().t(),
             c = C.t().contiguous().t(), d = D.t().contiguous().t();
  for (const auto& x : {wide, turned}) {
    ASSERT_FALSE(x.is_contiguous());
    const auto other = solver->solve(F_turned, x);
    EXPECT_LE(relative_error(other->rows().plain(), solved->rows().plain()), 1e-13);
    EXPECT_LE(relative_error(other->rows(i).plain(), solved->rows(index).plain()), 1e-13);
    EXPECT_LE(relative_error(other->project(i, c), solved->project(index, C)), 1e-13);
    const auto a = other->pull(i, {y, {}}, true), b = solved->pull(index, {Y, {}}, true);
    EXPECT_LE(relative_error(a.F, b.F), 1e-12);
    EXPECT_LE(relative_error(a.X.plain(), b.X.plain()), 1e-13);
    const auto p = solver->project(F_turned, x, c);
    EXPECT_LE(relative_error(p->rows(i), projection->rows(index)), 1e-13);
    EXPECT_LE(relative_error(p->pull(i, d).F, projection->pull(index, D).F), 1e-12);
    EXPECT_LE(relative_error(p->pull(i, d).C, projection->pull(index, D).C), 1e-12);
  }
  const auto same_rows = torch::ones({1, m}, torch::kFloat64).expand({n, m});  // one row of memory
  EXPECT_LE(residual(*S, solver->solve(F, same_rows)->rows().plain(), F, same_rows, 0.8, 1e-12), 1e-12);
}

TEST_P(Misuse, NoRowsGiveEmptyAnswers) {
  const auto none = torch::empty({0}, torch::kInt64);
  EXPECT_EQ(solved->rows(none).plain().sizes(), torch::IntArrayRef({0, m}));
  EXPECT_EQ(solved->project(none, C).sizes(), torch::IntArrayRef({0, k}));
  EXPECT_EQ(projection->rows(none).sizes(), torch::IntArrayRef({0, k}));
  EXPECT_EQ(solved->pull(none, {Y.narrow(0, 0, 0), {}}, true).F.norm().item<double>(), 0);
  EXPECT_EQ(projection->pull(none, D.narrow(0, 0, 0)).C.norm().item<double>(), 0);
  const auto no_columns = solver->project(F, X, torch::empty({m, 0}, torch::kFloat64));
  EXPECT_EQ(no_columns->rows(index).sizes(), torch::IntArrayRef({3, 0}));
  EXPECT_EQ(no_columns->pull(index, D.narrow(1, 0, 0)).C.sizes(), torch::IntArrayRef({m, 0}));
}

TEST_P(Misuse, GraphsWithoutNodesAndNodesWithoutFeaturesGiveEmptyAnswers) {
  for (const auto& [nodes, features] : {std::pair<int64_t, int64_t>{0, m}, {n, 0}, {0, 0}}) {
    const auto matrix = nodes == 0 ? S_of(Graph()) : std::make_shared<Propagation>(*S);
    const auto empty = make_solver(GetParam(), matrix, {}, features);
    const auto f = torch::ones({features, features}, torch::kFloat64),
               x = torch::ones({nodes, features}, torch::kFloat64),
               c = torch::ones({features, k}, torch::kFloat64);
    const auto z = empty->solve(f, x);
    EXPECT_EQ(z->rows().plain().sizes(), x.sizes());
    EXPECT_EQ(z->project({}, c).sizes(), torch::IntArrayRef({nodes, k}));
    const auto pulled = z->pull({}, {x, {}}, true);
    EXPECT_EQ(pulled.F.sizes(), f.sizes());
    EXPECT_EQ(pulled.X.plain().sizes(), x.sizes());
    EXPECT_EQ(empty->project(f, x, c)->rows({}).sizes(), torch::IntArrayRef({nodes, k}));
    if (nodes == 0)
      EXPECT_THROW(z->moments(), ArgumentError);
    else
      EXPECT_EQ(z->moments().mean.sizes(), torch::IntArrayRef({features}));
    EXPECT_EQ(residual(*matrix, z->rows().plain(), f, x, 0.8, 1e-12), 0);
    EXPECT_THROW(z->rows(int64_index({nodes})), ArgumentError);
  }
}

TEST_P(Misuse, WhatIsWrittenToAfterTheSolveIsNoticed) {
  const auto refuse = [&] {
    EXPECT_THROW(solved->rows(index), ArgumentError);
    EXPECT_THROW(solved->project(index, C), ArgumentError);
    EXPECT_THROW(solved->moments(), ArgumentError);
    EXPECT_THROW(solved->pull(index, {Y, {}}, true), ArgumentError);
    EXPECT_THROW(solved->pull_projected(index, D, C), ArgumentError);
    EXPECT_THROW(projection->rows(index), ArgumentError);
    EXPECT_THROW(projection->pull(index, D), ArgumentError);
    EXPECT_THROW(equilibrium(*solver, F, X, index, solved), ArgumentError);
    EXPECT_THROW(projected(projection, F, C, index), ArgumentError);
  };
  F.add_(0.5);
  refuse();
  solved = solver->solve(F, X);
  projection = solver->project(F, X, C);
  EXPECT_LE(relative_error(solved->rows().plain(), test::dense_equilibrium(*S, F, X, 0.8)), 1e-10);
  X.narrow(0, 0, 1).mul_(2);
  refuse();
  solved = solver->solve(F, X);
  EXPECT_LE(relative_error(solved->rows().plain(), test::dense_equilibrium(*S, F, X, 0.8)), 1e-10);
  projection = solver->project(F, X, C);
  C.zero_();
  EXPECT_THROW(projection->rows(index), ArgumentError);
}

TEST_P(Misuse, AWrittenGradientIsNoticedInTheBackwardPass) {
  const auto f = F.clone().requires_grad_();
  const auto loss = equilibrium(*solver, f, X, index).plain().square().sum();
  {
    const torch::NoGradGuard guard;
    f.mul_(2);
  }
  EXPECT_THROW(loss.backward(), ArgumentError);
}

TEST_P(Misuse, AnotherSolversEquilibriumIsRefused) {
  const auto other = make_solver(GetParam(), S, {}, m);
  EXPECT_THROW(equilibrium(*other, F, X, index, solved), ArgumentError);
  EXPECT_THROW(equilibrium_with_moments(*solver, F.clone(), X, index, solved), ArgumentError);
  EXPECT_THROW(projected(nullptr, F, C, index), ArgumentError);
  EXPECT_THROW(projected(projection, F, C.clone(), index), ArgumentError);
}

TEST_P(Misuse, AnEquilibriumOutlivesItsSolver) {
  const auto before = solved->pull(index, {Y, {}}, true);
  const auto rows = projection->rows(index);
  solver.reset();
  S.reset();
  const auto after = solved->pull(index, {Y, {}}, true);
  EXPECT_TRUE(torch::equal(after.F, before.F));
  EXPECT_TRUE(torch::equal(after.X.plain(), before.X.plain()));
  EXPECT_TRUE(torch::equal(projection->rows(index), rows));
  EXPECT_NO_THROW(solved->moments());
}

TEST_P(Misuse, InferenceModeChangesNothing) {
  const auto Z = solved->rows(index).plain();
  torch::Tensor inside;
  {
    const c10::InferenceMode guard;
    inside = solver->solve(F.clone(), X.clone())->rows(index.clone()).plain();
  }
  EXPECT_LE(relative_error(inside, Z), 1e-13);
  EXPECT_TRUE(torch::equal(solved->rows(index).plain(), Z));
  EXPECT_NO_THROW(solver->solve(F, X)->pull(index, {Y, {}}, true));
}

TEST_P(Misuse, OptionsOutOfRangeAreRefused) {
  const auto make = [&](const auto& change) {
    SolverOptions options;
    change(options);
    return make_solver(GetParam(), S, options, m);
  };
  for (const double bad : {0.0, -1.0, 1.5, nan, infinity})
    EXPECT_THROW(make([&](SolverOptions& o) { o.gamma = bad; }), ArgumentError);
  for (const double bad : {-1.0, nan, infinity}) {
    EXPECT_THROW(make([&](SolverOptions& o) { o.epsilon = bad; }), ArgumentError);
    EXPECT_THROW(make([&](SolverOptions& o) { o.tolerance = bad; }), ArgumentError);
  }
  EXPECT_THROW(make([](SolverOptions& o) { o.max_iterations = -1; }), ArgumentError);
  for (const auto bad : {torch::kInt64, torch::kFloat16, torch::kComplexDouble})
    EXPECT_THROW(make([&](SolverOptions& o) { o.dtype = bad; }), ArgumentError);
  EXPECT_THROW(make([](SolverOptions& o) { o.device = torch::kMeta; }), ArgumentError);
  EXPECT_THROW(make([](SolverOptions& o) { o.device = torch::Device(torch::kCUDA, 99); }), ResourceError);
  for (const int64_t bad : {int64_t{-1}, INT64_MAX, INT64_MIN})
    EXPECT_THROW(make_solver(GetParam(), S, {}, bad), ArgumentError);
  EXPECT_THROW(make_solver(GetParam(), nullptr, {}, m), ArgumentError);
}

TEST_P(Misuse, AnSThatContradictsItselfIsRefused) {
  const auto refused = [&](const auto& damage) {
    auto damaged = std::make_shared<Propagation>(*S);
    damage(*damaged);
    EXPECT_THROW(make_solver(GetParam(), damaged, {}, m), ArgumentError);
    EXPECT_THROW(residual(*damaged, X, F, X, 0.8, 1e-12), ArgumentError);
  };
  refused([](Propagation& p) { p.nodes = -1; });
  refused([](Propagation& p) { p.nodes = INT64_MAX; });
  refused([](Propagation& p) { ++p.nodes; });
  refused([](Propagation& p) { --p.nodes; });
  refused([](Propagation& p) { p.row_begin.clear(); });
  refused([](Propagation& p) { p.row_begin.pop_back(); });
  refused([](Propagation& p) { p.row_begin[0] = 1; });
  refused([](Propagation& p) { p.row_begin[3] = -1; });
  refused([](Propagation& p) { p.row_begin[3] = 1000; });
  refused([](Propagation& p) { p.row_begin.back() += 1; });
  refused([](Propagation& p) { p.column.pop_back(); });
  refused([](Propagation& p) { p.column[0] = -1; });
  refused([](Propagation& p) { p.column[2] = n; });
  refused([](Propagation& p) { p.weight.assign(p.column.size() - 1, 1); });
  const auto with_weight = [](Propagation& p, double w) {
    p.weight.assign(p.column.size(), 1);
    p.weight[1] = w;
  };
  refused([&](Propagation& p) { with_weight(p, nan); });
  refused([&](Propagation& p) { with_weight(p, -1); });
  refused([](Propagation& p) { p.diagonal.assign(n - 1, 1); });
  refused([](Propagation& p) { p.diagonal.assign(n, -1); });
  refused([](Propagation& p) {
    p.weight.assign(p.column.size(), 1);
    p.diagonal.assign(n, 1);
  });
  refused([](Propagation& p) { p.left.resize(2); });
  refused([](Propagation& p) { p.right.push_back(1); });
  refused([](Propagation& p) { p.left[1] = 0; });
  refused([](Propagation& p) { p.right[1] = infinity; });
  refused([](Propagation& p) { p.slack.pop_back(); });
  refused([](Propagation& p) { p.slack[0] = nan; });
  refused([](Propagation& p) {  // directed, and said to be symmetric
    const Propagation directed =
        make_propagation(test::random_graph(n, 2, 1), {Direction::in, Normalisation::sym, true});
    p = directed;
    p.symmetric = true;
  });
}

INSTANTIATE_TEST_SUITE_P(Solvers, Misuse, testing::ValuesIn(every_solver()),
                         [](const auto& solver) { return solver.param; });

TEST(Residual, RefusesMatricesOfAnotherShape) {
  const auto S = make_propagation(karate_club());
  const auto F = random_matrix(3, 3, 1), X = random_matrix(34, 3, 2);
  for (const auto& wrong :
       {torch::Tensor(), X.narrow(0, 0, 33), X.narrow(1, 0, 2), X.flatten(), X.to_sparse()}) {
    EXPECT_THROW(residual(S, wrong, F, X, 0.8, 1e-12), ArgumentError);
    EXPECT_THROW(residual(S, X, F, wrong, 0.8, 1e-12), ArgumentError);
    EXPECT_THROW(residual(S, X, wrong, X, 0.8, 1e-12), ArgumentError);
  }
}

TEST(Spectral, ComponentsThatLapackCannotDecomposeAreRefusedBeforeMemoryIsSpent) {
  const auto S = S_of(chain_graph(1, 40'000));
  for (const char* name : {"spectral", "krylov", "published"})
    EXPECT_THROW(make_solver(name, S, {}, 2), ResourceError) << name;
}

}  // namespace
}  // namespace eignn
