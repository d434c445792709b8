// The solvers in node space on an S of which each of two threads has half the rows: what one process per half
// would do, with a rendezvous in the place of messages.
#include "equilibrium/node_operator.h"

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

// Each of two threads brings a tensor and sees both.
class Rendezvous {
 public:
  std::array<torch::Tensor, 2> meet(int rank, const torch::Tensor& mine) {
    std::unique_lock<std::mutex> lock(mutex_);
    brought_[rank] = mine.clone();
    wait_for_both(lock);
    const auto seen = brought_;
    wait_for_both(lock);  // before anybody brings the next
    return seen;
  }

 private:
  void wait_for_both(std::unique_lock<std::mutex>& lock) {
    const int64_t round = round_;
    if (++here_ == 2) {
      here_ = 0;
      ++round_;
      both_.notify_all();
    } else {
      both_.wait(lock, [&] { return round_ != round; });
    }
  }

  std::mutex mutex_;
  std::condition_variable both_;
  std::array<torch::Tensor, 2> brought_;
  int here_ = 0;
  int64_t round_ = 0;
};

class HalfOfS : public NodeOperator {
 public:
  HalfOfS(const Propagation& S, int rank, Rendezvous& rendezvous)
      : S_(S, torch::kFloat64, torch::kCPU), rank_(rank), rendezvous_(rendezvous) {}

  int64_t begin() const { return rank_ == 0 ? 0 : S_.rows() / 2; }
  int64_t rows() const override { return S_.rows(); }
  int64_t rows_here() const override { return rank_ == 0 ? S_.rows() / 2 : S_.rows() - S_.rows() / 2; }
  int64_t entries() const override { return S_.entries(); }
  bool symmetric() const override { return S_.symmetric(); }
  torch::Tensor apply(const torch::Tensor& Z) const override { return here(S_.apply(everywhere(Z))); }
  torch::Tensor apply_transposed(const torch::Tensor& Z) const override {
    return here(S_.apply_transposed(everywhere(Z)));
  }
  torch::Tensor sum(torch::Tensor of_nodes_here) const override {
    const auto both = rendezvous_.meet(rank_, of_nodes_here);
    return both[0] + both[1];
  }

  mutable int64_t applications = 0;

 private:
  torch::Tensor everywhere(const torch::Tensor& Z) const {
    ++applications;
    EXPECT_EQ(Z.size(0), rows_here());
    const auto both = rendezvous_.meet(rank_, Z);
    return torch::cat({both[0], both[1]});
  }
  torch::Tensor here(const torch::Tensor& Z) const { return Z.narrow(0, begin(), rows_here()).contiguous(); }

  SparseProduct S_;
  int rank_;
  Rendezvous& rendezvous_;
};

using Make = std::unique_ptr<Solver> (*)(std::shared_ptr<const Propagation>, const SolverOptions&,
                                         std::shared_ptr<const NodeOperator>);

struct Case {
  const char* name;
  Make make;
  Direction direction;
  bool fixed_features;
  int64_t labelled;  // of each half
};

class HalvesOfS : public testing::TestWithParam<Case> {};

TEST_P(HalvesOfS, GiveTheEquilibriumAndTheGradientsOfTheWhole) {
  const Case& c = GetParam();
  constexpr int64_t n = 61, m = 40;
  const auto S = std::make_shared<Propagation>(
      make_propagation(test::random_graph(n, 3, 1), {c.direction, Normalisation::sym, true}));
  SolverOptions options;
  options.fixed_features = c.fixed_features;
  const auto F = random_matrix(m, m, 2), X = random_matrix(n, m, 3), Y = random_matrix(n, m, 4);
  const auto whole = c.make(S, options, nullptr)->solve(F, X);
  const auto Z = whole->rows().plain();
  EXPECT_LE(relative_error(Z, test::dense_equilibrium(*S, F, X, options.gamma)), 1e-10);
  auto labelled = torch::cat({torch::arange(c.labelled), n / 2 + torch::arange(c.labelled)});
  const auto some = whole->pull(labelled, {Y.index_select(0, labelled), {}}, false).F;
  const auto all = whole->pull({}, {Y, {}}, true);

  Rendezvous rendezvous;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const auto half = std::make_shared<HalfOfS>(*S, rank, rendezvous);
      const int64_t begin = half->begin(), rows = half->rows_here();
      const auto own = std::make_shared<Propagation>(make_propagation(Graph::from_arcs(rows, {}, {})));
      const auto solver = c.make(own, options, half);
      const auto solved = solver->solve(F, X.narrow(0, begin, rows).clone());
      const auto index = torch::arange(c.labelled);
      const auto y = Y.narrow(0, begin, rows).clone();
      EXPECT_LE(relative_error(solved->pull(index, {y.narrow(0, 0, c.labelled).clone(), {}}, false).F, some),
                1e-9);
      EXPECT_LE(relative_error(solved->rows(index).plain(), Z.narrow(0, begin, c.labelled)), 1e-11);
      EXPECT_LE(relative_error(solved->rows().plain(), Z.narrow(0, begin, rows)), 1e-11);
      const auto pulled = solved->pull({}, {y, {}}, true);
      EXPECT_LE(relative_error(pulled.F, all.F), 1e-9);
      EXPECT_LE(relative_error(pulled.X.plain(), all.X.plain().narrow(0, begin, rows)), 1e-11);
      EXPECT_GT(half->applications, 0);
    });
  for (auto& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(NodeSpace, HalvesOfS,
                         testing::Values(Case{"Picard", make_picard, Direction::in, true, 3},
                                         Case{"Deflated", make_deflated, Direction::undirected, true, 3},
                                         Case{"Sparse", make_sparse, Direction::undirected, false, 3},
                                         Case{"SparseDirected", make_sparse, Direction::out, true, 3},
                                         Case{"SparseSeries", make_sparse, Direction::undirected, true, 3}),
                         [](const auto& solver) { return solver.param.name; });

}  // namespace
}  // namespace eignn
