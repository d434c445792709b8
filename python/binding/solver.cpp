// Solvers for one S, and what they solved.
#include "eignn/solver.h"
#include "binding.h"
#include "eignn/planner.h"
#include "equilibrium/signal_hops.h"
#include "models/propagate.h"
#include "spectra.h"

namespace eignn::python {

namespace {

// With the products that a source P = S takes: X P before a solve, W Pᵀ after its adjoint.
struct SolverOfGraph {
  std::shared_ptr<const Propagation> S;
  std::unique_ptr<Solver> solver;
  SharedProduct product;  // null: P = I
};

// What `auto` is, where Z is read at all nodes and its gradient is given there. `sources` are the nodes that
// have features, where they are known: how far a signal goes depends on them.
std::string planned_solver(const Propagation& S, const SolverOptions& options, int64_t features,
                           const std::optional<torch::Tensor>& sources) {
  check(S);
  PlanRequest request{S};
  request.options = options;
  request.width = features;
  request.reads = Reads::all_nodes;
  request.trained = S.nodes;
  request.evaluated = 0;
  if (sources) {
    const auto nodes = sources->contiguous();
    const auto* first = nodes.data_ptr<int64_t>();
    request.hops = farthest_hops(S, {first, first + nodes.numel()},
                                 decay_per_hop(options.gamma, static_cast<double>(features)));
  }
  return plan_solver(request).solver;
}

std::unique_ptr<SolverOfGraph> solver_for(const std::string& name, std::shared_ptr<Propagation> S,
                                          int64_t features, bool from_neighbours, double gamma,
                                          double epsilon, torch::Dtype dtype, const torch::Device& device,
                                          double tolerance, int64_t max_iterations, bool fixed_features,
                                          const std::optional<torch::Tensor>& sources) {
  SolverOptions options;
  options.gamma = gamma;
  options.epsilon = epsilon;
  options.dtype = dtype;
  options.device = device;
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  options.store = &shared_spectra();
  options.fixed_features = fixed_features;
  return without_gil([&](Signals&) {
    auto out = std::make_unique<SolverOfGraph>();
    // Where an option is out of range make_solver() says so.
    const bool plan = name == "auto" && gamma > 0 && gamma <= 1 && features > 0;
    out->solver = make_solver(plan ? planned_solver(*S, options, features, sources) : name, S, options,
                              features, /*needs_all=*/true);
    if (from_neighbours) out->product = make_product(*S, torch::dtype(dtype).device(device));
    out->S = std::move(S);
    return out;
  });
}

torch::Dtype dtype_of(const std::string& name) {
  return name == "float64" ? torch::kFloat64 : torch::kFloat32;
}

torch::Tensor index_of(const std::optional<torch::Tensor>& index) {
  return index ? *index : torch::Tensor();
}

}  // namespace

void bind_solver(py::module_& module) {
  py::class_<Equilibrium, std::shared_ptr<Equilibrium>>(module, "Equilibrium")
      .def("rows",
           [](const Equilibrium& solved, const std::optional<torch::Tensor>& index) {
             return without_gil([&](Signals&) { return solved.rows(index_of(index)).plain(); });
           })
      .def("pull",
           [](const Equilibrium& solved, const std::optional<torch::Tensor>& index, const torch::Tensor& Y,
              bool want_F,
              bool want_X) -> std::pair<std::optional<torch::Tensor>, std::optional<torch::Tensor>> {
             return without_gil([&](Signals&) {
               std::pair<std::optional<torch::Tensor>, std::optional<torch::Tensor>> out;
               if (!want_F) {
                 if (want_X) out.second = solved.pull_X(index_of(index), {Y, {}}).plain();
                 return out;
               }
               const Gradients gradients = solved.pull(index_of(index), {Y, {}}, want_X);
               out.first = gradients.F;
               if (want_X) out.second = gradients.X.plain();
               return out;
             });
           })
      .def_property_readonly("iterations", &Equilibrium::iterations)
      .def_property_readonly("seconds", &Equilibrium::seconds);

  py::class_<SolverOfGraph>(module, "Solver")
      .def(py::init([](const std::string& name, std::shared_ptr<Propagation> S, int64_t features,
                       bool from_neighbours, double gamma, double epsilon, const std::string& dtype,
                       const std::string& device, double tolerance, int64_t max_iterations,
                       bool fixed_features, const std::optional<torch::Tensor>& sources) {
        return solver_for(name, std::move(S), features, from_neighbours, gamma, epsilon, dtype_of(dtype),
                          torch::Device(device), tolerance, max_iterations, fixed_features, sources);
      }))
      .def_property_readonly("name", [](const SolverOfGraph& s) { return s.solver->name(); })
      .def_property_readonly("preprocess_seconds",
                             [](const SolverOfGraph& s) { return s.solver->preprocess_seconds(); })
      .def("source",
           [](const SolverOfGraph& s, const torch::Tensor& X) {
             if (!s.product) return X;
             return without_gil([&](Signals&) {
               const torch::NoGradGuard guard;
               return s.product->gather(X.contiguous());
             });
           })
      .def("pull_source",
           [](const SolverOfGraph& s, const torch::Tensor& W) {
             if (!s.product) return W;
             return without_gil([&](Signals&) {
               const torch::NoGradGuard guard;
               return s.product->scatter(W.contiguous());
             });
           })
      .def("solve",
           [](const SolverOfGraph& s, const torch::Tensor& F, const torch::Tensor& X) {
             return std::const_pointer_cast<Equilibrium>(
                 without_gil([&](Signals&) { return s.solver->solve(F, X); }));
           })
      .def("seconds_in_cpp",
           [](const SolverOfGraph& s, const torch::Tensor& F, const torch::Tensor& X, const torch::Tensor& Y,
              bool want_X) {
             // What bench/python.py compares a call from Python with.
             return without_gil([&](Signals&) {
               const auto begin = std::chrono::steady_clock::now();
               const auto solved = s.solver->solve(F, X);
               solved->rows({});
               solved->pull({}, {Y, {}}, want_X);
               return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
             });
           })
      .def("residual", [](const SolverOfGraph& s, const torch::Tensor& Z, const torch::Tensor& F,
                          const torch::Tensor& X) {
        const SolverOptions& options = s.solver->options();
        return without_gil([&](Signals&) { return residual(*s.S, Z, F, X, options.gamma, options.epsilon); });
      });
  module.def("solver_names", &solver_names);
}

}  // namespace eignn::python
