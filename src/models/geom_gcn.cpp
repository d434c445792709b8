// Geom-GCN (Pei, Wei, Chang, Lei, Yang, 2020), its eqs. (5)-(7). The nodes are embedded in a plane. A node
// has two neighbourhoods, its neighbours in the graph and the nodes near it in the plane, and each is split
// by the quadrant in which a neighbour lies: eight relations r.
//
//     E_r = S_r H W_r,   H_1 = ReLU(‖_r E_r(X)) (side by side),   scores = mean_r E_r(H_1)
//
// The embedding is an Isomap of the graph's hop distances (models/isomap.h). The radius of the neighbourhood
// in the plane is such that it has as many arcs as the graph. The matrices S_r are EIGNN's S and, without
// self-loops, D^-1/2 A D^-1/2 of the neighbourhood in the plane, each split by quadrant. Two layers, dropout
// before each.
#include "equilibrium/stopwatch.h"
#include "models/baselines.h"
#include "models/graph_model.h"
#include "models/hops.h"
#include "models/isomap.h"
#include "models/propagate.h"
#include "models/relations.h"

namespace eignn {

namespace {

constexpr int64_t relations = 8;

class GeomGcn : public GraphModel {
 public:
  GeomGcn(const BaselineInputs& in, const GeomGcnOptions& options)
      : GraphModel(in, options.dropout), options_(options) {
    const Stopwatch watch;
    for (const GraphMatrix& graph : in.graphs) {
      const Graph arcs = neighbours(*graph.S);
      const auto position = isomap(arcs);
      S_.emplace_back();
      for (const Propagation& S : {*graph.S, normalised_arcs(structural_neighbours(arcs, position))})
        for (const Propagation& part : by_quadrant(S, position))
          S_.back().push_back(make_product(part, type_));
    }
    preprocess_seconds_ = watch.seconds();
    // The weights of all relations side by side; each is initialised as a layer of its own.
    const auto weights = [&](const std::string& name, int64_t from, int64_t to) {
      const double bound = std::sqrt(6.0 / static_cast<double>(from + to));
      return parameter(name,
                       torch::empty({from, relations * to}, torch::kFloat64).uniform_(-bound, bound, start_));
    };
    W_hidden_ = weights("W0", width_, options_.hidden);
    W_out_ = weights("W1", relations * options_.hidden, classes_);
  }

 protected:
  torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) override {
    const auto by_relation = [&](const torch::Tensor& HW) {
      auto E = HW.chunk(relations, 1);
      for (int64_t r = 0; r < relations; ++r) E[r] = propagate(S_[g][r], E[r]);
      return E;
    };
    const auto H = dropped_relu(torch::cat(by_relation(dropped(X).mm(W_hidden_)), 1));
    return torch::stack(by_relation(H.mm(W_out_))).mean(0).index_select(0, rows);
  }

 private:
  GeomGcnOptions options_;
  std::vector<std::vector<SharedProduct>> S_;  // of each graph: the graph's quadrants, then the plane's
  torch::Tensor W_hidden_, W_out_;
};

}  // namespace

std::shared_ptr<Model> make_geom_gcn(const BaselineInputs& inputs, const GeomGcnOptions& options) {
  return std::make_shared<GeomGcn>(inputs, options);
}

}  // namespace eignn
