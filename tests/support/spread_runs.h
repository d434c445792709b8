// Runs in one process and on grids of threads, side by side.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cluster/distributed_operator.h"
#include "run/train_run.h"
#include "support/thread_transport.h"
#include "train/spread.h"

namespace eignn::test {

using Settings = std::map<std::string, std::string>;

inline TrainConfig config_of(const Settings& settings) {
  TrainConfig config;
  config.threads = 1;
  for (const auto& [name, text] : Settings{{"dataset", "karate"},
                                           {"epochs", "12"},
                                           {"dtype", "float64"},
                                           {"solver", "sparse"},
                                           {"head", "plain"}})
    assign(config, name, text);
  for (const auto& [name, text] : settings) assign(config, name, text);
  return config;
}

struct Outcome {
  std::vector<EpochReport> epochs;
  RunResult result;
};

inline TrainHooks noting(Outcome& outcome) {
  TrainHooks hooks;
  hooks.on_epoch = [&](const EpochReport& report) { outcome.epochs.push_back(report); };
  return hooks;
}

inline Outcome in_one(const TrainConfig& config, const std::string& folder = {},
                      const Dataset* data = nullptr) {
  Outcome out;
  out.result = run_training({config, folder, false, noting(out), data}).result;
  return out;
}

// What the first process of the grid sees.
inline Outcome on_grid(const TrainConfig& config, Grid grid, const std::string& folder = {},
                       const Dataset* data = nullptr, bool resume = false,
                       NodeOrder order = NodeOrder::given) {
  Outcome out;
  in_threads(static_cast<int>(grid.rows * grid.columns), [&](const auto& transport) {
    SpreadOptions spread{Ranks(transport), grid};
    spread.order = order;
    Outcome here;
    RunRequest request{config, folder, resume, noting(here), data};
    request.spread = &spread;
    here.result = run_training(request).result;
    if (spread.ranks.is_first()) out = here;
  });
  return out;
}

inline void expect_alike(const Outcome& spread, const Outcome& one, double tolerance) {
  ASSERT_EQ(spread.epochs.size(), one.epochs.size());
  for (size_t e = 0; e < one.epochs.size(); ++e) {
    EXPECT_NEAR(spread.epochs[e].train_loss, one.epochs[e].train_loss, tolerance) << "epoch " << e;
    EXPECT_NEAR(spread.epochs[e].val_loss, one.epochs[e].val_loss, tolerance);
    EXPECT_NEAR(spread.epochs[e].val_score, one.epochs[e].val_score, tolerance);
    EXPECT_EQ(spread.epochs[e].kept, one.epochs[e].kept);
  }
  EXPECT_NEAR(spread.result.score.test, one.result.score.test, tolerance);
  EXPECT_NEAR(spread.result.loss.test, one.result.loss.test, tolerance);
  EXPECT_EQ(spread.result.best_epoch, one.result.best_epoch);
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace eignn::test
