// Table 1: the time of a training epoch on chains of four sizes.
#include <fmt/format.h>

#include "paper/study.h"

namespace eignn {

namespace {

struct Size {
  int64_t length, chains_per_class;
  std::map<std::string, double> paper;  // ms on an RTX 2080 Ti
};

// Liu, Kawaguchi, Hooi, Wang, Xiao, "EIGNN", NeurIPS 2021, table 1.
const std::vector<Size>& sizes() {
  static const std::vector<Size> all = {
      {100, 20, {{"eignn", 4.05}, {"ignn", 27.36}, {"ignn-finite", 74.61}}},
      {200, 20, {{"eignn", 8.03}, {"ignn", 29.88}, {"ignn-finite", 145.78}}},
      {100, 30, {{"eignn", 6.03}, {"ignn", 64.94}, {"ignn-finite", 76.31}}},
      {200, 30, {{"eignn", 16.0}, {"ignn", 60.31}, {"ignn-finite", 146.60}}}};
  return all;
}

// Without noise the chains of a class are equal, and all three models compute equal components once, so that
// only two chains are computed. A little noise on the features makes all chains different, as they were to
// the paper's programs.
std::vector<StudyPoint> timed_points(const std::vector<std::string>& models, const std::vector<int64_t>&) {
  constexpr const char *epochs = "50", *noise = "0.01";
  std::vector<StudyPoint> points;
  for (const bool noisy : {true, false})
    for_both_directions([&](const std::string& direction, bool directed) {
      double x = 0;
      for (const Size& size : sizes()) {
        ++x;
        for (const auto& model : models) {
          auto settings = chain_settings(model, size.length, 2, directed);
          settings["chains-per-class"] = std::to_string(size.chains_per_class);
          settings["epochs"] = settings["patience"] = epochs;
          if (noisy) settings["noise"] = noise;
          deepen(settings, size.length);
          points.push_back({noisy ? direction + " noisy" : direction, model, x,
                            fmt::format("({}, {})", size.length, size.chains_per_class), settings,
                            size.paper.at(model)});
        }
      }
    });
  return points;
}

}  // namespace

Study efficiency_study() {
  Study study;
  study.name = "efficiency";
  study.title = "Time of an epoch";
  study.question =
      "How long does an epoch of EIGNN, IGNN and IGNN-finite take on chains of the paper's four sizes?";
  study.headline = {{"eignn", "EIGNN"}, {"ignn", "IGNN"}, {"ignn-finite", "IGNN-finite"}};
  study.text =
      "Chains with two classes, (nodes in a chain, chains of each class). Milliseconds of an epoch, a "
      "training step and "
      "the evaluation on the validation nodes: the median of a run's first 50 epochs, one run at a time; ± "
      "is the "
      "standard deviation over the seeds. In brackets the paper's training time per epoch on an RTX 2080 Ti: "
      "another machine, so that the ratios between the models compare, the milliseconds do not. On the noisy "
      "chains (0.01 on every feature) no two are equal, as none were to the paper's programs; the plain ones "
      "of "
      "a class are equal, and all three models work on equal chains once.";
  study.models = {"eignn", "ignn", "ignn-finite"};
  study.x_label = "size";
  study.seeds = 3;
  study.quick_seeds = 1;
  study.measure = {&RunResult::seconds_per_epoch, "ms per epoch", 1000, "seconds_per_epoch", "ms"};
  study.timed = true;
  study.points = timed_points;
  study.claims = {is_above("IGNN takes longer than EIGNN at every size.", "ignn", {"eignn"}),
                  is_above("IGNN-finite takes longer than IGNN at every size.", "ignn-finite", {"ignn"})};
  return study;
}

}  // namespace eignn
