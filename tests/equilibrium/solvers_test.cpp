// Every solver against a dense Kronecker solve, its adjoint against central differences, over graphs and
// weights chosen to be awkward.
#include <gtest/gtest.h>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/tolerance.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

struct Case {
  std::string name;
  Graph graph;
  PropagationOptions propagation;
  torch::Tensor F;
  int64_t features;
  double gamma;
};

torch::Tensor rank_one(int64_t m) {
  return random_matrix(m, 1, 31).mm(random_matrix(1, m, 32));
}

std::vector<Case> cases() {
  const PropagationOptions plain, bare{Direction::undirected, Normalisation::sym, false};
  const PropagationOptions in{Direction::in, Normalisation::sym, true},
      out{Direction::out, Normalisation::sym, true};
  const PropagationOptions in_bare{Direction::in, Normalisation::sym, false};
  const PropagationOptions out_in{Direction::in, Normalisation::out_in, true};
  const PropagationOptions out_in_bare{Direction::out, Normalisation::out_in, false};
  const auto F5 = random_matrix(5, 5, 1);
  auto cycle = [](int64_t n) {
    std::vector<int64_t> source, target;
    for (int64_t i = 0; i < n; ++i) {
      source.push_back(i);
      target.push_back((i + 1) % n);
    }
    return Graph::from_arcs(n, source, target);
  };
  std::vector<Case> all;
  auto add = [&](const char* name, Graph graph, PropagationOptions p, torch::Tensor F, double gamma) {
    all.push_back({name, std::move(graph), p, F, F.size(0), gamma});
  };
  add("RandomGraph", test::random_graph(20, 1.5, 1), plain, F5, 0.8);
  add("RandomGraphGammaOne", test::random_graph(20, 1.5, 2), plain, F5, 1.0);
  add("DenseGraph", test::random_graph(16, 6, 3), plain, F5, 0.8);
  add("WithoutSelfLoops", test::random_graph(20, 1.2, 4), bare, F5, 0.8);
  add("DirectedIn", test::random_graph(20, 1.5, 5), in, F5, 0.8);
  add("DirectedOut", test::random_graph(20, 1.5, 6), out, F5, 1.0);
  add("DirectedInWithoutSelfLoops", test::random_graph(20, 1.5, 7), in_bare, F5, 0.8);
  add("DirectedOutIn", test::random_graph(20, 2, 8), out_in, F5, 0.8);
  add("DirectedOutInWithoutSelfLoops", test::random_graph(20, 2, 9), out_in_bare, F5, 1.0);
  add("DirectedCycle", cycle(9), in, F5, 0.8);
  add("Cycle", cycle(12), plain, F5, 0.8);  // repeated eigenvalues of S
  add("EqualChains", chain_graph(4, 6), plain, F5, 0.8);
  add("KarateClub", karate_club(), plain, random_matrix(4, 4, 10), 0.8);
  add("ZeroF", test::random_graph(12, 1.5, 11), plain, torch::zeros({4, 4}, torch::kFloat64), 0.8);
  add("IdentityF", test::random_graph(12, 1.5, 12), plain, torch::eye(4, torch::kFloat64), 0.8);
  add("LowRankF", test::random_graph(12, 1.5, 13), plain, random_matrix(6, 2, 14).mm(random_matrix(2, 6, 15)),
      0.8);
  add("RankOneF", test::random_graph(12, 1.5, 16), plain, rank_one(4), 0.99);
  add("DirectedRankOneF", test::random_graph(12, 1.5, 16), in, rank_one(4), 0.99);
  add("IsolatedNodes", Graph::from_arcs(5, {}, {}), plain, F5, 0.8);
  add("IsolatedNodesWithoutSelfLoops", Graph::from_arcs(5, {}, {}), bare, F5, 1.0);
  add("OneNode", Graph::from_arcs(1, {}, {}), plain, F5, 0.8);
  add("OneFeature", test::random_graph(10, 1.5, 17), plain, random_matrix(1, 1, 18), 0.8);
  add("ManyFeatures", test::random_graph(4, 1.5, 19), plain, random_matrix(23, 23, 20), 0.8);
  add("SmallF", test::random_graph(8, 1.5, 21), plain, 1e-7 * F5, 0.8);  // ν comparable with ε
  return all;
}

bool takes(const std::string& solver, const Propagation& S) {
  return S.symmetric || solver == "direct" || solver == "deflated" || solver == "sparse" ||
         solver == "picard";
}

class EverySolver : public testing::TestWithParam<std::string> {
 protected:
  static SolverOptions options(const Case& c) {
    SolverOptions o;
    o.gamma = c.gamma;
    o.eigenpairs = c.graph.nodes;  // of the solver truncated: all there are, which is exact
    return o;
  }
};

TEST_P(EverySolver, AgreesWithADenseKroneckerSolve) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    auto S = std::make_shared<Propagation>(make_propagation(c.graph, c.propagation));
    if (!takes(GetParam(), *S)) continue;
    const auto X = random_matrix(S->nodes, c.features, 99);
    const auto solver = make_solver(GetParam(), S, options(c), c.features);
    const auto solved = solver->solve(c.F, X);
    const auto Z = solved->rows().plain();
    EXPECT_LE(relative_error(Z, test::dense_equilibrium(*S, c.F, X, c.gamma)), 1e-10);
    const SolveStatus status = status_of(*solver, *solved, c.F, X);
    EXPECT_EQ(status.solver, GetParam());
    EXPECT_LE(status.residual, 1e-12);
    // Where S = 0 krylov has nothing to do.
    const bool iterates = GetParam() == "deflated" || GetParam() == "sparse" || GetParam() == "picard" ||
                          (GetParam() == "krylov" && S->entries() > 0);
    EXPECT_EQ(status.iterations > 0, iterates);
    // Some rows, in an order of their own, are the same numbers.
    const auto index = torch::randperm(S->nodes).narrow(0, 0, (S->nodes + 1) / 2);
    EXPECT_LE(relative_error(solved->rows(index).plain(), Z.index_select(0, index)), 1e-13);
  }
}

TEST_P(EverySolver, HasTheAdjointOfWhatItSolves) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    auto S = std::make_shared<Propagation>(make_propagation(c.graph, c.propagation));
    if (!takes(GetParam(), *S)) continue;
    const auto X = random_matrix(S->nodes, c.features, 98), Y = random_matrix(S->nodes, c.features, 97);
    const auto solver = make_solver(GetParam(), S, options(c), c.features);
    const auto gradients = solver->solve(c.F, X)->pull({}, {Y, {}}, true);
    const auto W = test::dense_equilibrium(*S, c.F, Y, c.gamma, 1e-12, true);
    EXPECT_LE(relative_error(gradients.X.plain(), W), 1e-10);

    if (c.F.norm().item<double>() == 0) {
      EXPECT_EQ(gradients.F.abs().max().item<double>(), 0);
      continue;
    }
    // L(F) = ⟨Y, Z(F)⟩ by central differences along random directions, through the dense solve.
    for (uint64_t direction = 0; direction < 3; ++direction) {
      const auto D = random_matrix(c.features, c.features, 40 + direction) * c.F.norm() / c.features;
      const double h = 1e-5;
      auto loss = [&](double step) {
        return (Y * test::dense_equilibrium(*S, c.F + step * D, X, c.gamma)).sum().item<double>();
      };
      const double numeric = (loss(h) - loss(-h)) / (2 * h);
      const double analytic = (gradients.F * D).sum().item<double>();
      const double scale = gradients.F.norm().item<double>() * D.norm().item<double>();
      EXPECT_NEAR(analytic, numeric, 1e-6 * scale + 1e-9 * std::abs(loss(0)));
    }
  }
}

TEST_P(EverySolver, PullsFromSomeRowsWhatItPullsFromAllWithZerosElsewhere) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(20, 1.5, 50)));
  const auto X = random_matrix(20, 6, 51), F = random_matrix(6, 6, 52);
  const auto index = torch::tensor({17, 2, 5}, torch::kInt64);
  const auto rows = random_matrix(3, 6, 53);
  auto Y = torch::zeros({20, 6}, torch::kFloat64);
  Y.index_copy_(0, index, rows);
  const auto solved = make_solver(GetParam(), S, {}, 6)->solve(F, X);
  const auto some = solved->pull(index, {rows, {}}, true), all = solved->pull({}, {Y, {}}, true);
  EXPECT_LE(relative_error(some.F, all.F), 1e-12);
  EXPECT_LE(relative_error(some.X.plain(), all.X.plain()), 1e-12);
}

TEST_P(EverySolver, WorksInSinglePrecision) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(20, 1.5, 60)));
  const auto X = random_matrix(20, 6, 61), F = random_matrix(6, 6, 62), Y = random_matrix(20, 6, 63);
  SolverOptions options;
  options.dtype = torch::kFloat32;
  const auto single = [](const torch::Tensor& t) { return t.to(torch::kFloat32); };
  const auto solved = make_solver(GetParam(), S, options, 6)->solve(single(F), single(X));
  const auto Z = solved->rows().values;
  EXPECT_EQ(Z.scalar_type(), torch::kFloat32);
  EXPECT_LE(relative_error(Z, test::dense_equilibrium(*S, F, X, 0.8)), 1e-5);
  const auto gradients = solved->pull({}, {single(Y), {}}, true);
  const auto exact = make_solver("direct", S, {}, 6)->solve(F, X)->pull({}, {Y, {}}, true);
  EXPECT_LE(relative_error(gradients.F, exact.F), 1e-4);
  EXPECT_LE(relative_error(gradients.X.plain(), exact.X.plain()), 1e-4);
}

TEST_P(EverySolver, IsTheLimitOfTheFiniteRecurrence) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  const auto X = random_matrix(34, 5, 71), F = random_matrix(5, 5, 72);
  const auto Z = make_solver(GetParam(), S, {}, 5)->solve(F, X)->rows().plain();
  const auto St = test::dense_S(*S).t(), g = test::dense_g(F, 1e-12);
  auto H = torch::zeros_like(X);
  double last = (H - Z).norm().item<double>();
  for (int layer = 0; layer < 120; ++layer) {
    H = 0.8 * St.mm(H).mm(g) + X;
    const double distance = (H - Z).norm().item<double>();
    if (distance > 1e-12) {
      EXPECT_LE(distance, 0.8 * last) << "layer " << layer;  // a contraction by γ
    }
    last = distance;
  }
  EXPECT_LE(last, 1e-11);
}

// γ = 1 with F of rank one: 1 - μ₁ is about ε, and the condition number 1e12 or so.
TEST_P(EverySolver, IsBackwardStableAtTheEdge) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  const auto X = random_matrix(34, 4, 81).abs(), F = rank_one(4);
  SolverOptions options;
  options.gamma = 1;
  options.max_iterations = 2000;
  const auto solver = make_solver(GetParam(), S, options, 4);
  if (GetParam() == "picard" || GetParam() == "deflated") {  // four features: too few to treat some apart
    EXPECT_THROW(solver->solve(F, X), ConvergenceError);     // it would take 1e12 iterations, and says so
    return;
  }
  const auto Z = solver->solve(F, X)->rows().plain();
  const double gap = residual(*S, Z, F, X, 1, 1e-12) * X.norm().item<double>();
  EXPECT_LE(gap, 100 * unit_roundoff(torch::kFloat64) * (X.norm() + 2 * Z.norm()).item<double>());
  EXPECT_GT(Z.norm().item<double>(), 1e9);
  if (GetParam() != "spectral" && GetParam() != "direct") return;
  // These two form 1 - γμλ without cancellation, so the huge component itself is right: along q₁ and D^½1 it
  // is the source there divided by 1 - μ₁ = ε/(ν+ε).
  const auto q = F.t().mm(random_matrix(4, 1, 31)).flatten();
  const auto q1 = q / q.norm();
  auto s1 = torch::empty({34}, torch::kFloat64);
  for (int64_t i = 0; i < 34; ++i) s1[i] = 1 / S->left[i];
  s1 = s1 / s1.norm();
  const double nu = F.t().mm(F).norm().item<double>();
  const double expected = s1.dot(X.mv(q1)).item<double>() * (nu + 1e-12) / 1e-12;
  EXPECT_NEAR(s1.dot(Z.mv(q1)).item<double>() / expected, 1.0, 1e-9);
}

TEST_P(EverySolver, SolvesThroughAutograd) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(15, 1.5, 91)));
  auto F = random_matrix(4, 4, 92).requires_grad_(), X = random_matrix(15, 4, 93).requires_grad_();
  const auto solver = make_solver(GetParam(), S, {}, 4);
  const auto index = torch::tensor({1, 3, 8}, torch::kInt64);
  const auto Z = equilibrium(*solver, F, X, index).values;
  Z.square().sum().backward();
  auto reference_F = F.detach().clone().requires_grad_(), reference_X = X.detach().clone().requires_grad_();
  const auto K = test::kronecker(*S, reference_F, 0.8, 1e-12);
  const auto dense = torch::linalg_solve(K, reference_X.reshape({-1, 1}), true).reshape({15, 4});
  dense.index_select(0, index).square().sum().backward();
  EXPECT_LE(relative_error(F.grad(), reference_F.grad()), 1e-9);
  EXPECT_LE(relative_error(X.grad(), reference_X.grad()), 1e-9);
}

// A loss of some rows and of the moments over all nodes, through one adjoint solve, against a dense solve
// that autograd differentiates.
TEST_P(EverySolver, PullsFromRowsAndMomentsTogether) {
  for (const bool self_loops : {true, false})
    for (const bool path : {true, false}) {
      // Without self-loops a star has λ = ±1 and nothing else: most of Z is outside the range of S. An odd
      // path has one λ = 0, and 1 is not in its range.
      const Graph graph =
          path ? chain_graph(1, 9) : Graph::from_arcs(9, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7, 8});
      const auto S = std::make_shared<Propagation>(
          make_propagation(graph, {Direction::undirected, Normalisation::sym, self_loops}));
      auto F = random_matrix(4, 4, 95).requires_grad_(), X = random_matrix(9, 4, 96);
      const auto solver = make_solver(GetParam(), S, {}, 4);
      const auto index = torch::tensor({1, 3, 8}, torch::kInt64);
      const auto weight = random_matrix(1, 4, 97).squeeze(0);
      const auto loss = [&](const torch::Tensor& rows, const torch::Tensor& mean,
                            const torch::Tensor& variance) {
        return (((rows - mean) * (variance + 0.1).rsqrt()).pow(3) * weight).sum();
      };
      for (const bool with_X : {false, true}) {
        SCOPED_TRACE(with_X);
        auto x = X.clone().requires_grad_(with_X), x_dense = X.clone().requires_grad_(with_X);
        auto F_dense = F.detach().clone().requires_grad_();
        F.mutable_grad() = torch::Tensor();
        const auto [rows, moments] = equilibrium_with_moments(*solver, F, x, index);
        loss(rows, moments.mean, moments.variance).backward();
        const auto K = test::kronecker(*S, F_dense, 0.8, 1e-12);
        const auto Z = torch::linalg_solve(K, x_dense.reshape({-1, 1}), true).reshape({9, 4});
        EXPECT_LE(relative_error(moments.mean, Z.mean(0)), 1e-12);
        EXPECT_LE(relative_error(moments.variance, Z.var(0, false)), 1e-11);
        loss(Z.index_select(0, index), Z.mean(0), Z.var(0, false)).backward();
        EXPECT_LE(relative_error(F.grad(), F_dense.grad()), 1e-9);
        if (with_X) {
          EXPECT_LE(relative_error(x.grad(), x_dense.grad()), 1e-9);
        }
      }
    }
}

TEST_P(EverySolver, ProjectsWithoutFormingZ) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(15, 1.5, 98)));
  const auto F = random_matrix(4, 4, 92), X = random_matrix(15, 4, 93), C = random_matrix(4, 2, 94);
  const auto solved = make_solver(GetParam(), S, {}, 4)->solve(F, X);
  const auto index = torch::tensor({2, 14, 0, 7}, torch::kInt64);
  EXPECT_LE(relative_error(solved->project(index, C), solved->rows(index).plain().mm(C)), 1e-13);
  EXPECT_LE(relative_error(solved->project({}, C), solved->rows().plain().mm(C)), 1e-13);
}

TEST_P(EverySolver, IsFreedWithTheGraphThatUsedIt) {
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(15, 1.5, 91)));
  auto F = random_matrix(4, 4, 92).requires_grad_();
  const auto X = random_matrix(15, 4, 93);
  const auto solver = make_solver(GetParam(), S, {}, 4);
  for (const bool moments : {false, true}) {
    std::shared_ptr<const Equilibrium> solved = solver->solve(F, X);
    {
      const auto rows = moments ? equilibrium_with_moments(*solver, F, X, {}, solved).first
                                : equilibrium(*solver, F, X, {}, solved).values;
      rows.sum().backward();
    }
    EXPECT_EQ(solved.use_count(), 1) << moments;
  }
}

// Sizes at which some eigenpairs of g are treated apart, and eigenvalues that make it worth while: spread,
// equal, of low rank, and none.
TEST_P(EverySolver, AgreesWhereTheLargeEigenvaluesAreTreatedApart) {
  const int64_t m = 64, n = 40;
  const auto noise = random_matrix(m, m, 1) / 30;
  const auto low = random_matrix(m, 3, 2).mm(random_matrix(3, m, 3));
  for (const auto& F : {torch::Tensor(noise + low), torch::Tensor(torch::eye(m, torch::kFloat64)), low,
                        torch::zeros({m, m}, torch::kFloat64)})
    for (const auto direction : {Direction::undirected, Direction::out})
      for (const double gamma : {0.8, 1.0}) {
        const auto S = std::make_shared<Propagation>(
            make_propagation(test::random_graph(n, 3, 4), {direction, Normalisation::out_in, false}));
        if (!takes(GetParam(), *S)) continue;
        SolverOptions options;
        options.gamma = gamma;
        const auto X = random_matrix(n, m, 5), Y = random_matrix(n, m, 6);
        const auto solver = make_solver(GetParam(), S, options, m);
        const auto reference = make_solver("direct", S, options, m)->solve(F, X);
        for (int again = 0; again < 2; ++again) {  // the second time with what the first has left
          const auto solved = solver->solve(F, X);
          EXPECT_LE(residual(*S, solved->rows().plain(), F, X, gamma, 1e-12), 1e-12);
          EXPECT_LE(relative_error(solved->rows().plain(), reference->rows().plain()), 1e-10);
          EXPECT_LE(relative_error(solved->pull({}, {Y, {}}, true).X.plain(),
                                   reference->pull({}, {Y, {}}, true).X.plain()),
                    1e-10);
        }
      }
}

// Z C for a thin C, by whatever way the solver takes to it: on the larger graph krylov starts from C.
TEST_P(EverySolver, ProjectsWithoutZAsWithIt) {
  auto all = cases();
  const auto F = random_matrix(7, 7, 60);
  all.push_back({"LargerGraph", test::random_graph(90, 1.5, 61), {}, F, 7, 0.8});
  all.push_back({"LargerGraphWithoutSelfLoops",
                 test::random_graph(90, 1.5, 62),
                 {Direction::undirected, Normalisation::sym, false},
                 F,
                 7,
                 0.7});
  all.push_back({"LargerGraphZeroF", test::random_graph(90, 1.5, 63), {}, torch::zeros_like(F), 7, 0.8});
  for (const Case& c : all) {
    SCOPED_TRACE(c.name);
    auto S = std::make_shared<Propagation>(make_propagation(c.graph, c.propagation));
    if (!takes(GetParam(), *S)) continue;
    const auto X = random_matrix(S->nodes, c.features, 64), C = random_matrix(c.features, 2, 65);
    const auto index = torch::randperm(S->nodes).narrow(0, 0, (S->nodes + 1) / 2);
    const auto cotangent = random_matrix(index.size(0), 2, 66);
    const auto solver = make_solver(GetParam(), S, options(c), c.features);
    const auto projection = solver->project(c.F, X, C);
    const auto Z = test::dense_equilibrium(*S, c.F, X, c.gamma).index_select(0, index);
    EXPECT_LE(relative_error(projection->rows(index), Z.mm(C)), 1e-10);
    const auto pulled = projection->pull(index, cotangent);
    EXPECT_LE(relative_error(pulled.C, Z.t().mm(cotangent)), 1e-10);
    const auto by_Z = solver->solve(c.F, X)->pull(index, {cotangent.mm(C.t()), {}}, false);
    EXPECT_LE(relative_error(pulled.F, by_Z.F), 1e-9);
    // Through autograd: the same numbers, the same gradients.
    const auto F_leaf = c.F.clone().requires_grad_(), C_leaf = C.clone().requires_grad_();
    const auto of_leaves = solver->project(F_leaf.detach(), X, C_leaf.detach());
    const auto f = projected(of_leaves, F_leaf, C_leaf, index);
    EXPECT_TRUE(torch::equal(f, projection->rows(index)));
    EXPECT_THROW(projected(projection, F_leaf, C_leaf, index), ArgumentError) << "it is of other tensors";
    (f * cotangent).sum().backward();
    EXPECT_TRUE(torch::equal(F_leaf.grad(), pulled.F));
    EXPECT_TRUE(torch::equal(C_leaf.grad(), pulled.C));
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, EverySolver,
                         testing::Values("spectral", "direct", "krylov", "deflated", "sparse", "picard",
                                         "truncated", "published"),
                         [](const auto& p) { return p.param; });

TEST(Solvers, SymmetricMethodsRefuseADirectedGraph) {
  const auto S =
      std::make_shared<Propagation>(make_propagation(chain_graph(1, 5), {Direction::in, {}, true}));
  for (const char* name : {"spectral", "krylov", "truncated", "published"})
    EXPECT_THROW(make_solver(name, S, {}, 3), ArgumentError);
}

TEST_P(EverySolver, RefusesWeightsWhoseGramMatrixOverflows) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  for (const int64_t m : {3, 40}) {  // too few features to treat some apart, and enough
    const auto solver = make_solver(GetParam(), S, {}, m);
    const auto F = 1e80 * random_matrix(m, m, 1), X = random_matrix(34, m, 2);
    EXPECT_THROW(solver->solve(F, X), ConvergenceError) << m;
    EXPECT_THROW(solver->project(F, X, random_matrix(m, 2, 3)), ConvergenceError) << m;
  }
}

// Both shapes of g's gradient, and the moments, have forms of their own there.
TEST_P(EverySolver, OnAGpuDoesWhatItDoesHere) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  const int64_t m = 40;
  const auto X = random_matrix(34, m, 2), C = random_matrix(m, 3, 3);
  const auto Y = random_matrix(5, m, 4), D = random_matrix(5, 3, 5), index = torch::arange(7, 12);
  SolverOptions there;
  there.device = torch::kCUDA;
  const auto cpu = make_solver(GetParam(), S, {}, m), gpu = make_solver(GetParam(), S, there, m);
  const auto on_gpu = index.cuda();
  for (const int64_t rank : {m, int64_t{8}}) {  // a thin F too
    const auto F = random_matrix(rank, m, 1);
    const auto same = [&](const torch::Tensor& here, const torch::Tensor& other, const char* what) {
      EXPECT_LE(relative_error(other.cpu(), here), 1e-11) << what << ", rank " << rank;
    };
    const auto a = cpu->solve(F, X), b = gpu->solve(F.cuda(), X.cuda());
    same(a->rows(index).plain(), b->rows(on_gpu).plain(), "rows");
    same(a->moments().mean, b->moments().mean, "mean");
    same(a->moments().variance, b->moments().variance, "variance");
    same(a->pull(index, {Y, {}}, false).F, b->pull(on_gpu, {Y.cuda(), {}}, false).F, "F");
    const auto p = cpu->project(F, X, C), q = gpu->project(F.cuda(), X.cuda(), C.cuda());
    same(p->rows(index), q->rows(on_gpu), "projected rows");
    same(p->pull(index, D).F, q->pull(on_gpu, D.cuda()).F, "projected F");
    same(p->pull(index, D).C, q->pull(on_gpu, D.cuda()).C, "C");
  }
}

// On a CPU no product is rounded to TF32; what is tested is the way through sweeps and recomputed residuals.
TEST(Solvers, SweepsBetweenFullResidualsReachTheSameSolution) {
  const int64_t n = 300, m = 200;
  // Three eigenvalues of g stand out, as in a trained model.
  const auto F = random_matrix(m, m, 41) / 40 + random_matrix(m, 3, 42).mm(random_matrix(3, m, 43));
  const auto X = random_matrix(n, m, 44), Y = random_matrix(n, m, 45);
  for (const auto& [name, direction] : {std::pair<const char*, Direction>{"krylov", Direction::undirected},
                                        {"picard", Direction::undirected},
                                        {"picard", Direction::out}})
    for (const auto dtype : {torch::kFloat32, torch::kFloat64})
      for (const double gamma : {0.8, 1.0}) {
        const auto S = std::make_shared<Propagation>(
            make_propagation(test::random_graph(n, 8, 46), {direction, Normalisation::sym, false}));
        SolverOptions plain, sweeping;
        plain.dtype = sweeping.dtype = dtype;
        plain.gamma = sweeping.gamma = gamma;
        sweeping.tf32 = true;
        const auto a = make_solver(name, S, plain, m)->solve(F.to(dtype), X.to(dtype));
        const auto b = make_solver(name, S, sweeping, m)->solve(F.to(dtype), X.to(dtype));
        const double near = dtype == torch::kFloat32 ? 2e-5 : 1e-13;
        EXPECT_LE(relative_error(b->rows().plain(), a->rows().plain()), near) << name << " " << gamma;
        EXPECT_LE(relative_error(b->pull({}, {Y.to(dtype), {}}, true).X.plain(),
                                 a->pull({}, {Y.to(dtype), {}}, true).X.plain()),
                  near)
            << name << " " << gamma;
      }
}

TEST(Solvers, SmallWeightsAndCotangentsStayInRangeInSinglePrecision) {
  const int64_t n = 20, m = 48;
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 2, 51)));
  const auto F = 1e-4 * torch::eye(m, torch::kFloat64) + 1e-5 * random_matrix(m, m, 52);
  const auto X = random_matrix(n, m, 53), Y = random_matrix(n, m, 54);
  for (const char* name : {"krylov", "deflated", "sparse"})
    for (const double epsilon : {1.0, 1e-12}) {
      SCOPED_TRACE(name);
      SolverOptions exact, single;
      exact.epsilon = single.epsilon = epsilon;
      single.dtype = torch::kFloat32;
      const auto reference = make_solver("direct", S, exact, m)->solve(F, X);
      const auto solved =
          make_solver(name, S, single, m)->solve(F.to(torch::kFloat32), X.to(torch::kFloat32));
      EXPECT_LE(relative_error(solved->rows().plain().to(torch::kFloat64), reference->rows().plain()), 2e-6);
      const auto W = reference->pull({}, {Y, {}}, true).X.plain();
      const auto tiny = solved->pull({}, {(1e-25 * Y).to(torch::kFloat32), {}}, true).X.plain();
      EXPECT_LE(relative_error(1e25 * tiny.to(torch::kFloat64), W), 1e-5);
    }
}

TEST(Solvers, AVarianceFarBelowTheMeanIsNotLostInSinglePrecision) {
  // Two stars: S without self-loops has rank four, and most of Z is X's.
  const Graph stars = Graph::from_arcs(12, {0, 0, 0, 0, 0, 6, 6, 6, 6, 6}, {1, 2, 3, 4, 5, 7, 8, 9, 10, 11});
  for (const bool self_loops : {true, false}) {
    const auto S = std::make_shared<Propagation>(
        make_propagation(stars, {Direction::undirected, Normalisation::sym, self_loops}));
    const auto F = random_matrix(4, 4, 55), X = 100 + random_matrix(12, 4, 56);
    SolverOptions single;
    single.dtype = torch::kFloat32;
    const auto exact = make_solver("direct", S, {}, 4)->solve(F, X)->moments();
    for (const char* name : {"krylov", "spectral"}) {
      const auto moments =
          make_solver(name, S, single, 4)->solve(F.to(torch::kFloat32), X.to(torch::kFloat32))->moments();
      EXPECT_LE(relative_error(moments.variance.to(torch::kFloat64), exact.variance), 1e-4) << name;
    }
  }
}

TEST(Solvers, SolversInNodeSpaceSayWhoGaveUp) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  SolverOptions options;
  options.gamma = 1;
  options.max_iterations = 50;
  for (const std::string name : {"picard", "deflated"}) {
    const auto solver = make_solver(name, S, options, 4);
    const auto said = [&](const torch::Tensor& X) -> std::string {
      try {
        solver->solve(rank_one(4), X);
      } catch (const Error& error) {
        return error.what();
      }
      return "nothing";
    };
    EXPECT_EQ(said(random_matrix(34, 4, 81)).rfind(name + " did not converge in 50 iterations", 0), 0U);
  }
}

TEST(Solvers, UnknownNamesAreAnsweredWithTheNearest) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  try {
    make_solver("spectrl", S, {}, 3);
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean spectral?"), std::string::npos);
  }
}

TEST(Solvers, GammaOutsideItsRangeIsRefused) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  for (double gamma : {0.0, -0.5, 1.0001, std::nan("")}) {
    SolverOptions options;
    options.gamma = gamma;
    EXPECT_THROW(make_solver("spectral", S, options, 3), ArgumentError);
  }
}

TEST(Solvers, WithEpsilonZeroAndGammaOneTheSingularSystemIsNamed) {
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  SolverOptions options;
  options.gamma = 1;
  options.epsilon = 0;
  auto F = torch::zeros({3, 3}, torch::kFloat64);
  F[0][0] = 1;
  EXPECT_THROW(make_solver("direct", S, options, 3)->solve(F, torch::ones({34, 3}, torch::kFloat64)),
               ConvergenceError);
}

}  // namespace
}  // namespace eignn
