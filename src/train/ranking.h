// How well scores order nodes by a yes or a no.
#pragma once

#include <torch/types.h>

#include <optional>

namespace eignn {

/// The probability that a node with the label has a higher score than one without, where equal scores count
/// half: with R the sum of the ranks of the P nodes with the label (equal scores share the mean of their
/// ranks), (R - P (P + 1) / 2) / (P N). Empty where all nodes have the label, or none.
///
/// `scores` (n,) of any real type, `truth` (n,): not 0 where the label holds.
std::optional<double> roc_auc(const torch::Tensor& scores, const torch::Tensor& truth);

/// Σ (R_k - R_{k-1}) P_k over the distinct scores from high to low, P_k and R_k being precision and recall of
/// the nodes at or above the k-th. Empty where no node has the label.
std::optional<double> average_precision(const torch::Tensor& scores, const torch::Tensor& truth);

}  // namespace eignn
