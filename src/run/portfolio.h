// The candidates of an automatic search (eignn/search.h), from recipes/portfolio/MODEL.toml.
//
// Each table of such a file but [vary] is an opening: settings on top of the model's recipe for the data.
// [vary] has lists of values. A variant is an opening in which some settings were replaced by random values
// from these lists.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eignn/options.h"

namespace eignn {

struct Candidate {
  std::string name;                             // "eignn/stack"; "eignn/stack, varied"
  std::map<std::string, std::string> settings;  // those that the portfolio of its model knows
  TrainConfig config;
};

class Portfolio {
 public:
  /// `base` without a recipe; no candidate changes the settings in `given`. On a graph that is not `directed`
  /// all directions are one. An opening with a thin F is for data of many `features`. ArgumentError for a
  /// model without a portfolio, and for a given setting that none of the models reads.
  Portfolio(const TrainConfig& base, const std::set<std::string>& given,
            const std::vector<std::string>& models, bool directed = true,
            int64_t features = std::numeric_limits<int64_t>::max());

  /// The next candidate: the models' openings in turn, then variants. Never one that was there before;
  /// nothing when there is no further one. The order follows from the base and its seed.
  std::optional<Candidate> next();

  /// The names of the models that have a portfolio.
  static const std::vector<std::string>& models();

 private:
  struct Opening {
    std::string name;
    TrainConfig config;
  };
  struct OfModel {
    std::vector<Opening> openings;
    std::vector<std::pair<std::string, std::vector<std::string>>> vary;  // without those that are given
    std::set<std::string> known;  // the settings that openings or vary name
  };

  std::optional<Candidate> fresh(const OfModel& model, const std::string& name, TrainConfig config);
  std::optional<Candidate> variant();

  bool directed_;
  int64_t features_;
  bool direction_given_, rank_given_;
  uint64_t seed_, draws_ = 0;
  std::vector<OfModel> models_;
  std::vector<std::pair<size_t, size_t>> waiting_;  // model and opening, the next one last
  std::set<std::string> seen_;                      // configurations
};

}  // namespace eignn
