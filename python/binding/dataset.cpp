// Data sets: read, made of tensors, and told.
#include "binding.h"
#include "data/random_split.h"
#include "eignn/error.h"
#include "eignn/inspect.h"
#include "eignn/new_node.h"
#include "run/training_record.h"
#include "train/assemble.h"

namespace eignn::python {

namespace {

using Triple = std::tuple<torch::Tensor, torch::Tensor, torch::Tensor>;

std::vector<Triple> splits_of(const Dataset& data) {
  std::vector<Triple> out;
  for (const Split& split : data.splits) out.emplace_back(split.train, split.val, split.test);
  return out;
}

// From tensors, as make_dataset() takes them; regressions, names and splits beside. Where no splits are given
// and there are labels, one is drawn by the seed.
Dataset from_tensors(const Graph& graph, const torch::Tensor& features,
                     const std::optional<torch::Tensor>& labels, const std::vector<Triple>& splits,
                     const std::optional<int64_t>& classes, const std::vector<std::string>& class_names,
                     const std::vector<std::string>& node_names,
                     const std::vector<std::string>& feature_names, const std::string& name, uint64_t seed) {
  return without_gil([&](Signals&) {
    Dataset set = make_dataset(graph, features);
    set.name = name;
    if (labels) {
      set.labels = labels->detach().to(torch::kCPU).contiguous();
      if (set.labels.dim() == 0 || set.labels.size(0) != set.nodes())
        throw ArgumentError("labels", "there is no label for each node",
                            "give a row for each, -1 or NaN where it is not known");
      if (set.is_regression()) {
        set.labels = set.labels.to(torch::kFloat64);
        if (set.labels.dim() == 1) set.labels = set.labels.unsqueeze(1);
        if (set.labels.dim() != 2)
          throw ArgumentError("labels", "labels have more than two dimensions", "give (n,) or (n, numbers)");
        set.known = torch::isfinite(set.labels).all(1);
        set.classes = set.labels.size(1);
      } else {
        const bool sets = set.multi_label() && set.labels.dim() == 2;
        if (!sets && (set.labels.scalar_type() != torch::kInt64 || set.labels.dim() != 1))
          throw ArgumentError("labels",
                              "labels are int64 (n,), one a node, uint8 (n, classes), sets of them, or "
                              "floating-point numbers",
                              "convert them, with a row for each node");
        set.known = sets ? torch::ones({set.nodes()}, torch::kBool) : set.labels >= 0;
        if (sets) set.classes = set.labels.size(1);
        if (!sets && set.labels.numel() > 0) set.classes = set.labels.max().item<int64_t>() + 1;
        if (classes) set.classes = *classes;
      }
      if (!set.known.any().item<bool>())
        throw ArgumentError("labels", "no label is known", "give some, or none at all to predict");
      for (const auto& [train, val, test] : splits) set.splits.push_back({train, val, test});
      set.class_names = class_names;
      if (splits.empty()) {
        validate(set);
        set.splits.push_back(random_split(set, seed));
        set.drawn_split = true;
      }
    }
    set.node_names = node_names;
    if (!feature_names.empty())
      for (const std::string& column : feature_names) set.columns.push_back({column, {}});
    validate(set);
    return set;
  });
}

// The same graph and features with other classes (int64, -1: not known) or numbers (float64, NaN).
Dataset relabelled(const Dataset& data, const torch::Tensor& labels,
                   const std::vector<std::string>& class_names, int64_t classes, const Triple& split) {
  Dataset out = data;
  out.labels = labels.contiguous();
  out.known = out.is_regression() ? torch::isfinite(out.labels).all(1) : out.labels >= 0;
  out.classes = classes;
  out.class_names = class_names;
  out.splits = {{std::get<0>(split), std::get<1>(split), std::get<2>(split)}};
  out.drawn_split = false;
  validate(out);
  return out;
}

Dataset loaded(const Settings& settings, const std::vector<std::pair<std::string, std::string>>& columns) {
  TrainConfig config;
  assign(config, settings);
  std::vector<TrainedColumn> trained;
  for (const auto& [name, role] : columns) {
    ColumnRole known = ColumnRole::numbers;
    for (const ColumnRole each : {ColumnRole::numbers, ColumnRole::category, ColumnRole::text})
      if (role == eignn::name(each)) known = each;
    trained.push_back({name, known});
  }
  return without_gil([&](Signals&) {
    validate(config);
    return load_raw_dataset(config, trained);
  });
}

}  // namespace

void bind_dataset(py::module_& module) {
  py::class_<Dataset>(module, "Dataset")
      .def(py::init(&from_tensors))
      .def_readwrite("name", &Dataset::name)
      .def_readonly("format", &Dataset::format)
      .def_readonly("graph", &Dataset::graph)
      .def_readonly("features", &Dataset::features)
      .def_property_readonly("labels", [](const Dataset& d) { return if_defined(d.labels); })
      .def_property_readonly("known", [](const Dataset& d) { return if_defined(d.known); })
      .def_readonly("classes", &Dataset::classes)
      .def_readonly("class_names", &Dataset::class_names)
      .def_readonly("node_names", &Dataset::node_names)
      .def_readonly("distance", &Dataset::distance)
      .def_readonly("drawn_split", &Dataset::drawn_split)
      .def_property_readonly("graph_of", [](const Dataset& d) { return d.graph_of; })
      .def_property_readonly("splits", &splits_of)
      .def_property_readonly("task", [](const Dataset& d) { return name(task_of(d)); })
      .def_property_readonly("columns",
                             [](const Dataset& d) {
                               std::vector<std::pair<std::string, std::vector<std::string>>> out;
                               for (const FeatureColumn& column : d.columns)
                                 out.emplace_back(column.name, column.words);
                               return out;
                             })
      .def("relabelled", &relabelled)
      .def("node_name", &Dataset::node_name)
      .def("class_name", &Dataset::class_name)
      .def("feature_name", &Dataset::feature_name);
  module.def("load_dataset", &loaded);
  module.def("dataset_names", &dataset_names);
  module.def("with_node", [](const Dataset& data, const std::string& name,
                             const std::vector<std::pair<std::string, std::string>>& features,
                             const std::vector<std::pair<std::string, double>>& neighbours) {
    NewNode node;
    node.name = name;
    for (const auto& [column, text] : features) node.features.push_back({column, text});
    for (const auto& [neighbour, weight] : neighbours) node.neighbours.push_back({neighbour, weight});
    return without_gil([&](Signals&) { return with_node(data, node); });
  });
  module.def("inspect", [](const Dataset& data, const Settings& settings) {
    const TrainConfig config = configured(settings);
    return without_gil([&](Signals&) { return to_json(inspect(data, config)); });
  });
}

}  // namespace eignn::python
