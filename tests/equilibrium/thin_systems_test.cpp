#include "equilibrium/node/thin_systems.h"

#include <gtest/gtest.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

struct Case {
  Direction direction;
  int64_t columns;
  double gamma;
};

class Thin : public testing::TestWithParam<Case> {
 protected:
  // A hub that hears from all nodes among them: its row is longer than what a warp has under way at a time.
  Propagation S(int64_t n = 600) const {
    std::vector<int64_t> source, target;
    for (int64_t i = 1; i < n; ++i) {
      source.insert(source.end(), {i, (7 * i) % n});
      target.insert(target.end(), {0, i});
    }
    return make_propagation(Graph::from_arcs(n, source, target),
                            {GetParam().direction, Normalisation::sym, true});
  }
  torch::Tensor theta() const {  // ascending, some for no step at all
    auto theta = torch::linspace(0, 0.95, GetParam().columns, torch::kFloat64).pow(3);
    theta.narrow(0, 0, (GetParam().columns + 1) / 3).zero_();
    return theta;
  }
};

TEST_P(Thin, GainsTheDigitsOfARound) {
  const auto s = S();
  const auto theta = this->theta(), M = dense(s);
  auto c = random_matrix(s.nodes, theta.numel(), 5);
  // What takes longest: the eigenvector of λ = 1.
  if (s.symmetric) c += 20 * std::get<1>(torch::linalg_eigh(M)).narrow(1, s.nodes - 1, 1);
  const SparseProduct product(s, torch::kFloat64, torch::kCPU);
  const ThinSystems systems(theta, GetParam().gamma, s.symmetric, c.options());
  for (const bool adjoint : {false, true}) {
    const auto y = c + systems.correction(c, product, adjoint);
    const auto r = y - (adjoint ? M : M.t()).mm(y) * (GetParam().gamma * theta) - c;
    // Of Neumann's series for an S that is not normal the rate alone says less.
    const auto by_column = r.norm(2, 0) / c.norm(2, 0);
    EXPECT_LE(by_column.max().item<double>(), s.symmetric ? 1e-3 : 1e-2) << adjoint;
    EXPECT_EQ((y - c).narrow(1, 0, (theta.numel() + 1) / 3).abs().max().item<double>(), 0);
  }
}

TEST_P(Thin, OneKernelOnAGpuDoesWhatTheStepsDo) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const auto theta = this->theta();
  for (const int64_t n : {600, 20'000})  // the second: more rows than a GPU has warps
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
      const auto s = S(n);
      const auto c = random_matrix(n, theta.numel(), 5).to(dtype);
      const SparseProduct here(s, dtype, torch::kCPU), there(s, dtype, torch::kCUDA);
      const ThinSystems systems(theta, GetParam().gamma, s.symmetric, c.options()),
          on_gpu(theta, GetParam().gamma, s.symmetric, c.cuda().options());
      for (const bool adjoint : {false, true}) {
        const auto steps = systems.correction(c, here, adjoint).to(torch::kFloat64),
                   kernel = on_gpu.correction(c.cuda(), there, adjoint).cpu().to(torch::kFloat64);
        // Columns of a group stop together there, so that most are nearer to their limit.
        EXPECT_LE(relative_error(kernel, steps), 1e-3) << n << " " << adjoint;
        // The last column of all takes as many steps in either.
        const int64_t last = theta.numel() - 1;
        EXPECT_LE(relative_error(kernel.select(1, last), steps.select(1, last)),
                  dtype == torch::kFloat32 ? 1e-5 : 1e-13)
            << n << " " << adjoint;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Thin,
                         testing::Values(Case{Direction::undirected, 80, 0.8},
                                         Case{Direction::undirected, 5, 0.99}, Case{Direction::in, 37, 0.8},
                                         Case{Direction::out, 16, 0.9}));

}  // namespace
}  // namespace eignn
