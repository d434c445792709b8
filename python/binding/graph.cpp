// Graphs and the propagation matrix S.
#include <algorithm>
#include <cmath>

#include "binding.h"
#include "eignn/error.h"
#include "eignn/propagation.h"

namespace eignn::python {

namespace {

template <class Number>
std::vector<Number> numbers(const torch::Tensor& tensor, torch::Dtype dtype, const char* field) {
  if (tensor.dim() != 1 || tensor.scalar_type() != dtype || !tensor.device().is_cpu())
    throw ArgumentError(field, "this is no vector of numbers of its type on the CPU", "convert it");
  const auto own = tensor.contiguous();
  const auto* first = own.data_ptr<Number>();
  return {first, first + own.numel()};
}

template <class Number>
torch::Tensor tensor_of(const std::vector<Number>& values, torch::Dtype dtype) {
  return torch::tensor(at::ArrayRef<Number>(values), dtype);
}

Graph graph_of(int64_t nodes, const torch::Tensor& source, const torch::Tensor& target,
               const std::optional<torch::Tensor>& weight) {
  const auto from = numbers<int64_t>(source, torch::kInt64, "edge_index");
  const auto to = numbers<int64_t>(target, torch::kInt64, "edge_index");
  const auto weights =
      weight ? numbers<double>(*weight, torch::kFloat64, "edge_weight") : std::vector<double>();
  return without_gil([&](Signals&) { return Graph::from_arcs(nodes, from, to, weights); });
}

// Rows of sources: the arcs as edge_index has them.
torch::Tensor arcs_of(const Graph& graph) {
  auto out = torch::empty({2, graph.arcs()}, torch::kInt64);
  auto *source = out.data_ptr<int64_t>(), *target = source + graph.arcs();
  for (int64_t v = 0; v < graph.nodes; ++v)
    std::fill(source + graph.row_begin[v], source + graph.row_begin[v + 1], v);
  std::copy(graph.target.begin(), graph.target.end(), target);
  return out;
}

// A lower bound on the largest eigenvalue of a symmetric, non-negative S: ‖S v‖ / ‖v‖ by power iteration.
double at_least_the_radius(const Propagation& S) {
  std::vector<double> v(S.nodes, 1), next(S.nodes);
  double bound = 0;
  constexpr int steps = 30;
  for (int step = 0; step < steps; ++step) {
    double before = 0, after = 0;
    for (int64_t i = 0; i < S.nodes; ++i) {
      double sum = 0;
      for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) sum += S.weight_of(i, e) * v[S.column[e]];
      next[i] = sum;
      before += v[i] * v[i];
      after += sum * sum;
    }
    if (!(after > 0)) return bound;
    bound = std::max(bound, std::sqrt(after / before));
    for (int64_t i = 0; i < S.nodes; ++i) v[i] = next[i] / std::sqrt(after);
  }
  return bound;
}

// A matrix of the caller's own as S: S_ij of the arc i → j, as it is.
std::shared_ptr<Propagation> given_matrix(int64_t nodes, const torch::Tensor& row,
                                          const torch::Tensor& column, const torch::Tensor& value) {
  Graph graph = graph_of(nodes, row, column, value);
  // Two roundings of one number do not make a matrix directed.
  const Graph both = graph.symmetrised();
  bool same = both.target == graph.target && both.row_begin == graph.row_begin;
  constexpr double roundings = 1e-6;  // of float32, which is what most matrices come in
  for (size_t k = 0; same && k < graph.weight.size(); ++k)
    same = both.weight[k] - graph.weight[k] <= roundings * both.weight[k];
  if (same) graph = both;
  auto S = std::make_shared<Propagation>();
  S->nodes = nodes;
  S->row_begin = graph.row_begin;
  S->column = graph.target;
  S->weight = graph.weight;
  S->left.assign(nodes, 1);
  S->right.assign(nodes, 1);
  S->symmetric = same;
  constexpr double rounding = 1e-6;
  if (const double radius = same ? at_least_the_radius(*S) : 0; radius > 1 + rounding)
    throw ArgumentError("S",
                        "its norm is " + std::to_string(radius) + " or more, and Z is the limit of nothing",
                        "divide it by its norm, or give the edge_index of the graph");
  return S;
}

std::shared_ptr<Propagation> made_matrix(const Graph& graph, const std::string& direction,
                                         const std::string& normalise, bool self_loops, double weight_scale) {
  return without_gil([&](Signals&) {
    return std::make_shared<Propagation>(make_propagation(
        graph, {parse_direction(direction), parse_normalisation(normalise), self_loops, weight_scale}));
  });
}

// S as the parts of a matrix in compressed rows.
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> parts_of(const Propagation& S) {
  std::vector<double> values(S.column.size());
  for (int64_t v = 0; v < S.nodes; ++v)
    for (int64_t k = S.row_begin[v]; k < S.row_begin[v + 1]; ++k) values[k] = S.value(v, k);
  return {tensor_of(S.row_begin, torch::kInt64),
          tensor_of(std::vector<int64_t>(S.column.begin(), S.column.end()), torch::kInt64),
          tensor_of(values, torch::kFloat64)};
}

}  // namespace

void bind_graph(py::module_& module) {
  py::class_<Graph>(module, "Graph")
      .def(py::init(&graph_of))
      .def_readonly("nodes", &Graph::nodes)
      .def_property_readonly("arcs", &Graph::arcs)
      .def_property_readonly("edge_index", &arcs_of)
      .def_property_readonly("edge_weight",
                             [](const Graph& graph) -> std::optional<torch::Tensor> {
                               if (graph.weight.empty()) return {};
                               return tensor_of(graph.weight, torch::kFloat64);
                             })
      .def_property_readonly("undirected_edges", &Graph::undirected_edges)
      .def_property_readonly("is_symmetric", &Graph::is_symmetric)
      .def("longest_hops",
           [](const Graph& graph) { return without_gil([&](Signals&) { return longest_hops(graph); }); });

  py::class_<Propagation, std::shared_ptr<Propagation>>(module, "Propagation")
      .def_readonly("nodes", &Propagation::nodes)
      .def_readonly("symmetric", &Propagation::symmetric)
      .def_property_readonly("parts", &parts_of);
  module.def("make_propagation", &made_matrix);
  module.def("given_propagation", &given_matrix);
  module.def("karate_club", [] { return std::make_pair(karate_club(), karate_factions()); });
}

}  // namespace eignn::python
