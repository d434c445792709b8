// Figure 2 and the study of oversmoothing: models with as many layers as the chains have nodes.
#include <cmath>

#include "paper/study.h"

namespace eignn {

namespace {

std::vector<StudyPoint> deep_points(const std::vector<std::string>& models,
                                    const std::vector<int64_t>& lengths) {
  std::vector<StudyPoint> points;
  for_both_directions([&](const char* panel, bool directed) {
    for (const auto& model : models)
      for (const int64_t length : lengths) {
        auto settings = chain_settings(model, length, 2, directed);
        deepen(settings, length);
        points.push_back({panel, model, static_cast<double>(length), std::to_string(length), settings});
      }
  });
  return points;
}

Study depth_study() {
  Study study;
  study.chance = 50;
  study.x_label = "chain length";
  for (int64_t length = 10; length <= 100; length += 10) study.lengths.push_back(length);
  study.lengths.insert(study.lengths.end(), {150, 200});
  study.quick_lengths = {10, 50, 100};
  study.seeds = 20;
  study.quick_seeds = 3;
  study.points = deep_points;
  return study;
}

Study finite_depth() {
  Study study = depth_study();
  study.name = "finite-depth";
  study.title = "IGNN cut to as many layers as the chain has nodes";
  study.question =
      "Is IGNN better off when its recurrence ends after as many steps as the chain has nodes, instead of at "
      "its "
      "fixed point?";
  study.headline = {{"ignn-finite", "IGNN-finite"}, {"ignn", "IGNN"}};
  study.headline_x = "100";
  study.text =
      "Chains with two classes. IGNN-finite is IGNN's recurrence, with shared weights, for as many steps as "
      "a chain has "
      "nodes; IGNN iterates to its fixed point (3e-6, at most 300 steps). The loss curves are of seed 0, at "
      "lengths 50 and 100: training and validation (the paper shows test). ± is the standard deviation over "
      "the seeds.";
  study.models = {"ignn", "ignn-finite"};
  study.claims = {
      is_above("IGNN-finite beats IGNN from a length of about 40 on.", "ignn-finite", {"ignn"}, {40, 1e9}),
      loss_stays("IGNN's training loss does not fall at lengths 50 to 100 (here: stays above 0.9 ln 2).",
                 "ignn", std::log(2.0), {50, 100})};
  study.pairs = {{"ignn-finite", "ignn", "p < 0.05 at lengths above 40", TestedLevel{0.05, {41, 1e9}}}};
  study.loss_lengths = {50, 100};
  return study;
}

Study oversmoothing() {
  Study study = depth_study();
  study.name = "oversmoothing";
  study.quick_lengths = {10, 50};
  study.title = "Oversmoothing: depth equal to chain length";
  study.question =
      "Does a model with as many layers as the chain has nodes carry the class to the chain's end?";
  study.headline = {{"appnp", "APPNP"}, {"jknet", "JKNet"}, {"gcnii", "GCNII"}};
  study.text =
      "Chains with two classes. APPNP with as many steps, JKNet and GCNII with as many layers as a chain has "
      "nodes, so that the class is within their reach. PPNP is what APPNP tends to with ever more steps, "
      "solved for exactly. ± is the standard deviation over the seeds.";
  study.models = {"appnp", "ppnp", "jknet", "gcnii"};
  study.claims = {falls("The accuracy of APPNP falls with the length.", {"appnp"}),
                  falls("The accuracy of JKNet falls with the length.", {"jknet"}),
                  falls("The accuracy of GCNII falls with the length.", {"gcnii"})};
  study.pairs = {{"appnp", "ppnp", "APPNP approximates PPNP, without a p"}};
  return study;
}

}  // namespace

std::vector<Study> depth_studies() {
  return {finite_depth(), oversmoothing()};
}

}  // namespace eignn
