#include "models/check_features.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"

namespace eignn {

void check_features(const torch::Tensor& X, const torch::TensorOptions& type, bool sparse) {
  if (!X.defined()) throw ArgumentError("X", "the features are undefined", "give a matrix");
  if (X.dim() != 2)
    throw ArgumentError("X", fmt::format("the features have {} dimensions", X.dim()),
                        "give a matrix with a row per node");
  const bool by_entries = sparse && X.layout() == torch::kSparse;
  if (X.layout() != torch::kStrided && !by_entries)
    throw ArgumentError("X", "the features are a sparse tensor", "give them dense");
  if (by_entries && (!X.is_coalesced() || X.sparse_dim() != 2 || X.requires_grad()))
    throw ArgumentError("X", "the sparse features are not coalesced, or require a gradient",
                        "give X.coalesce(), or a dense tensor");
  if (X.is_complex() || X.is_quantized())
    throw ArgumentError("X", fmt::format("the features are of type {}", c10::toString(X.scalar_type())),
                        "give real numbers");
  if (X.size(0) == 0) throw ArgumentError("X", "there is no node", "give at least one row of features");
  if (X.size(1) == 0) throw ArgumentError("X", "a node has no features", "give at least one column");
  const torch::NoGradGuard guard;
  const auto converted = (by_entries ? X.values() : X).to(c10::typeMetaToScalarType(type.dtype()));
  // A finite sum proves that all terms are finite. A sum that is not finite may be an overflow, so then each
  // term is checked.
  if (!converted.sum().isfinite().item<bool>() && !converted.isfinite().all().item<bool>())
    throw ArgumentError(
        "X",
        fmt::format("a feature is not finite as {}", c10::toString(c10::typeMetaToScalarType(type.dtype()))),
        "clean the features first");
}

void check_classes(int64_t classes) {
  if (classes < 1)
    throw ArgumentError("classes", fmt::format("{} classes cannot be told apart", classes),
                        "give at least 1");
}

void check_graph_size(int64_t size, const std::vector<int64_t>& nodes, const torch::Tensor& X) {
  const int64_t rows = nodes.empty() ? X.size(0) : static_cast<int64_t>(nodes.size());
  if (size != rows)
    throw ArgumentError("X", fmt::format("a graph of {} nodes is given {} rows of features", size, rows),
                        "give a row for every node");
}

}  // namespace eignn
