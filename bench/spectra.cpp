// What the eigenbases of some graphs cost, ours beside a plain call of LAPACK on the dense S, and how fast a
// second run has them from the cache.
//
//     spectra-bench [float64] [cached] GRAPH.mtx...
//
// `cached` measures nothing but the last line, the start of all graphs from the cache.
//
// Times in seconds (of `repeats` runs the best), a step in milliseconds: forward and gradient with 50
// features, from all nodes. "key" and "components" are the parts of "cached" that no file takes. "plain"
// leaves the making of the dense S out.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>

#include "data/graph_file.h"
#include "eignn/execution.h"
#include "eignn/solver.h"
#include "eignn/spectrum_cache.h"
#include "eignn/train.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "graph/content_hash.h"
#include "graph/unique_components.h"

extern "C" {
void ssyevd_(const char*, const char*, const int*, float*, const int*, float*, float*, const int*, int*,
             const int*, int*, size_t, size_t);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*,
             const int*, int*, size_t, size_t);
}

namespace {

using namespace eignn;

constexpr int repeats = 2;
constexpr int64_t features = 50;

template <class Work>
double seconds_of(Work work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

template <class T, class Driver>
void plain_lapack(Driver driver, std::vector<T> A, int n) {
  std::vector<T> values(n), work(1 + 6 * n + 2 * n * n);
  std::vector<int> integers(3 + 5 * n);
  const int size = static_cast<int>(work.size()), integer_size = static_cast<int>(integers.size());
  int info = 0;
  driver("V", "L", &n, A.data(), &n, values.data(), work.data(), &size, integers.data(), &integer_size, &info,
         1, 1);
  if (info != 0) throw std::runtime_error("LAPACK failed");
}

void run_plain(const torch::Tensor& A) {
  const int n = static_cast<int>(A.size(0));
  if (A.scalar_type() == torch::kFloat32)
    plain_lapack<float>(ssyevd_, {A.data_ptr<float>(), A.data_ptr<float>() + A.numel()}, n);
  else
    plain_lapack<double>(dsyevd_, {A.data_ptr<double>(), A.data_ptr<double>() + A.numel()}, n);
}

double step_milliseconds(Solver& solver, torch::Dtype dtype) {
  const int64_t n = solver.propagation().nodes;
  const auto X = torch::randn({n, features}, dtype), F = torch::randn({features, features}, dtype),
             Y = torch::randn({n, features}, dtype);
  double best = 1e9;
  for (int k = 0; k < 5; ++k)
    best = std::min(best, seconds_of([&] {
                      const auto solved = solver.solve(F, X);
                      solved->rows();
                      solved->pull({}, {Y, {}}, /*want_X=*/false);
                    }));
  return 1e3 * best;
}

struct Row {
  double ours = 1e9, plain = 1e9, torch = 1e9, save = 0, cached = 1e9, key = 0, components = 0, step = 0;
};

Row measure(const std::shared_ptr<const Propagation>& S, const std::string& folder, SolverOptions options) {
  Row row;
  const auto A = dense(*S).to(options.dtype);
  for (int k = 0; k < repeats; ++k) {
    options.store = nullptr;
    const double t = make_solver("spectral", S, options, features)->preprocess_seconds();
    row.ours = std::min(row.ours, t);
    row.plain = std::min(row.plain, seconds_of([&] { run_plain(A); }));
  }
  try {
    row.torch = seconds_of([&] { torch::linalg_eigh(A); });
  } catch (const c10::Error&) {
    row.torch = NAN;
  }
  SpectrumCache cache(folder);
  options.store = &cache;
  row.save = seconds_of([&] { make_solver("spectral", S, options, features); }) - row.ours;
  for (int k = 0; k < repeats; ++k)
    row.cached = std::min(row.cached, seconds_of([&] { make_solver("spectral", S, options, features); }));
  row.key = seconds_of([&] { content_hash(*S); });
  row.components = seconds_of([&] { unique_components(*S); });
  row.step = step_milliseconds(*make_solver("spectral", S, options, features), options.dtype);
  return row;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> paths(arguments + 1, arguments + count);
  const auto flag = [&](const char* name) {
    const bool given = !paths.empty() && paths[0] == name;
    if (given) paths.erase(paths.begin());
    return given;
  };
  SolverOptions options;
  options.dtype = flag("float64") ? torch::kFloat64 : torch::kFloat32;
  const bool cached_only = flag("cached");
  const Execution execution({});
  const auto folder = std::filesystem::temp_directory_path() / "eignn-spectra-bench";
  constexpr const char* line = "{:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10} {:>8}\n";
  constexpr const char* numbers = "{:6} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:8.4f} {:8.4f} {:10.4f} {:8.2f}\n";
  fmt::print(line, "nodes", "ours", "plain", "libtorch", "save", "cached", "key", "components", "step ms");
  Row sum{0, 0, 0, 0, 0, 0, 0, 0};
  int64_t nodes = 0;
  std::vector<std::shared_ptr<const Propagation>> all;
  for (const auto& path : paths) {
    const ArcList arcs = read_graph(path, "");
    const int64_t n = arcs.nodes;
    all.push_back(
        std::make_shared<Propagation>(make_propagation(Graph::from_arcs(n, arcs.source, arcs.target))));
    if (cached_only) continue;
    const Row r = measure(all.back(), folder, options);
    fmt::print(numbers, n, r.ours, r.plain, r.torch, r.save, r.cached, r.key, r.components, r.step);
    std::fflush(stdout);
    nodes += n;
    sum.ours += r.ours, sum.plain += r.plain, sum.torch += r.torch, sum.save += r.save;
    sum.cached += r.cached, sum.key += r.key, sum.components += r.components, sum.step += r.step;
  }
  fmt::print(numbers, nodes, sum.ours, sum.plain, sum.torch, sum.save, sum.cached, sum.key, sum.components,
             sum.step);
  SpectrumCache cache(folder);
  options.store = &cache;
  for (const auto& S : all) make_solver("spectral", S, options, features);  // writes what is missing
  std::vector<std::unique_ptr<Solver>> solvers;
  const double start = seconds_of([&] {
    for (const auto& S : all) solvers.push_back(make_solver("spectral", S, options, features));
  });
  fmt::print("all {} from the cache, held together: {:.3f} s\n", all.size(), start);
}
