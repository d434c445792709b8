// What a stranger writes who has installed eignn: the karate club's equilibrium, and how exact it is.
#include <cstdio>
#include <memory>

#include "eignn/graph.h"
#include "eignn/propagation.h"
#include "eignn/solver.h"

int main() {
  constexpr int64_t features = 8;
  constexpr double most = 1e-12;
  const eignn::Graph club = eignn::karate_club();
  const auto S = std::make_shared<eignn::Propagation>(eignn::make_propagation(club));
  const torch::Tensor F = torch::randn({features, features}, torch::kFloat64);
  const torch::Tensor X = torch::randn({club.nodes, features}, torch::kFloat64);

  const eignn::SolverOptions options;
  const auto solver = eignn::make_solver("auto", S, options, features);
  const torch::Tensor Z = solver->solve(F, X)->rows().plain();
  auto residual_of = [&](const torch::Tensor& z) {
    return eignn::residual(*S, z, F, X, options.gamma, options.epsilon);
  };
  const double found = residual_of(Z), untouched = residual_of(X);
  std::printf("%s: %lld nodes, residual %.2g\n", solver->name(), static_cast<long long>(club.nodes), found);

  // X itself is no equilibrium: a residual that does not see this proves nothing.
  const bool exact = found <= most && untouched > 1e-3 && Z.size(0) == club.nodes && Z.size(1) == features;
  if (!exact)
    std::fprintf(stderr, "the residual is %g (X itself: %g), at most %g was expected\n", found, untouched,
                 most);
  return exact ? 0 : 1;
}
