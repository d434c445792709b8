#include "run/auto_search.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "data/toml.h"
#include "eignn/error.h"
#include "run/portfolio.h"
#include "run/recipes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "train/config_toml.h"

namespace eignn {
namespace {

// A ring whose classes alternate, as data without a recipe.
Dataset ring(int64_t nodes = 60) {
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v) {
    from.push_back(v);
    to.push_back((v + 1) % nodes);
  }
  const auto labels = torch::arange(nodes).remainder(2);
  auto generator = at::detail::createCPUGenerator(1);
  const auto X = torch::randn({nodes, 3}, generator, torch::kFloat64) + labels.unsqueeze(1);
  return make_dataset(Graph::from_arcs(nodes, from, to), X, labels);
}

// Runs that are not trained: `val` of a configuration, at a second an epoch.
struct Pretended {
  std::function<double(const TrainConfig&)> val;
  std::vector<Job> ran = {};

  RunOne runner() {
    return [this](const Job& job, bool, double) -> Trial {
      ran.push_back(job);
      Trial trial;
      trial.result.config = job.config;
      trial.result.split = std::stoll(job.config.split);
      trial.result.score.val = val(job.config);
      trial.result.score.test = 1 - trial.result.score.val;
      trial.result.epochs = job.config.epochs;
      trial.result.seconds_per_epoch = 1;
      trial.result.seconds_total = static_cast<double>(job.config.epochs);
      return trial;
    };
  }
};

double rate(const TrainConfig& config) {
  return 1 / (1 + config.lr);
}

std::vector<Candidate> first_candidates(size_t count, const std::string& model,
                                        const std::set<std::string>& given = {}, TrainConfig base = {}) {
  base.dataset = "mine";
  Portfolio portfolio(base, given, {model});
  std::vector<Candidate> out;
  while (out.size() < count) {
    auto candidate = portfolio.next();
    if (!candidate) break;
    out.push_back(std::move(*candidate));
  }
  return out;
}

TEST(Portfolio, EveryModelsCandidatesAreValidAndDistinct) {
  for (const std::string& model : Portfolio::models()) {
    std::set<std::string> seen;
    const auto candidates = first_candidates(40, model);
    ASSERT_EQ(candidates.size(), 40u) << model;
    for (const Candidate& candidate : candidates) {
      EXPECT_EQ(name(candidate.config.model), model);
      EXPECT_NO_THROW(validate_settings(candidate.config)) << candidate.name;
      EXPECT_TRUE(seen.insert(to_toml(candidate.config)).second) << candidate.name;
      EXPECT_FALSE(candidate.settings.empty());
    }
    EXPECT_EQ(candidates[0].name, model + "/recipe");
  }
}

TEST(Portfolio, EveryOpeningIsValidByItself) {
  for (const std::string& model : Portfolio::models()) {
    std::set<std::string> openings;
    for (const Candidate& candidate : first_candidates(40, model))
      if (candidate.name.find("varied") == std::string::npos) openings.insert(candidate.name);
    size_t tables = 1;  // the recipe
    for (const EmbeddedRecipe& recipe : embedded_recipes())
      if (recipe.name == "portfolio/" + model)
        for (const TomlTable& table : parse_toml_tables(recipe.toml, recipe.name))
          tables += table.name != "vary";
    EXPECT_EQ(openings.size(), tables) << model;
  }
}

TEST(Portfolio, NeverChangesWhatWasGiven) {
  TrainConfig base;
  assign(base, {{"gamma", "0.77"}, {"lr", "0.123"}, {"self-loops", "on"}});
  for (const Candidate& candidate : first_candidates(40, "eignn", {"gamma", "lr", "self-loops"}, base)) {
    EXPECT_EQ(candidate.config.eignn().gamma, 0.77);
    EXPECT_EQ(candidate.config.lr, 0.123);
    EXPECT_TRUE(candidate.config.propagation.self_loops);
  }
}

TEST(Portfolio, TheSeedDecidesOnTheVariants) {
  TrainConfig other;
  other.seed = 1;
  const auto a = first_candidates(30, "gcn"), again = first_candidates(30, "gcn"),
             b = first_candidates(30, "gcn", {}, other);
  size_t different = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(to_toml(a[k].config), to_toml(again[k].config));
    TrainConfig same_seed = b[k].config;
    same_seed.seed = 0;
    different += to_toml(a[k].config) != to_toml(same_seed);
  }
  EXPECT_GT(different, 10u);
}

TEST(Portfolio, DirectionsAreTriedOnlyWhereThereAreSome) {
  const auto directions = [](bool directed) {
    TrainConfig base;
    base.dataset = "mine";
    Portfolio portfolio(base, {}, {"eignn"}, directed);
    std::set<std::string> seen;
    for (int k = 0; k < 40; ++k) seen.insert(to_strings(portfolio.next()->config).at("direction"));
    return seen;
  };
  EXPECT_EQ(directions(false), std::set<std::string>{"undirected"});
  EXPECT_GT(directions(true).size(), 2u);
}

TEST(Portfolio, AThinFIsTriedOnlyWhereThereAreManyFeatures) {
  const auto ranks = [](int64_t features, const std::set<std::string>& given) {
    TrainConfig base;
    base.dataset = "mine";
    if (given.count("rank")) base.eignn().rank = 3;
    Portfolio portfolio(base, given, {"eignn"}, true, features);
    std::set<int64_t> seen;
    for (int k = 0; k < 40; ++k) seen.insert(portfolio.next()->config.eignn().rank);
    return seen;
  };
  EXPECT_EQ(ranks(100, {}), (std::set<int64_t>{-1}));
  EXPECT_EQ(ranks(1703, {}), (std::set<int64_t>{-1, 32}));
  EXPECT_EQ(ranks(5, {"rank"}), (std::set<int64_t>{3}));
}

TEST(Portfolio, RefusesWhatNoModelHas) {
  EXPECT_NE(message_of([] { Portfolio({}, {}, {"sse"}); }).find("sse"), std::string::npos);
  EXPECT_NE(message_of([] { Portfolio({}, {"gamma"}, {"gcn", "mlp"}); }).find("gamma"), std::string::npos);
}

TEST(AutoSearch, FewEpochsForManyAndAllEpochsForTheBest) {
  const Dataset data = ring();
  AutoSearch race;
  race.base.dataset = "mine";
  race.trials = 18;
  Pretended pretended{rate};
  const auto result = run_auto_search(race, data, "", pretended.runner());
  ASSERT_EQ(result.trials.size(), 18u);
  size_t second = 0, third = 0, chosen = 0;
  for (const AutoTrial& trial : result.trials) {
    second += trial.rungs.size() >= 2;
    third += trial.rungs.size() >= 3;
    chosen += trial.chosen;
    EXPECT_LE(trial.rungs[0].epochs, 30);
  }
  EXPECT_EQ(second, 6u);
  EXPECT_EQ(third, 2u);
  EXPECT_EQ(chosen, 1u);
  double best = 1e9;  // the smallest rate of all is the best validation figure
  for (const Job& job : pretended.ran) best = std::min(best, job.config.lr);
  EXPECT_EQ(result.best.lr, best);
  ASSERT_EQ(result.runs.size(), 1u);
  EXPECT_EQ(result.runs[0].epochs, result.best.epochs);
}

TEST(AutoSearch, ChoosesByValidationAndNeverByTest) {
  const Dataset data = ring();
  AutoSearch race;
  race.base.dataset = "mine";
  race.trials = 9;
  Pretended flat{[](const TrainConfig&) { return 0.5; }};  // all alike in validation: the first wins
  const auto result = run_auto_search(race, data, "", flat.runner());
  EXPECT_TRUE(result.trials[0].chosen);
}

TEST(AutoSearch, ErrorsAreBetterWhenSmall) {
  Dataset data = ring();
  data = make_dataset(data.graph, data.features, {});
  data.labels = torch::rand({60, 1}, torch::kFloat64);
  data.known = torch::ones({60}, torch::kBool);
  data.classes = 1;
  data.splits = ring().splits;
  AutoSearch race;
  race.base.dataset = "mine";
  race.base.metric = Metric::mae;
  race.trials = 6;
  Pretended pretended{rate};
  const RunOne inner = pretended.runner();
  const auto result = run_auto_search(race, data, "", [&](const Job& job, bool keep, double most) {
    Trial trial = inner(job, keep, most);
    trial.result.metric = "mae";
    return trial;
  });
  double largest = 0;
  for (const Job& job : pretended.ran) largest = std::max(largest, job.config.lr);
  EXPECT_EQ(result.best.lr, largest);  // the smallest of the figures
}

TEST(AutoSearch, ABudgetIsKeptButForTheLastRunsEstimate) {
  const Dataset data = ring();
  for (const double budget : {400.0, 2000.0, 20000.0}) {
    AutoSearch race;
    race.base.dataset = "mine";
    race.budget_seconds = budget;
    Pretended pretended{rate};
    const auto result = run_auto_search(race, data, "", pretended.runner());
    EXPECT_LE(result.seconds, 1.1 * budget) << budget;
    double all = 0;
    for (const Job& job : pretended.ran) all += static_cast<double>(job.config.epochs);
    EXPECT_EQ(result.seconds, all);
  }
}

TEST(AutoSearch, TheWinnerRunsOnEverySplitAndOnceOnEach) {
  Dataset data = ring();
  data.splits = {data.splits[0], data.splits[0], data.splits[0]};
  AutoSearch race;
  race.base.dataset = "mine";
  race.trials = 5;
  race.splits = 2;
  Pretended pretended{rate};
  const auto result = run_auto_search(race, data, "", pretended.runner());
  ASSERT_EQ(result.runs.size(), 3u);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(result.runs[k].split, static_cast<int64_t>(k));
  for (const AutoTrial& trial : result.trials) EXPECT_EQ(trial.rungs[0].val.size(), 2u);
  size_t in_full = 0;
  for (const Job& job : pretended.ran) in_full += to_toml(job.config) == to_toml(result.runs[0].config);
  EXPECT_EQ(in_full, 1u);
}

TEST(AutoSearch, ACandidateThatFailsIsOut) {
  const Dataset data = ring();
  AutoSearch race;
  race.base.dataset = "mine";
  race.trials = 6;
  Pretended pretended{rate};
  const RunOne inner = pretended.runner();
  size_t calls = 0;
  const auto result = run_auto_search(race, data, "", [&](const Job& job, bool keep, double most) -> Trial {
    if (calls++ == 2) return {{}, "the loss is not finite"};
    return inner(job, keep, most);
  });
  EXPECT_EQ(result.trials[2].failure, "the loss is not finite");
  EXPECT_FALSE(result.trials[2].chosen);
  EXPECT_EQ(result.trials[2].rungs.size(), 1u);
  EXPECT_THROW(run_auto_search(race, data, "",
                               [](const Job&, bool, double) -> Trial {
                                 return {{}, "no"};
                               }),
               ConvergenceError);
}

TEST(AutoSearch, TheSameTrialsChooseTheSameAndGoOnFromTheirFolder) {
  const TemporaryFolder folder;
  const Dataset data = ring();
  AutoSearch race;
  race.base.epochs = 12;
  race.base.threads = 1;
  race.given = {"epochs"};
  race.trials = 4;
  race.first_epochs = 3;
  SearchOptions kept;
  kept.folder = folder.path("race");
  const auto first = search(data, race, kept);
  const auto in_memory = search(data, race);
  EXPECT_EQ(to_toml(first.best), to_toml(in_memory.best));
  for (size_t k = 0; k < first.trials.size(); ++k)
    for (size_t r = 0; r < first.trials[k].rungs.size(); ++r)
      EXPECT_EQ(first.trials[k].rungs[r].val, in_memory.trials[k].rungs[r].val);
  // The winner's folder is a run like any other.
  EXPECT_EQ(load_model(kept.folder + "/best").predict(data).classes.size(0), data.nodes());
  // The same call again trains nothing.
  size_t epochs = 0;
  kept.hooks.on_epoch = [&](const EpochReport&) { ++epochs; };
  const auto again = search(data, race, kept);
  EXPECT_EQ(epochs, 0u);
  EXPECT_EQ(again.runs[0].score.test, first.runs[0].score.test);
  // Nor does one that was interrupted before its last rung train anything twice.
  std::filesystem::remove_all(kept.folder + "/trials/3");
  std::filesystem::remove_all(kept.folder + "/best");
  const auto resumed = search(data, race, kept);
  EXPECT_GT(epochs, 0u);
  EXPECT_LE(epochs, 2u * 12);
  EXPECT_EQ(resumed.runs[0].score.test, first.runs[0].score.test);
}

TEST(AutoSearch, ATrialThatIsTooSlowForTheBudgetIsOut) {
  const Dataset data = ring();
  JobOptions options;
  const RunOne run_one = one_at_a_time(options, data);
  TrainConfig config;
  config.epochs = 1000;
  config.patience = 1000;
  config.threads = 1;
  const Trial trial = run_one({config, ""}, false, /*most_seconds=*/0);
  EXPECT_NE(trial.failure.find("too slow"), std::string::npos);
}

TEST(AutoSearch, ATrialThatWillBeTooSlowEndsAfterAFewEpochsAndIsRemembered) {
  const Dataset data = ring();
  size_t epochs = 0;
  JobOptions options;
  options.watch = [&](int64_t) -> JobOptions::Watch {
    return [&](const std::vector<EpochReport>&) { ++epochs; };
  };
  const RunOne run_one = one_at_a_time(options, data);
  TrainConfig config;
  config.epochs = 10'000'000;
  config.patience = 10'000'000;
  config.threads = 1;
  const TemporaryFolder folder;
  const Job job{config, folder.path("slow")};
  const Trial trial = run_one(job, false, /*most_seconds=*/2);
  EXPECT_NE(trial.failure.find("too slow"), std::string::npos);
  EXPECT_LT(epochs, 1000u);
  EXPECT_GT(trial.seconds, 0);
  const size_t before = epochs;
  const Trial again = run_one(job, false, /*most_seconds=*/2);
  EXPECT_EQ(again.failure, trial.failure);
  EXPECT_EQ(again.seconds, trial.seconds);
  EXPECT_EQ(epochs, before);
}

TEST(AutoSearch, RefusesWhatCannotBeSearched) {
  const auto message = [](const AutoSearch& race, const Dataset& data) {
    return message_of([&] { search(data, race); });
  };
  AutoSearch race;
  race.budget_seconds = 0;
  EXPECT_NE(message(race, ring()).find("no time"), std::string::npos);
  race = {};
  race.splits = 2;
  EXPECT_NE(message(race, ring()).find("one split"), std::string::npos);
  race = {};
  race.models.clear();
  EXPECT_NE(message(race, ring()).find("no model"), std::string::npos);
  race = {};
  Dataset data = ring();
  data.splits[0].val = torch::empty({0}, torch::kInt64);
  EXPECT_NE(message(race, data).find("no node is in it"), std::string::npos);
  const RunOne nobody = [](const Job&, bool, double) -> Trial { return {{}, "never called"}; };
  EXPECT_NE(message_of([&] { run_auto_search(race, data, "", nobody); }).find("no validation nodes"),
            std::string::npos);
  data = ring();
  torch::Tensor& val = data.splits[0].val;
  val = val.masked_select(data.labels.index_select(0, val).eq(0));
  race.base.metric = Metric::roc_auc;
  race.given = {"metric"};
  EXPECT_NE(message(race, data).find("one class"), std::string::npos) << message(race, data);
  EXPECT_NE(message({}, make_dataset(ring().graph, ring().features)).find("no labels"), std::string::npos);
}

}  // namespace
}  // namespace eignn
