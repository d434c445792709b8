// The solver truncated: its eigenpairs against a dense decomposition, its Z against a dense solve with S_k,
// its gradients against central differences, its bound against the exact Z.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/planner.h"
#include "eignn/solver.h"
#include "equilibrium/spectral/leading_pairs.h"
#include "support/message_of.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

std::shared_ptr<const Propagation> S_of(const Graph& graph, bool self_loops = true) {
  return std::make_shared<const Propagation>(
      make_propagation(graph, {Direction::undirected, Normalisation::sym, self_loops}));
}

Graph cycle(int64_t n) {
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < n; ++v) {
    source.push_back(v);
    target.push_back((v + 1) % n);
  }
  return Graph::from_arcs(n, source, target);
}

Graph star(int64_t leaves) {
  std::vector<int64_t> source(static_cast<size_t>(leaves), 0), target;
  for (int64_t v = 1; v <= leaves; ++v) target.push_back(v);
  return Graph::from_arcs(leaves + 1, source, target);
}

// Spectra chosen to be awkward: eigenvalues that occur twice, dozens of times or with both signs.
std::vector<std::pair<std::string, std::shared_ptr<const Propagation>>> graphs() {
  return {{"random", S_of(test::random_graph(60, 2, 1))},
          {"random without loops", S_of(test::random_graph(60, 2, 2), false)},
          {"cycle", S_of(cycle(24))},
          {"star", S_of(star(30))},
          {"star without loops", S_of(star(30), false)},
          {"equal chains", S_of(chain_graph(7, 6))},
          {"karate club", S_of(karate_club())},
          {"isolated nodes", S_of(Graph::from_arcs(9, {0, 1}, {1, 2}))}};
}

torch::Tensor sizes_by_fall(const Propagation& S) {
  return std::get<0>(torch::linalg_eigvalsh(test::dense_S(S)).abs().sort(0, /*descending=*/true));
}

TEST(LeadingPairs, AreTheLargestOfADenseDecomposition) {
  for (const auto& [name, S] : graphs())
    for (const EigenMethod method : {EigenMethod::automatic, EigenMethod::lanczos})
      for (const int64_t k : {int64_t{1}, int64_t{3}, int64_t{8}, S->nodes / 2, S->nodes - 1, S->nodes}) {
        SCOPED_TRACE(name + ", " + std::to_string(k) + (method == EigenMethod::lanczos ? ", Lanczos" : ""));
        const LeadingPairs pairs = leading_pairs(*S, k, method);
        const auto sizes = sizes_by_fall(*S);
        EXPECT_LE((pairs.lambda.abs() - sizes.narrow(0, 0, k)).abs().max().item<double>(), 1e-7);
        const auto Q = pairs.Q, dense = test::dense_S(*S);
        EXPECT_LE((dense.mm(Q) - Q * pairs.lambda).norm().item<double>(), 1e-6);
        EXPECT_LE((Q.t().mm(Q) - torch::eye(k, torch::kFloat64)).norm().item<double>(), 1e-10);
        EXPECT_LE((pairs.one_minus_lambda - (1 - pairs.lambda)).abs().max().item<double>(), 1e-15);
        const double next = k < S->nodes ? sizes[k].item<double>() : 0;
        EXPECT_GE(pairs.next, next - 1e-9) << "it bounds what is left out";
        EXPECT_LE(pairs.next, next * 1.002 + 1e-6);
      }
}

TEST(LeadingPairs, KnowAnEigenvalueOfOneExactly) {
  const LeadingPairs pairs = leading_pairs(*S_of(chain_graph(1, 900)), 4);  // long enough for Lanczos
  EXPECT_EQ(pairs.lambda[0].item<double>(), 1.0);
  EXPECT_EQ(pairs.one_minus_lambda[0].item<double>(), 0.0);
  EXPECT_LT(pairs.lambda[1].item<double>(), 1.0);
  const double angle = std::acos(-1.0) / 900;  // of a path λ = (1 + 2 cos angle)/3, but for its ends
  EXPECT_NEAR((1 - pairs.lambda[1].item<double>()) / (angle * angle / 3), 1, 0.05);
}

TEST(LeadingPairs, AreTheSameEachTime) {
  const auto S = S_of(test::random_graph(900, 3, 4));
  const LeadingPairs a = leading_pairs(*S, 6), b = leading_pairs(*S, 6);
  EXPECT_TRUE(a.lambda.equal(b.lambda));
  EXPECT_TRUE(a.Q.equal(b.Q));
  EXPECT_EQ(a.next, b.next);
}

TEST(LeadingPairs, RefuseWhatAGraphHasNot) {
  const auto S = S_of(karate_club());
  for (const int64_t k : {-1, 0, 35}) EXPECT_THROW(leading_pairs(*S, k), ArgumentError);
  const Propagation directed = make_propagation(chain_graph(1, 5), {Direction::in, {}, true});
  EXPECT_THROW(leading_pairs(directed, 2), ArgumentError);
  EXPECT_EQ(leading_pairs(*S_of(Graph()), 0).Q.size(0), 0);
}

// S_k and the dense solution of Z = γ S_k Z g + X, which autograd differentiates.
struct Oracle {
  torch::Tensor S_k;

  Oracle(const Propagation& S, int64_t k) {
    const LeadingPairs pairs = leading_pairs(S, k);
    S_k = (pairs.Q * pairs.lambda).mm(pairs.Q.t());
  }
  torch::Tensor Z(const torch::Tensor& F, const torch::Tensor& X, double gamma) const {
    const auto K = torch::eye(X.numel(), torch::kFloat64) - gamma * torch::kron(S_k, test::dense_g(F, 1e-12));
    return torch::linalg_solve(K, X.reshape({-1, 1}), true).reshape(X.sizes());
  }
};

SolverOptions keeping(int64_t k, double gamma = 0.8) {
  SolverOptions options;
  options.eigenpairs = k;
  options.gamma = gamma;
  return options;
}

TEST(Truncated, IsTheEquilibriumOfItsOwnEigenpairs) {
  for (const auto& [name, S] : graphs())
    for (const int64_t k : {int64_t{1}, int64_t{4}, S->nodes / 2}) {
      SCOPED_TRACE(name + ", " + std::to_string(k));
      const auto F = random_matrix(3, 3, 5), X = random_matrix(S->nodes, 3, 6);
      const auto solver = make_solver("truncated", S, keeping(k), 3);
      const auto solved = solver->solve(F, X);
      const auto Z = Oracle(*S, k).Z(F, X, 0.8);
      EXPECT_LE(relative_error(solved->rows().plain(), Z), 1e-7);
      const auto index = torch::tensor({2, 0, 7}, torch::kInt64);
      EXPECT_LE(relative_error(solved->rows(index).plain(), Z.index_select(0, index)), 1e-7);
      const auto C = random_matrix(3, 2, 7);
      EXPECT_LE(relative_error(solver->project(F, X, C)->rows(index), Z.index_select(0, index).mm(C)), 1e-7);
      EXPECT_LE(relative_error(solved->moments().mean, Z.mean(0)), 1e-7);
      EXPECT_LE(relative_error(solved->moments().variance, Z.var(0, false)), 1e-7);
    }
}

TEST(Truncated, HasTheAdjointOfWhatItComputes) {
  const auto S = S_of(test::random_graph(30, 2, 3));
  for (const int64_t k : {1, 5, 20}) {
    SCOPED_TRACE(k);
    const auto solver = make_solver("truncated", S, keeping(k), 4);
    const auto F = random_matrix(4, 4, 8), X = random_matrix(30, 4, 9), Y = random_matrix(30, 4, 10);
    const auto gradients = solver->solve(F, X)->pull({}, {Y, {}}, true);
    // ⟨Y, Z(F)⟩ and ⟨Y, Z(X)⟩ of the truncated Z itself, by central differences.
    const double h = 1e-5;
    const auto value = [&](const torch::Tensor& f, const torch::Tensor& x) {
      return (Y * solver->solve(f, x)->rows().plain()).sum().item<double>();
    };
    for (uint64_t direction = 0; direction < 3; ++direction) {
      const auto D = random_matrix(4, 4, 20 + direction), E = random_matrix(30, 4, 30 + direction);
      const double by_F = (value(F + h * D, X) - value(F - h * D, X)) / (2 * h),
                   by_X = (value(F, X + h * E) - value(F, X - h * E)) / (2 * h);
      EXPECT_NEAR((gradients.F * D).sum().item<double>(), by_F, 1e-7 * (1 + std::abs(by_F)));
      EXPECT_NEAR((gradients.X.plain() * E).sum().item<double>(), by_X, 1e-7 * (1 + std::abs(by_X)));
    }
    EXPECT_LE(relative_error(solver->solve(F, X)->pull_X({}, {Y, {}}).plain(), gradients.X.plain()), 1e-13);
  }
}

TEST(Truncated, PullsFromRowsAndMomentsTogether) {
  const auto S = S_of(test::random_graph(24, 2, 5));
  const Oracle oracle(*S, 6);
  const auto solver = make_solver("truncated", S, keeping(6), 3);
  const auto index = torch::tensor({1, 3, 8}, torch::kInt64);
  const auto loss = [](const torch::Tensor& rows, const torch::Tensor& mean, const torch::Tensor& variance) {
    return ((rows - mean) * (variance + 0.1).rsqrt()).pow(3).sum();
  };
  for (const bool with_X : {false, true}) {
    auto F = random_matrix(3, 3, 11).requires_grad_(), X = random_matrix(24, 3, 12).requires_grad_(with_X);
    const auto [rows, moments] = equilibrium_with_moments(*solver, F, X, index);
    loss(rows, moments.mean, moments.variance).backward();
    auto f = F.detach().clone().requires_grad_(), x = X.detach().clone().requires_grad_(with_X);
    const auto Z = oracle.Z(f, x, 0.8);
    loss(Z.index_select(0, index), Z.mean(0), Z.var(0, false)).backward();
    EXPECT_LE(relative_error(F.grad(), f.grad()), 1e-6);
    if (with_X) {
      EXPECT_LE(relative_error(X.grad(), x.grad()), 1e-6);
    }
  }
}

TEST(Truncated, StaysWithinItsBound) {
  for (const auto& [name, S] : graphs())
    for (const double gamma : {0.8, 1.0})
      for (const int64_t k : {int64_t{1}, int64_t{4}, S->nodes / 2, S->nodes - 1}) {
        SCOPED_TRACE(name + ", " + std::to_string(k));
        for (const int64_t rows : {3, 2}) {  // a thin F too; of one row 1 - γμ would be ε with γ = 1
          const auto F = random_matrix(rows, 3, 13), X = random_matrix(S->nodes, 3, 14);
          const auto solver = make_solver("truncated", S, keeping(k, gamma), 3);
          const auto solved = solver->solve(F, X);
          const auto bound = solved->error_bound();
          ASSERT_TRUE(bound);
          const auto exact = test::dense_equilibrium(*S, F, X, gamma), Z = solved->rows().plain();
          const double error = (Z - exact).norm().item<double>();
          EXPECT_LE(error, bound->bound * (1 + 1e-9) + 1e-6);
          EXPECT_EQ(bound->eigenpairs, k);
          EXPECT_NEAR(bound->size, Z.norm().item<double>(), 1e-9 * bound->size);
          const SolveStatus status = status_of(*solver, *solved, F, X);
          ASSERT_TRUE(status.error_bound);
          EXPECT_EQ(status.error_bound->bound, bound->bound);
        }
      }
}

// Features along the first eigenvector that is left out, and the first of g: the worst case there is.
TEST(Truncated, ReachesItsBound) {
  const auto S = S_of(karate_club());
  const auto [lambda, Q] = torch::linalg_eigh(test::dense_S(*S), "L");
  const auto order = lambda.abs().argsort(0, /*descending=*/true);
  int64_t reached = 0;
  for (const int64_t k : {1, 2, 5}) {
    const int64_t next = order[k].item<int64_t>();
    if (lambda[next].item<double>() < 0) continue;  // |G - 1| is b/(1 + b) there
    ++reached;
    const auto F = random_matrix(3, 1, 15).mm(random_matrix(1, 3, 16));  // μ₁ is 1 but for ε
    const auto q1 = F.t().mm(random_matrix(3, 1, 17));
    const auto X = Q.select(1, next).unsqueeze(1).mm(q1.t());
    const auto solved = make_solver("truncated", S, keeping(k), 3)->solve(F, X);
    const double error =
        (solved->rows().plain() - test::dense_equilibrium(*S, F, X, 0.8)).norm().item<double>();
    EXPECT_NEAR(error / solved->error_bound()->bound, 1, 1e-6) << k;
  }
  EXPECT_GT(reached, 0);
}

TEST(Truncated, IsExactWhereNothingIsLeftOut) {
  const auto S = S_of(karate_club());
  const auto F = random_matrix(4, 4, 18), X = random_matrix(34, 4, 19);
  const auto solved = make_solver("truncated", S, keeping(34), 4)->solve(F, X);
  EXPECT_LE(relative_error(solved->rows().plain(), test::dense_equilibrium(*S, F, X, 0.8)), 1e-12);
  EXPECT_EQ(solved->error_bound()->bound, 0);
  EXPECT_EQ(solved->error_bound()->next_eigenvalue, 0);
  EXPECT_FALSE(make_solver("spectral", S, {}, 4)->solve(F, X)->error_bound())
      << "only truncated approximates";
}

TEST(Truncated, TakesSixtyFourPairsOrAllOfASmallerGraphUnlessToldOtherwise) {
  const auto eigenpairs = [](const Graph& graph) {
    const auto S = S_of(graph);
    return make_solver("truncated", S, {}, 2)
        ->solve(random_matrix(2, 2, 1), random_matrix(S->nodes, 2, 2))
        ->error_bound()
        ->eigenpairs;
  };
  EXPECT_EQ(eigenpairs(karate_club()), 34);
  EXPECT_EQ(eigenpairs(test::random_graph(100, 2, 6)), 64);
}

TEST(Truncated, RefusesWhatItCannotTake) {
  const auto refused = [](const std::shared_ptr<const Propagation>& S, int64_t k) {
    return message_of<ArgumentError>([&] { make_solver("truncated", S, keeping(k), 3); });
  };
  EXPECT_CONTAINS(refused(S_of(karate_club()), 35), "a graph of 34 nodes has no 35 eigenpairs (eigenpairs)");
  EXPECT_CONTAINS(refused(S_of(karate_club()), -1), "(eigenpairs)");
  const auto directed =
      std::make_shared<const Propagation>(make_propagation(chain_graph(1, 5), {Direction::in, {}, true}));
  EXPECT_CONTAINS(refused(directed, 2), "(solver)");
}

TEST(Truncated, IsNeverWhatThePlannerTakes) {
  for (const auto& [name, S] : graphs()) {
    PlanRequest request{*S};
    request.width = 64;
    const Plan plan = plan_solver(request);
    EXPECT_NE(plan.solver, "truncated");
    for (const Price& price : plan.prices) EXPECT_NE(price.solver, "truncated");
  }
}

}  // namespace
}  // namespace eignn
