// Geom-GCN: the plane, the neighbourhoods in it, and the network on them.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/hops.h"
#include "models/isomap.h"
#include "models/propagate.h"
#include "models/relations.h"
#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

torch::Tensor distances(const torch::Tensor& position) {
  return torch::cdist(position, position, 2, /*compute_mode=*/2);
}

// |i - j| for all i, j.
torch::Tensor line(int64_t n) {
  const auto at = torch::arange(n, torch::kFloat64);
  return (at.unsqueeze(1) - at).abs();
}

TEST(Isomap, OfAPathIsALine) {
  for (const int64_t n : {2, 9, 700}) {  // 700: by Lanczos
    const auto position = isomap(chain_graph(1, n));
    EXPECT_LE(relative_error(distances(position), line(n)), 1e-6) << n;
    EXPECT_EQ(position.select(1, 1).abs().max().item<double>(), 0) << n;
  }
}

TEST(Isomap, TakesEachComponentByItself) {
  const auto position = isomap(Graph::from_arcs(8, {0, 1, 4, 5}, {1, 2, 5, 6}));
  EXPECT_LE(relative_error(distances(position.slice(0, 0, 3)), line(3)), 1e-12);
  EXPECT_LE(relative_error(distances(position.slice(0, 4, 7)), line(3)), 1e-12);
  for (const int64_t alone : {3, 7}) EXPECT_EQ(position[alone].abs().max().item<double>(), 0);
}

// Hops by counting the steps until a set of nodes stops growing, densely.
torch::Tensor dense_hops(const torch::Tensor& A) {
  const int64_t n = A.size(0);
  auto D = torch::full({n, n}, -1, torch::kFloat32), reached = torch::eye(n, torch::kFloat32);
  D.fill_diagonal_(0);
  for (int64_t hop = 1; D.min().item<float>() < 0; ++hop) {
    reached = (reached.mm(A) + reached > 0).to(torch::kFloat32);
    D = torch::where((D < 0).logical_and(reached > 0), torch::full_like(D, hop), D);
  }
  return D.to(torch::kFloat64);
}

TEST(Isomap, IsTheClassicalScalingOfTheHops) {
  const Graph graph = rmat_graph(900, 3000, 4);
  std::vector<int64_t> members;  // of the largest component
  for (const auto& component : weak_components(graph).members())
    if (component.size() > members.size()) members = component;
  ASSERT_GT(members.size(), 600u);  // by Lanczos
  const auto inside = torch::tensor(members, torch::kInt64);
  auto A = torch::zeros({900, 900}, torch::kFloat32);
  for (int64_t v = 0; v < 900; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a)
      A[v][graph.target[a]] = A[graph.target[a]][v] = 1;
  const auto D = dense_hops(A.index_select(0, inside).index_select(1, inside));
  const auto J = torch::eye(D.size(0), torch::kFloat64) - 1.0 / static_cast<double>(D.size(0));
  const auto [values, vectors] = torch::linalg_eigh(-0.5 * J.mm(D.square()).mm(J));
  const auto V = vectors.slice(1, -2), top = values.slice(0, -2);
  const auto position = isomap(graph).index_select(0, inside);
  EXPECT_LE(relative_error(position.mm(position.t()), (V * top).mm(V.t())), 1e-7);
}

TEST(Relations, PartitionTheNeighbours) {
  const SmallProblem problem(test::random_graph(40, 2, 3));
  const auto position = isomap(neighbours(*problem.S));
  auto sum = torch::zeros({40, 40}, torch::kFloat64), count = torch::zeros({40, 40}, torch::kFloat64);
  for (const Propagation& part : by_quadrant(*problem.S, position)) {
    const auto dense = test::dense_S(part);
    sum += dense;
    count += (dense != 0).to(torch::kFloat64);
  }
  EXPECT_TRUE(sum.equal(test::dense_S(*problem.S)));
  EXPECT_LE(count.max().item<double>(), 1);
}

TEST(Relations, GoByWhereTheSenderLies) {
  // Node 0 in the middle, one neighbour in each quadrant.
  const Graph star = Graph::from_arcs(5, {1, 2, 3, 4}, {0, 0, 0, 0});
  PropagationOptions options;
  options.direction = Direction::in;
  options.self_loops = false;
  options.normalise = Normalisation::out_in;
  const auto position =
      torch::tensor({{0., 0.}, {-1., -1.}, {-1., 1.}, {1., -1.}, {1., 1.}}, torch::kFloat64);
  const auto parts = by_quadrant(make_propagation(star, options), position);
  for (int64_t quadrant = 0; quadrant < 4; ++quadrant) {
    ASSERT_EQ(parts[quadrant].entries(), 1);
    EXPECT_GT(test::dense_S(parts[quadrant])[quadrant + 1][0].item<double>(), 0);
  }
}

TEST(StructuralNeighbours, AreTheNearestPairsAsManyAsTheArcs) {
  const Graph graph = neighbours(make_propagation(karate_club()));
  const auto position = isomap(graph);
  const Graph near = structural_neighbours(graph, position);
  EXPECT_TRUE(near.is_symmetric());
  EXPECT_EQ(near.loops(), 0);
  EXPECT_GE(near.arcs(), graph.arcs());  // more where distances are equal
  const auto D = distances(position);
  auto joined = torch::eye(34, torch::kBool);
  double farthest = 0;
  for (int64_t v = 0; v < 34; ++v)
    for (int64_t a = near.row_begin[v]; a < near.row_begin[v + 1]; ++a) {
      joined[v][near.target[a]] = true;
      farthest = std::max(farthest, D[v][near.target[a]].item<double>());
    }
  EXPECT_GE(D.masked_select(joined.logical_not()).min().item<double>(), farthest * (1 - 1e-9));
}

TEST(GeomGcn, IsTheStatedNetwork) {
  const SmallProblem problem;
  test::AnyOptions options;
  options.hidden = 4;
  const auto model = problem.model("geom-gcn", options);
  const Graph arcs = neighbours(*problem.S);
  const auto position = isomap(arcs);
  std::vector<torch::Tensor> S;
  for (const Propagation& whole : {*problem.S, normalised_arcs(structural_neighbours(arcs, position))})
    for (const Propagation& part : by_quadrant(whole, position)) S.push_back(test::dense_S(part).t());
  ASSERT_EQ(S.size(), 8u);
  const auto W0 = weight(*model, "W0").chunk(8, 1), W1 = weight(*model, "W1").chunk(8, 1);
  std::vector<torch::Tensor> beside;
  for (size_t r = 0; r < 8; ++r) beside.push_back(S[r].mm(problem.X).mm(W0[r]));
  const auto H = torch::relu(torch::cat(beside, 1));
  auto sum = torch::zeros({34, test::classes}, torch::kFloat64);
  for (size_t r = 0; r < 8; ++r) sum += S[r].mm(H).mm(W1[r]);
  EXPECT_LE(relative_error(scores(*model, 34), sum / 8), 1e-13);
}

}  // namespace
}  // namespace eignn
