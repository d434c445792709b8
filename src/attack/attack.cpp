#include "attack/attack.h"

#include <torch/torch.h>

#include <limits>

#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "equilibrium/torch_errors.h"
#include "graph/random_stream.h"
#include "run/checkpoint.h"

namespace eignn {

namespace {

// The gradient of -log p_y is p - e_y = (1 - p_y)(q - e_y), where q is the softmax of the other classes'
// scores alone. FGSM and PGD use only the sign of the gradient. When each target has a δ of its own, the
// positive factor 1 - p_y does not change the sign and is left out, because it underflows where p_y is
// near 1. When the targets share one δ, the factors weight the targets, up to a common scale.
torch::Tensor loss_cotangent(const torch::Tensor& scores, const torch::Tensor& labels, bool shared) {
  const auto y = labels.unsqueeze(1);
  const auto others = scores.scatter(1, y, -std::numeric_limits<double>::infinity());
  const auto cotangent = others.softmax(1).scatter(1, y, -1.0);
  if (!shared) return cotangent;
  const auto log_wrong = others.logsumexp(1) - scores.logsumexp(1);  // log(1 - p_y)
  return cotangent * (log_wrong - log_wrong.max()).exp().unsqueeze(1);
}

// The gradient of f_k - f_y.
torch::Tensor margin_cotangent(const torch::Tensor& scores, const torch::Tensor& labels,
                               const torch::Tensor& k) {
  return torch::zeros_like(scores).scatter(1, k.unsqueeze(1), 1.0).scatter(1, labels.unsqueeze(1), -1.0);
}

torch::Tensor ascend(Response& response, double epsilon, double step, int64_t steps,
                     const Cotangent& cotangent) {
  auto delta = response.none();
  for (int64_t s = 0; s < steps; ++s)
    delta = (delta + step * response.gradient(delta, cotangent).sign()).clamp(-epsilon, epsilon);
  return delta;
}

// U(-ε, ε) for the rows of these nodes, each drawn from a random stream of its own.
torch::Tensor noise(const torch::Tensor& nodes, int64_t features, const AttackOptions& options) {
  auto out = torch::empty({nodes.size(0), features}, torch::kFloat64);
  for (int64_t t = 0; t < nodes.size(0); ++t) {
    const auto node = static_cast<uint64_t>(nodes[t].item<int64_t>());
    auto generator = at::detail::createCPUGenerator(stream_seed(options.seed, Stream::attack, node));
    out[t].uniform_(-1, 1, generator);
  }
  return out * options.epsilon;
}

int64_t count(const torch::Tensor& yes) {
  return yes.sum().item<int64_t>();
}

}  // namespace

Attacker::Attacker(Model& model, const Dataset& dataset, const torch::Tensor& nodes)
    : model_(model, dense_matrix(dataset.features, "an attack").to(model.parameters().at(0).device())),
      graph_(dataset.graph) {
  if (dataset.multi_label())
    throw DataError(dataset.name, "labels", "a node has a set of labels, and no single class to lose",
                    "attack a set with one class a node");
  if (dataset.is_regression())
    throw DataError(dataset.name, "labels", "a node has numbers to predict, and no class to lose",
                    "attack a set with one class a node");
  const auto device = model_.X().device();
  nodes_ = nodes.to(device);
  labels_ = dataset.labels.to(device).index_select(0, nodes_);
  const torch::NoGradGuard guard;
  clean_ = model_.scores(model_.X(), nodes_);
  right_ = clean_.argmax(1).eq(labels_).nonzero().squeeze(1);
}

const Jacobians& Attacker::jacobians(bool with_all_rows) {
  if (!jacobians_ || (with_all_rows && !jacobians_->slopes_of_all.defined()))
    jacobians_ = eignn::jacobians(model_, graph_, pick(nodes_), pick(labels_), with_all_rows);
  // The clean scores are used, so that δ = 0 changes nothing, not even by rounding.
  jacobians_->scores = pick(clean_);
  return *jacobians_;
}

std::optional<Certificate> Attacker::certificate(AttackTargets targets) {
  if (!linear()) return {};
  // Nodes that are misclassified without an attack are not attacked; their slopes are 0.
  Certificate out{margins_of(clean_, labels_), torch::zeros_like(clean_)};
  if (right_.size(0) == 0) return out;
  const bool all = targets == AttackTargets::all;
  const auto of_right = eignn::certificate(jacobians(all), pick(labels_), all);
  out.margins.index_copy_(0, right_, of_right.margins);
  out.slopes.index_copy_(0, right_, of_right.slopes);
  return out;
}

// δ for the nodes that are classified correctly without an attack.
torch::Tensor Attacker::perturbed(Response& response, const AttackOptions& options) {
  const bool shared = options.targets == AttackTargets::all;
  const double step = options.method == AttackMethod::pgd ? options.step : options.epsilon;
  const int64_t steps = options.method == AttackMethod::pgd ? options.steps : 1;
  const auto labels = pick(labels_);
  const auto labels_from = [&](const torch::Tensor& scores, int64_t first) {
    return labels.narrow(0, first, scores.size(0));
  };
  if (options.method == AttackMethod::noise) {
    const auto of = shared ? torch::arange(model_.X().size(0)) : pick(nodes_).to(torch::kCPU);
    return noise(of, model_.X().size(1), options).to(model_.X().device());
  }
  if (options.objective == AttackObjective::loss)
    return ascend(response, options.epsilon, step, steps, [&](const torch::Tensor& scores, int64_t first) {
      return loss_cotangent(scores, labels_from(scores, first), shared);
    });
  if (shared)
    return ascend(response, options.epsilon, step, steps, [&](const torch::Tensor& scores, int64_t first) {
      const auto y = labels_from(scores, first);
      return margin_cotangent(scores, y, margins_of(scores, y).argmin(1));
    });
  // Attacks towards each other class in turn and keeps the worst.
  torch::Tensor worst, delta;
  for (int64_t shift = 1; shift < clean_.size(1); ++shift) {
    const auto k = (labels + shift).remainder(clean_.size(1));
    const auto tried =
        ascend(response, options.epsilon, step, steps, [&](const torch::Tensor& scores, int64_t first) {
          return margin_cotangent(scores, labels_from(scores, first), k.narrow(0, first, scores.size(0)));
        });
    const auto margin = margins_of(response.scores(tried), labels).amin(1);
    if (!worst.defined()) {
      worst = margin;
      delta = tried;
      continue;
    }
    delta = torch::where((margin < worst).unsqueeze(1), tried, delta);
    worst = torch::minimum(margin, worst);
  }
  return delta;
}

AttackReport Attacker::run(const AttackOptions& options) {
  validate(options);
  AttackReport report;
  report.options = options;
  report.nodes = nodes_.size(0);
  report.right = right_.size(0);
  report.labels = labels_;
  report.clean_scores = clean_;
  report.scores = clean_.clone();
  if (report.right > 0) {
    const bool all = options.targets == AttackTargets::all;
    const auto response = all        ? all_rows(model_, pick(nodes_))
                          : linear() ? linear_rows(jacobians(false))
                                     : own_rows(model_, pick(nodes_));
    const auto delta = perturbed(*response, options);
    if (all) {
      report.scores = all_rows(model_, nodes_)->scores(delta);
    } else {
      report.scores.index_copy_(0, right_, response->scores(delta));
    }
    report.largest_change = delta.abs().max().item<double>();
  }
  const auto before = clean_.argmax(1).eq(labels_), after = report.scores.argmax(1).eq(labels_);
  report.kept = count(before.logical_and(after));
  report.righted = count(before.logical_not().logical_and(after));
  if (options.certify && linear()) {
    const auto bounds = certificate(options.targets);
    report.certified_radius = bounds->radius();
    report.margin_bound = bounds->lower_bound(options.epsilon);
    report.certified = count(report.certified_radius > options.epsilon);
  }
  return report;
}

std::vector<AttackReport> attack(const TrainedModel& trained, const Dataset& data, const torch::Tensor& nodes,
                                 const std::vector<AttackOptions>& attacks) {
  return with_our_errors("attack", [&]() -> std::vector<AttackReport> {
    for (const AttackOptions& options : attacks) validate(options);
    require_labelled(data, nodes);
    const Execution execution(trained.config());
    const Dataset own = as_trained(trained, data);
    require_own_classes(trained, data, own, nodes);
    const auto model = restore_model(trained, own, trained.config(), nullptr, "the trained model");
    Attacker attacker(*model, own, nodes);
    std::vector<AttackReport> reports;
    for (const AttackOptions& options : attacks) reports.push_back(attacker.run(options));
    return reports;
  });
}

}  // namespace eignn
