// Evasion: small changes of the features of a trained model's test nodes. docs/attacks.md has the
// definitions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/certificate.h"
#include "attack/response.h"
#include "eignn/dataset.h"

namespace eignn {

enum class Method { noise, fgsm, pgd };
Method parse_method(const std::string& name);
const char* name(Method method);

/// Whose features change: each target's own row, one target at a time, or all rows of the graph at once.
enum class Targets { each, all };
Targets parse_targets(const std::string& name);
const char* name(Targets targets);

/// What grows: the negative log-likelihood of the label, or the lead of another class over it. With each
/// target by itself `margin` tries every other class and keeps the worst; with all rows it is the strongest
/// at each step.
enum class Objective { loss, margin };
Objective parse_objective(const std::string& name);
const char* name(Objective objective);

struct AttackOptions {
  Method method = Method::fgsm;
  double epsilon = 0.01;  // no feature changes by more
  double step = 0.001;    // pgd
  int64_t steps = 15;     // pgd
  Targets targets = Targets::each;
  Objective objective = Objective::loss;
  uint64_t seed = 0;    // noise
  bool certify = true;  // where the model is linear
};

/// Throws ArgumentError for values out of range.
void validate(const AttackOptions& options);

/// What became of the test nodes. A node that was misclassified before is not attacked and counts as wrong.
struct AttackReport {
  AttackOptions options;
  int64_t nodes = 0;
  int64_t right = 0;                 // before
  int64_t kept = 0;                  // of these, after
  int64_t righted = 0;               // wrong before and right after: where all rows change
  std::optional<int64_t> certified;  // no attack of this size takes their class; linear models
  torch::Tensor scores;              // float64 (nodes, classes) under attack
  double largest_change = 0;         // of a feature

  double clean_accuracy() const { return share(right); }
  double accuracy() const { return share(kept); }
  std::optional<double> certified_accuracy() const {
    return certified ? std::optional<double>(share(*certified)) : std::nullopt;
  }

 private:
  double share(int64_t count) const {
    return nodes > 0 ? static_cast<double>(count) / static_cast<double>(nodes) : 0;
  }
};

/// Attacks on a model's nodes, and what attacks of several kinds share: the scores before and, where the
/// model is linear in its features, the Jacobians. The model has its own features and mode again at the end.
///
///     Attacker attacker(*model, dataset, dataset.splits[0].test);
///     double accuracy = attacker.run({Method::fgsm, 0.01}).accuracy();
class Attacker {
 public:
  /// Model and data set must outlive it. DataError where a node has a set of labels.
  Attacker(Model& model, const Dataset& dataset, const torch::Tensor& nodes);

  AttackReport run(const AttackOptions& options);

  bool linear() const { return model_.model().linear_in_features(); }
  /// For the nodes (all of them, in their order); nothing for a model that is not linear.
  std::optional<Certificate> certificate(Targets targets);

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
  torch::Tensor right_;  // places in nodes_ of those to be attacked
  std::optional<Jacobians> jacobians_;
};

}  // namespace eignn
