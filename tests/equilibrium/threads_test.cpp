// Threads on one solver take turns; solvers in different threads do not know of each other.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "eignn/solver.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;

struct Problem {
  std::shared_ptr<const Propagation> S =
      std::make_shared<Propagation>(make_propagation(test::random_graph(60, 2, 1)));
  torch::Tensor X, C, index, Y;
  std::vector<torch::Tensor> F;

  explicit Problem(int64_t m) : X(random_matrix(60, m, 2)), C(random_matrix(m, 3, 3)) {
    index = torch::tensor({5, 59, 0, 17, 31}, torch::kInt64);
    Y = random_matrix(5, m, 4);
    for (uint64_t seed = 10; seed < 14; ++seed) F.push_back(random_matrix(m, m, seed));
  }
};

// All that is asked of one F.
std::vector<torch::Tensor> answers(Solver& solver, const Problem& p, const torch::Tensor& F) {
  const auto solved = solver.solve(F, p.X);
  const auto pulled = solved->pull(p.index, {p.Y, {}}, /*want_X=*/true);
  const auto projection = solver.project(F, p.X, p.C);
  return {solved->rows().plain(),
          solved->rows(p.index).plain(),
          solved->moments().variance,
          pulled.F,
          pulled.X.plain(),
          projection->rows(p.index),
          projection->pull(p.index, p.Y.mm(p.C)).F};
}

bool same(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const torch::Tensor& x, const torch::Tensor& y) { return torch::equal(x, y); });
}

class Threads : public testing::TestWithParam<std::string> {};

TEST_P(Threads, FourOnOneSolverGetWhatOneGets) {
  const Problem problem(40);  // wide enough for deflation
  const auto solver = make_solver(GetParam(), problem.S, {}, 40);
  std::vector<std::vector<torch::Tensor>> expected;
  for (const auto& F : problem.F) expected.push_back(answers(*solver, problem, F));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < problem.F.size(); ++t)
    threads.emplace_back([&, t] {
      for (int again = 0; again < 10; ++again)
        if (!same(answers(*solver, problem, problem.F[t]), expected[t])) ++wrong;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, OneEquilibriumAnswersSeveralAtOnce) {
  const Problem problem(40);
  const auto solver = make_solver(GetParam(), problem.S, {}, 40);
  const auto solved = solver->solve(problem.F[0], problem.X);
  const auto expected = solver->solve(problem.F[0], problem.X)->pull(problem.index, {problem.Y, {}}, true).F;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int again = 0; again < 5; ++again)
        if (!torch::equal(solved->pull(problem.index, {problem.Y, {}}, true).F, expected)) ++wrong;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, TwoSolversGiveTheBitsThatTheyGiveAlone) {
  const Problem problem(40);
  std::vector<std::vector<torch::Tensor>> expected;
  for (const auto& F : problem.F)
    expected.push_back(answers(*make_solver(GetParam(), problem.S, {}, 40), problem, F));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      const auto own = make_solver(GetParam(), problem.S, {}, 40);
      for (size_t again = 0; again < 8; ++again) {
        const size_t f = (again + t) % problem.F.size();
        if (!same(answers(*own, problem, problem.F[f]), expected[f])) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, LeaveTheCallersTf32AsItWas) {
  // The setting is the process's: a solver that switched it off and on again would lose it to another thread.
  const bool before = at::globalContext().allowTF32CuBLAS();
  at::globalContext().setAllowTF32CuBLAS(true);
  std::atomic<bool> changed{false}, done{false};
  std::thread watcher([&] {
    while (!done) changed = changed || !at::globalContext().allowTF32CuBLAS();
  });
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 2; ++seed)
    threads.emplace_back([&, seed] {
      const Problem problem(20);
      const auto solver = make_solver(GetParam(), problem.S, {}, 20);
      for (int again = 0; again < 5; ++again) answers(*solver, problem, problem.F[seed]);
    });
  for (auto& thread : threads) thread.join();
  done = true;
  watcher.join();
  EXPECT_FALSE(changed);
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  at::globalContext().setAllowTF32CuBLAS(before);
}

INSTANTIATE_TEST_SUITE_P(Solvers, Threads,
                         testing::Values("spectral", "direct", "krylov", "deflated", "sparse", "picard",
                                         "published"),
                         [](const auto& solver) { return solver.param; });

}  // namespace
}  // namespace eignn
