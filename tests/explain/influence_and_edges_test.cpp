#include <gtest/gtest.h>

#include "eignn/error.h"
#include "explain/problem.h"
#include "report/explanation_files.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using test::along;
using test::eignn_options;
using test::ExplainProblem;

// ---- influence

// The shares by hops of the gradient that libtorch takes, over all nodes.
std::vector<double> shares_by_autograd(ExplainProblem& problem) {
  const int64_t n = problem.data.nodes();
  const auto S = make_propagation(problem.data.graph, problem.config.propagation);
  const Hearing hearing(S);
  std::vector<double> shares;
  int64_t heard = 0;
  FixedModel fixed(*problem.model, problem.data.features);
  for (int64_t v = 0; v < n; ++v) {
    const auto X = problem.data.features.clone().requires_grad_();
    const auto f = fixed.scores(X, torch::tensor({v}, torch::kInt64)).squeeze(0);
    const auto sizes = torch::autograd::grad({f.max()}, {X})[0].abs().sum(1);
    const double total = sizes.sum().item<double>();
    if (total == 0) continue;
    ++heard;
    const auto hops = hearing.hops_to(v);
    for (int64_t u = 0; u < n; ++u) {
      if (hops[u] < 0) continue;
      if (hops[u] >= static_cast<int64_t>(shares.size())) shares.resize(hops[u] + 1, 0);
      shares[hops[u]] += sizes[u].item<double>() / total;
    }
  }
  for (double& share : shares) share /= static_cast<double>(heard);
  return shares;
}

TEST(Influence, IsThatOfTheGradientInTheFeatures) {
  std::vector<ModelOptions> models;
  for (const Head head : {Head::plain, Head::l2, Head::batch_norm, Head::residual})
    for (const int64_t encoder : {0, 4}) {
      auto options = eignn_options(head, "direct");
      options.encoder = encoder;
      options.encoder_activation = Activation::relu;
      options.equilibria = encoder == 0 ? 1 : 2;
      models.push_back(options);
    }
  for (const char* model : {"gcn", "appnp", "sgc"}) models.push_back(test::options_for(model));
  for (const auto& options : models)
    for (const auto& propagation : {along(Direction::undirected), along(Direction::in)}) {
      ExplainProblem problem(options, propagation);
      const Influence found = problem.explainer().influence({});
      const auto expected = shares_by_autograd(problem);
      EXPECT_EQ(found.sample, 18);
      ASSERT_EQ(found.by_hop.size(), expected.size()) << name(options);
      double mean = 0;
      for (size_t d = 0; d < expected.size(); ++d) {
        EXPECT_NEAR(found.by_hop[d].share, expected[d], 1e-10) << name(options) << " " << d;
        mean += static_cast<double>(d) * expected[d];
      }
      EXPECT_NEAR(found.mean_hops, mean, 1e-9);
      EXPECT_NEAR(found.by_hop.back().cumulative + found.elsewhere, 1, 1e-10) << name(options);
    }
}

TEST(Influence, OfAnMlpIsTheNodesOwnAndOfTwoConvolutionsThatOfTwoHops) {
  ExplainProblem mlp(test::options_for("mlp"), karate_club()),
      gcn(test::options_for("gcn"), chain_graph(1, 20)),
      eignn(eignn_options(Head::plain), chain_graph(1, 20));
  EXPECT_NEAR(mlp.explainer().influence({}).by_hop[0].share, 1, 1e-12);
  const auto of_gcn = gcn.explainer().influence({}), of_eignn = eignn.explainer().influence({});
  EXPECT_NEAR(of_gcn.by_hop[2].cumulative, 1, 1e-12);
  EXPECT_GT(of_eignn.by_hop[3].share, 0);
  EXPECT_GT(of_eignn.by_hop.size(), 15);
}

TEST(Influence, ASampleIsFixedByItsSeed) {
  ExplainProblem problem(eignn_options(Head::plain), karate_club());
  const auto a = problem.explainer().influence({5, 1}), b = problem.explainer().influence({5, 1}),
             c = problem.explainer().influence({5, 2});
  EXPECT_EQ(a.sample, 5);
  EXPECT_EQ(a.mean_hops, b.mean_hops);
  EXPECT_NE(a.mean_hops, c.mean_hops);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.explainer().influence({0}); }), "(sample)");
}

// ---- edges

// The score of class k at node v where the arcs have these weights, densely: A (n, n), without loops of I.
double dense_score(const torch::Tensor& A, const ExplainProblem& problem, int64_t v, int64_t k) {
  const auto& options = problem.config.propagation;
  auto A_hat = options.direction == Direction::out ? A.t().clone() : A.clone();
  if (options.self_loops) A_hat += torch::eye(A.size(0), torch::kFloat64);
  const auto inverse_root = [](const torch::Tensor& d) {
    return torch::where(d > 0, d.clamp_min(1e-300).rsqrt(), torch::zeros_like(d));
  };
  const auto out = inverse_root(A_hat.sum(1)), in = inverse_root(A_hat.sum(0));
  const auto S = out.unsqueeze(1) * A_hat * (options.normalise == Normalisation::out_in ? in : out);
  const torch::NoGradGuard guard;
  auto weights = problem.model->named_parameters();
  const auto g = test::dense_g(weights["F"], 1e-12);
  const int64_t n = A.size(0), m = g.size(0);
  const auto K = torch::eye(n * m, torch::kFloat64) - 0.8 * torch::kron(S.t().contiguous(), g);
  const auto& X = problem.data.features;
  const bool neighbours = problem.config.eignn().source == Source::neighbours;
  const auto start = neighbours ? S.t().mm(X) : X;
  const auto z = torch::linalg_solve(K, start.reshape({-1, 1}).contiguous(), true).reshape({n, m})[v];
  const double norm = problem.config.eignn().head == Head::l2 ? z.norm().item<double>() : 1;
  return weights["B"][k].dot(z).item<double>() / norm;
}

torch::Tensor adjacency(const ExplainProblem& problem) {
  const bool undirected = problem.config.propagation.direction == Direction::undirected;
  const Graph graph = undirected ? problem.data.graph.symmetrised() : problem.data.graph;
  const bool weighted = !graph.weight.empty();
  const double scale = weighted ? scale_of_weights(problem.data.graph, problem.config.propagation) : 1;
  auto A = torch::zeros({graph.nodes, graph.nodes}, torch::kFloat64);
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a)
      A[v][graph.target[a]] = weighted ? graph.weight[a] / scale : 1;
  return A;
}

TEST(Edges, AreWorthWhatTheDerivativeAndTheSolveWithoutThemSay) {
  for (const auto& [head, source, weighted] :
       {std::tuple{Head::plain, Source::own, false}, std::tuple{Head::l2, Source::own, false},
        std::tuple{Head::plain, Source::neighbours, false}, std::tuple{Head::l2, Source::neighbours, false},
        std::tuple{Head::plain, Source::own, true}, std::tuple{Head::l2, Source::neighbours, true}})
    for (const char* solver : {"sparse", "direct"})
      for (const auto& propagation : {along(Direction::undirected), along(Direction::in),
                                      along(Direction::out), along(Direction::in, Normalisation::out_in),
                                      along(Direction::out, Normalisation::out_in, false)}) {
        auto options = eignn_options(head, solver);
        options.source = source;
        ExplainProblem problem = weighted ? test::weighted_problem(options, propagation, 4)
                                          : ExplainProblem(options, propagation, 4);
        const bool undirected = propagation.direction == Direction::undirected;
        const auto found = problem.explainer().edges(2, 1, {/*exact=*/4, 0});
        const auto A = adjacency(problem);
        EXPECT_NEAR(found.score, dense_score(A, problem, 2, 1), 1e-10);
        ASSERT_GE(found.changes.size(), 4u);
        EXPECT_EQ(found.directed, !undirected);
        for (size_t t = 0; t < found.changes.size(); ++t) {
          const EdgeChange& edge = found.changes[t];
          const auto with_weight = [&](double w) {
            auto changed = A.clone();
            changed[edge.source][edge.target] = w;
            if (undirected) changed[edge.target][edge.source] = w;
            return dense_score(changed, problem, 2, 1);
          };
          const double own = A[edge.source][edge.target].item<double>();
          ASSERT_GT(own, 0) << "there is such an arc";
          ASSERT_TRUE(weighted || own == 1);
          constexpr double h = 1e-5;
          EXPECT_NEAR(edge.first_order, -(with_weight(own * (1 + h)) - with_weight(own * (1 - h))) / (2 * h),
                      1e-8);
          EXPECT_EQ(edge.change.has_value(), t < 4);
          if (edge.change) {
            EXPECT_NEAR(*edge.change, with_weight(0) - with_weight(own), 1e-10);
          }
          if (t > 0) {
            EXPECT_GE(std::abs(found.changes[t - 1].first_order), std::abs(edge.first_order));
          }
        }
      }
}

TEST(Edges, AreNotExplainedForSeveralDirections) {
  ExplainProblem problem(eignn_options(Head::plain));
  problem.config.further_directions = {Direction::in};
  problem.remake();
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.explainer().edges(2, 1, {}); }), "(direction)");
}

TEST(Edges, OfEveryHeadMatchASolveWithoutThem) {
  for (const Head head : {Head::batch_norm, Head::residual})
    for (const int64_t encoder : {0, 4}) {
      auto options = eignn_options(head, "spectral");
      options.encoder = encoder;
      options.equilibria = 2;
      ExplainProblem problem(options);
      const auto found = problem.explainer().edges(3, {}, {/*exact=*/2, /*keep=*/5});
      EXPECT_EQ(found.changes.size(), 5u);
      EXPECT_GT(found.edges, 5);
      EXPECT_TRUE(found.predicted);
      const double before = problem.scores()[3][found.class_number].item<double>();
      const EdgeChange& edge = found.changes[0];
      std::vector<int64_t> source, target;
      for (int64_t v = 0; v < 18; ++v)
        for (int64_t a = problem.data.graph.row_begin[v]; a < problem.data.graph.row_begin[v + 1]; ++a) {
          const int64_t u = problem.data.graph.target[a];
          if (std::minmax(u, v) == std::minmax(edge.source, edge.target)) continue;
          source.push_back(v);
          target.push_back(u);
        }
      problem.data.graph = Graph::from_arcs(18, source, target);
      const auto weights = state_of(*problem.model);
      problem.model = make_model(problem.data, problem.config, nullptr);
      load_state(*problem.model, weights, "");
      problem.model->eval();
      EXPECT_NEAR(*edge.change, problem.scores()[3][found.class_number].item<double>() - before, 1e-10);
    }
}

TEST(Edges, AreOfEignnAlone) {
  ExplainProblem problem(test::options_for("gcn"));
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.explainer().edges(0, {}, {}); }), "(model)");
}

TEST(Edges, AreAskedForInNumbersThatMakeSense) {
  ExplainProblem problem(eignn_options(Head::plain), chain_graph(1, 4));
  auto explainer = problem.explainer();
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.edges(0, {}, {-1, 0}); }), "(exact)");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.edges(0, {}, {1, -2}); }), "(keep)");
}

// ---- files

TEST(ExplanationFiles, NamesMayHoldAnything) {
  ExplainProblem problem(eignn_options(Head::plain), chain_graph(1, 4));
  problem.data.node_names = {"a \"quoted\", name\nin two lines", "\\N & <b> ]]> 'x'", "\x01 bell \xff",
                             "plain"};
  auto explainer = problem.explainer();
  const auto why = explainer.explain(1, 0, {});
  const ExplanationPicture picture{why, problem.data, explainer.on_paths({0, 2, 3}, 1),
                                   explainer.arcs_among({0, 1, 2, 3}), false};
  const auto csv = explanation_csv(why, problem.data);
  EXPECT_CONTAINS(csv, "node,\"a \"\"quoted\"\", name\nin two lines\",1,");
  EXPECT_CONTAINS(csv, "node,plain,2,");
  EXPECT_CONTAINS(csv, "\nfeature,4,,");
  const auto dot = explanation_dot(picture);
  EXPECT_CONTAINS(dot, "n0 [label=\"a \\\"quoted\\\", name\\nin two lines\"");
  EXPECT_CONTAINS(dot, "n1 [label=\"\\\\N & <b> ]]> 'x'\"");
  EXPECT_CONTAINS(dot, "n0 -- n1;");
  EXPECT_EQ(dot.find('\x01'), std::string::npos);
  const auto xml = explanation_graphml(picture);
  EXPECT_CONTAINS(xml, "a \"quoted\", name&#10;in two lines</data>");
  EXPECT_CONTAINS(xml, "\\N &amp; &lt;b&gt; ]]&gt; 'x'</data>");
  EXPECT_CONTAINS(xml, "<edge source=\"n0\" target=\"n1\"/>");
  EXPECT_EQ(xml.find_first_of("\x01\xff"), std::string::npos);
}

TEST(ExplanationFiles, PathsLeadFromTheTopNodesToTheNode) {
  ExplainProblem problem(eignn_options(Head::plain), chain_graph(1, 9), along(Direction::in));
  auto explainer = problem.explainer();
  EXPECT_EQ(explainer.on_paths({2}, 6), (std::vector<int64_t>{2, 3, 4, 5, 6}));
  EXPECT_EQ(explainer.on_paths({}, 6), (std::vector<int64_t>{6}));
  EXPECT_EQ(explainer.arcs_among({2, 3, 6}), (std::vector<std::pair<int64_t, int64_t>>{{2, 3}}));
}

}  // namespace
}  // namespace eignn
