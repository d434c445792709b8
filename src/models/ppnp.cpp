// PPNP (Klicpera, Bojchevski, Günnemann, 2019), its eq. (3): APPNP's limit.
//
//     H = ReLU(X W_1 + b_1) W_2 + b_2,   scores = Π H,   Π = α (I - (1-α) S)⁻¹
//
// The matrix is EIGNN's S, as in the paper. Π is dense; it is computed once, component by component, in
// O(Σ n_c³). Dropout before both layers (the paper has some on Π too).
#include <fmt/format.h>

#include <cmath>

#include "eignn/error.h"
#include "equilibrium/stopwatch.h"
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/long_preparation.h"
#include "models/propagate.h"

namespace eignn {

namespace {

// Π as one dense block per component, with the nodes sorted by component.
struct PageRank {
  torch::Tensor order, inverse_order;  // of the nodes
  std::vector<torch::Tensor> blocks;

  torch::Tensor operator()(const torch::Tensor& H) const {
    if (blocks.size() == 1) return blocks[0].mm(H);
    std::vector<torch::Tensor> out;
    const auto ordered = H.index_select(0, order);
    for (int64_t at = 0, b = 0; b < static_cast<int64_t>(blocks.size()); at += blocks[b++].size(0))
      out.push_back(blocks[b].mm(ordered.narrow(0, at, blocks[b].size(0))));
    return torch::cat(out, 0).index_select(0, inverse_order);
  }
};

PageRank page_rank(const Propagation& S, double alpha, const torch::TensorOptions& type) {
  constexpr size_t most = 30'000;              // nodes of a component: its block takes 7 GB
  constexpr double operations_per_s = 2.5e10;  // of an inverse in double, on two cores
  PageRank out;
  std::vector<int64_t> order, local(S.nodes);
  const auto components = weak_components(S.pattern()).members();
  double operations = 0;
  for (const auto& members : components)
    if (members.size() <= most) operations += 2 * std::pow(static_cast<double>(members.size()), 3);
  warn_of_preparation("ppnp's dense inverse", operations / operations_per_s);
  for (const auto& members : components) {
    const int64_t n = static_cast<int64_t>(members.size());
    if (members.size() > most)
      throw ResourceError(fmt::format("a component of {} nodes is too large for a dense inverse", n),
                          "model ppnp", "use model appnp");
    for (int64_t k = 0; k < n; ++k) local[members[k]] = k;
    auto M = torch::eye(n, torch::kFloat64);  // I - (1-α) Sᵀ: node j receives Σ_i S_ij h_i
    auto at = M.accessor<double, 2>();
    for (int64_t k = 0; k < n; ++k)
      for (int64_t e = S.row_begin[members[k]]; e < S.row_begin[members[k] + 1]; ++e)
        at[local[S.column[e]]][k] -= (1 - alpha) * S.value(members[k], e);
    out.blocks.push_back((alpha * torch::linalg_inv(M)).to(type));
    order.insert(order.end(), members.begin(), members.end());
  }
  out.order = torch::tensor(order, torch::kInt64);
  out.inverse_order = out.order.argsort().to(type.device());
  out.order = out.order.to(type.device());
  return out;
}

class Ppnp : public GraphModel {
 public:
  Ppnp(const BaselineInputs& in, const PpnpOptions& options)
      : GraphModel(in, options.dropout), options_(options) {
    const Stopwatch watch;
    for (const GraphMatrix& graph : in.graphs) Pi_.push_back(page_rank(*graph.S, options_.alpha, type_));
    preprocess_seconds_ = watch.seconds();
    first_ = {glorot("W0", width_, options_.hidden), zeros("b0", options_.hidden)};
    second_ = {glorot("W1", options_.hidden, classes_), zeros("b1", classes_)};
  }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    return Pi_[g](second_(dropped_relu(first_(dropped(X))))).index_select(0, rows);
  }

 private:
  PpnpOptions options_;
  std::vector<PageRank> Pi_;
  Linear first_, second_;
};

}  // namespace

std::shared_ptr<Model> make_ppnp(const BaselineInputs& inputs, const PpnpOptions& options) {
  return std::make_shared<Ppnp>(inputs, options);
}

}  // namespace eignn
