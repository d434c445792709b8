// Adam for one run and for a batch of runs; the formula is in train/adam_update.h. A step is one pass over
// memory where libtorch makes some twenty: F alone is m² numbers.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace eignn {

class Adam {
 public:
  struct Group {
    std::vector<torch::Tensor> parameters;
    double rate, decay;
  };

  explicit Adam(std::vector<Group> groups);

  void forget_gradients();
  /// Moves every parameter that has a gradient.
  void step();

  std::vector<Group>& groups() { return groups_; }

  /// The moments and the numbers of steps, by name: what a resumed run continues from.
  std::map<std::string, torch::Tensor> state() const;
  /// Throws std::exception when the state is that of other parameters.
  void load_state(const std::map<std::string, torch::Tensor>& state);

 private:
  struct Moments {
    torch::Tensor first, second;
    int64_t steps = 0;
  };

  std::vector<Group> groups_;
  std::vector<Moments> moments_;  // of the parameters, group after group
};

/// Adam for runs that are trained as one batch: the first dimension of every parameter counts the runs, and
/// each run has a rate and a decay of its own for each parameter. Run k takes the steps that Adam takes.
class BatchedAdam {
 public:
  struct Rates {
    double rate, decay;
  };
  struct Parameter {
    torch::Tensor value;       // (runs, …)
    std::vector<Rates> rates;  // one for each run
  };

  explicit BatchedAdam(const std::vector<Parameter>& parameters);

  /// Counts a step and takes its numbers to the device; `factor` multiplies all rates. Not to be captured: a
  /// CUDA graph would replay the first step's numbers.
  void begin_step(double factor);
  /// Moves parameter `k`, which lies in `value`, in place. May be captured in a CUDA graph.
  void step(size_t k, torch::Tensor& value, const torch::Tensor& gradient);

  /// Continues with these runs, by their place in the batch.
  void keep(const std::vector<int64_t>& places);

 private:
  struct Slot {
    std::vector<Rates> rates;
    torch::Tensor first, second;  // moments, as the parameter
  };

  void make_room();

  std::vector<Slot> slots_;
  int64_t steps_ = 0;
  // An AdamUpdate for each parameter and run, (parameters, runs, AdamUpdate::fields), on the host and on the
  // parameters' device.
  torch::Tensor host_numbers_, numbers_;
};

}  // namespace eignn
