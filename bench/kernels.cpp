// The kernels one by one, under Google Benchmark:  ./dev bench-kernels [--benchmark_filter=Gram]
//
// Sizes are those of the paper's sets: 1703 features and 183 nodes are Cornell, 100 features on paths of 200
// nodes are the chains. Rates are by the wall clock, since several threads work.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <random>

#include "eignn/execution.h"
#include "eignn/solver.h"
#include "eignn/train.h"
#include "equilibrium/contraction.h"
#include "equilibrium/gth_kernel.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/symmetric_eigen.h"

namespace {

using namespace eignn;

// `degree` arcs from each node to random others.
std::shared_ptr<const Propagation> random_propagation(int64_t nodes, int64_t degree) {
  std::mt19937_64 random(1);
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < nodes * degree; ++k) {
    source.push_back(k / degree);
    target.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(nodes)));
  }
  return std::make_shared<Propagation>(make_propagation(Graph::from_arcs(nodes, source, target)));
}

// Xavier's start: where training begins, and the eigenvalues of g are many and alike.
torch::Tensor starting_F(int64_t m) {
  return (torch::rand({m, m}) * 2 - 1) * std::sqrt(3.0 / static_cast<double>(m));
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

void sparse_product(benchmark::State& state) {
  const int64_t m = state.range(1);
  const auto S = random_propagation(state.range(0), 8);
  const SparseProduct product(*S, torch::kFloat32, torch::kCPU);
  const auto Z = torch::rand({S->nodes, m});
  for (auto _ : state) benchmark::DoNotOptimize(product.gather(Z));
  count_flops(state, 2.0 * static_cast<double>(S->entries() * m));
}
BENCHMARK(sparse_product)->Args({5000, 64})->Args({5000, 512})->Args({100'000, 64})->UseRealTime();

// Factors and solves one block of shifts along a path, as many as there are lanes.
template <class T>
void gth_elimination(benchmark::State& state) {
  constexpr int lanes = Digits<T>::lanes;
  const int64_t nodes = state.range(0);
  const Elimination elimination = analyse_elimination(make_propagation(chain_graph(1, nodes)));
  std::vector<T> a(lanes), complement(lanes), mantissa(nodes * lanes);
  std::vector<typename Digits<T>::Int> digit(nodes * lanes);
  for (int k = 0; k < lanes; ++k) {
    a[k] = static_cast<T>(0.8) * static_cast<T>(k + 1) / lanes;
    complement[k] = 1 - a[k];
  }
  for (auto _ : state) {
    std::fill(mantissa.begin(), mantissa.end(), T(0));
    std::fill(digit.begin(), digit.end(), 0);
    std::fill(mantissa.begin(), mantissa.begin() + lanes, T(1));
    GthFactor<T> factor;
    if (!factor.factor(elimination, a.data(), complement.data())) state.SkipWithError("singular");
    factor.solve(elimination, {mantissa.data(), digit.data()}, /*transposed=*/false);
    benchmark::DoNotOptimize(mantissa.data());
  }
  state.SetItemsProcessed(state.iterations() * nodes * lanes);
}
BENCHMARK_TEMPLATE(gth_elimination, float)->Arg(200)->Arg(1000)->UseRealTime();
BENCHMARK_TEMPLATE(gth_elimination, double)->Arg(200)->Arg(1000)->UseRealTime();

void gram_product(benchmark::State& state) {
  const int64_t m = state.range(0);
  const auto F = starting_F(m);
  for (auto _ : state) benchmark::DoNotOptimize(Contraction(F, 0.8, 1e-12));
  count_flops(state, std::pow(m, 3));  // one triangle
}
BENCHMARK(gram_product)->Arg(100)->Arg(1703)->Unit(benchmark::kMicrosecond)->UseRealTime();

void contraction_pullback(benchmark::State& state) {
  const int64_t m = state.range(0);
  const Contraction g(starting_F(m), 0.8, 1e-12);
  const auto R = torch::rand({m, m});
  for (auto _ : state) benchmark::DoNotOptimize(g.pullback(R));
  count_flops(state, 2 * std::pow(m, 3));
}
BENCHMARK(contraction_pullback)->Arg(100)->Arg(1703)->Unit(benchmark::kMicrosecond)->UseRealTime();

void eigendecomposition(benchmark::State& state) {
  const auto F = starting_F(state.range(0)), A = F.t().mm(F);
  for (auto _ : state) benchmark::DoNotOptimize(symmetric_eigen(A));
}
BENCHMARK(eigendecomposition)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

// A forward solve, F moved a little each time as training moves it: nothing is cached.
void solve(benchmark::State& state, const char* solver_name) {
  const int64_t n = state.range(0), m = state.range(1);
  SolverOptions options;
  options.dtype = torch::kFloat32;
  const auto solver = make_solver(solver_name, random_propagation(n, 3), options, m);
  const auto X = torch::rand({n, m});
  auto F = starting_F(m);
  int64_t iterations = 0;
  for (auto _ : state) {
    state.PauseTiming();
    F = F + 1e-4 * torch::randn({m, m});
    state.ResumeTiming();
    const auto solved = solver->solve(F, X);
    iterations = solved->iterations();
    benchmark::DoNotOptimize(solved.get());
  }
  state.counters["products"] = static_cast<double>(iterations);
}
BENCHMARK_CAPTURE(solve, krylov, "krylov")
    ->Args({183, 1703})
    ->Args({2277, 512})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(solve, spectral, "spectral")
    ->Args({4000, 100})
    ->Args({2277, 512})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  const eignn::Execution execution(eignn::Execution::Options{});
  const torch::NoGradGuard no_gradients;
  benchmark::RunSpecifiedBenchmarks();
}
