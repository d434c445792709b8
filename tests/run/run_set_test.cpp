#include "run/run_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "run/search.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "train/config_toml.h"

namespace eignn {
namespace {

// A run whose validation figure follows from its settings: no training.
RunResult pretend(const Job& job) {
  const double val =
      job.config.lr - (job.config.eignn().gamma == 1 ? 0.05 : 0) + 0.01 * std::stod(job.config.split);
  RunResult run;
  run.config = job.config;
  run.split = std::stoll(job.config.split);
  run.score.val = val;
  run.score.test = 1 - val;
  run.epochs = job.config.epochs;
  run.seconds_per_epoch = 0.5;
  return run;
}

TEST(RunSet, KeepsTheJobsOrderWhateverEndsFirst) {
  std::mutex lock;
  std::set<std::string> seen;
  const auto runs = run_jobs(jobs_of_splits({}, {3, 1, 2, 0}, ""), 4, [&](const Job& job) {
    const std::lock_guard<std::mutex> guard(lock);
    seen.insert(job.config.split);
    return pretend(job);
  });
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].split, 3);
  EXPECT_EQ(runs[3].split, 0);
  EXPECT_EQ(seen.size(), 4u);
}

TEST(RunSet, WarningsOfEveryWorkerReachTheCaller) {
  std::set<std::string> heard;  // without a lock: warnings come one at a time
  std::set<std::thread::id> threads;
  const WarningScope scope([&](const std::string& message) { heard.insert(message); });
  std::mutex lock;
  std::atomic<int> waiting{0};
  in_parallel(4, 4, [&](size_t k) {
    for (++waiting; waiting < 4;) std::this_thread::yield();  // so that each thread has one
    {
      const std::lock_guard<std::mutex> guard(lock);
      threads.insert(std::this_thread::get_id());
    }
    warn(std::to_string(k));
  });
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_EQ(heard, (std::set<std::string>{"0", "1", "2", "3"}));
}

TEST(RunSet, WorkersOfACallerWithoutAHookWarnNobody) {
  EXPECT_FALSE(warning_hook());
  in_parallel(3, 3, [](size_t) { warn("to nobody"); });
}

TEST(RunSet, DoesNotRunWhatIsFinished) {
  const TemporaryFolder folder;
  const auto jobs = jobs_of_splits({}, {0, 1}, folder.path("set"));
  std::filesystem::create_directories(jobs[1].folder);
  RunResult before = pretend(jobs[1]);
  before.config = jobs[1].config;
  before.solver = "before";
  std::ofstream(jobs[1].folder + "/summary.json") << to_json(before);
  int started = 0;
  const JobRunner pretend_now = [&](const Job& job) {
    ++started;
    RunResult run = pretend(job);
    run.solver = "now";
    return run;
  };
  const auto runs = run_jobs(jobs, 1, unless_finished(pretend_now, /*keep_models=*/true));
  EXPECT_EQ(started, 1);
  EXPECT_EQ(runs[0].solver, "now");
  EXPECT_EQ(runs[1].solver, "before");
}

// As a parent leaves it that is killed between its child's summary and its own tidying.
TEST(RunSet, WhatAKilledProcessLeftInAFinishedFolderIsRemoved) {
  const TemporaryFolder folder;
  for (const bool keep_models : {true, false}) {
    const Job job{{}, folder.path(keep_models ? "kept" : "dropped")};
    std::filesystem::create_directories(job.folder);
    RunResult before = pretend({TrainConfig{}, ""});
    for (const char* file :
         {"job.toml", "errors.txt", "failure.txt", "resume.safetensors", "model.safetensors",
          "predictions.csv", "config.toml", "metrics.jsonl", ".lock", "model.safetensors.tmp-1-0"})
      std::ofstream(job.folder + "/" + file) << "left";
    write_file_atomically(job.folder + "/summary.json", sealed(result_json(before)).dump());
    const JobRunner never = [](const Job&) -> RunResult { throw DataError("", "", "it is finished"); };
    unless_finished(never, keep_models)(job);
    std::vector<std::string> expected = {"config.toml", "metrics.jsonl", "summary.json"};
    if (keep_models)
      expected = {"config.toml", "metrics.jsonl", "model.safetensors", "predictions.csv", "summary.json"};
    EXPECT_EQ(names_in_folder(job.folder), expected);
  }
}

TEST(RunSet, AnErrorComesBeforeTheInterruptionsThatItCauses) {
  for (const int64_t parallel : {1, 2, 4}) {
    std::atomic<int> waiting{0};
    const auto work = [&](size_t k) {
      ++waiting;
      while (parallel > 1 && waiting < 2) std::this_thread::yield();
      if (k == 0) {
        if (parallel > 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
        throw ResourceError("no space left", "disk", "free some");
      }
      throw InterruptedError("split-1");
    };
    EXPECT_THROW(in_parallel(4, parallel, work), ResourceError);
  }
  EXPECT_THROW(in_parallel(3, 2, [](size_t) { throw InterruptedError("split-1"); }), InterruptedError);
}

TEST(RunSet, ADamagedSummaryIsNamed) {
  const TemporaryFolder folder;
  for (const char* text : {"{", "[]", R"({"split": 1})", R"({"test_accuracy": "high", "val_accuracy": 1})"}) {
    std::ofstream(folder.path("summary.json")) << text;
    EXPECT_CONTAINS(message_of<DataError>([&] { finished_run({{}, folder.path("")}); }), "summary.json");
  }
}

TEST(RunResultJson, SurvivesTheRoundTrip) {
  RunResult run;
  run.config.model = model_options("ignn");
  run.config.seed = 18446744073709551615ULL;
  run.config.lr = 0.1 + 0.2;
  run.metric = "micro_f1";
  run.score = {0.1, 1.0 / 3, 0.7};
  run.loss = {1, 2, 3};
  run.non_converged_solves = 4;
  run.by_distance = {{0, 9, 5, 0.25}};
  run.mu_start = {0.5};
  run.mu_end = {0.9};
  run.machine = "a machine";
  const ResultJson json = result_json(run);
  EXPECT_EQ(result_json(result_from_json(json, "summary.json")), json);
  EXPECT_EQ(ResultJson::parse(to_json(run)), json);
}

TEST(RunSet, TheFirstErrorEndsTheSet) {
  int started = 0;
  EXPECT_THROW(run_jobs(jobs_of_splits({}, {0, 1, 2}, ""), 1,
                        [&](const Job& job) -> RunResult {
                          ++started;
                          if (job.config.split == "1") throw DataError("file", "", "no");
                          return {};
                        }),
               DataError);
  EXPECT_EQ(started, 2);
}

TEST(RunSet, AFolderIsForOneSetting) {
  const TemporaryFolder folder;
  claim_folder(folder.path("a"), "config.toml", "lr = 1\n");
  claim_folder(folder.path("a"), "config.toml", "lr = 1\n");
  EXPECT_NE(
      message_of([&] { claim_folder(folder.path("a"), "config.toml", "lr = 2\n"); }).find("other settings"),
      std::string::npos);
}

TEST(RunSet, AFolderOfAnOlderVersionIsKnownByItsSettings) {
  const TemporaryFolder folder;
  TrainConfig config;
  config.lr = 0.25;
  claim_folder(folder.path("a"), config);
  // An older version knew no train-graphs, had other remarks and no digest.
  std::string text = to_toml(config);
  const size_t line = text.find("train-graphs"), end = text.find('\n', line);
  ASSERT_NE(line, std::string::npos);
  text.erase(line, end + 1 - line);
  write_file_atomically(folder.path("a/config.toml"), "# an older one\n" + text);
  EXPECT_NO_THROW(claim_folder(folder.path("a"), config));
  config.train_graphs = 4;
  EXPECT_NE(message_of([&] { claim_folder(folder.path("a"), config); }).find("other settings"),
            std::string::npos);
}

TEST(Search, SpansTheGridAndTriesEqualPointsOnce) {
  const SearchPlan plan = parse_search(
      "gamma = [0.8, 1.0]\nnormalise = [\"sym\", \"out-in\"]\ndirection = [\"undirected\", \"in\"]\nepochs = "
      "7\n"
      "splits = [0, 2]\nfinalists = 3\nscreening-epochs = 5\n",
      {}, {}, "grid.toml");
  EXPECT_EQ(plan.points.size(), 6u);  // out-in on a symmetrised graph is sym
  EXPECT_EQ(plan.varied, (std::vector<std::string>{"gamma", "normalise", "direction"}));
  EXPECT_EQ(plan.splits, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(plan.finalists, 3);
  EXPECT_EQ(plan.screening_epochs, 5);
  for (const auto& point : plan.points) EXPECT_EQ(point.epochs, 7);
}

TEST(Search, TheCommandLineWinsOverTheFile) {
  TrainConfig base;
  base.lr = 0.25;
  const SearchPlan plan = parse_search("lr = [0.1, 0.2]\n", base, {"lr"}, "grid.toml");
  ASSERT_EQ(plan.points.size(), 1u);
  EXPECT_EQ(plan.points[0].lr, 0.25);
}

TEST(Search, RefusesWhatMakesNoSense) {
  const auto says = [](const char* toml) {
    return message_of([&] { parse_search(toml, {}, {}, "grid.toml"); });
  };
  EXPECT_NE(says("learning-rate = [1, 2]\n").find("unknown setting 'learning-rate' (grid.toml"),
            std::string::npos);
  EXPECT_NE(says("lr = [1, \"x\"]\n").find("'x' is no number"), std::string::npos);
  EXPECT_NE(says("gamma = [2.0]\n").find("grid.toml"), std::string::npos);
  EXPECT_NE(says("splits = [-1]\n").find("'-1'"), std::string::npos);
}

// The seed draws which validation nodes calibrate: those of one point would be seen under another.
TEST(Search, DoesNotVaryTheSeedThatDrawsTheCalibrationNodes) {
  TrainConfig conformal;
  conformal.conformal = 0.1;
  const auto says = [&](const char* toml) {
    return message_of<DataError>([&] { parse_search(toml, conformal, {}, "grid.toml"); });
  };
  EXPECT_CONTAINS(says("seed = [0, 1]\n"), "the seed draws the calibration nodes of conformal");
  EXPECT_CONTAINS(says("seed = [0, 1]\n"), "(grid.toml, seed); leave seed out of the grid");
  EXPECT_EQ(parse_search("seed = [0, 1]\n", {}, {}, "grid.toml").points.size(), 2u);
  EXPECT_EQ(parse_search("seed = 3\nlr = [0.1, 0.2]\n", conformal, {}, "grid.toml").points.size(), 2u);
  EXPECT_EQ(parse_search("seed = [0, 1]\n", conformal, {"seed"}, "grid.toml").points.size(), 1u);
}

TEST(Search, ChoosesByMeanValidationAndNeverByTest) {
  const SearchPlan plan = parse_search("lr = [0.1, 0.3, 0.2]\ngamma = [0.8, 1.0]\n", {}, {}, "grid.toml");
  const SearchResult result = run_search(plan, 3, "", run_individually(1, pretend), {});
  EXPECT_EQ(result.best.lr, 0.3);  // the best validation is the worst test here
  EXPECT_EQ(result.best.eignn().gamma, 0.8);
  ASSERT_EQ(result.trials.size(), 6u);
  ASSERT_EQ(result.runs.size(), 3u);
  for (const SearchTrial& trial : result.trials) EXPECT_EQ(trial.val.size(), 3u);
  EXPECT_EQ(trials_json(result.trials).dump().find("test"), std::string::npos);
}

TEST(Search, OnlyFinalistsRunOnAllSplitsAndToTheEnd) {
  TrainConfig base;
  base.epochs = 100;
  const SearchPlan plan = parse_search(
      "lr = [0.1, 0.3, 0.2]\nsplits = [1]\nfinalists = 2\nscreening-epochs = 10\n", base, {}, "grid.toml");
  std::vector<std::pair<double, int64_t>> run;
  const auto noted = [&](const Job& job) {
    run.emplace_back(job.config.lr, job.config.epochs);
    return pretend(job);
  };
  const SearchResult result = run_search(plan, 4, "", run_individually(1, noted), {});
  EXPECT_EQ(run.size(), 3u + 2u * 4u);
  EXPECT_EQ(std::count(run.begin(), run.end(), std::pair<double, int64_t>(0.1, 100)), 0);
  EXPECT_EQ(std::count(run.begin(), run.end(), std::pair<double, int64_t>(0.3, 100)), 4);
  EXPECT_EQ(result.runs.size(), 4u);
  EXPECT_TRUE(result.trials[0].final_val.empty());
  EXPECT_EQ(result.trials[1].final_val.size(), 4u);
  EXPECT_TRUE(result.trials[1].chosen);
}

TEST(Search, APointThatFailedIsNotTriedAgain) {
  const TemporaryFolder folder;
  const SearchPlan plan = parse_search("lr = [0.1, 0.3]\n", {}, {}, "grid.toml");
  int tried = 0;
  const JobRunner runner = [&](const Job& job) -> RunResult {
    ++tried;
    std::filesystem::create_directories(job.folder);
    std::ofstream(job.folder + "/resume.safetensors") << "of no use";
    if (job.config.lr == 0.3)
      throw ConvergenceError("the training loss is not finite", "epoch 3", "lower lr");
    const RunResult run = pretend(job);
    write_file_atomically(job.folder + "/summary.json", sealed(result_json(run)).dump());
    return run;
  };
  const auto search = [&] {
    return run_search(plan, 2, folder.path("s"), run_individually(1, unless_finished(runner, true)), {});
  };
  const SearchResult first = search();
  EXPECT_EQ(tried, 4);
  EXPECT_EQ(names_in_folder(folder.path("s/trials/001/split-0")), std::vector<std::string>{"failure.json"});
  const SearchResult again = search();
  EXPECT_EQ(tried, 4) << "what did not converge is a result";
  EXPECT_EQ(again.trials[1].failure, first.trials[1].failure);
  EXPECT_CONTAINS(again.trials[1].failure, "not finite");
  std::string text = read_whole_file(folder.path("s/trials/001/split-0/failure.json"));
  text.replace(text.find("finite"), 6, "trivial");
  write_file_atomically(folder.path("s/trials/001/split-0/failure.json"), text);
  EXPECT_CONTAINS(message_of<DataError>(search), "failure.json");
}

TEST(Search, OneAtATimeWritesIntoAFolder) {
  const TemporaryFolder folder;
  const SearchPlan plan = parse_search("lr = [0.1, 0.3]\n", {}, {}, "grid.toml");
  const std::string path = folder.path("s");
  const auto search = [&](const JobRunner& runner, const std::string& settings = {}) {
    return run_search(plan, 2, path, run_individually(1, runner), {}, settings);
  };
  const JobRunner tries_again = [&](const Job& job) {
    EXPECT_CONTAINS(message_of<ResourceError>([&] { search(pretend); }), "is writing into this folder");
    return pretend(job);
  };
  const SearchResult result = search(tries_again, "lr = [0.1, 0.3]\n");
  EXPECT_EQ(read_whole_file(path + "/trials.json"), trials_json(result.trials).dump(1) + "\n");
  EXPECT_EQ(read_whole_file(path + "/best.toml"), sealed_toml(result.best));
  EXPECT_FALSE(std::filesystem::exists(path + "/.lock"));
  EXPECT_CONTAINS(message_of<DataError>([&] { search(pretend, "lr = [0.2]\n"); }), "other settings");

  const FolderLock held(path);
  const Dataset karate = karate_dataset(0);
  EXPECT_CONTAINS(message_of<ResourceError>([&] {
                    eignn::search(karate, plan, {path, {}});
                  }),
                  "is writing into this folder");
}

TEST(Search, APointThatFailsIsRecordedAndOut) {
  const SearchPlan plan = parse_search("lr = [0.1, 0.3]\n", {}, {}, "grid.toml");
  const auto fails_fast = [](const Job& job) -> RunResult {
    if (job.config.lr == 0.3) throw ConvergenceError("the training loss is not finite", "", "");
    return pretend(job);
  };
  const SearchResult result = run_search(plan, 2, "", run_individually(1, fails_fast), {});
  EXPECT_EQ(result.best.lr, 0.1);
  EXPECT_EQ(result.trials[1].failure, "the training loss is not finite");
  const auto never = [](const Job&) -> RunResult { throw ConvergenceError("no", "", ""); };
  EXPECT_THROW(run_search(plan, 2, "", run_individually(1, never), {}), ConvergenceError);
  const auto no_disk = [](const Job&) -> RunResult { throw ResourceError("no space left", "", ""); };
  EXPECT_THROW(run_search(plan, 2, "", run_individually(1, no_disk), {}), ResourceError)
      << "what is not a point's fault ends the search";
}

}  // namespace
}  // namespace eignn
