// S spread over threads on every grid, against S in one process.
#include "cluster/distributed_operator.h"

#include <gtest/gtest.h>

#include "eignn/error.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/thread_transport.h"

namespace eignn {
namespace {

using test::in_threads;
using test::random_matrix;
using test::relative_error;

constexpr int64_t n = 83, m = 40;

Graph weighted(Graph graph) {
  for (int64_t a = 0; a < graph.arcs(); ++a) graph.weight.push_back(0.25 + static_cast<double>(a % 7));
  return graph;
}

struct Case {
  const char* name;
  PropagationOptions options;
  bool weights = false;
};

std::vector<Case> cases() {
  return {{"Undirected", {}},
          {"Weighted", {}, true},
          {"WithoutLoops", {Direction::undirected, Normalisation::sym, false}},
          {"In", {Direction::in, Normalisation::sym, true}},
          {"InWithoutLoops", {Direction::in, Normalisation::sym, false}},
          {"OutIn", {Direction::out, Normalisation::out_in, true}},
          {"WeightedOutIn", {Direction::in, Normalisation::out_in, false}, true}};
}

std::vector<Grid> grids() {
  return {{2, 1}, {1, 2}, {3, 1}, {1, 3}, {2, 2}, {4, 1}, {3, 2}};
}

class DistributedOperator : public testing::TestWithParam<Case> {
 protected:
  Graph graph() const {
    auto out = test::random_graph(n, 3, 1);
    return GetParam().weights ? weighted(std::move(out)) : out;
  }

  // With the scale of one process: sums over several round differently.
  PropagationOptions options() const {
    PropagationOptions out = GetParam().options;
    if (GetParam().weights) out.weight_scale = scale_of_weights(graph(), out);
    return out;
  }

  // Calls work(operator, first row, rows) for each process of the grid.
  template <class Work>
  void on(Grid grid, torch::Dtype dtype, const Work& work) const {
    const Graph arcs = graph();
    in_threads(static_cast<int>(grid.rows * grid.columns), [&](const auto& transport) {
      const auto source = rows_in_memory(arcs);
      const NodeRanges ranges = spread_rows(*source, grid);
      const Ranks ranks(transport);
      const auto S = distributed_operator(ranks, *source, ranges, options(), dtype);
      const auto rank = static_cast<size_t>(ranks.rank());
      const int64_t first = ranges.first_of_process[rank];
      ASSERT_EQ(S->rows_here(), ranges.first_of_process[rank + 1] - first);
      ASSERT_EQ(S->rows(), n);
      work(S, first, S->rows_here());
    });
  }
};

TEST_P(DistributedOperator, GivesTheProductsOfOneProcessToTheBit) {
  const auto S = make_propagation(graph(), options());
  for (const auto dtype : {torch::kFloat64, torch::kFloat32}) {
    const SparseProduct whole(S, dtype, torch::kCPU);
    for (const int64_t columns : {int64_t{1}, int64_t{20}, m, int64_t{150}}) {
      const auto Z = random_matrix(n, columns, 3).to(dtype);
      const auto SZ = whole.apply(Z), StZ = whole.apply_transposed(Z);
      for (const Grid grid : grids()) {
        on(grid, dtype, [&](const auto& part, int64_t first, int64_t rows) {
          const auto z = Z.narrow(0, first, rows).clone();
          EXPECT_TRUE(part->apply(z).equal(SZ.narrow(0, first, rows))) << grid.rows << "x" << grid.columns;
          EXPECT_TRUE(part->apply_transposed(z).equal(StZ.narrow(0, first, rows)));
          EXPECT_EQ(part->symmetric(), whole.symmetric());
          EXPECT_NEAR(part->norm(z), Z.norm().template item<double>(), 1e-4);
        });
      }
    }
  }
}

TEST_P(DistributedOperator, AdvancesTheActiveColumnsOfASemiIteration) {
  const auto S = make_propagation(graph(), options());
  const SparseProduct whole(S, torch::kFloat64, torch::kCPU);
  constexpr int64_t width = 32, begin = 8;
  const auto Z = random_matrix(n, width, 4), X = random_matrix(n, width, 5);
  const auto a = torch::rand({width}, torch::kFloat64), omega = a + 0.5;
  for (const bool adjoint : {false, true}) {
    auto last = random_matrix(n, width, 6);
    const auto before = last.clone();
    const auto squares = whole.advance(adjoint, Z, X, a, omega, begin, last);
    for (const Grid grid : {Grid{2, 1}, Grid{3, 1}}) {
      on(grid, torch::kFloat64, [&](const auto& part, int64_t first, int64_t rows) {
        auto mine = before.narrow(0, first, rows).clone();
        const auto sums = part->advance(adjoint, Z.narrow(0, first, rows).clone(),
                                        X.narrow(0, first, rows).clone(), a, omega, begin, mine);
        EXPECT_TRUE(mine.equal(last.narrow(0, first, rows)));
        EXPECT_LE(relative_error(sums.r, squares.r), 1e-14);
        EXPECT_LE(relative_error(sums.z, squares.z), 1e-14);
      });
    }
  }
}

// Solves and gradients on every grid; with fixed features a symmetric S takes the series at the labelled
// nodes, and without them the iteration.
TEST_P(DistributedOperator, GivesTheEquilibriumAndItsGradients) {
  const auto S = std::make_shared<Propagation>(make_propagation(graph(), options()));
  const auto F = random_matrix(m, m, 7), X = random_matrix(n, m, 8), Y = random_matrix(n, m, 9),
             C = random_matrix(m, 3, 10), D = random_matrix(n, 3, 11);
  const auto labelled = torch::tensor({1, 2, 5, 30, 31, 79}, torch::kInt64);  // none in some ranges
  for (const bool fixed : {true, false}) {
    SolverOptions options;
    options.fixed_features = fixed;
    const auto whole = make_sparse(S, options)->solve(F, X);
    const auto Z = whole->rows().plain();
    EXPECT_LE(relative_error(Z, test::dense_equilibrium(*S, F, X, options.gamma)), 1e-10);
    const auto some = whole->pull(labelled, {Y.index_select(0, labelled), {}}, false).F;
    const auto all = whole->pull({}, {Y, {}}, true);
    const auto projected = whole->pull_projected(labelled, D.index_select(0, labelled), C);
    const auto moments = whole->moments();
    const Moments of_moments{random_matrix(1, m, 12)[0], random_matrix(1, m, 13)[0]};
    const auto with_moments =
        whole->pull_with_moments(labelled, {Y.index_select(0, labelled), {}}, of_moments, false).F;
    for (const Grid grid : grids()) {
      on(grid, torch::kFloat64, [&](const auto& part, int64_t first, int64_t rows) {
        const auto own = std::make_shared<Propagation>(make_propagation(Graph::from_arcs(rows, {}, {})));
        const auto solver = make_sparse(own, options, part);
        EXPECT_EQ(solver->nodes(), n);
        const auto solved = solver->solve(F, X.narrow(0, first, rows).clone());
        const auto mine = labelled.ge(first).logical_and(labelled.lt(first + rows));
        const auto index = labelled.masked_select(mine) - first;
        const auto at = [&](const torch::Tensor& t) { return t.index_select(0, index + first); };
        EXPECT_LE(relative_error(solved->pull(index, {at(Y), {}}, false).F, some), 1e-9);
        const auto both = solved->pull_projected(index, at(D), C);
        EXPECT_LE(relative_error(both.F, projected.F), 1e-9);
        EXPECT_LE(relative_error(both.C, projected.C), 1e-9);
        const auto seen = solved->rows(index).plain(), here = solved->rows().plain();
        if (index.numel() > 0) {
          EXPECT_LE(relative_error(seen, at(Z)), 1e-11);
        }
        EXPECT_LE(relative_error(here, Z.narrow(0, first, rows)), 1e-11);
        const auto pulled = solved->pull({}, {Y.narrow(0, first, rows).clone(), {}}, true);
        EXPECT_LE(relative_error(pulled.F, all.F), 1e-9);
        EXPECT_LE(relative_error(pulled.X.plain(), all.X.plain().narrow(0, first, rows)), 1e-11);
        const auto mean = solved->moments();
        EXPECT_LE(relative_error(mean.mean, moments.mean), 1e-11);
        EXPECT_LE(relative_error(mean.variance, moments.variance), 1e-11);
        // Each process brings its part of ∂L/∂mean and ∂L/∂variance.
        const double share = 1.0 / static_cast<double>(grid.rows * grid.columns);
        EXPECT_LE(relative_error(
                      solved
                          ->pull_with_moments(index, {at(Y), {}},
                                              {of_moments.mean * share, of_moments.variance * share}, false)
                          .F,
                      with_moments),
                  1e-9);
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spread, DistributedOperator, testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name; });

TEST(SpreadRows, BalancesEntriesAndLeavesNoProcessWithoutRows) {
  // One node has most of the arcs.
  std::vector<int64_t> source, target;
  for (int64_t v = 1; v < 200; ++v) {
    source.push_back(0);
    target.push_back(v);
  }
  const auto graph = Graph::from_arcs(200, source, target);
  const auto rows = rows_in_memory(graph);
  for (const Grid grid : {Grid{4, 1}, Grid{2, 3}, Grid{1, 7}, Grid{200, 1}, Grid{40, 5}}) {
    const auto ranges = spread_rows(*rows, grid);
    ASSERT_EQ(static_cast<int64_t>(ranges.first_of_process.size()), grid.rows * grid.columns + 1);
    EXPECT_EQ(ranges.first_of_process.front(), 0);
    EXPECT_EQ(ranges.first_of_process.back(), 200);
    for (size_t k = 1; k < ranges.first_of_process.size(); ++k)
      EXPECT_LT(ranges.first_of_process[k - 1], ranges.first_of_process[k]);
  }
  const auto halves = spread_rows(*rows, {2, 1});
  EXPECT_LT(halves.first_of_part[1], 70);  // 199 entries in the first row, one in each other
}

TEST(SpreadRows, RefusesMoreProcessesThanNodes) {
  const auto graph = chain_graph(1, 5);
  const auto rows = rows_in_memory(graph);
  EXPECT_EQ(message_of<ArgumentError>([&] {
              spread_rows(*rows, {3, 2});
            }),
            "6 processes have 5 nodes to share (ranks); start fewer of them");
}

TEST(MeanWeight, IsThatOfAllArcs) {
  const auto graph = weighted(test::random_graph(n, 3, 1));
  in_threads(3, [&](const auto& transport) {
    const auto rows = rows_in_memory(graph);
    const auto first = rows->equal_parts(3);
    const auto rank = static_cast<size_t>(transport->rank());
    EXPECT_NEAR(mean_weight(Ranks(transport), rows->rows(first[rank], first[rank + 1], RowEnds::out)),
                scale_of_weights(graph), 1e-14);
    EXPECT_EQ(mean_weight(Ranks(transport), {}), 1);
  });
}

TEST(DistributedOperatorErrors, RefusesAWeightFarFromTheScale) {
  const auto graph = Graph::from_arcs(4, {0, 1, 2}, {1, 2, 3}, {1, 1, 1e-200});
  EXPECT_THROW(
      in_threads(
          1,
          [&](const auto& transport) {
            const auto rows = rows_in_memory(graph);
            distributed_operator(Ranks(transport), *rows, spread_rows(*rows, {1, 1}), {}, torch::kFloat64);
          }),
      ArgumentError);
}

TEST(Ranks, GatherRowsTextsAndErrors) {
  in_threads(3, [](const auto& transport) {
    const Ranks ranks(transport);
    const int64_t me = ranks.rank();
    EXPECT_EQ(ranks.sum(me + 1), 6);
    EXPECT_EQ(ranks.largest(static_cast<double>(me)), 2);
    EXPECT_TRUE(ranks.any(me == 1));
    EXPECT_FALSE(ranks.any(false));
    EXPECT_EQ(ranks.all(10 * me), (std::vector<int64_t>{0, 10, 20}));
    EXPECT_EQ(ranks.of_first(std::string(static_cast<size_t>(me + 2), 'x')), "xx");
    const auto rows = torch::full({me, 2}, static_cast<double>(me));  // the first has none
    const auto expected = torch::tensor({{1.0, 1.0}, {2.0, 2.0}, {2.0, 2.0}}, torch::kFloat64);
    EXPECT_TRUE(ranks.rows_everywhere(rows.to(torch::kFloat64)).equal(expected));
    const auto first = ranks.rows_on_first(rows.to(torch::kFloat64));
    EXPECT_EQ(first.defined(), me == 0);
    if (me == 0) {
      EXPECT_TRUE(first.equal(expected));
    }
    std::string text;
    ranks.texts_to_first(std::to_string(me), [&](const std::string& part) { text += part; });
    EXPECT_EQ(text, me == 0 ? "012" : "");
    const auto fail = [&] { ranks.on_first([] { throw DataError("file", "", "missing"); }); };
    if (me == 0) {
      EXPECT_THROW(fail(), DataError);
    } else {
      EXPECT_THROW(fail(), FailedElsewhere);
    }
    EXPECT_THROW(ranks.texts_to_first("x", [](const std::string&) { throw DataError("file", "", "full"); }),
                 std::exception);
    EXPECT_EQ(ranks.sum(int64_t{1}), 3);  // all are still in step
  });
}

}  // namespace
}  // namespace eignn
