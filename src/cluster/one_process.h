// A group of one process, which needs no message passing.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/transport.h"

namespace eignn {

class OneProcess : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::shared_ptr<const Transport> part(int) const override { return std::make_shared<OneProcess>(); }
  void sum(double*, int64_t) const override {}
  void sum(int64_t*, int64_t) const override {}
  void largest(double*, int64_t) const override {}
  void broadcast(void*, int64_t, int) const override {}
  void exchange(const void* send, const int64_t* send_bytes, void* receive, const int64_t*) const override {
    if (send_bytes[0] > 0) std::memcpy(receive, send, static_cast<size_t>(send_bytes[0]));
  }
  std::vector<int64_t> partition(int64_t, const std::vector<int32_t>&, const std::vector<int32_t>&,
                                 const std::vector<int32_t>&, int, std::string& problem) const override {
    problem = "one process has no PTScotch";
    return {};
  }
  std::unique_ptr<Halo> halo(int64_t, const std::vector<HaloPlace>&) const override {
    return std::make_unique<Nothing>();
  }

 private:
  struct Nothing : Halo {
    void fetch(const void*, void*, int64_t) const override {}
  };
};

}  // namespace eignn
