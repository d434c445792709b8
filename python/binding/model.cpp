// EIGNN on a graph, with weights that live in Python: eignn.nn.EIGNN.
#include "eignn/model.h"

#include "binding.h"
#include "eignn/error.h"
#include "run/checkpoint.h"
#include "spectra.h"
#include "train/assemble.h"

namespace eignn::python {

namespace {

Dataset dataset_of(Graph graph, const torch::Tensor& X, int64_t classes) {
  Dataset set;
  set.name = "the graph";
  set.graph = std::move(graph);
  set.features = X.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  set.classes = classes;
  return set;
}

std::shared_ptr<Model> model_on(const Settings& settings, Graph graph, const torch::Tensor& X,
                                int64_t classes) {
  const TrainConfig config = configured(settings);
  return without_gil([&](Signals&) {
    const Dataset set = dataset_of(std::move(graph), X, classes);
    validate(set);
    return make_model(set, config, &shared_spectra());
  });
}

/// One forward pass, kept for its backward pass.
struct Pass {
  torch::Tensor scores;
  std::vector<torch::Tensor> inputs;  // X, then the weights
};

/// A model of the library whose parameters and buffers are given by the caller at each pass. They share their
/// memory and their version with the caller's, so that a step of an optimiser is seen and nothing is copied.
class GraphModel {
 public:
  GraphModel(const Settings& settings, const Graph& graph, const torch::Tensor& X, int64_t classes)
      : model_(model_on(settings, graph, X, classes)) {}

  std::shared_ptr<Pass> forward(const std::optional<torch::Tensor>& index, const torch::Tensor& X,
                                const std::vector<torch::Tensor>& weights,
                                const std::vector<torch::Tensor>& buffers, bool training,
                                std::optional<uint64_t> seed, bool differentiable) {
    return without_gil([&](Signals&) {
      std::optional<c10::InferenceMode> normal;
      if (c10::InferenceMode::is_enabled()) normal.emplace(false);
      const at::AutoGradMode mode(differentiable);
      auto own = model_->parameters();
      auto pass = std::make_shared<Pass>();
      // Solvers know features by their memory and version; a leaf's may be written to through x.data, which
      // has no version.
      const bool copied = X.is_inference() || (X.requires_grad() && X.is_leaf());
      const auto features = copied ? X.detach().clone() : X.detach();
      pass->inputs.push_back(features.set_requires_grad(differentiable && X.requires_grad()));
      if (own.size() != weights.size())
        throw ArgumentError("weights", "there are not so many", "make the module again");
      for (size_t k = 0; k < own.size(); ++k) {
        share(own[k], weights[k]);
        own[k].set_requires_grad(differentiable && weights[k].requires_grad());
        pass->inputs.push_back(own[k]);
      }
      auto state = model_->buffers();
      for (size_t k = 0; k < state.size(); ++k) share(state[k], buffers.at(k));
      model_->train(training);
      if (seed) model_->seed_dropout(*seed);
      model_->use_features(pass->inputs[0]);  // and forget what was solved for other weights
      pass->scores = model_->scores(index ? *index : every_node());
      return pass;
    });
  }

  std::vector<std::optional<torch::Tensor>> backward(const Pass& pass, const torch::Tensor& cotangent) const {
    return without_gil([&](Signals&) {
      if (!pass.scores.requires_grad())  // no node was asked for
        return std::vector<std::optional<torch::Tensor>>(pass.inputs.size());
      std::vector<torch::Tensor> asked;
      for (const auto& input : pass.inputs)
        if (input.requires_grad()) asked.push_back(input);
      const auto found = torch::autograd::grad({pass.scores}, asked, {cotangent}, /*retain_graph=*/true,
                                               /*create_graph=*/false, /*allow_unused=*/true);
      std::vector<std::optional<torch::Tensor>> out;
      size_t next = 0;
      for (const auto& input : pass.inputs) {
        out.emplace_back();
        if (!input.requires_grad()) continue;
        if (found[next].defined()) out.back() = found[next];
        ++next;
      }
      return out;
    });
  }

  const Model& model() const { return *model_; }

 private:
  // Makes `own` a second name of `given`.
  static void share(torch::Tensor& own, const torch::Tensor& given) {
    if (own.sizes() != given.sizes())
      throw ArgumentError("weights", "a weight has another shape than the module was made with",
                          "load a state of the same module");
    const torch::NoGradGuard guard;
    own.set_data(given.detach());
    own.unsafeGetTensorImpl()->set_version_counter(given.unsafeGetTensorImpl()->version_counter());
  }

  torch::Tensor every_node() {
    if (!all_.defined()) all_ = torch::arange(model_->nodes(), torch::kInt64).to(model_->type().device());
    return all_;
  }

  std::shared_ptr<Model> model_;
  torch::Tensor all_;
};

// The weights that a seed gives, as parameters and buffers by name, in the order in which a pass takes them.
py::tuple starting_state(const Settings& settings, int64_t features, int64_t classes) {
  const auto model = model_on(settings, Graph::from_arcs(1, {}, {}), torch::zeros({1, features}), classes);
  py::dict parameters, buffers;
  for (const auto& item : model->named_parameters()) parameters[py::str(item.key())] = item.value().detach();
  for (const auto& item : model->named_buffers()) buffers[py::str(item.key())] = item.value().detach();
  return py::make_tuple(parameters, buffers);
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<Pass, std::shared_ptr<Pass>>(module, "Pass")
      .def_property_readonly("scores", [](const Pass& pass) { return pass.scores.detach(); });
  py::class_<GraphModel>(module, "GraphModel")
      .def(py::init<const Settings&, const Graph&, const torch::Tensor&, int64_t>())
      .def("forward", &GraphModel::forward)
      .def("backward", &GraphModel::backward)
      .def_property_readonly("solver_name", [](const GraphModel& m) { return m.model().solver_name(); });
  module.def("starting_state", &starting_state);
}

}  // namespace eignn::python
