#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>
#include <map>

#include "cli/flags.h"
#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/edge_weights.h"
#include "data/graph_file.h"
#include "data/tensor_bytes.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/spectrum_cache.h"
#include "eignn/train.h"
#include "equilibrium/stopwatch.h"
#include "models/channels.h"
#include "report/error_bound.h"
#include "run/result_json.h"
#include "train/torch_settings.h"

namespace eignn::cli {

namespace {

// A matrix of finite floats from a .npy file.
torch::Tensor read_matrix(const std::string& path) {
  const Array array = read_npy(path);
  if (array.shape.size() != 2)
    throw DataError(path, "",
                    fmt::format("the array has {} dimension{}, not 2", array.shape.size(),
                                array.shape.size() == 1 ? "" : "s"),
                    "give a matrix");
  if (array.type != ElementType::float32 && array.type != ElementType::float64)
    throw DataError(path, "", fmt::format("the elements are {}", name(array.type)),
                    "save it with .astype(np.float64)");
  auto matrix = to_tensor({array.type, array.shape, array.bytes});
  const auto finite = torch::isfinite(matrix);
  if (!finite.all().item<bool>()) {
    const auto where = finite.logical_not().nonzero()[0];
    throw DataError(path,
                    fmt::format("row {}, column {}", where[0].item<int64_t>(), where[1].item<int64_t>()),
                    "a value is not finite", "clean the data first");
  }
  return matrix;
}

void require_shape(const torch::Tensor& matrix, int64_t rows, int64_t columns, const std::string& path,
                   const char* why) {
  if (matrix.size(0) != rows || matrix.size(1) != columns)
    throw DataError(path, "",
                    fmt::format("the shape is ({}, {}) and should be ({}, {})", matrix.size(0),
                                matrix.size(1), rows, columns),
                    why);
}

// The rows that are not zero and leave the range of normal numbers.
torch::Tensor rows_out_of_range(const ScaledRows& rows) {
  if (!rows.exponents.defined()) return torch::empty({0}, torch::kInt64);
  const double tiny = rows.values.scalar_type() == torch::kFloat32 ? std::numeric_limits<float>::min()
                                                                   : std::numeric_limits<double>::min();
  const auto size = rows.plain().abs().amax(1), given = rows.values.abs().amax(1);
  return ((given > 0).logical_and((size < tiny).logical_or(torch::isinf(size)))).nonzero().squeeze(1);
}

torch::Tensor exponents_or_zero(const ScaledRows& rows) {
  return rows.exponents.defined() ? rows.exponents : torch::zeros({rows.values.size(0)}, torch::kInt64);
}

// Output arrays, which are all written before the first of them is renamed to its final name.
class Outputs {
 public:
  void add(const std::string& path, const torch::Tensor& tensor) {
    const TensorBytes t = to_bytes(tensor);
    files_.push_back(std::make_unique<AtomicFile>(path));
    write_npy(*files_.back(), t.type, t.shape, t.bytes.data());
  }
  void commit() {
    for (auto& file : files_) file->commit();
  }

 private:
  std::vector<std::unique_ptr<AtomicFile>> files_;
};

// The disk of each output has room for all outputs in its folder.
void require_space_for_outputs(const SolveFlags& f, double n, double m, double rank, double element) {
  std::map<std::string, std::pair<std::string, double>> folders;  // a file of each, and the bytes of all
  const auto add = [&](const std::string& path, double bytes) {
    if (path.empty()) return;
    auto& [file, sum] = folders[std::filesystem::path(path).parent_path().string()];
    file = path;
    sum += bytes;
  };
  add(f.out, n * m * element);
  add(f.grad_features, n * m * element);
  add(f.grad_weight, rank * m * element);
  for (const auto& exponents : {f.exponents, f.grad_exponents}) add(exponents, n * sizeof(int64_t));
  for (const auto& [folder, files] : folders)
    require_space_for_file(files.first, files.second, "eignn solve");
}

}  // namespace

void run_solve(const SolveFlags& f) {
  const TrainConfig& config = f.config;
  const auto given = f.settings.given();
  const EignnOptions& model = config.eignn();
  if (model.source == Source::both)
    throw UsageError("one equilibrium has one source (--source); give own or neighbours");
  if (!config.further_directions.empty())
    throw UsageError("one equilibrium has one direction (--direction); name one");
  const bool neighbours = model.source == Source::neighbours;
  SolverOptions options;
  options.gamma = model.gamma;
  options.epsilon = model.epsilon;
  options.eigenpairs = model.eigenpairs;
  options.device = torch_device(config.device);
  const Execution execution(config);

  auto X = read_matrix(f.features), F = read_matrix(f.weight);
  const int64_t n = X.size(0), m = X.size(1);
  if (n == 0 || m == 0)
    throw DataError(f.features, "", "the matrix is empty", "give at least one node and feature");
  const int64_t rank = F.size(0);
  if (rank == 0 || rank > m || F.size(1) != m)
    throw DataError(f.weight, "", fmt::format("the shape is ({}, {})", rank, F.size(1)),
                    fmt::format("F has a column per feature of X, and 1 to {} rows", m));
  torch::Tensor Y;
  if (!f.cotangent.empty()) {
    Y = read_matrix(f.cotangent);
    require_shape(Y, n, m, f.cotangent, "the cotangent has the shape of X");
  }
  bool all_single = X.scalar_type() == torch::kFloat32 && F.scalar_type() == torch::kFloat32;
  if (Y.defined()) all_single = all_single && Y.scalar_type() == torch::kFloat32;
  options.dtype = given.count("dtype") ? torch_dtype(config.dtype)
                  : all_single         ? torch::kFloat32
                                       : torch::kFloat64;
  for (auto* t : {&X, &F, &Y})
    if (t->defined()) {
      *t = t->to(options.device, options.dtype);
      if (!torch::isfinite(*t).all().item<bool>())
        throw ConvergenceError("a value does not fit into float32", "--dtype", "use --dtype float64");
    }

  require_space_for_outputs(f, static_cast<double>(n), static_cast<double>(m), static_cast<double>(rank),
                            static_cast<double>(torch::elementSize(options.dtype)));
  ArcList arcs = read_graph(f.graph, f.graph_format);
  check_node_range(arcs, n, f.graph);
  if (!given.count("edge-weights") && !arcs.weight.empty() && !arcs.weight_on_request)
    warning(fmt::format("the arcs of {} have weights, which are ignored; give --edge-weights use or ignore",
                        f.graph));
  take_weights(arcs, given.count("edge-weights") ? config.edge_weights : EdgeWeights::ignore, f.graph);
  const Graph graph = Graph::from_arcs(n, arcs.source, arcs.target, arcs.weight);
  auto S = std::make_shared<Propagation>(make_propagation(graph, config.propagation));

  SpectrumCache cache;
  options.store = &cache;
  constexpr int64_t cheap_to_refine = 1024;  // above it, long double would take longer than the solve
  options.refine = m <= cheap_to_refine;
  const Stopwatch watch;
  const auto solver = make_solver(model.solver, S, options, rank, /*needs_all=*/true);
  const auto product = neighbours ? make_product(*S, X.options()) : nullptr;
  const auto XP = neighbours ? product->gather(X) : X;
  const auto solved = solver->solve(F, XP);
  const ScaledRows Z = solved->rows();
  Gradients gradients;
  ScaledRows W;
  if (Y.defined()) {
    gradients = solved->pull({}, {Y, {}}, /*want_X=*/true);
    W = gradients.X;
    if (neighbours) gradients.X = pulled_through(*S, product, W);
  }
  const double seconds = watch.seconds();

  const auto lost = rows_out_of_range(Z);
  if (f.exponents.empty() && lost.numel() > 0)
    throw ConvergenceError(
        fmt::format("{} rows of Z leave the range of {}, the first at node {}", lost.numel(),
                    options.dtype == torch::kFloat32 ? "float32" : "float64", lost[0].item<int64_t>()),
        f.out, "give --exponents E.npy");
  if (!torch::isfinite(Z.values).all().item<bool>())
    throw ConvergenceError("the equilibrium is out of the floating range", "Z",
                           "use a smaller γ or a larger ε");
  const SolveStatus status = status_of(*solver, *solved, F, XP);
  const double x_norm = XP.norm().item<double>(), z_norm = Z.plain().norm().item<double>();
  if (!status.error_bound && status.residual * x_norm > 1e-3 * (x_norm + z_norm))
    throw ConvergenceError(
        fmt::format("the equilibrium does not exist in this precision: the residual is {:.1e}",
                    status.residual),
        fmt::format("γ {}, ε {}", model.gamma, model.epsilon), "use γ below 1, or ε above 0",
        status.residual);

  if (Y.defined() && !(torch::isfinite(gradients.F).all().item<bool>() &&
                       torch::isfinite(gradients.X.values).all().item<bool>()))
    throw ConvergenceError("the gradient is out of the floating range", "--cotangent", "scale Y down");

  Json json = {{"n", n},
               {"m", m},
               {"rank", rank},
               {"arcs", graph.arcs()},
               {"weighted", !graph.weight.empty()},
               {"weight_scale", scale_of_weights(graph, config.propagation)},
               {"solver", status.solver},
               {"dtype", options.dtype == torch::kFloat32 ? "float32" : "float64"},
               {"source", name(model.source)},
               {"gamma", model.gamma},
               {"epsilon", model.epsilon},
               {"residual", status.residual},
               {"adjoint_residual", nullptr},
               {"iterations", status.iterations},
               {"seconds", seconds}};
  if (status.error_bound) json["error_bound"] = error_bound_json(*status.error_bound);
  if (Y.defined()) {
    json["adjoint_residual"] = residual(*S, W.plain(), F, Y, model.gamma, model.epsilon, /*adjoint=*/true);
    json["adjoint_iterations"] = gradients.iterations;
  }

  Outputs outputs;
  outputs.add(f.out, f.exponents.empty() ? Z.plain() : Z.values);
  if (!f.exponents.empty()) outputs.add(f.exponents, exponents_or_zero(Z));
  if (!f.grad_weight.empty()) outputs.add(f.grad_weight, gradients.F);
  if (!f.grad_exponents.empty()) {
    outputs.add(f.grad_features, gradients.X.values);
    outputs.add(f.grad_exponents, exponents_or_zero(gradients.X));
  } else if (!f.grad_features.empty()) {
    const auto below = rows_out_of_range(gradients.X);
    if (below.numel() > 0)
      warning(fmt::format(
          "{} rows of the gradient of X leave the floating range and are written as 0 or infinity ({}); give "
          "--grad-exponents to keep them",
          below.numel(), f.grad_features));
    outputs.add(f.grad_features, gradients.X.plain());
  }
  outputs.commit();
  if (f.json) return print_json(json);
  fmt::print("{}, {}, {}: solved by {} in {:.3g} s, residual {:.2e}\n", counted(n, "node"),
             counted(m, "feature"), counted(graph.arcs(), "arc"), solver->name(), seconds,
             json["residual"].get<double>());
  if (status.error_bound) fmt::print("{}\n", in_words(*status.error_bound));
  if (Y.defined()) fmt::print("adjoint residual {:.2e}\n", json["adjoint_residual"].get<double>());
}

}  // namespace eignn::cli
