#include "models/cluster_means.h"

#include <torch/torch.h>

namespace eignn {

torch::Tensor cluster_means(const torch::Tensor& X, const torch::Tensor& cluster_of,
                            const torch::Tensor& sizes) {
  const auto at = cluster_of.to(X.device());
  const auto share = sizes.to(X.options().layout(torch::kStrided)).reciprocal();
  if (!X.is_sparse())
    return torch::zeros({sizes.size(0), X.size(1)}, X.options()).index_add(0, at, X) * share.unsqueeze(1);
  const auto entries = X.coalesce();
  const auto place = entries.indices();
  const auto cluster = at.index_select(0, place[0]);
  return torch::sparse_coo_tensor(torch::stack({cluster, place[1]}),
                                  entries.values() * share.index_select(0, cluster),
                                  {sizes.size(0), X.size(1)})
      .coalesce();
}

}  // namespace eignn
