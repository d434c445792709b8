// Evasion attacks on a trained model: small changes of features that take the class of test nodes, and the
// size below which no such change exists. docs/attacks.md has the definitions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "eignn/attack_options.h"
#include "eignn/checkpoint.h"
#include "eignn/dataset.h"

namespace eignn {

/// What became of the attacked nodes. A node that was misclassified before is not attacked and counts as
/// wrong.
struct AttackReport {
  AttackOptions options;
  int64_t nodes = 0;
  int64_t right = 0;                 // before
  int64_t kept = 0;                  // of these, after
  int64_t righted = 0;               // wrong before and right after; 0 unless all rows change
  std::optional<int64_t> certified;  // nodes whose class no attack of this size takes; linear models alone
  double largest_change = 0;         // of a feature
  torch::Tensor labels;              // int64 (nodes,)
  torch::Tensor clean_scores;        // float64 (nodes, classes), without the attack
  torch::Tensor scores;              // the same under attack
  // Where nodes are certified, float64 (nodes,): the smallest lead over another class that any change within
  // epsilon can leave, and the size below which the class is kept.
  torch::Tensor margin_bound, certified_radius;

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

/// Attacks these nodes (int64, with known labels) of a data set in each of the ways given; the Jacobians of a
/// linear model serve all of them. An epsilon is measured on the features that the model reads, after the
/// normalisation of its training. ArgumentError for options out of range and for nodes or data that do not
/// fit the model; DataError where a node has a set of labels.
///
///     auto model = eignn::load_model("runs/texas");
///     auto data = eignn::load("texas");
///     double left = eignn::attack(model, data, data.splits[0].test, {{AttackMethod::pgd,
///     0.01}})[0].accuracy();
std::vector<AttackReport> attack(const TrainedModel& model, const Dataset& data, const torch::Tensor& nodes,
                                 const std::vector<AttackOptions>& attacks);

}  // namespace eignn
