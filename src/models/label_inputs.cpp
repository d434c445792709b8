// The part of Model that reads labels beside the features: [X | Y], where Y has the rows of the labels that
// are input and zeros elsewhere. Which labels these are depends on the node that is scored, so that scores of
// several nodes may take up to three rounds: nodes without a label, and the two halves of the others.
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/model.h"
#include "equilibrium/torch_errors.h"

namespace eignn {

namespace {

void check_labels(const LabelInputs& labels, int64_t nodes, int64_t columns) {
  const auto refuse = [](const std::string& what, const char* remedy) {
    throw ArgumentError("labels", what, remedy);
  };
  if (!labels.nodes.defined() || !labels.rows.defined() || !labels.half.defined())
    refuse("nodes, rows or halves are undefined", "give all three");
  if (labels.nodes.scalar_type() != torch::kInt64 || labels.half.scalar_type() != torch::kInt64 ||
      labels.nodes.dim() != 1 || labels.half.sizes() != labels.nodes.sizes())
    refuse("nodes and halves are not int64 numbers, one of each for a label", "give them so");
  const int64_t count = labels.nodes.numel();
  if (labels.rows.dim() != 2 || labels.rows.size(0) != count || labels.rows.size(1) != columns)
    refuse(fmt::format("the rows are not {} by {}", count, columns),
           "give a row for each node and a column for each class");
  if (count == 0) return;
  if (labels.nodes.min().item<int64_t>() < 0 || labels.nodes.max().item<int64_t>() >= nodes)
    refuse("a label belongs to no node of the graph", "give nodes of the graph");
  if (std::get<0>(at::_unique(labels.nodes)).numel() != count)
    refuse("a node has two labels", "name each node once");
  if (labels.half.min().item<int64_t>() < 0 || labels.half.max().item<int64_t>() > 1)
    refuse("a half is neither 0 nor 1", "give 0 or 1");
  if (!torch::isfinite(labels.rows).all().item<bool>())
    refuse("a row is not finite", "clean the labels first");
}

}  // namespace

void Model::use_labels(const LabelInputs& labels) {
  return with_our_errors("use_labels", [&]() -> void {
    if (!reads_labels())
      throw ArgumentError("label-inputs", "this model reads no labels", "make it with label-inputs on");
    check_labels(labels, shape_.nodes, shape_.label_columns);
    const torch::NoGradGuard guard;
    const auto device = shape_.type.device();
    Labels now{{labels.nodes.to(device), labels.rows.to(shape_.type), labels.half.to(device)}, {}, {}, -1};
    now.group = torch::zeros({shape_.nodes}, now.given.nodes.options())
                    .index_copy_(0, now.given.nodes, 1 + now.given.half);
    labels_ = std::move(now);
    show_for_group(0);
  });
}

std::optional<LabelInputs> Model::labels() const {
  return labels_ ? std::optional<LabelInputs>(labels_->given) : std::nullopt;
}

void Model::show_labels(const torch::Tensor& places) {
  return with_our_errors("show_labels", [&]() -> void {
    if (!labels_) throw ArgumentError("labels", "the model was given no labels", "call use_labels() first");
    if (!places.defined() || places.scalar_type() != torch::kInt64 || places.dim() != 1 ||
        (places.numel() > 0 &&
         (places.min().item<int64_t>() < 0 || places.max().item<int64_t>() >= labels_->given.nodes.numel())))
      throw ArgumentError("places", "these are no places of the labels",
                          fmt::format("give int64 numbers from 0 to {}", labels_->given.nodes.numel() - 1));
    show(places.to(shape_.type.device()), -1);
  });
}

int64_t Model::show_labels_for(int64_t node) {
  if (node < 0 || node >= shape_.nodes)
    throw ArgumentError("node", fmt::format("there is no node {}", node), "name a node of the graph");
  if (!labels_) return 0;
  const auto group = labels_->group[node].item<int64_t>();
  show_for_group(group);
  return group;
}

// All labels for a node that has none, those of the other half for one that has.
void Model::show_for_group(int64_t group) {
  if (labels_->shown_for == group) return;
  const auto& half = labels_->given.half;
  show(group == 0 ? torch::arange(half.numel(), half.options()) : half.ne(group - 1).nonzero().squeeze(1),
       group);
}

void Model::show(const torch::Tensor& places, int64_t group) {
  const auto nodes = labels_->given.nodes.index_select(0, places);
  labels_->shown =
      torch::zeros({shape_.nodes}, nodes.options().dtype(torch::kBool)).index_fill_(0, nodes, true);
  labels_->shown_for = group;
  do_use_features(with_label_columns());
}

torch::Tensor Model::with_label_columns() const {
  // Where X requires a gradient [X | Y] does, whoever asks for it.
  const torch::AutoGradMode with_gradients(true);
  auto Y = torch::zeros({shape_.nodes, shape_.label_columns}, shape_.type);
  if (labels_) {
    const auto& [nodes, rows, half] = labels_->given;
    const auto input = labels_->shown.index_select(0, nodes).nonzero().squeeze(1);
    Y.index_copy_(0, nodes.index_select(0, input), rows.index_select(0, input));
  }
  return torch::cat({X_, Y}, 1);
}

torch::Tensor Model::scores_with_labels(const torch::Tensor& index) {
  if (index.numel() == 0) return do_scores(index);
  if (is_training()) {
    if (labels_->shown.index_select(0, index).any().item<bool>())
      throw ArgumentError("index", "a node would be scored with its own label as an input",
                          "leave its label out of those that are shown");
    return do_scores(index);
  }
  const auto group = labels_->group.index_select(0, index);
  std::vector<torch::Tensor> scores, places;
  for (int64_t g = 0; g <= 2; ++g) {
    const auto here = group.eq(g).nonzero().squeeze(1);
    if (here.numel() == 0) continue;
    show_for_group(g);
    if (here.numel() == index.numel()) return do_scores(index);
    scores.push_back(do_scores(index.index_select(0, here)));
    places.push_back(here);
  }
  return torch::cat(scores, 0).index_select(0, torch::cat(places).argsort());
}

}  // namespace eignn
