// Labels as inputs: who is scored with which, against dense solves, central differences and changed labels.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/model.h"
#include "support/message_of.h"
#include "support/oracle.h"

namespace eignn {
namespace {

constexpr int64_t nodes = 18, features = 5, classes = 3;

torch::Tensor index_of(const std::vector<int64_t>& places) {
  return torch::tensor(places, torch::kInt64);
}

struct Problem {
  torch::Tensor X = test::random_matrix(nodes, features, 1);
  std::shared_ptr<const Propagation> S = std::make_shared<Propagation>(
      make_propagation(test::random_graph(nodes, 2.5, 3), {Direction::undirected, Normalisation::sym, true}));
  // Of both camps of the graph, in no order.
  LabelInputs labels{index_of({7, 1, 4, 12, 15, 2, 10}),
                     torch::one_hot(index_of({0, 2, 1, 1, 0, 2, 1}), classes).to(torch::kFloat64),
                     index_of({0, 1, 0, 1, 0, 1, 0})};

  std::shared_ptr<Model> model(const EignnOptions& options) const {
    std::vector<GraphPart> parts(1);
    parts[0].solver = make_solver("sparse", S, {}, features);
    return make_eignn(std::move(parts), X, classes, options, 7);
  }
  // (n, classes): the rows of these places of `labels`.
  torch::Tensor columns(const std::vector<int64_t>& places) const {
    const auto at = index_of(places);
    return torch::zeros({nodes, classes}, torch::kFloat64)
        .index_copy_(0, labels.nodes.index_select(0, at), labels.rows.index_select(0, at));
  }
};

// Every head, norm and source, with and without an encoder, one layer and several.
std::vector<EignnOptions> models_with_labels() {
  std::vector<EignnOptions> all;
  EignnOptions options;
  options.label_inputs = true;
  all.push_back(options);  // the paper's, beside its features
  for (const Head head : {Head::l2, Head::batch_norm, Head::residual}) {
    options.head = head;
    all.push_back(options);
  }
  options.head = Head::plain;
  options.intercept = true;
  options.encoder = 4;
  for (const Activation activation : {Activation::none, Activation::relu})
    for (const Norm norm : {Norm::none, Norm::layer}) {
      options.encoder_activation = activation;
      options.norm = norm;
      options.source = norm == Norm::none ? Source::neighbours : Source::both;
      all.push_back(options);
    }
  options.source = Source::own;
  options.layers = 2;
  options.hidden = 4;
  for (const int64_t encoder : {0, 4}) {
    options.encoder = encoder;
    options.jump = encoder > 0 ? Jump::max : Jump::concat;
    options.skip = encoder > 0;
    all.push_back(options);
  }
  return all;
}

std::string words(const EignnOptions& o) {
  return std::string(name(o.head)) + ", " + name(norm_of(o)) + ", encoder " + std::to_string(o.encoder) +
         ", layers " + std::to_string(o.layers) + ", source " + name(o.source);
}

torch::Tensor scores_of_all(Model& model) {
  const torch::NoGradGuard guard;
  model.eval();
  return model.scores(torch::arange(nodes)).clone();
}

torch::Tensor weight(const Model& model, const char* name) {
  return model.named_parameters()[name].detach();
}

TEST(LabelInputs, ANodesOwnLabelChangesNoScoreOfIt) {
  const Problem problem;
  for (const EignnOptions& options : models_with_labels()) {
    const auto model = problem.model(options);
    model->use_labels(problem.labels);
    const auto before = scores_of_all(*model);
    for (int64_t k = 0; k < problem.labels.nodes.numel(); ++k) {
      const int64_t v = problem.labels.nodes[k].item<int64_t>();
      LabelInputs changed = problem.labels;
      changed.rows = changed.rows.clone();
      changed.rows[k] = changed.rows[k].roll(1, 0);
      model->use_labels(changed);
      const auto change = (scores_of_all(*model) - before).abs().amax(1);
      EXPECT_EQ(change[v].item<double>(), 0) << words(options) << ": node " << v;
      EXPECT_GT(change.max().item<double>(), 1e-6) << words(options) << ": others hear of node " << v;
    }
  }
}

TEST(LabelInputs, StandBesideTheFeaturesInTheEquilibrium) {
  const Problem problem;
  EignnOptions options;
  options.label_inputs = true;
  const auto model = problem.model(options);
  EXPECT_EQ(model->features(), features);
  EXPECT_EQ(weight(*model, "F").size(0), features + classes);
  const auto with = [&](const std::vector<int64_t>& places) {
    const auto H = torch::cat({problem.X, problem.columns(places)}, 1);
    return test::dense_equilibrium(*problem.S, weight(*model, "F"), H, 0.8).mm(weight(*model, "B").t());
  };
  EXPECT_LE(test::relative_error(scores_of_all(*model), with({})), 1e-10) << "none is known yet";
  model->use_labels(problem.labels);
  const auto scores = scores_of_all(*model), all = with({0, 1, 2, 3, 4, 5, 6}), of_half_1 = with({1, 3, 5}),
             of_half_0 = with({0, 2, 4, 6});
  for (int64_t v = 0; v < nodes; ++v) {
    const auto place = problem.labels.nodes.eq(v).nonzero();
    const auto& expected = place.numel() == 0                                                   ? all
                           : problem.labels.half[place[0].item<int64_t>()].item<int64_t>() == 0 ? of_half_1
                                                                                                : of_half_0;
    EXPECT_LE(test::relative_error(scores[v], expected[v]), 1e-9) << v;
  }
}

TEST(LabelInputs, BehindAnEncoderAddTheirOwnEmbedding) {
  const Problem problem;
  EignnOptions options;
  options.label_inputs = true;
  options.encoder = 4;
  options.encoder_activation = Activation::relu;
  const auto model = problem.model(options);
  model->use_labels(problem.labels);
  const auto W = weight(*model, "encoder_weight"), Y = problem.columns({0, 1, 2, 3, 4, 5, 6});
  ASSERT_EQ(W.size(1), features + classes);
  const auto H = torch::relu(problem.X.mm(W.narrow(1, 0, features).t()) +
                             Y.mm(W.narrow(1, features, classes).t()) + weight(*model, "encoder_bias"));
  const auto expected =
      test::dense_equilibrium(*problem.S, weight(*model, "F"), H, 0.8).mm(weight(*model, "B").t());
  const auto unlabelled = index_of({0, 3, 5, 17});
  EXPECT_LE(test::relative_error(scores_of_all(*model).index_select(0, unlabelled),
                                 expected.index_select(0, unlabelled)),
            1e-9);
}

TEST(LabelInputs, ScoresOfManyNodesAreThoseOfEachAlone) {
  const Problem problem;
  const auto index = index_of({12, 0, 7, 7, 1, 17, 4, 2, 9});
  for (const EignnOptions& options : models_with_labels()) {
    const auto model = problem.model(options);
    model->use_labels(problem.labels);
    const torch::NoGradGuard guard;
    model->eval();
    const auto together = model->scores(index);
    for (int64_t k = 0; k < index.numel(); ++k)
      EXPECT_LE(test::relative_error(model->scores(index.narrow(0, k, 1))[0], together[k]), 1e-11)
          << words(options);
  }
}

TEST(LabelInputs, AStepIsGivenThoseThatAreShownAndScoresTheOthers) {
  const Problem problem;
  EignnOptions options;
  options.label_inputs = true;
  const auto model = problem.model(options);
  model->use_labels(problem.labels);
  model->train();
  model->show_labels(index_of({0, 3}));  // nodes 7 and 12
  const auto scored = index_of({1, 4, 15});
  const auto expected = test::dense_equilibrium(*problem.S, weight(*model, "F"),
                                                torch::cat({problem.X, problem.columns({0, 3})}, 1), 0.8)
                            .mm(weight(*model, "B").t());
  EXPECT_LE(test::relative_error(model->scores(scored).detach(), expected.index_select(0, scored)), 1e-10);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { model->scores(index_of({4, 12})); }), "its own label");
  // An evaluation between two steps shows other labels; the next step begins with its own.
  scores_of_all(*model);
  model->train();
  model->show_labels(index_of({0, 3}));
  EXPECT_LE(test::relative_error(model->scores(scored).detach(), expected.index_select(0, scored)), 1e-10);
}

TEST(LabelInputs, HaveTheGradientOfTheLoss) {
  const Problem problem;
  const auto scored = index_of({1, 4, 15, 2}), shown = index_of({0, 3, 6});
  const auto target = test::random_matrix(scored.numel(), classes, 9);
  for (const EignnOptions& options : models_with_labels()) {
    const auto model = problem.model(options);
    model->use_labels(problem.labels);
    model->train();
    model->show_labels(shown);
    const auto loss = [&] { return (model->scores(scored) * target).sum(); };
    model->zero_grad();
    loss().backward();
    for (auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << words(options) << ": " << item.key();
      const auto D = test::random_matrix(item.value().numel(), 1, 11).reshape(item.value().sizes());
      const auto start = item.value().detach().clone();
      const auto at = [&](double step) {
        const torch::NoGradGuard guard;
        item.value().copy_(start + step * D);
        return loss().item<double>();
      };
      const double h = 1e-6, numeric = (at(h) - at(-h)) / (2 * h);
      at(0);
      const double scale =
          std::max(1e-2, item.value().grad().norm().item<double>() * D.norm().item<double>());
      EXPECT_NEAR((item.value().grad() * D).sum().item<double>(), numeric, 2e-6 * scale)
          << words(options) << ": " << item.key();
    }
  }
}

// As attacks and explanations differentiate: over nodes with labels and without.
TEST(LabelInputs, ScoresAreDifferentiableInTheFeatures) {
  const Problem problem;
  const auto index = index_of({7, 1, 0, 12}), target = test::random_matrix(4, classes, 5);
  for (const EignnOptions& options : models_with_labels()) {
    const auto model = problem.model(options);
    model->use_labels(problem.labels);
    model->eval();
    const auto loss = [&](const torch::Tensor& X) {
      model->use_features(X);
      return (model->scores(index) * target).sum();
    };
    const auto X = problem.X.clone().requires_grad_();
    const auto slope = torch::autograd::grad({loss(X)}, {X})[0];
    ASSERT_EQ(slope.sizes(), problem.X.sizes());
    const auto D = test::random_matrix(nodes, features, 6);
    const torch::NoGradGuard guard;
    const double h = 1e-6,
                 numeric = (loss(problem.X + h * D) - loss(problem.X - h * D)).item<double>() / (2 * h);
    EXPECT_NEAR((slope * D).sum().item<double>(), numeric, 2e-6 * (1 + slope.norm().item<double>()))
        << words(options);
  }
}

TEST(LabelInputs, RefuseWhatDoesNotFit) {
  const Problem problem;
  EignnOptions options;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { problem.model(options)->use_labels(problem.labels); }),
                  "reads no labels");
  options.label_inputs = true;
  const auto model = problem.model(options);
  EXPECT_TRUE(model->reads_labels());
  EXPECT_FALSE(model->labels());
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { model->show_labels(index_of({0})); }), "use_labels()");
  const auto refused = [&](auto change) {
    LabelInputs labels = problem.labels;
    change(labels);
    return message_of<ArgumentError>([&] { model->use_labels(labels); });
  };
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.rows = torch::Tensor(); }), "undefined");
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.rows = l.rows.narrow(1, 0, 2); }), "7 by 3");
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.nodes = l.nodes + 5; }), "no node");
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.nodes = torch::zeros_like(l.nodes); }), "two labels");
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.half = l.half + 1; }), "neither 0 nor 1");
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.half = l.half.to(torch::kFloat64); }), "int64");
  EXPECT_CONTAINS(refused([](LabelInputs& l) { l.rows = l.rows / 0; }), "not finite");
  model->use_labels(problem.labels);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { model->show_labels(index_of({7})); }), "0 to 6");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { model->show_labels_for(nodes); }), "no node 18");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    model->use_features(torch::zeros({nodes, 8}));
                  }),
                  "18 by 5");
  options.equilibria = 0;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { check(options); }), "reaches another node");
}

}  // namespace
}  // namespace eignn
