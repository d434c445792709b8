// Adam for one run and for a batch of runs; the formula is in train/adam_update.h. A step is one pass over
// memory, where libtorch's own Adam makes about twenty.
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

  /// With `decoupled` this is AdamW: the decay is one of the weights, and no part of the gradient.
  explicit Adam(std::vector<Group> groups, bool decoupled = false);

  void clear_gradients();
  /// Updates every parameter that has a gradient.
  void step();

  std::vector<Group>& groups() { return groups_; }

  /// The moments and step counts by name, from which a resumed run continues.
  std::map<std::string, torch::Tensor> state() const;
  /// Throws std::exception when the state is that of other parameters.
  void load_state(const std::map<std::string, torch::Tensor>& state);

 private:
  struct Moments {
    torch::Tensor first, second;
    int64_t steps = 0;
  };

  std::vector<Group> groups_;
  bool decoupled_;
  std::vector<Moments> moments_;  // of all parameters, in the order of the groups
};

/// Adam for runs that are trained as one batch: the first dimension of every parameter is the run, and each
/// run has a rate and a decay of its own for each parameter. A run makes the same updates as with Adam.
class BatchedAdam {
 public:
  struct Rates {
    double rate, decay;
  };
  struct Parameter {
    torch::Tensor value;       // (runs, …)
    std::vector<Rates> rates;  // one for each run
  };

  /// `decoupled`: AdamW, as in Adam.
  explicit BatchedAdam(const std::vector<Parameter>& parameters, bool decoupled = false);

  /// Counts a step and copies its coefficients to the device; `factor` multiplies all rates. Not to be
  /// captured in a CUDA graph, which would replay the coefficients of the captured step.
  void begin_step(double factor);
  /// Updates parameter `k`, given as `value`, in place. May be captured in a CUDA graph.
  void step(size_t k, torch::Tensor& value, const torch::Tensor& gradient);

  /// Keeps only these runs, given by their indices in the batch.
  void keep(const std::vector<int64_t>& places);

 private:
  struct Slot {
    std::vector<Rates> rates;
    torch::Tensor first, second;  // moments, shaped as the parameter
  };

  void make_room();

  std::vector<Slot> slots_;
  bool decoupled_;
  int64_t steps_ = 0;
  // An AdamUpdate for each parameter and run, (parameters, runs, AdamUpdate::fields), on the host and on the
  // parameters' device.
  torch::Tensor host_numbers_, numbers_;
};

}  // namespace eignn
