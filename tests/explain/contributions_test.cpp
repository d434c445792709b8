#include <gtest/gtest.h>

#include "eignn/error.h"
#include "eignn/train.h"
#include "explain/problem.h"
#include "support/message_of.h"
#include "support/random_graph.h"
#include "support/real_data.h"

namespace eignn {
namespace {

using test::along;
using test::by_feature;
using test::by_node;
using test::eignn_options;
using test::ExplainProblem;

// How far sum and score may be apart: round-off of the largest terms.
double size_of(const Explanation& why) {
  double size = std::abs(why.constant);
  for (const auto& part : why.nodes) size += std::abs(part.contribution);
  return std::max(size, std::abs(why.score));
}

TEST(Contributions, AddUpToTheScoreThatTheModelGives) {
  for (const auto& options : test::exact_options()) {
    ExplainProblem problem(options);
    const auto f = problem.scores();
    auto explainer = problem.explainer();
    for (int64_t v = 0; v < problem.data.nodes(); ++v)
      for (int64_t k = 0; k < 3; ++k) {
        const auto why = explainer.explain(v, k, {});
        EXPECT_NEAR(why.score, f[v][k].item<double>(), 1e-10 * size_of(why)) << test::words(options);
        EXPECT_LE(std::abs(why.remainder), 1e-10 * size_of(why)) << test::words(options);
        EXPECT_TRUE(why.exact);
        EXPECT_EQ(why.kind, ContributionKind::exact);
      }
  }
}

TEST(Contributions, AreThoseOfADenseAdjointSolve) {
  for (const auto& propagation : {along(Direction::undirected), along(Direction::in),
                                  along(Direction::out, Normalisation::out_in, false)}) {
    for (const auto& [source, weighted] :
         {std::pair{Source::own, false}, std::pair{Source::neighbours, false}, std::pair{Source::own, true},
          std::pair{Source::neighbours, true}}) {
      auto options = eignn_options(Head::plain);
      options.source = source;
      ExplainProblem problem =
          weighted ? test::weighted_problem(options, propagation) : ExplainProblem(options, propagation);
      const auto weights = problem.model->named_parameters();
      const auto S = make_propagation(problem.data.graph, propagation);
      auto explainer = problem.explainer();
      for (const int64_t v : {0, 7, 16}) {
        auto Y = torch::zeros_like(problem.data.features);
        Y[v] = weights["B"].detach()[1];
        auto W = test::dense_equilibrium(S, weights["F"].detach(), Y, 0.8, 1e-12, /*adjoint=*/true);
        if (source == Source::neighbours) W = test::dense_S(S).mm(W);  // W Pᵀ, node-major
        const auto why = explainer.explain(v, 1, {});
        const auto terms = problem.data.features * W;
        EXPECT_LE(test::relative_error(by_node(why, problem.data.nodes()), terms.sum(1)), 1e-10);
        EXPECT_LE(test::relative_error(by_feature(why), terms.sum(0)), 1e-10);
      }
    }
  }
}

// Arcs whose weights lie four orders of magnitude apart.
TEST(Contributions, OfAWeightedGraphAddUpAndAreWhatGoesWithANodesFeatures) {
  for (const auto& options : test::exact_options()) {
    const ExplainProblem equal(options);
    ExplainProblem problem = test::weighted_problem(options);
    const auto f = problem.scores();
    EXPECT_FALSE(torch::allclose(f, equal.scores())) << "the weights matter";
    const auto why = problem.explainer().explain(3, 2, {});
    EXPECT_TRUE(why.exact);
    EXPECT_LE(std::abs(why.remainder), 1e-10 * size_of(why)) << test::words(options);
    EXPECT_NEAR(why.score, f[3][2].item<double>(), 1e-10 * size_of(why)) << test::words(options);
    const auto parts = by_node(why, problem.data.nodes());
    for (int64_t u = 0; u < problem.data.nodes(); ++u) {
      auto X = problem.data.features.clone();
      X[u] = 0;
      EXPECT_NEAR(f[3][2].item<double>() - problem.scores(X)[3][2].item<double>(), parts[u].item<double>(),
                  1e-10 * size_of(why))
          << test::words(options) << ", node " << u;
    }
  }
}

TEST(Contributions, OfSeveralDirectionsAreThoseOfTheirEquilibria) {
  auto options = eignn_options(Head::plain);
  options.source = Source::both;
  ExplainProblem problem(options, along(Direction::out, Normalisation::out_in, false));
  problem.config.further_directions = {Direction::in, Direction::undirected};
  problem.remake();
  const auto f = problem.scores();
  auto explainer = problem.explainer();
  for (const int64_t v : {0, 7, 16}) {
    const auto why = explainer.explain(v, 1, {});
    EXPECT_TRUE(why.exact);
    EXPECT_LE(std::abs(why.remainder), 1e-10 * size_of(why));
    const auto parts = by_node(why, problem.data.nodes());
    for (int64_t u = 0; u < problem.data.nodes(); ++u) {
      auto X = problem.data.features.clone();
      X[u] = 0;
      EXPECT_NEAR(f[v][1].item<double>() - problem.scores(X)[v][1].item<double>(), parts[u].item<double>(),
                  1e-10 * size_of(why));
    }
  }
}

// Along a chain whose far end is below the range of a double the exponents survive the product with S.
TEST(Contributions, OfASourceInTheNeighboursKeepTheirDigitsAlongAChain) {
  auto options = eignn_options(Head::plain, "direct");
  options.source = Source::neighbours;
  constexpr int64_t length = 4000;
  ExplainProblem problem(options, chain_graph(1, length), along(Direction::in), 5, 6, 2);
  const auto at_the_start = problem.data.features[0].clone();
  problem.data.features.zero_();
  problem.data.features[0] = at_the_start;
  problem.remake();
  const auto why = problem.explainer().explain(length - 1, 0, {});
  EXPECT_LT(why.exponent, -900) << "the score is an ordinary number, and this shows nothing";
  EXPECT_NE(why.score, 0);
  EXPECT_LE(std::abs(why.remainder), 1e-10 * std::abs(why.score));
}

TEST(Contributions, WithoutANodesFeaturesTheScoreHasItsContributionLess) {
  for (const auto& options : test::exact_options()) {
    ExplainProblem problem(options);
    const auto f = problem.scores();
    auto explainer = problem.explainer();
    const auto why = explainer.explain(3, 2, {});
    const auto parts = by_node(why, problem.data.nodes());
    for (int64_t u = 0; u < problem.data.nodes(); ++u) {
      auto X = problem.data.features.clone();
      X[u] = 0;
      const double without = problem.scores(X)[3][2].item<double>();
      EXPECT_NEAR(f[3][2].item<double>() - without, parts[u].item<double>(), 1e-10 * size_of(why))
          << test::words(options) << ", node " << u;
    }
  }
}

TEST(Contributions, WithoutAFeatureTheScoreHasItsContributionLessWhereTheEncoderIsAffine) {
  for (const auto& options : test::exact_options()) {
    ExplainProblem problem(options);
    const auto why = problem.explainer().explain(5, 0, {});
    const bool affine = options.encoder == 0 || options.encoder_activation == Activation::none;
    EXPECT_EQ(why.features_exact, affine) << test::words(options);
    if (affine) {
      EXPECT_LE(std::abs(why.features_remainder), 1e-10 * size_of(why));
    }
    const auto parts = by_feature(why);
    // The derivative along the size of a feature everywhere; for affine scores the change without it.
    constexpr double h = 1e-5;
    for (int64_t j = 0; j < problem.data.feature_count(); ++j) {
      const auto at = [&](double size) {
        auto X = problem.data.features.clone();
        X.select(1, j).mul_(size);
        return problem.scores(X)[5][0].item<double>();
      };
      const double expected = affine ? at(1) - at(0) : (at(1 + h) - at(1 - h)) / (2 * h);
      EXPECT_NEAR(parts[j].item<double>(), expected, (affine ? 1e-10 : 1e-7) * size_of(why))
          << test::words(options);
    }
  }
}

TEST(Contributions, DoNotDependOnTheNumberingOfTheNodes) {
  for (const Head head : {Head::plain, Head::batch_norm, Head::l2}) {
    ExplainProblem problem(eignn_options(head, "direct"));
    const int64_t n = problem.data.nodes();
    const auto why = problem.explainer().explain(4, 1, {});
    const auto order =
        torch::randperm(n, at::detail::createCPUGenerator(3), torch::kInt64);  // new node k was order[k]
    std::vector<int64_t> place(n), source, target;
    for (int64_t k = 0; k < n; ++k) place[order[k].item<int64_t>()] = k;
    for (int64_t v = 0; v < n; ++v)
      for (int64_t a = problem.data.graph.row_begin[v]; a < problem.data.graph.row_begin[v + 1]; ++a) {
        source.push_back(place[v]);
        target.push_back(place[problem.data.graph.target[a]]);
      }
    problem.data.graph = Graph::from_arcs(n, source, target);
    problem.data.features = problem.data.features.index_select(0, order);
    problem.remake();
    const auto other = problem.explainer().explain(place[4], 1, {});
    EXPECT_NEAR(other.score, why.score, 1e-10 * size_of(why));
    EXPECT_LE(test::relative_error(by_node(other, n), by_node(why, n).index_select(0, order)), 1e-10);
    EXPECT_LE(test::relative_error(by_feature(other), by_feature(why)), 1e-10);
    ASSERT_EQ(other.by_hop.size(), why.by_hop.size());
    for (size_t d = 0; d < why.by_hop.size(); ++d) {
      EXPECT_EQ(other.by_hop[d].nodes, why.by_hop[d].nodes);
      EXPECT_NEAR(other.by_hop[d].contribution, why.by_hop[d].contribution, 1e-10 * size_of(why));
    }
  }
}

// A path 0 → 1 → … → 5 and another one beside it.
Graph two_paths() {
  return Graph::from_arcs(12, {0, 1, 2, 3, 4, 6, 7, 8, 9, 10}, {1, 2, 3, 4, 5, 7, 8, 9, 10, 11});
}

TEST(Contributions, ComeAlongTheArcsAndFromNowhereElse) {
  struct Case {
    Direction direction;
    std::vector<std::pair<int64_t, int64_t>> hops;  // of the nodes that node 2 hears
  };
  for (const auto& [direction, expected] :
       {Case{Direction::in, {{0, 2}, {1, 1}, {2, 0}}}, Case{Direction::out, {{2, 0}, {3, 1}, {4, 2}, {5, 3}}},
        Case{Direction::undirected, {{0, 2}, {1, 1}, {2, 0}, {3, 1}, {4, 2}, {5, 3}}}}) {
    ExplainProblem problem(eignn_options(Head::plain, "direct"), two_paths(), along(direction));
    const auto why = problem.explainer().explain(2, {}, {});
    std::vector<std::pair<int64_t, int64_t>> found;
    for (const auto& part : why.nodes) {
      found.emplace_back(part.node, part.hops);
      EXPECT_NE(part.contribution, 0);
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected) << name(direction);
    double raised = 0;
    int64_t nodes = 0;
    for (const auto& hop : why.by_hop) {
      EXPECT_NEAR(hop.raising + hop.lowering, hop.contribution, 1e-14);
      EXPECT_GE(hop.raising, 0);
      EXPECT_LE(hop.lowering, 0);
      raised += hop.contribution;
      nodes += hop.nodes;
    }
    EXPECT_EQ(nodes, static_cast<int64_t>(expected.size()));
    EXPECT_NEAR(raised + why.constant, why.score, 1e-12);
  }
}

TEST(Contributions, TheLargestComeFirst) {
  ExplainProblem problem(eignn_options(Head::plain), karate_club());
  const auto why = problem.explainer().explain(8, {}, {});
  for (size_t t = 1; t < why.nodes.size(); ++t)
    EXPECT_GE(std::abs(why.nodes[t - 1].contribution), std::abs(why.nodes[t].contribution));
  for (size_t t = 1; t < why.features.size(); ++t)
    EXPECT_GE(std::abs(why.features[t - 1].contribution), std::abs(why.features[t].contribution));
  EXPECT_TRUE(why.predicted);
  EXPECT_EQ(why.class_number, problem.scores()[8].argmax().item<int64_t>());
}

TEST(Contributions, OfSeveralGraphsAreThoseOfTheNodesOwn) {
  for (const char* solver : {"spectral", "sparse", "direct"}) {
    ExplainProblem problem(eignn_options(Head::batch_norm, solver), two_paths());
    const auto whole = problem.explainer().explain(8, 1, {});
    problem.data.graph_of = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    problem.remake();
    const auto apart = problem.explainer().explain(8, 1, {});
    EXPECT_NEAR(apart.score, whole.score, 1e-10);
    EXPECT_LE(test::relative_error(by_node(apart, 12), by_node(whole, 12)), 1e-10);
    for (const auto& part : apart.nodes) EXPECT_GE(part.node, 6);
  }
}

// One informative node at the beginning of each chain, as in the paper.
ExplainProblem chains(int64_t length, Direction direction, double gamma = 0.8) {
  auto options = eignn_options(Head::plain, "direct");
  options.gamma = gamma;
  ExplainProblem problem(options, chain_graph(2, length), along(direction), 5, 6, 2);
  problem.data.features.zero_();
  problem.data.features[0][0] = problem.data.features[length][1] = 1;
  problem.remake();
  return problem;
}

TEST(Contributions, AddUpRelativeToTheScoreAlongTwoHundredHops) {
  for (const Direction direction : {Direction::undirected, Direction::in}) {
    ExplainProblem problem = chains(201, direction);
    const auto f = problem.scores();
    auto explainer = problem.explainer();
    for (const int64_t v : {10, 100, 200, 401})
      for (const int64_t k : {0, 1}) {
        const auto why = explainer.explain(v, k, {});
        const double score = std::ldexp(why.score, static_cast<int>(why.exponent));
        ASSERT_NE(score, 0);
        EXPECT_NEAR(score / f[v][k].item<double>(), 1, 1e-10) << v;
        EXPECT_LE(std::abs(why.remainder), 1e-10 * std::abs(why.score)) << v;
        EXPECT_EQ(why.nodes[0].node, v < 201 ? 0 : 201);
        EXPECT_NEAR(why.nodes[0].contribution / why.score, 1, 1e-10);
      }
  }
}

TEST(Contributions, KeepTheirDigitsBelowTheRangeOfADouble) {
  for (const Direction direction : {Direction::undirected, Direction::in}) {
    ExplainProblem problem = chains(801, direction, 0.3);
    problem.data.features[1][2] = 1;  // a second node gives something too
    problem.remake();
    const auto why = problem.explainer().explain(800, 1, {});
    EXPECT_LT(why.exponent, -1074) << "or the test is too easy";
    EXPECT_NE(why.score, 0);
    EXPECT_LE(std::abs(why.remainder), 1e-10 * std::abs(why.score));
    int64_t giving = 0;
    for (const auto& part : why.nodes) giving += part.contribution != 0;
    EXPECT_EQ(giving, 2);
    EXPECT_LE(std::abs(why.features_remainder), 1e-10 * std::abs(why.score));
  }
}

TEST(Contributions, OfTheL2HeadAddUpAndSayThatTheyAreNotExact) {
  for (const int64_t equilibria : {1, 2})
    for (const int64_t encoder : {0, 4}) {
      auto options = eignn_options(Head::l2, "direct");
      options.equilibria = equilibria;
      options.encoder = encoder;
      ExplainProblem problem(options);
      const auto f = problem.scores();
      const auto why = problem.explainer().explain(6, 1, {});
      EXPECT_NEAR(why.score, f[6][1].item<double>(), 1e-12);
      EXPECT_LE(std::abs(why.remainder), 1e-10);
      EXPECT_FALSE(why.exact);
      EXPECT_FALSE(why.features_exact);
      EXPECT_EQ(why.kind, ContributionKind::normalised);
      EXPECT_LE(std::abs(why.features_remainder), 1e-10);
    }
}

TEST(Contributions, OfTheL2HeadAreOfOrdinarySizeAtAnyDistance) {
  ExplainProblem problem(eignn_options(Head::l2, "direct"), chain_graph(1, 801), along(Direction::in), 5, 6,
                         2);
  problem.data.features.zero_();
  problem.data.features[0][0] = 1;
  problem.remake();
  const auto why = problem.explainer().explain(800, 0, {});
  EXPECT_EQ(why.exponent, 0);
  EXPECT_GT(std::abs(why.score), 1e-3);
  EXPECT_NEAR(why.score, problem.scores()[800][0].item<double>(), 1e-10);
  EXPECT_NEAR(why.nodes[0].contribution, why.score, 1e-10);
}

TEST(Contributions, ANodeThatNoSignalReachesHasNothingButTheConstant) {
  for (const Head head : {Head::plain, Head::l2, Head::batch_norm}) {
    ExplainProblem problem(eignn_options(head), two_paths());
    problem.data.features.zero_();
    problem.data.features[0][0] = 1;
    problem.remake();
    const auto why = problem.explainer().explain(9, 1, {});
    EXPECT_DOUBLE_EQ(why.score, why.constant) << name(head);
    for (const auto& part : why.nodes) EXPECT_EQ(part.contribution, 0);
  }
}

TEST(Contributions, OfOtherModelsAreTheGradientTimesTheInput) {
  std::vector<ModelOptions> models = {eignn_options(Head::residual, "direct")};
  test::AnyOptions any;
  any.hidden = 6;
  any.tolerance = 1e-13;
  any.max_iterations = 5000;
  for (const char* model : {"mlp", "gcn", "gat", "appnp", "gcnii", "h2gcn", "jknet", "ignn", "graphsage"})
    models.push_back(test::options_for(model, any));
  for (const auto& options : models) {
    ExplainProblem problem(options);
    const auto why = problem.explainer().explain(2, 1, {});
    const auto parts = by_node(why, problem.data.nodes());
    EXPECT_FALSE(why.exact) << name(options);
    EXPECT_EQ(why.kind, ContributionKind::first_order) << name(options);
    EXPECT_NEAR(why.score, problem.scores()[2][1].item<double>(), 1e-10) << name(options);
    EXPECT_NEAR(why.sum + why.remainder, why.score, 1e-12) << name(options);
    EXPECT_NEAR(why.constant, problem.scores(torch::zeros_like(problem.data.features))[2][1].item<double>(),
                1e-10);
    constexpr double h = 1e-6;
    for (const int64_t u : {0, 2, 5, 12}) {
      const auto at = [&](double size) {
        auto X = problem.data.features.clone();
        X[u] *= size;
        return problem.scores(X)[2][1].item<double>();
      };
      EXPECT_NEAR(parts[u].item<double>(), (at(1 + h) - at(1 - h)) / (2 * h), 1e-6)
          << name(options) << ", " << u;
    }
  }
}

TEST(Contributions, OfBaselinesThatAreAffineAreExact) {
  ExplainProblem problem(test::options_for("sgc"));
  const auto why = problem.explainer().explain(2, 1, {});
  EXPECT_TRUE(why.exact && why.features_exact);
  EXPECT_LE(std::abs(why.remainder), 1e-12);
}

TEST(Contributions, OfSetsOfLabelsAndOfNumbersAreThoseOfTheirScores) {
  ExplainProblem problem(eignn_options(Head::plain));
  problem.data.labels = torch::ones({18, 3}, torch::kUInt8);
  EXPECT_LE(std::abs(problem.explainer().explain(4, 2, {}).remainder), 1e-12);
  EXPECT_TRUE(problem.explainer().explain(4, {}, {}).predicted);
  problem.data.labels = test::random_matrix(18, 3, 1);
  EXPECT_LE(std::abs(problem.explainer().explain(4, 2, {}).remainder), 1e-12);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.explainer().explain(4, {}, {}); }), "(class)");
  // What people read is in the units of the target.
  const ScoreUnits units{{1, 1, 10}, {0, 0, 100}};
  Explainer raw(*problem.model, problem.data, problem.config, units);
  const auto why = raw.explain(4, 2, {});
  EXPECT_NEAR(why.score, 100 + 10 * problem.scores()[4][2].item<double>(), 1e-10);
  EXPECT_LE(std::abs(why.remainder), 1e-10);
  EXPECT_LE(std::abs(why.features_remainder), 1e-10);
}

TEST(Contributions, LeaveTheModelAsItWas) {
  ExplainProblem problem(eignn_options(Head::residual));
  const auto before = problem.scores();
  problem.model->train();
  {
    auto explainer = problem.explainer();
    explainer.explain(3, {}, {});
  }
  EXPECT_TRUE(problem.model->is_training());
  for (const auto& weight : problem.model->parameters()) EXPECT_TRUE(weight.requires_grad());
  problem.model->eval();
  EXPECT_TRUE(problem.scores().equal(before));
}

TEST(Contributions, OnTexasAddUpToTheScores) {
  const auto path = real_data("heterophilous_npz/texas.npz");
  if (!path) GTEST_SKIP() << no_real_data;
  Dataset texas = load(*path);
  ExplainProblem problem(eignn_options(Head::plain, "spectral"));
  problem.data = texas;
  problem.remake();
  const auto f = problem.scores();
  auto explainer = problem.explainer();
  for (int64_t v = 0; v < texas.nodes(); ++v) {
    const auto why = explainer.explain(v, {}, {});
    EXPECT_NEAR(why.score, f[v].max().item<double>(), 1e-10 * size_of(why));
    EXPECT_LE(std::abs(why.remainder), 1e-10 * size_of(why));
    EXPECT_LE(std::abs(why.features_remainder), 1e-10 * size_of(why));
  }
}

TEST(Explain, RefusesNodesAndClassesThatAreNotThere) {
  ExplainProblem problem(eignn_options(Head::plain));
  auto explainer = problem.explainer();
  for (const int64_t node : {-1, 18})
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.explain(node, {}, {}); }), "(node)");
  for (const int64_t k : {-1, 3})
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.explain(0, k, {}); }), "(class)");
}

TEST(Explain, FindsNodesAndClassesByNameOrNumber) {
  ExplainProblem problem(eignn_options(Head::plain));
  Dataset& data = problem.data;
  EXPECT_EQ(find_node(data, "17"), 17);
  EXPECT_EQ(find_class(data, "2"), 2);
  for (const char* wrong : {"18", "-1", "alice", "1.5", "", " 3", "99999999999999999999"})
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { find_node(data, wrong); }), "(node)");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { find_class(data, "3"); }), "(class)");
  for (int64_t v = 0; v < 18; ++v) data.node_names.push_back(fmt::format("page {}", v));
  data.class_names = {"spam", "ham", "eggs"};
  EXPECT_EQ(find_node(data, "page 7"), 7);
  EXPECT_EQ(find_node(data, "7"), 7) << "no name is a number";
  EXPECT_EQ(find_class(data, "ham"), 1);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { find_class(data, "hams"); }), "did you mean ham?");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { find_node(data, "pag 7"); }), "did you mean page");
  data.node_names[3] = "1000";
  EXPECT_EQ(find_node(data, "1000"), 3);
  EXPECT_THROW(find_node(data, "7"), ArgumentError) << "a number could be a name that is misspelt";
}

TEST(Explain, AModelInMemoryExplainsItself) {
  const Dataset karate = karate_dataset(0);
  TrainOptions options;
  EignnOptions model;
  model.head = Head::batch_norm;
  options.model(model).set("epochs", "20").set("dtype", "float64").set("threads", "1");
  const TrainedRun run = train(karate, options);
  const auto scores = run.model.predict(karate).scores;
  const auto why = explain(run.model, karate, 9);
  EXPECT_NEAR(why.score, scores[9].max().item<double>(), 1e-10);
  EXPECT_LE(std::abs(why.remainder), 1e-10);
  const Dataset unlabelled = make_dataset(karate.graph, karate.features);
  EXPECT_EQ(explain(run.model, unlabelled, 9).score, why.score) << "no label is needed";
  EXPECT_EQ(influence(run.model, karate, {10}).sample, 10);
  EXPECT_FALSE(explain_edges(run.model, karate, 9).changes.empty());
}

// A model of standardised features and, for a regression, of standardised targets.
TrainedRun standardised_run(const Dataset& data) {
  EignnOptions model;
  model.head = Head::batch_norm;
  model.encoder = 6;
  model.intercept = true;
  TrainOptions options;
  options.model(model).set("epochs", "10").set("dtype", "float64").set("threads", "1");
  return train(data, options.set("feature-norm", "standard"));
}

TEST(Explain, InRawUnitsAZeroIsTheZeroOfTheData) {
  const Graph graph = random_graph(40, 90, 3);
  const auto X = test::random_matrix(40, 3, 5) * torch::tensor({1.0, 50.0, 1e3}, torch::kFloat64) +
                 torch::tensor({3.0, 200.0, -4e3}, torch::kFloat64);
  const Dataset data = make_dataset(graph, X, torch::arange(40).remainder(2), 0);
  const auto run = standardised_run(data);
  const auto why = explain(run.model, data, 7, 1, {/*raw_units=*/true});
  EXPECT_NEAR(why.score, run.model.predict(data).scores[7][1].item<double>(), 1e-9);
  EXPECT_LE(std::abs(why.remainder), 1e-9 * size_of(why));
  Dataset nothing = data;
  nothing.features = torch::zeros_like(data.features);
  EXPECT_NEAR(why.constant, run.model.predict(nothing).scores[7][1].item<double>(), 1e-9 * size_of(why));
  for (const auto& part : why.nodes) {  // taking one node's features away takes its contribution
    Dataset without = data;
    without.features = data.features.clone();
    without.features[part.node].zero_();
    const double after = run.model.predict(without).scores[7][1].item<double>();
    EXPECT_NEAR(why.score - after, part.contribution, 1e-9 * size_of(why)) << part.node;
  }
}

TEST(Explain, NumbersAreExplainedInTheUnitsOfTheData) {
  Dataset data =
      make_dataset(random_graph(40, 90, 4), test::random_matrix(40, 3, 6), torch::arange(40).remainder(2), 0);
  data.labels = (1e4 + 500 * data.features.sum(1)).unsqueeze(1).contiguous();
  data.classes = 1;
  const auto run = standardised_run(data);
  const auto why = explain(run.model, data, 11);
  EXPECT_NEAR(why.score, run.model.predict(data).values[11][0].item<double>(), 1e-6);
  EXPECT_LE(std::abs(why.remainder), 1e-9 * size_of(why));
  EXPECT_NEAR(explain_edges(run.model, data, 11).score, why.score, 1e-6);
}

}  // namespace
}  // namespace eignn
