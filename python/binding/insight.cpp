// Explanations and attacks.
#include "binding.h"
#include "eignn/attack.h"
#include "eignn/explain.h"
#include "run/checkpoint.h"

namespace eignn::python {

namespace {

using namespace pybind11::literals;

template <class Items, class Number>
torch::Tensor column(const Items& items, Number number) {
  auto out = torch::empty({static_cast<int64_t>(items.size())}, torch::kFloat64);
  auto* to = out.template data_ptr<double>();
  for (const auto& item : items) *to++ = static_cast<double>(number(item));
  return out;
}

py::dict explained(const TrainedModel& model, const Dataset& data, const std::string& node,
                   const std::optional<std::string>& named_class, bool raw_units) {
  const Explanation why = without_gil([&](Signals&) {
    std::optional<int64_t> class_number;
    if (named_class) class_number = find_class(as_trained(model, data), *named_class);
    return explain(model, data, find_node(data, node), class_number, {raw_units});
  });
  return py::dict(
      "node"_a = why.node, "class_number"_a = why.class_number, "predicted"_a = why.predicted,
      "kind"_a = name(why.kind), "exact"_a = why.exact, "exponent"_a = why.exponent, "score"_a = why.score,
      "constant"_a = why.constant, "sum"_a = why.sum, "remainder"_a = why.remainder,
      "nodes"_a = py::make_tuple(column(why.nodes, [](const auto& c) { return c.node; }),
                                 column(why.nodes, [](const auto& c) { return c.hops; }),
                                 column(why.nodes, [](const auto& c) { return c.contribution; })),
      "features"_a = py::make_tuple(column(why.features, [](const auto& c) { return c.feature; }),
                                    column(why.features, [](const auto& c) { return c.contribution; })),
      "hops"_a = py::make_tuple(column(why.by_hop, [](const auto& c) { return c.hops; }),
                                column(why.by_hop, [](const auto& c) { return c.nodes; }),
                                column(why.by_hop, [](const auto& c) { return c.contribution; }),
                                column(why.by_hop, [](const auto& c) { return c.raising; }),
                                column(why.by_hop, [](const auto& c) { return c.lowering; })));
}

py::dict influenced(const TrainedModel& model, const Dataset& data, int64_t sample, uint64_t seed) {
  const Influence found = without_gil([&](Signals&) { return influence(model, data, {sample, seed}); });
  return py::dict(
      "sample"_a = found.sample, "silent"_a = found.silent, "mean_hops"_a = found.mean_hops,
      "elsewhere"_a = found.elsewhere,
      "hops"_a = py::make_tuple(column(found.by_hop, [](const auto& h) { return h.hops; }),
                                column(found.by_hop, [](const auto& h) { return h.nodes; }),
                                column(found.by_hop, [](const auto& h) { return h.share; }),
                                column(found.by_hop, [](const auto& h) { return h.cumulative; })));
}

py::dict attacked(const TrainedModel& model, const Dataset& data, const torch::Tensor& nodes,
                  const std::string& method, double epsilon, double step, int64_t steps,
                  const std::string& targets, const std::string& objective, uint64_t seed, bool certify) {
  AttackOptions options;
  options.method = parse_attack_method(method);
  options.epsilon = epsilon;
  options.step = step;
  options.steps = steps;
  options.targets = parse_attack_targets(targets);
  options.objective = parse_attack_objective(objective);
  options.seed = seed;
  options.certify = certify;
  const AttackReport report =
      without_gil([&](Signals&) { return attack(model, data, nodes, {options}).at(0); });
  return py::dict("nodes"_a = report.nodes, "clean_accuracy"_a = report.clean_accuracy(),
                  "accuracy"_a = report.accuracy(), "certified_accuracy"_a = report.certified_accuracy(),
                  "largest_change"_a = report.largest_change, "labels"_a = report.labels,
                  "clean_scores"_a = report.clean_scores, "scores"_a = report.scores,
                  "margin_bound"_a = if_defined(report.margin_bound),
                  "certified_radius"_a = if_defined(report.certified_radius));
}

}  // namespace

void bind_insight(py::module_& module) {
  module.def("explain", &explained);
  module.def("influence", &influenced);
  module.def("attack", &attacked);
}

}  // namespace eignn::python
