#include "eignn/attack_options.h"

#include <fmt/format.h>

#include <cmath>

#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn {

const char* name(AttackMethod method) {
  return method == AttackMethod::noise ? "noise" : method == AttackMethod::fgsm ? "fgsm" : "pgd";
}
AttackMethod parse_attack_method(const std::string& word) {
  return parse_name<AttackMethod>(word, "method", "method",
                                  {AttackMethod::noise, AttackMethod::fgsm, AttackMethod::pgd});
}

const char* name(AttackTargets targets) {
  return targets == AttackTargets::each ? "each" : "all";
}
AttackTargets parse_attack_targets(const std::string& word) {
  return parse_name<AttackTargets>(word, "choice of targets", "targets",
                                   {AttackTargets::each, AttackTargets::all});
}

const char* name(AttackObjective objective) {
  return objective == AttackObjective::loss ? "loss" : "margin";
}
AttackObjective parse_attack_objective(const std::string& word) {
  return parse_name<AttackObjective>(word, "objective", "objective",
                                     {AttackObjective::loss, AttackObjective::margin});
}

void validate(const AttackOptions& options) {
  if (!(options.epsilon >= 0) || !std::isfinite(options.epsilon))
    throw ArgumentError("epsilon", fmt::format("a size of {} makes no sense", options.epsilon),
                        "give 0 or more");
  if (options.method != AttackMethod::pgd) return;
  if (!(options.step >= 0) || !std::isfinite(options.step))
    throw ArgumentError("step", fmt::format("a step of {} makes no sense", options.step), "give 0 or more");
  if (options.steps < 1 || options.steps > 1'000'000)
    throw ArgumentError("steps", fmt::format("{} steps make no sense", options.steps), "give 1 to 1000000");
}

}  // namespace eignn
