#include "attack/certificate.h"

#include <gtest/gtest.h>

#include <limits>

#include "attack/problem.h"

namespace eignn {
namespace {

using test::AttackProblem;
using test::largest;

AttackOptions attack(AttackMethod method, AttackObjective objective, double epsilon) {
  AttackOptions options;
  options.method = method;
  options.objective = objective;
  options.epsilon = epsilon;
  options.step = epsilon / 10;
  return options;
}

torch::Tensor smallest_margin(const torch::Tensor& scores, const torch::Tensor& labels) {
  return margins_of(scores, labels).amin(1);
}

TEST(Certificate, NoAttackOnALinearModelGoesBelowIt) {
  for (uint64_t seed = 0; seed < 4; ++seed)
    for (const auto& maker : test::linear_models()) {
      AttackProblem problem(seed);
      const auto model = maker.make(problem);
      Attacker attacker(*model, problem.data, problem.all());
      for (const double epsilon : {0.001, 0.05, 0.5})
        for (const AttackTargets targets : {AttackTargets::each, AttackTargets::all})
          for (const AttackMethod method : {AttackMethod::noise, AttackMethod::fgsm, AttackMethod::pgd})
            for (const AttackObjective objective : {AttackObjective::loss, AttackObjective::margin}) {
              auto options = attack(method, objective, epsilon);
              options.targets = targets;
              const auto report = attacker.run(options);
              const auto bound = attacker.certificate(targets)->lower_bound(epsilon);
              const auto right = attacker.clean_scores().argmax(1).eq(problem.data.labels);
              const auto slack =
                  (smallest_margin(report.scores, problem.data.labels) - bound).masked_select(right);
              EXPECT_GE(slack.min().item<double>(), -1e-9) << maker.name << ", " << name(method);
              EXPECT_LE(*report.certified, report.kept) << maker.name << ", " << name(method);
            }
    }
}

TEST(Certificate, PgdOnTheMarginReachesIt) {
  for (uint64_t seed = 0; seed < 4; ++seed)
    for (const auto& maker : test::linear_models()) {
      AttackProblem problem(seed);
      const auto model = maker.make(problem);
      Attacker attacker(*model, problem.data, problem.all());
      for (const double epsilon : {0.001, 0.05, 0.5}) {
        const auto report = attacker.run(attack(AttackMethod::pgd, AttackObjective::margin, epsilon));
        const auto bound = attacker.certificate(AttackTargets::each)->lower_bound(epsilon);
        const auto right = attacker.clean_scores().argmax(1).eq(problem.data.labels);
        const auto slack = (smallest_margin(report.scores, problem.data.labels) - bound).masked_select(right);
        EXPECT_LE(largest(slack), 1e-6) << maker.name << ", seed " << seed << ", epsilon " << epsilon;
        EXPECT_EQ(*report.certified, report.kept) << maker.name;
      }
    }
}

TEST(Certificate, TheClassIsKeptBelowTheRadiusAndLostAboveIt) {
  AttackProblem problem(5);
  const auto model = problem.eignn();
  for (int64_t v = 0; v < problem.data.nodes(); ++v) {
    Attacker attacker(*model, problem.data, torch::tensor({v}, torch::kInt64));
    const double radius = attacker.certificate(AttackTargets::each)->radius().item<double>();
    const auto kept = [&](double epsilon) {
      return attacker.run(attack(AttackMethod::pgd, AttackObjective::margin, epsilon)).kept;
    };
    if (v % 5 == 0) {  // misclassified
      EXPECT_EQ(radius, 0);
      continue;
    }
    EXPECT_GT(radius, 0);
    EXPECT_EQ(kept(0.999 * radius), 1) << v;
    EXPECT_EQ(kept(1.001 * radius), 0) << v;
  }
}

TEST(Certificate, OfAllRowsIsReachedByMovingEveryRowAgainstOneNode) {
  for (const auto& maker : test::linear_models()) {
    AttackProblem problem(6);
    const auto model = maker.make(problem);
    const auto& X = problem.data.features;
    const auto& labels = problem.data.labels;
    std::optional<Certificate> certificate;
    {
      Attacker attacker(*model, problem.data, problem.all());
      certificate = attacker.certificate(AttackTargets::all);
    }
    for (const int64_t v : {1, 4, 12, 17}) {
      const auto node = torch::tensor({v}, torch::kInt64);
      const int64_t y = labels[v].item<int64_t>();
      double worst = std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < 3; ++k) {
        if (k == y) continue;
        const auto leaf = X.clone().requires_grad_();
        model->use_features(leaf);
        const auto f = model->scores(node)[0];
        const auto W = torch::autograd::grad({f[y] - f[k]}, {leaf})[0];
        const torch::NoGradGuard guard;
        model->use_features(X - 0.02 * W.sign());
        const auto g = model->scores(node)[0];
        worst = std::min(worst, (g[y] - g[k]).item<double>());
      }
      model->use_features(X);
      EXPECT_NEAR(certificate->lower_bound(0.02)[v].item<double>(), worst, 1e-8) << maker.name << ", " << v;
    }
  }
}

TEST(Certificate, AModelThatIsNotLinearHasNone) {
  for (const auto& maker : test::other_models()) {
    AttackProblem problem(7);
    const auto model = maker.make(problem);
    Attacker attacker(*model, problem.data, problem.all());
    for (const AttackTargets targets : {AttackTargets::each, AttackTargets::all}) {
      EXPECT_FALSE(attacker.certificate(targets)) << maker.name;
      auto options = attack(AttackMethod::fgsm, AttackObjective::loss, 0.01);
      options.targets = targets;
      EXPECT_FALSE(attacker.run(options).certified) << maker.name;
    }
  }
}

TEST(Certificate, IsTheSmallestMarginPerSlope) {
  const double inf = std::numeric_limits<double>::infinity();
  Certificate c;
  // Label 0 throughout: two classes that can catch up; one that cannot move; one that is ahead; a tie.
  c.margins =
      torch::tensor({{inf, 1.0, 3.0}, {inf, 2.0, 1.0}, {inf, 2.0, -1.0}, {inf, 0.0, 1.0}}, torch::kFloat64);
  c.slopes =
      torch::tensor({{0.0, 2.0, 12.0}, {0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, torch::kFloat64);
  EXPECT_TRUE(c.radius().equal(torch::tensor({0.25, inf, 0.0, 0.0}, torch::kFloat64)));
  EXPECT_TRUE(c.lower_bound(0.5).equal(torch::tensor({-3.0, 1.0, -1.0, 0.0}, torch::kFloat64)));
}

}  // namespace
}  // namespace eignn
