// Sources, directions and stacks of equilibria against dense solves, central differences and invariants.
#include "models/equilibrium_stack.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "eignn/error.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "train/trainer.h"

namespace eignn {
namespace {

constexpr int64_t nodes = 18, features = 5, classes = 3;

PropagationOptions along(Direction direction, Normalisation normalise, bool self_loops) {
  PropagationOptions options;
  options.direction = direction;
  options.normalise = normalise;
  options.self_loops = self_loops;
  return options;
}

struct Problem {
  Graph graph = test::random_graph(nodes, 1.5, 3);
  torch::Tensor X = test::random_matrix(nodes, features, 1);
  std::vector<PropagationOptions> directions = {along(Direction::out, Normalisation::out_in, false)};

  std::shared_ptr<Propagation> S(size_t d) const {
    return std::make_shared<Propagation>(make_propagation(graph, directions[d]));
  }
  std::vector<GraphPart> parts() const {
    std::vector<GraphPart> out(1);
    out[0].solver = make_solver("sparse", S(0), {}, features);
    for (size_t d = 1; d < directions.size(); ++d)
      out[0].further.push_back(make_solver("sparse", S(d), {}, features));
    return out;
  }
  std::shared_ptr<Model> model(const EignnOptions& options, uint64_t seed = 7) const {
    return make_eignn(parts(), X, classes, options, seed);
  }
};

torch::Tensor all_scores(Model& model) {
  const torch::NoGradGuard guard;
  return model.scores(torch::arange(model.nodes())).clone();
}

torch::Tensor parameter(const Model& model, const std::string& name) {
  return *model.named_parameters().find(name);
}

// ---- sources and directions

TEST(Sources, ANodeMayStartFromWhatItsNeighboursHave) {
  const Problem problem;
  EignnOptions options;
  options.source = Source::neighbours;
  const auto model = problem.model(options);
  const auto S = *problem.S(0);
  const auto Z =
      test::dense_equilibrium(S, parameter(*model, "F").detach(), test::dense_S(S).t().mm(problem.X), 0.8);
  EXPECT_LE(test::relative_error(all_scores(*model), Z.mm(parameter(*model, "B").detach().t())), 1e-10);
}

TEST(Sources, ANodesOwnFeaturesReachItAlongCyclesAlone) {
  Problem problem;
  problem.graph = Graph::from_arcs(nodes, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 2});  // a path into a cycle
  problem.directions = {along(Direction::in, Normalisation::out_in, false)};
  EignnOptions options;
  options.source = Source::neighbours;
  const auto model = problem.model(options);
  const auto before = all_scores(*model);
  const auto change_at = [&](int64_t node) {
    auto X = problem.X.clone();
    X[node] += 1;
    model->use_features(X);
    return (all_scores(*model) - before).abs().amax(1);
  };
  EXPECT_EQ(change_at(1)[1].item<double>(), 0);
  EXPECT_GT(change_at(1)[2].item<double>(), 0);
  EXPECT_GT(change_at(3)[3].item<double>(), 0);
}

TEST(Sources, EachDirectionAndSourceHasAnEquilibriumOfItsOwn) {
  Problem problem;
  problem.directions = {along(Direction::out, Normalisation::out_in, false),
                        along(Direction::undirected, Normalisation::sym, false),
                        along(Direction::in, Normalisation::out_in, false)};
  EignnOptions options;
  options.source = Source::both;
  options.equilibria = 2;
  const auto model = problem.model(options);
  std::vector<torch::Tensor> beside;
  size_t k = 0;
  for (size_t d = 0; d < problem.directions.size(); ++d)
    for (const bool neighbours : {false, true})
      for (int repetition = 0; repetition < 2; ++repetition) {
        const auto S = *problem.S(d);
        const auto X = neighbours ? test::dense_S(S).t().mm(problem.X) : problem.X;
        beside.push_back(
            test::dense_equilibrium(S, parameter(*model, "F" + std::to_string(k++)).detach(), X, 0.8));
      }
  EXPECT_LE(
      test::relative_error(all_scores(*model), torch::cat(beside, 1).mm(parameter(*model, "B").detach().t())),
      1e-10);
}

// ---- stacks

std::string words(const EignnOptions& o) {
  return std::string(name(o.source)) + ", " + name(norm_of(o)) + ", jump " + name(o.jump) +
         (o.skip ? ", skip" : "") + ", layers " + std::to_string(o.layers);
}

// Every norm, jump and source, with and without a skip.
std::vector<EignnOptions> stacks() {
  std::vector<EignnOptions> all;
  for (const Norm norm : {Norm::none, Norm::l2, Norm::batch, Norm::layer})
    for (const Jump jump : {Jump::last, Jump::concat, Jump::max})
      for (const Source source : {Source::own, Source::neighbours, Source::both})
        for (const bool skip : {false, true}) {
          EignnOptions options;
          options.layers = 3;
          options.hidden = options.encoder = 4;
          options.encoder_activation = Activation::relu;
          options.intercept = true;
          options.norm = norm;
          options.jump = jump;
          options.source = source;
          options.skip = skip;
          all.push_back(options);
        }
  return all;
}

// The gradient in each weight against central differences along a random direction.
void expect_gradient_of_loss(Model& model, const std::function<torch::Tensor()>& loss,
                             const std::string& of) {
  model.zero_grad();
  loss().backward();
  for (auto& item : model.named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << of << ": " << item.key();
    const auto D = test::random_matrix(item.value().numel(), 1, 11).reshape(item.value().sizes());
    const auto start = item.value().detach().clone();
    const auto at = [&](double step) {
      const torch::NoGradGuard guard;
      item.value().copy_(start + step * D);
      return loss().item<double>();
    };
    const double h = 1e-6, numeric = (at(h) - at(-h)) / (2 * h);
    at(0);
    const double scale = std::max(1e-2, item.value().grad().norm().item<double>() * D.norm().item<double>());
    EXPECT_NEAR((item.value().grad() * D).sum().item<double>(), numeric, 2e-6 * scale)
        << of << ": " << item.key();
  }
}

TEST(EquilibriumStack, HasTheGradientOfItsLoss) {
  Problem problem;
  problem.directions.push_back(along(Direction::undirected, Normalisation::sym, true));
  const auto index = torch::tensor({1, 8, 17}, torch::kInt64);
  const auto target = test::random_matrix(3, classes, 9);
  for (const EignnOptions& options : stacks()) {
    const auto model = problem.model(options);
    model->train();
    expect_gradient_of_loss(
        *model, [&] { return (model->scores(index) * target).sum(); }, words(options));
  }
}

// One layer: every norm and source, the residual head, with and without an encoder, and without equilibria.
std::vector<EignnOptions> single_layers() {
  std::vector<EignnOptions> all;
  for (const Source source : {Source::own, Source::neighbours, Source::both})
    for (const int64_t encoder : {0, 4}) {
      EignnOptions options;
      options.source = source;
      options.encoder = encoder;
      options.intercept = true;
      for (const Norm norm : {Norm::none, Norm::l2, Norm::batch, Norm::layer}) {
        options.norm = norm;
        all.push_back(options);
      }
      options.norm = Norm::none;
      options.head = Head::residual;
      options.width = 6;
      all.push_back(options);
      if (source != Source::own) continue;
      options.equilibria = 0;
      all.push_back(options);
    }
  return all;
}

TEST(EquilibriumStack, OfOneLayerHasTheGradientOfItsLoss) {
  Problem problem;
  problem.directions.push_back(along(Direction::undirected, Normalisation::sym, true));
  const auto index = torch::tensor({1, 8, 17}, torch::kInt64);
  const auto target = test::random_matrix(3, classes, 9);
  for (const EignnOptions& options : single_layers()) {
    const auto model = problem.model(options);
    model->train();
    expect_gradient_of_loss(
        *model, [&] { return (model->scores(index) * target).sum(); },
        words(options) + ", head " + name(options.head));
  }
}

// Through every equilibrium down to the features, as attacks and explanations go.
TEST(EquilibriumStack, HasTheGradientInTheFeatures) {
  Problem problem;
  problem.directions.push_back(along(Direction::undirected, Normalisation::sym, true));
  const auto index = torch::tensor({1, 8, 17}, torch::kInt64);
  const auto target = test::random_matrix(3, classes, 9), D = test::random_matrix(nodes, features, 4);
  std::vector<EignnOptions> all = stacks();
  for (const EignnOptions& options : single_layers()) all.push_back(options);
  for (const EignnOptions& options : all) {
    const auto model = problem.model(options);
    model->eval();
    const auto loss = [&](const torch::Tensor& X) {
      model->use_features(X);
      return (model->scores(index) * target).sum();
    };
    const auto X = problem.X.clone().requires_grad_();
    const auto slope = torch::autograd::grad({loss(X)}, {X})[0];
    const torch::NoGradGuard guard;
    const double h = 1e-6,
                 numeric = (loss(problem.X + h * D) - loss(problem.X - h * D)).item<double>() / (2 * h);
    EXPECT_NEAR((slope * D).sum().item<double>(), numeric, 2e-6 * (1 + slope.norm().item<double>()))
        << words(options) << ", head " << name(options.head);
  }
}

// The residual head is the same network on the states of the stack's code.
TEST(EquilibriumStack, OfOneLayerUnderTheResidualHeadIsThatModel) {
  const Problem problem;
  EignnOptions options;
  options.head = Head::residual;
  options.width = 6;
  options.equilibria = 2;
  const auto one = make_equilibrium_stack(problem.parts(), problem.X, classes, options, 7);
  const auto plain = problem.model(options);
  for (const bool training : {true, false}) {
    one->train(training);
    plain->train(training);
    EXPECT_LE(test::relative_error(all_scores(*one), all_scores(*plain)), 1e-11);
  }
}

// A single layer made by the stack's own code is the model that has no stack.
TEST(EquilibriumStack, OfOneLayerIsThePlainModel) {
  const Problem problem;
  for (const Norm norm : {Norm::none, Norm::l2, Norm::batch, Norm::layer}) {
    EignnOptions options;
    options.norm = norm;
    options.intercept = true;
    options.source = Source::both;
    const auto one = make_equilibrium_stack(problem.parts(), problem.X, classes, options, 7);
    const auto plain = problem.model(options);
    for (const bool training : {true, false}) {
      one->train(training);
      plain->train(training);
      EXPECT_LE(test::relative_error(all_scores(*one), all_scores(*plain)), 1e-11)
          << name(norm) << (training ? ", training" : "");
    }
  }
}

TEST(EquilibriumStack, ANormIsTheHeadOfThatName) {
  const Problem problem;
  for (const auto& [head, norm] : {std::pair{Head::l2, Norm::l2}, std::pair{Head::batch_norm, Norm::batch}}) {
    EignnOptions by_head, by_norm;
    by_head.head = head;
    by_norm.norm = norm;
    EXPECT_TRUE(all_scores(*problem.model(by_head)).equal(all_scores(*problem.model(by_norm)))) << name(norm);
  }
}

TEST(EquilibriumStack, DoesNotDependOnTheNumberingOfTheNodes) {
  Problem problem;
  problem.directions.push_back(along(Direction::in, Normalisation::out_in, false));
  std::vector<int64_t> to(nodes);  // the new number of each node
  for (int64_t v = 0; v < nodes; ++v) to[v] = (7 * v + 5) % nodes;
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < nodes; ++v)
    for (int64_t a = problem.graph.row_begin[v]; a < problem.graph.row_begin[v + 1]; ++a) {
      source.push_back(to[v]);
      target.push_back(to[problem.graph.target[a]]);
    }
  Problem renumbered = problem;
  renumbered.graph = Graph::from_arcs(nodes, source, target);
  const auto order = torch::tensor(to, torch::kInt64);
  renumbered.X = torch::empty_like(problem.X).index_copy_(0, order, problem.X);
  for (const EignnOptions& options : stacks()) {
    const auto a = problem.model(options), b = renumbered.model(options);
    for (const bool training : {true, false}) {
      a->train(training);
      b->train(training);
      EXPECT_LE(test::relative_error(all_scores(*b).index_select(0, order), all_scores(*a)), 1e-9)
          << words(options);
    }
  }
}

TEST(EquilibriumStack, ScoresOfSomeNodesAreThoseAmongAll) {
  const Problem problem;
  const auto index = torch::tensor({16, 2, 2, 9}, torch::kInt64);
  for (const EignnOptions& options : stacks()) {
    const auto model = problem.model(options);
    model->eval();
    const torch::NoGradGuard guard;
    EXPECT_LE(test::relative_error(model->scores(index), all_scores(*model).index_select(0, index)), 1e-12)
        << words(options);
  }
}

TEST(EquilibriumStack, WithoutEquilibriaHearsNoOtherNode) {
  const Problem problem;
  for (const auto& [layers, head] :
       {std::pair{1, Head::plain}, std::pair{2, Head::plain}, std::pair{1, Head::residual}}) {
    EignnOptions options;
    options.equilibria = 0;
    options.layers = layers;
    options.head = head;
    const auto model = problem.model(options);
    model->eval();
    const auto before = all_scores(*model);
    auto X = problem.X.clone();
    X[4] += 1;
    model->use_features(X);
    const auto change = (all_scores(*model) - before).abs().amax(1);
    EXPECT_GT(change[4].item<double>(), 0);
    EXPECT_EQ(change.count_nonzero().item<int64_t>(), 1);
  }
}

TEST(EquilibriumStack, OfSeveralGraphsComputesEachByItself) {
  Problem problem;
  const auto half = [&](int64_t first, int64_t count) {
    std::vector<int64_t> members, source, target;
    for (int64_t v = first; v < first + count; ++v) {
      members.push_back(v);
      for (int64_t a = problem.graph.row_begin[v]; a < problem.graph.row_begin[v + 1]; ++a) {
        source.push_back(v - first);
        target.push_back(problem.graph.target[a] - first);
      }
    }
    GraphPart part;
    part.nodes = members;
    part.solver = make_solver("sparse",
                              std::make_shared<Propagation>(make_propagation(
                                  Graph::from_arcs(count, source, target), problem.directions[0])),
                              {}, features);
    return part;
  };
  // The random graph has no arc between its two halves.
  for (const EignnOptions& options : stacks()) {
    std::vector<GraphPart> parts;
    parts.push_back(half(0, nodes / 2));
    parts.push_back(half(nodes / 2, nodes - nodes / 2));
    const auto apart = make_eignn(std::move(parts), problem.X, classes, options, 7),
               whole = problem.model(options);
    for (const bool training : {true, false}) {
      apart->train(training);
      whole->train(training);
      EXPECT_LE(test::relative_error(all_scores(*apart), all_scores(*whole)), 1e-9) << words(options);
    }
  }
}

// Rings or paths of `length` nodes: the class is written into one node of each and is that of all of them. A
// network of two layers that looks one hop far in each knows a sixth of the nodes.
Dataset far_away(bool rings, int64_t length, int64_t count) {
  Dataset data;
  data.name = rings ? "rings" : "paths";
  const int64_t n = length * count;
  std::vector<int64_t> source, target, label, train, test;
  data.features = torch::zeros({n, 2}, torch::kFloat64);
  for (int64_t k = 0; k < count; ++k)
    for (int64_t j = 0; j < length; ++j) {
      const int64_t v = k * length + j;
      if (j + 1 < length || rings) {
        source.push_back(v);
        target.push_back(k * length + (j + 1) % length);
      }
      label.push_back(k % 2);
      (k < count / 2 ? train : test).push_back(v);
      if (j == 0) data.features[v][k % 2] = 1;
    }
  data.graph = Graph::from_arcs(n, source, target);
  data.labels = torch::tensor(label, torch::kInt64);
  data.known = torch::ones({n}, torch::kBool);
  data.classes = 2;
  data.splits.push_back({torch::tensor(train, torch::kInt64), torch::tensor(test, torch::kInt64),
                         torch::tensor(test, torch::kInt64)});
  return data;
}

double accuracy_after(const TrainConfig& config, const Dataset& data, int64_t epochs) {
  Trainer trainer(config, data, 0, nullptr);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) trainer.step(epoch);
  return trainer.evaluate(trainer.split().test).score;
}

TEST(EquilibriumStack, HearsAroundARingAndAlongAPathWhereAGcnOfItsDepthDoesNot) {
  for (const bool rings : {true, false}) {
    const Dataset data = far_away(rings, 16, 20);
    TrainConfig config;
    config.dtype = Precision::float64;
    config.weight_decay = 0;
    config.propagation = along(Direction::in, Normalisation::out_in, false);
    GcnOptions gcn;
    gcn.hidden = 16;
    config.model = gcn;
    EXPECT_LE(accuracy_after(config, data, 200), 0.7) << data.name;
    EignnOptions stack;
    stack.layers = 2;
    stack.hidden = 16;
    stack.norm = Norm::l2;
    stack.gamma = 0.95;
    config.model = stack;
    EXPECT_EQ(accuracy_after(config, data, 200), 1.0) << data.name;
  }
}

// ---- settings that exclude each other

TEST(EquilibriumStack, RefusesSettingsThatExcludeEachOther) {
  const auto refused = [](const std::function<void(EignnOptions&)>& change) {
    EignnOptions options;
    change(options);
    return message_of<ArgumentError>([&] { check(options); });
  };
  EXPECT_NE(refused([](EignnOptions& o) {
              o.head = Head::l2;
              o.norm = Norm::batch;
            }).find("has a norm already"),
            std::string::npos);
  EXPECT_NE(refused([](EignnOptions& o) {
              o.head = Head::residual;
              o.layers = 2;
            }).find("one layer of equilibria"),
            std::string::npos);
  EXPECT_NE(refused([](EignnOptions& o) { o.skip = true; }).find("nothing to skip"), std::string::npos);
  EXPECT_NE(refused([](EignnOptions& o) { o.jump = Jump::max; }).find("maximum"), std::string::npos);
}

TEST(EquilibriumStack, GraphsHaveTheSameDirections) {
  Problem problem;
  std::vector<GraphPart> parts = problem.parts();
  parts[0].nodes = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THROW(make_eignn(std::move(parts), problem.X, classes, EignnOptions(), 7), ArgumentError);
}

TEST(Directions, AreOneNameOrSeveralWithCommasBetween) {
  TrainConfig config;
  assign(config, "direction", "out,undirected");
  EXPECT_EQ(config.directions(), (std::vector<Direction>{Direction::out, Direction::undirected}));
  EXPECT_EQ(to_strings(config).at("direction"), "out,undirected");
  assign(config, "direction", "in");
  EXPECT_EQ(config.directions(), std::vector<Direction>{Direction::in});
  for (const char* wrong : {"", "out,", ",out", "out,out", "out,upwards", "out, in"})
    EXPECT_THROW(assign(config, "direction", wrong), ArgumentError) << "'" << wrong << "'";
  assign(config, "direction", "out,in");
  config.model = GcnOptions();
  EXPECT_THROW(validate_settings(config), ArgumentError);
}

}  // namespace
}  // namespace eignn
