#include "train/known_labels.h"

#include <torch/torch.h>

#include "eignn/error.h"
#include "graph/random_stream.h"

namespace eignn {

namespace {

torch::Tensor shuffled(int64_t k, uint64_t seed) {
  return torch::randperm(k, at::detail::createCPUGenerator(seed), torch::kInt64);
}

}  // namespace

KnownLabels KnownLabels::of(const Dataset& data, const torch::Tensor& training, uint64_t seed) {
  if (data.graphs() > 1)
    throw ArgumentError("label-inputs", "with several graphs a training label reaches no node to be judged",
                        "leave it out, or give one graph");
  const auto nodes = training.to(torch::kCPU);
  const int64_t k = nodes.numel();
  if (k < 2)
    throw ArgumentError("label-inputs", "one training node has no other label to be scored with",
                        "give two or more, or leave it out");
  const auto half = torch::zeros({k}, torch::kInt64);
  half.index_fill_(0, shuffled(k, stream_seed(seed, Stream::label_halves)).narrow(0, 0, k / 2), 1);
  return {nodes, data.labels.index_select(0, nodes), half};
}

LabelInputs KnownLabels::inputs(int64_t classes, const TargetScale& targets) const {
  torch::Tensor rows;
  if (labels.is_floating_point())
    rows = targets.standardised(labels);
  else if (labels.scalar_type() == torch::kUInt8)
    rows = 2 * labels.to(torch::kFloat64) - 1;
  else
    rows = torch::one_hot(labels, classes).to(torch::kFloat64);
  return {nodes, rows, half};
}

EpochHalves halves_of_epoch(int64_t k, uint64_t seed, int64_t epoch) {
  const auto order = shuffled(k, stream_seed(seed, Stream::label_inputs, static_cast<uint64_t>(epoch)));
  return {order.narrow(0, 0, k / 2), order.narrow(0, k / 2, k - k / 2)};
}

}  // namespace eignn
