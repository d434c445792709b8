// Adam (Kingma, Ba, 2015), its algorithm 1 with an L2 penalty in the gradient, as torch::optim::Adam has it.
// It is one pass over memory where libtorch makes some twenty: F alone is m² numbers.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace eignn {

/// Of both moments, and what keeps the quotient finite: the values of the paper and of libtorch.
struct AdamConstants {
  static constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

class Adam {
 public:
  struct Group {
    std::vector<torch::Tensor> parameters;
    double rate, decay;
  };

  explicit Adam(std::vector<Group> groups);

  /// Lets go of all gradients.
  void forget_gradients();
  /// Moves every parameter that has a gradient.
  void step();

  std::vector<Group>& groups() { return groups_; }

  /// The moments and the numbers of steps, by name: what a resumed run goes on from.
  std::map<std::string, torch::Tensor> state() const;
  /// std::exception when it is another optimiser's.
  void load_state(const std::map<std::string, torch::Tensor>& state);

 private:
  struct Moments {
    torch::Tensor first, second;
    int64_t steps = 0;
  };

  std::vector<Group> groups_;
  std::vector<Moments> moments_;  // of the parameters, group after group
};

}  // namespace eignn
