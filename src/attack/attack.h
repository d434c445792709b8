// The attacks of eignn/attack.h on a model that is bound to its graph.
#pragma once

#include <torch/types.h>

#include <optional>

#include "attack/certificate.h"
#include "attack/response.h"
#include "eignn/attack.h"
#include "eignn/dataset.h"

namespace eignn {

/// Attacks on a model's nodes, and what attacks of several kinds share: the scores before and, where the
/// model is linear in its features, the Jacobians. The model has its own features and mode again at the end.
///
///     Attacker attacker(*model, dataset, dataset.splits[0].test);
///     double accuracy = attacker.run({AttackMethod::fgsm, 0.01}).accuracy();
class Attacker {
 public:
  /// The model and the data set must outlive it. DataError where a node has a set of labels.
  Attacker(Model& model, const Dataset& dataset, const torch::Tensor& nodes);

  AttackReport run(const AttackOptions& options);

  bool linear() const { return model_.model().linear_in_features(); }
  /// For the nodes (all of them, in their order); nothing for a model that is not linear.
  std::optional<Certificate> certificate(AttackTargets targets);

  const torch::Tensor& nodes() const { return nodes_; }
  const torch::Tensor& labels() const { return labels_; }  // of the nodes
  const torch::Tensor& clean_scores() const { return clean_; }

 private:
  torch::Tensor pick(const torch::Tensor& rows) const { return rows.index_select(0, right_); }
  const Jacobians& jacobians(bool with_all_rows);
  torch::Tensor perturbed(Response& response, const AttackOptions& options);

  FixedModel model_;
  const Graph& graph_;
  torch::Tensor nodes_, labels_, clean_;
  torch::Tensor right_;  // indices into nodes_ of the nodes to be attacked
  std::optional<Jacobians> jacobians_;
};

}  // namespace eignn
