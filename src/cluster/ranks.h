// The processes that train one model together, seen from one of them.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/transport.h"

namespace eignn {

/// Sums, gatherings and broadcasts of tensors on the CPU. All functions are collective; each process receives
/// the same bits, so that whatever is decided by them is decided alike everywhere.
class Ranks {
 public:
  explicit Ranks(std::shared_ptr<const Transport> transport) : transport_(std::move(transport)) {}

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  bool is_first() const { return rank() == 0; }
  const std::shared_ptr<const Transport>& transport() const { return transport_; }
  /// The processes that name the same colour, in the order of their ranks.
  Ranks part(int colour) const { return Ranks(transport_->part(colour)); }

  /// Sums of float32, float64 or int64 tensors, entry by entry.
  torch::Tensor sum(const torch::Tensor& here) const;
  double sum(double here) const;
  int64_t sum(int64_t here) const;
  double largest(double here) const;
  bool any(bool here) const { return largest(here ? 1 : 0) > 0; }

  /// What every process brings, in the order of the ranks.
  std::vector<int64_t> all(int64_t here) const;
  /// The rows of all processes, one below the other in the order of the ranks: on the first process; an
  /// undefined tensor elsewhere. The tensors have one type and one width.
  torch::Tensor rows_on_first(const torch::Tensor& here) const;
  torch::Tensor rows_everywhere(const torch::Tensor& here) const;
  /// The texts of all processes on the first one, which takes them one after another; elsewhere `take` is not
  /// called.
  void texts_to_first(const std::string& here, const std::function<void(const std::string&)>& take) const;

  /// The first process's tensor; the others give one of the same shape and type.
  torch::Tensor of_first(const torch::Tensor& here) const;
  std::string of_first(const std::string& here) const;
  double of_first(double here) const;

  /// Calls work() in every process. What one of them throws ends all: there it is thrown again, and where
  /// nothing failed FailedElsewhere is thrown.
  void together(const std::function<void()>& work) const;
  /// The same for work of the first process alone.
  void on_first(const std::function<void()>& work) const;

 private:
  std::shared_ptr<const Transport> transport_;
};

/// Thrown where another process of the job has failed, which says why.
struct FailedElsewhere : std::exception {
  const char* what() const noexcept override { return "another process of the job failed"; }
};

}  // namespace eignn
