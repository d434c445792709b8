// What the engine needs of message passing: numbers summed, bytes moved, rows of neighbours fetched. The
// plugin libeignn-cluster.so (petsc_transport.cpp) implements it on PETSc over MPI; nothing else in the
// program knows either. All functions are collective: every process of the group calls them, in the same
// order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace eignn {

/// Brings rows of other processes, always the same ones.
class Halo {
 public:
  virtual ~Halo() = default;
  /// `own` has the rows that other processes need (in the order of HaloPlan::given), `others` receives those
  /// that this one needs; both are contiguous, and a row has so many bytes, a multiple of 4.
  virtual void fetch(const void* own, void* others, int64_t bytes_of_row) const = 0;
};

/// Where the rows of a Halo come from.
struct HaloPlace {
  int32_t process;
  int32_t row;  // among the rows that this process gives
};

/// A group of processes.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The processes of this group that name the same colour, ordered by their rank here.
  virtual std::shared_ptr<const Transport> part(int colour) const = 0;

  /// Adds up over the group, in place; each process receives the same bits.
  virtual void sum(double* numbers, int64_t count) const = 0;
  virtual void sum(int64_t* numbers, int64_t count) const = 0;
  /// The largest over the group, in place.
  virtual void largest(double* numbers, int64_t count) const = 0;
  virtual void broadcast(void* bytes, int64_t count, int from) const = 0;
  /// Sends send_bytes[k] bytes to process k and receives receive_bytes[k] from it; both buffers are in the
  /// order of the processes, without gaps.
  virtual void exchange(const void* send, const int64_t* send_bytes, void* receive,
                        const int64_t* receive_bytes) const = 0;
  /// The part of each of this process's rows of a graph, whose rows the processes have in the order of their
  /// ranks, by PTScotch: row k is joined to target[begin[k]] … target[begin[k+1]-1], in both directions and
  /// without loops, and parts have about equal sums of `weight`. Where that cannot be done `problem` says
  /// why.
  virtual std::vector<int64_t> partition(int64_t rows_of_all, const std::vector<int32_t>& begin,
                                         const std::vector<int32_t>& target,
                                         const std::vector<int32_t>& weight, int parts,
                                         std::string& problem) const = 0;
  /// For a process that gives `given` rows and needs those at `needed`.
  virtual std::unique_ptr<Halo> halo(int64_t given, const std::vector<HaloPlace>& needed) const = 0;
};

/// The processes that one launch (mpirun, srun) has started. Ends message passing when it goes.
class Launch {
 public:
  virtual ~Launch() = default;
  virtual std::shared_ptr<const Transport> all() const = 0;

  /// How many of the processes run on this machine.
  virtual int processes_here() const = 0;

  /// Waits until all processes are here, and returns the lowest rank of those that say they failed, or -1
  /// where none does. -2 where some have not come after so many seconds; 0 seconds: waits for ever.
  virtual int meet(bool failed, double patience) = 0;

  /// Processes of this machine that have ended without a word (farewell()): their ranks. May be called from
  /// another thread than the one that communicates; so may the next two.
  virtual std::vector<int> lost() const = 0;
  /// True for the first process of this machine that asks: it may say why the job ends.
  virtual bool may_speak() = 0;
  /// This process ends in order; its end is nobody's loss.
  virtual void farewell() = 0;

  /// Ends all processes at once.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace eignn

/// The plugin's only symbol. Returns null where message passing cannot begin; `problem` then says why.
extern "C" eignn::Launch* eignn_cluster_open(std::string* problem);
