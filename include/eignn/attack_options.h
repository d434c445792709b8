// What an attack on a trained model's features can be told. No libtorch here.
#pragma once

#include <cstdint>
#include <string>

namespace eignn {

enum class AttackMethod { noise, fgsm, pgd };

/// Whose features change: each target's own row, one target at a time, or all rows of the graph at once.
enum class AttackTargets { each, all };

/// What the attack increases: the negative log-likelihood of the label, or the lead of another class over it.
/// With `each`, `margin` tries every other class and keeps the worst; with `all` it takes the strongest other
/// class at each step.
enum class AttackObjective { loss, margin };

struct AttackOptions {
  AttackMethod method = AttackMethod::fgsm;
  double epsilon = 0.01;  // no feature changes by more
  double step = 0.001;    // pgd
  int64_t steps = 15;     // pgd
  AttackTargets targets = AttackTargets::each;
  AttackObjective objective = AttackObjective::loss;
  uint64_t seed = 0;    // noise
  bool certify = true;  // models that are linear in their features; costs a backward pass per node and class
};

/// Throws ArgumentError for values out of range.
void validate(const AttackOptions& options);

// By name; ArgumentError for a name that there is not.
AttackMethod parse_attack_method(const std::string& name);
AttackTargets parse_attack_targets(const std::string& name);
AttackObjective parse_attack_objective(const std::string& name);
const char* name(AttackMethod method);
const char* name(AttackTargets targets);
const char* name(AttackObjective objective);

}  // namespace eignn
