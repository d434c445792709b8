#include "attack/attack.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attack/problem.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using test::AttackProblem;
using test::largest;

AttackOptions attack(AttackMethod method, double epsilon, double step = 0, int64_t steps = 15) {
  AttackOptions options;
  options.method = method;
  options.epsilon = epsilon;
  options.step = step;
  options.steps = steps;
  return options;
}

torch::Tensor scores_for(Model& model, const torch::Tensor& X, const torch::Tensor& nodes) {
  const torch::NoGradGuard guard;
  model.use_features(X);
  return model.scores(nodes).to(torch::kFloat64);
}

// How far f(X + 2D) - f(X + D) is from f(X + D) - f(X).
double bend(Model& model, const AttackProblem& problem) {
  const auto& X = problem.data.features;
  const auto D = test::random_matrix(X.size(0), X.size(1), 5);
  const auto at = [&](double t) { return scores_for(model, X + t * D, problem.all()); };
  return largest(at(2) - 2 * at(1) + at(0)) / largest(at(1) - at(0));
}

TEST(Attack, AModelIsLinearExactlyWhereItSaysSo) {
  AttackProblem problem(1);
  for (const auto& maker : test::linear_models()) {
    const auto model = maker.make(problem);
    EXPECT_TRUE(model->linear_in_features()) << maker.name;
    EXPECT_LE(bend(*model, problem), 1e-10) << maker.name;
  }
  for (const auto& maker : test::other_models()) {
    const auto model = maker.make(problem);
    EXPECT_FALSE(model->linear_in_features()) << maker.name;
    EXPECT_GE(bend(*model, problem), 1e-4) << maker.name;
  }
}

TEST(Attack, TheJacobianMatchesCentralDifferences) {
  for (const auto& maker : test::linear_models()) {
    AttackProblem problem(2);
    const auto model = maker.make(problem);
    const auto& X = problem.data.features;
    Jacobians J;
    {
      FixedModel fixed(*model, X);
      J = jacobians(fixed, problem.data.graph, problem.all(), problem.data.labels, false);
    }
    EXPECT_LE(largest(J.scores - scores_for(*model, X, problem.all())), 1e-9) << maker.name;
    for (int64_t v = 0; v < X.size(0); ++v)
      for (int64_t j = 0; j < X.size(1); ++j) {
        auto step = torch::zeros_like(X);
        step[v][j] = 0.5;
        const auto node = torch::tensor({v}, torch::kInt64);
        const auto slope = (scores_for(*model, X + step, node) - scores_for(*model, X - step, node))[0];
        EXPECT_LE(largest(J.own[v][j] - slope), 1e-9) << maker.name << ", node " << v << ", feature " << j;
      }
  }
}

TEST(Attack, AnyModelsGradientAtItsOwnRowIsThatOfLinearArithmeticWhereItIsLinear) {
  for (const auto& maker : test::linear_models()) {
    AttackProblem problem(3);
    const auto model = maker.make(problem);
    FixedModel fixed(*model, problem.data.features);
    const auto J = jacobians(fixed, problem.data.graph, problem.all(), problem.data.labels, false);
    const auto linear = linear_rows(J), generic = own_rows(fixed, problem.all());
    const auto delta = 0.1 * test::random_matrix(18, 5, 4);
    EXPECT_LE(largest(linear->scores(delta) - generic->scores(delta)), 1e-9) << maker.name;
    // Rows that tell their place, so that none can be taken for another.
    const Cotangent square = [](const torch::Tensor& f, int64_t first) {
      return f * (1 + first + torch::arange(f.size(0), torch::kFloat64).unsqueeze(1));
    };
    EXPECT_LE(largest(linear->gradient(delta, square) - generic->gradient(delta, square)), 1e-7)
        << maker.name;
  }
}

TEST(Attack, FgsmIsTheSignOfTheGradientOfTheLoss) {
  for (const auto& maker : {test::linear_models()[0], test::other_models()[4]}) {
    AttackProblem problem(4);
    const auto model = maker.make(problem);
    const auto& X = problem.data.features;
    const auto clean = scores_for(*model, X, problem.all());
    auto expected = clean.clone();
    for (int64_t v = 0; v < X.size(0); ++v) {
      if (clean[v].argmax().item<int64_t>() != problem.data.labels[v].item<int64_t>()) continue;
      const auto node = torch::tensor({v}, torch::kInt64);
      const auto leaf = X.clone().requires_grad_();
      model->use_features(leaf);
      torch::cross_entropy_loss(model->scores(node), problem.data.labels.index_select(0, node)).backward();
      auto changed = X.clone();
      changed[v] += 0.05 * leaf.grad()[v].sign();
      expected[v] = scores_for(*model, changed, node)[0];
    }
    const auto report = Attacker(*model, problem.data, problem.all()).run(attack(AttackMethod::fgsm, 0.05));
    EXPECT_LE(largest(report.scores - expected), 1e-9) << maker.name;
    EXPECT_GT(largest(report.scores - clean), 1e-3) << maker.name;
  }
}

TEST(Attack, FgsmIsOneStepOfPgdOfFullSize) {
  for (const auto& maker : {test::linear_models()[0], test::other_models()[3]})
    for (const AttackTargets targets : {AttackTargets::each, AttackTargets::all}) {
      AttackProblem problem(5);
      const auto model = maker.make(problem);
      Attacker attacker(*model, problem.data, problem.all());
      auto fgsm = attack(AttackMethod::fgsm, 0.03), pgd = attack(AttackMethod::pgd, 0.03, 0.03, 1);
      fgsm.targets = pgd.targets = targets;
      EXPECT_TRUE(attacker.run(fgsm).scores.equal(attacker.run(pgd).scores)) << maker.name;
    }
}

TEST(Attack, PgdProjectsBackIntoTheBallAfterEachStep) {
  AttackProblem problem(6);
  const auto model = problem.baseline("h2gcn");
  const auto& X = problem.data.features;
  const auto clean = scores_for(*model, X, problem.all());
  const auto right = clean.argmax(1).eq(problem.data.labels).nonzero().squeeze(1);
  const int64_t v = right[2].item<int64_t>();
  const auto node = torch::tensor({v}, torch::kInt64);
  auto changed = X.clone();
  for (int step = 0; step < 7; ++step) {
    const auto leaf = changed.clone().requires_grad_();
    model->use_features(leaf);
    torch::cross_entropy_loss(model->scores(node), problem.data.labels.index_select(0, node)).backward();
    changed[v] =
        torch::minimum(torch::maximum(changed[v] + 0.2 * leaf.grad()[v].sign(), X[v] - 0.5), X[v] + 0.5);
  }
  const auto report = Attacker(*model, problem.data, node).run(attack(AttackMethod::pgd, 0.5, 0.2, 7));
  EXPECT_LE(largest(report.scores - scores_for(*model, changed, node)), 1e-9);
  EXPECT_NEAR(report.largest_change, 0.5, 1e-15);
}

TEST(Attack, AllTargetsTogetherAreAsEachByItself) {
  for (const auto& maker : {test::linear_models()[0], test::linear_models()[1], test::other_models()[2]})
    for (const AttackObjective objective : {AttackObjective::loss, AttackObjective::margin}) {
      AttackProblem problem(7);
      const auto model = maker.make(problem);
      auto options = attack(AttackMethod::pgd, 0.2, 0.05, 6);
      options.objective = objective;
      const auto together = Attacker(*model, problem.data, problem.all()).run(options);
      int64_t kept = 0, certified = 0;
      for (int64_t v = 0; v < problem.data.nodes(); ++v) {
        const auto alone = Attacker(*model, problem.data, torch::tensor({v}, torch::kInt64)).run(options);
        EXPECT_LE(largest(alone.scores[0] - together.scores[v]), 1e-8) << maker.name << ", node " << v;
        kept += alone.kept;
        certified += alone.certified.value_or(0);
      }
      EXPECT_EQ(together.kept, kept);
      EXPECT_EQ(together.certified.value_or(0), certified);
    }
}

TEST(Attack, AllRowsAtOnceFollowTheMeanLossOfTheNodesThatWereRight) {
  for (const auto& maker : {test::linear_models()[0], test::other_models()[5]}) {
    AttackProblem problem(8);
    const auto model = maker.make(problem);
    const auto& X = problem.data.features;
    const auto clean = scores_for(*model, X, problem.all());
    const auto right = clean.argmax(1).eq(problem.data.labels).nonzero().squeeze(1);
    const auto leaf = X.clone().requires_grad_();
    model->use_features(leaf);
    torch::cross_entropy_loss(model->scores(right), problem.data.labels.index_select(0, right)).backward();
    const auto expected = scores_for(*model, X + 0.1 * leaf.grad().sign(), problem.all());
    auto options = attack(AttackMethod::fgsm, 0.1);
    options.targets = AttackTargets::all;
    const auto report = Attacker(*model, problem.data, problem.all()).run(options);
    EXPECT_LE(largest(report.scores - expected), 1e-9) << maker.name;
    const auto after = expected.argmax(1).eq(problem.data.labels);
    EXPECT_EQ(report.kept, after.index_select(0, right).sum().item<int64_t>());
    EXPECT_EQ(report.kept + report.righted, after.sum().item<int64_t>());
  }
}

TEST(Attack, ASizeOfZeroChangesNothing) {
  for (const auto& makers : {test::linear_models(), test::other_models()})
    for (const auto& maker : makers) {
      AttackProblem problem(9);
      const auto model = maker.make(problem);
      Attacker attacker(*model, problem.data, problem.all());
      for (const AttackMethod method : {AttackMethod::noise, AttackMethod::fgsm, AttackMethod::pgd})
        for (const AttackTargets targets : {AttackTargets::each, AttackTargets::all}) {
          auto options = attack(method, 0, 0.1, 2);
          options.targets = targets;
          const auto report = attacker.run(options);
          EXPECT_LE(largest(report.scores - attacker.clean_scores()), 1e-12) << maker.name;
          EXPECT_EQ(report.kept, report.right);
          EXPECT_EQ(report.largest_change, 0);
          EXPECT_EQ(report.certified.value_or(report.right), report.right) << maker.name;
        }
    }
}

TEST(Attack, NoFeatureChangesByMoreThanEpsilon) {
  for (const auto& maker : {test::linear_models()[0], test::other_models()[4]}) {
    AttackProblem problem(10);
    const auto model = maker.make(problem);
    Attacker attacker(*model, problem.data, problem.all());
    for (const AttackMethod method : {AttackMethod::noise, AttackMethod::fgsm, AttackMethod::pgd})
      for (const AttackTargets targets : {AttackTargets::each, AttackTargets::all}) {
        auto options = attack(method, 0.01, 0.004, 9);
        options.targets = targets;
        const auto report = attacker.run(options);
        EXPECT_LE(report.largest_change, 0.01);
        EXPECT_GE(report.largest_change, 0.005);
      }
  }
}

TEST(Attack, NoiseIsFixedByItsSeedAndGrowsWithEpsilon) {
  AttackProblem problem(11);
  const auto model = problem.eignn();
  Attacker attacker(*model, problem.data, problem.all());
  auto options = attack(AttackMethod::noise, 0.1);
  const auto first = attacker.run(options).scores;
  EXPECT_TRUE(first.equal(attacker.run(options).scores));
  options.epsilon = 0.2;  // the same direction, twice as far
  const auto& clean = attacker.clean_scores();
  EXPECT_LE(largest((attacker.run(options).scores - clean) - 2 * (first - clean)), 1e-12);
  options.epsilon = 0.1;
  options.seed = 1;
  EXPECT_GT(largest(first - attacker.run(options).scores), 1e-4);
}

TEST(Attack, ANodesNoiseDoesNotDependOnTheOtherTargets) {
  AttackProblem problem(11);
  const auto model = problem.baseline("mlp", 1);  // which sees its own row alone
  Attacker attacker(*model, problem.data, problem.all());
  auto options = attack(AttackMethod::noise, 0.1);
  const auto each = attacker.run(options).scores;
  options.targets = AttackTargets::all;
  const auto all = attacker.run(options).scores;
  const auto right = attacker.clean_scores().argmax(1).eq(problem.data.labels).nonzero().squeeze(1);
  EXPECT_LE(largest(each.index_select(0, right) - all.index_select(0, right)), 1e-12);
}

TEST(Attack, ANodeThatIsSureOfItsClassIsAttackedAllTheSame) {
  AttackProblem problem(12);
  const auto model = problem.eignn();
  {
    const torch::NoGradGuard guard;
    model->named_parameters()["B"].mul_(1e4);  // 1 - p_y underflows
  }
  Attacker attacker(*model, problem.data, problem.all());
  for (const AttackTargets targets : {AttackTargets::each, AttackTargets::all}) {
    auto options = attack(AttackMethod::fgsm, 0.01);
    options.targets = targets;
    const auto report = attacker.run(options);
    EXPECT_EQ(report.largest_change, 0.01);
    const auto& clean = attacker.clean_scores();
    const auto right = clean.argmax(1).eq(problem.data.labels);
    const auto margin = margins_of(clean, problem.data.labels).amin(1),
               after = margins_of(report.scores, problem.data.labels).amin(1);
    if (targets == AttackTargets::each) {
      EXPECT_TRUE((after < margin).masked_select(right).all().item<bool>());
    }
  }
}

TEST(Attack, MisclassifiedNodesAreLeftAloneAndCountAsWrong) {
  AttackProblem problem(13);
  const auto model = problem.baseline("gcn");
  Attacker attacker(*model, problem.data, problem.all());
  const auto report = attacker.run(attack(AttackMethod::fgsm, 0.5));
  EXPECT_EQ(report.nodes, 18);
  EXPECT_EQ(report.right, 14);  // 0, 5, 10 and 15 have another label
  EXPECT_NEAR(report.clean_accuracy(), 14 / 18.0, 1e-15);
  EXPECT_NEAR(report.accuracy(), static_cast<double>(report.kept) / 18, 1e-15);
  EXPECT_LT(report.kept, 14);
  EXPECT_EQ(report.righted, 0);
  for (int64_t v = 0; v < 18; v += 5) EXPECT_TRUE(report.scores[v].equal(attacker.clean_scores()[v]));
}

TEST(Attack, TheModelIsItselfAgainAfterwards) {
  AttackProblem problem(14);
  for (const bool training : {false, true}) {
    const auto model = problem.eignn();
    const auto before = scores_for(*model, problem.data.features, problem.all());
    model->train(training);
    Attacker(*model, problem.data, problem.all()).run(attack(AttackMethod::pgd, 0.1, 0.01));
    EXPECT_EQ(model->is_training(), training);
    for (const auto& weight : model->parameters()) EXPECT_TRUE(weight.requires_grad());
    const torch::NoGradGuard guard;
    model->eval();
    EXPECT_TRUE(model->scores(problem.all()).equal(before));
  }
}

TEST(Attack, RefusesWhatMakesNoSense) {
  EXPECT_CONTAINS(message_of<ArgumentError>([] { validate(attack(AttackMethod::fgsm, -1)); }), "(epsilon)");
  EXPECT_CONTAINS(message_of<ArgumentError>([] { validate(attack(AttackMethod::fgsm, std::nan(""))); }),
                  "(epsilon)");
  EXPECT_CONTAINS(message_of<ArgumentError>([] { validate(attack(AttackMethod::pgd, 1, -1)); }), "(step)");
  EXPECT_CONTAINS(message_of<ArgumentError>([] { validate(attack(AttackMethod::pgd, 1, 1, 0)); }), "(steps)");
  EXPECT_CONTAINS(message_of<ArgumentError>([] { parse_attack_method("pdg"); }), "did you mean pgd");
  AttackProblem problem(15);
  const auto model = problem.eignn();
  problem.data.name = "sets";
  problem.data.labels = torch::zeros({18, 3}, torch::kUInt8);
  EXPECT_CONTAINS(message_of([&] { Attacker(*model, problem.data, problem.all()); }), "sets");
}

}  // namespace
}  // namespace eignn
