// The plugin: message passing by PETSc over MPI. Groups are communicators, a halo is a star forest (PetscSF).
// It is built of this file alone, needs neither libtorch nor the engine, and is loaded where a launcher has
// started more than one process (open.h).
//
// MPI's counts are ints; more bytes than that go in pieces. Sums are made on one process and broadcast, since
// MPI_Allreduce need not give the same bits everywhere.
#include <dlfcn.h>
#include <mpi.h>
#include <petscmat.h>
#include <petscsf.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "cluster/transport.h"

namespace eignn {

namespace {

constexpr int64_t piece = int64_t{1} << 30;  // bytes, or numbers, of one message

void require_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string("message passing failed: ") + what + ": " + text);
}

void require_petsc(PetscErrorCode code, const char* what) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(std::string("PETSc failed: ") + what + ": " + (text ? text : "no reason given"));
}

class StarForest : public Halo {
 public:
  StarForest(MPI_Comm group, int64_t given, const std::vector<HaloPlace>& needed) {
    if (given > INT_MAX || needed.size() > INT_MAX)
      throw std::runtime_error("a process has more rows at its border than 2147483647; take more processes");
    require_petsc(PetscSFCreate(group, &forest_), "PetscSFCreate");
    auto* places = new PetscSFNode[std::max<size_t>(needed.size(), 1)];
    for (size_t k = 0; k < needed.size(); ++k) places[k] = {needed[k].process, needed[k].row};
    const auto code =
        PetscSFSetGraph(forest_, static_cast<PetscInt>(given), static_cast<PetscInt>(needed.size()), nullptr,
                        PETSC_OWN_POINTER, places, PETSC_COPY_VALUES);
    delete[] places;
    require_petsc(code, "PetscSFSetGraph");
    require_petsc(PetscSFSetUp(forest_), "PetscSFSetUp");
  }
  ~StarForest() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    for (auto& [bytes, row] : rows_) MPI_Type_free(&row);
    PetscSFDestroy(&forest_);
  }

  void fetch(const void* own, void* others, int64_t bytes_of_row) const override {
    const MPI_Datatype row = row_of(bytes_of_row);
    require_petsc(PetscSFBcastBegin(forest_, row, own, others, MPI_REPLACE), "PetscSFBcastBegin");
    require_petsc(PetscSFBcastEnd(forest_, row, own, others, MPI_REPLACE), "PetscSFBcastEnd");
  }

 private:
  MPI_Datatype row_of(int64_t bytes) const {
    auto [at, is_new] = rows_.try_emplace(bytes, MPI_DATATYPE_NULL);
    if (is_new) {
      require_mpi(MPI_Type_contiguous(static_cast<int>(bytes / 4), MPI_INT, &at->second), "a type of rows");
      require_mpi(MPI_Type_commit(&at->second), "a type of rows");
    }
    return at->second;
  }

  PetscSF forest_ = nullptr;
  mutable std::map<int64_t, MPI_Datatype> rows_;  // by their bytes
};

class Group : public Transport {
 public:
  explicit Group(MPI_Comm group) : group_(group) {
    require_mpi(MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN), "an error handler");
    MPI_Comm_rank(group_, &rank_);
    MPI_Comm_size(group_, &size_);
  }
  ~Group() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(&group_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::shared_ptr<const Transport> part(int colour) const override {
    MPI_Comm part = MPI_COMM_NULL;
    require_mpi(MPI_Comm_split(group_, colour, rank_, &part), "a group of processes");
    return std::make_shared<Group>(part);
  }

  void sum(double* numbers, int64_t count) const override { reduce(numbers, count, MPI_DOUBLE, MPI_SUM); }
  void sum(int64_t* numbers, int64_t count) const override { reduce(numbers, count, MPI_INT64_T, MPI_SUM); }
  void largest(double* numbers, int64_t count) const override { reduce(numbers, count, MPI_DOUBLE, MPI_MAX); }

  void broadcast(void* bytes, int64_t count, int from) const override {
    for (int64_t done = 0; done < count; done += piece) {
      require_mpi(MPI_Bcast(static_cast<char*>(bytes) + done, static_cast<int>(std::min(piece, count - done)),
                            MPI_BYTE, from, group_),
                  "a broadcast");
    }
  }

  void exchange(const void* send, const int64_t* send_bytes, void* receive,
                const int64_t* receive_bytes) const override {
    std::vector<MPI_Request> requests;
    // Calls post(offset, bytes, request) for each piece of a message.
    const auto in_pieces = [&](int64_t bytes, const auto& post) {
      for (int64_t done = 0; done < bytes; done += piece) {
        requests.emplace_back();
        require_mpi(post(done, static_cast<int>(std::min(piece, bytes - done)), &requests.back()),
                    "a message");
      }
    };
    const auto* from = static_cast<const char*>(send);
    auto* to = static_cast<char*>(receive);
    for (int k = 0; k < size_; to += receive_bytes[k++]) {
      if (k == rank_) continue;
      in_pieces(receive_bytes[k], [&](int64_t at, int bytes, MPI_Request* request) {
        return MPI_Irecv(to + at, bytes, MPI_BYTE, k, 0, group_, request);
      });
    }
    to = static_cast<char*>(receive);
    for (int k = 0; k < size_; to += receive_bytes[k], from += send_bytes[k++]) {
      if (k != rank_) {
        in_pieces(send_bytes[k], [&](int64_t at, int bytes, MPI_Request* request) {
          return MPI_Isend(from + at, bytes, MPI_BYTE, k, 0, group_, request);
        });
      } else if (send_bytes[k] > 0) {
        std::memcpy(to, from, static_cast<size_t>(send_bytes[k]));
      }
    }
    require_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
                "messages");
  }

  std::vector<int64_t> partition(int64_t rows_of_all, const std::vector<int32_t>& begin,
                                 const std::vector<int32_t>& target, const std::vector<int32_t>& weight,
                                 int parts, std::string& problem) const override {
    try {
      return ptscotch(rows_of_all, begin, target, weight, parts);
    } catch (const std::exception& error) {
      problem = error.what();
      return {};
    }
  }

  std::unique_ptr<Halo> halo(int64_t given, const std::vector<HaloPlace>& needed) const override {
    return std::make_unique<StarForest>(group_, given, needed);
  }

 private:
  // PETSc frees what it is given.
  static PetscInt* given(const std::vector<int32_t>& numbers) {
    PetscInt* copy = nullptr;
    require_petsc(PetscMalloc1(std::max<size_t>(numbers.size(), 1), &copy), "PetscMalloc");
    std::copy(numbers.begin(), numbers.end(), copy);
    return copy;
  }

  std::vector<int64_t> ptscotch(int64_t rows_of_all, const std::vector<int32_t>& begin,
                                const std::vector<int32_t>& target, const std::vector<int32_t>& weight,
                                int parts) const {
#ifdef PETSC_HAVE_PTSCOTCH
    const auto rows = static_cast<PetscInt>(weight.size());
    Mat graph = nullptr;
    MatPartitioning way = nullptr;
    IS found = nullptr;
    require_petsc(MatCreateMPIAdj(group_, rows, static_cast<PetscInt>(rows_of_all), given(begin),
                                  given(target), nullptr, &graph),
                  "MatCreateMPIAdj");
    require_petsc(MatPartitioningCreate(group_, &way), "MatPartitioningCreate");
    require_petsc(MatPartitioningSetAdjacency(way, graph), "MatPartitioningSetAdjacency");
    require_petsc(MatPartitioningSetVertexWeights(way, given(weight)), "MatPartitioningSetVertexWeights");
    require_petsc(MatPartitioningSetNParts(way, parts), "MatPartitioningSetNParts");
    require_petsc(MatPartitioningSetType(way, MATPARTITIONINGPTSCOTCH), "MatPartitioningSetType");
    require_petsc(MatPartitioningApply(way, &found), "MatPartitioningApply");
    const PetscInt* part = nullptr;
    require_petsc(ISGetIndices(found, &part), "ISGetIndices");
    std::vector<int64_t> out(part, part + rows);
    ISRestoreIndices(found, &part);
    ISDestroy(&found);
    MatPartitioningDestroy(&way);
    MatDestroy(&graph);
    return out;
#else
    throw std::runtime_error("PETSc was built without PTScotch");
#endif
  }

  template <class T>
  void reduce(T* numbers, int64_t count, MPI_Datatype type, MPI_Op operation) const {
    for (int64_t done = 0; done < count; done += piece) {
      const int some = static_cast<int>(std::min(piece, count - done));
      require_mpi(rank_ == 0 ? MPI_Reduce(MPI_IN_PLACE, numbers + done, some, type, operation, 0, group_)
                             : MPI_Reduce(numbers + done, nullptr, some, type, operation, 0, group_),
                  "a sum");
      require_mpi(MPI_Bcast(numbers + done, some, type, 0, group_), "a broadcast");
    }
  }

  MPI_Comm group_;
  int rank_ = 0, size_ = 1;
};

// What the processes of one machine know of each other, in memory that they share.
struct Noticeboard {
  static constexpr int most = 4096;
  std::atomic<int> spoken;
  struct Place {
    std::atomic<int> process;  // its id; 0: not yet, or no longer
    std::atomic<int> rank;
  } place[most];
};

// Whether a process runs: neither gone nor a corpse that nobody has collected.
bool is_alive(int process) {
  if (kill(process, 0) != 0 && errno == ESRCH) return false;
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return true;
  char text[512] = "";
  const size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char* after_name = std::strrchr(text, ')');
  return after_name == nullptr || after_name[1] != ' ' || (after_name[2] != 'Z' && after_name[2] != 'X');
}

class PetscLaunch : public Launch {
 public:
  PetscLaunch() {
    // MPI's own plugins look for its symbols among the global ones; ours were loaded for this library alone.
    if (Dl_info info = {}; dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) != 0)
      dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    int given = 0;
    require_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given), "MPI_Init");
    for (const char* option : {"-no_signal_handler", "-skip_petscrc"})
      require_petsc(PetscOptionsSetValue(nullptr, option, nullptr), option);
    require_petsc(PetscInitializeNoArguments(), "PetscInitialize");
    PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
    MPI_Comm all = MPI_COMM_NULL;
    require_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &all), "a communicator");
    require_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &meeting_), "a communicator");
    MPI_Comm_set_errhandler(meeting_, MPI_ERRORS_RETURN);
    all_ = std::make_shared<Group>(all);
    share_a_noticeboard();
  }
  ~PetscLaunch() override {
    all_.reset();
    PetscFinalize();
    MPI_Finalize();
  }

  std::shared_ptr<const Transport> all() const override { return all_; }
  int processes_here() const override { return here_; }

  int meet(bool failed, double patience) override {
    const int mine = failed ? all_->rank() : INT_MAX;
    int lowest = INT_MAX, done = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    require_mpi(MPI_Iallreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, meeting_, &request), "a meeting");
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      require_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "a meeting");
      if (done) return lowest == INT_MAX ? -1 : lowest;
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      if (patience > 0 && waited.count() > patience) return -2;
      std::this_thread::sleep_for(std::chrono::milliseconds(waited.count() < 0.01 ? 0 : 2));
    }
  }

  std::vector<int> lost() const override {
    std::vector<int> out;
    for (int k = 0; k < here_; ++k) {
      const int process = board_->place[k].process.load();
      if (process == 0 || process == getpid() || is_alive(process)) continue;
      if (board_->place[k].process.load() == process) out.push_back(board_->place[k].rank.load());
    }
    return out;
  }
  bool may_speak() override { return board_->spoken.exchange(1) == 0; }
  void farewell() override { board_->place[place_].process.store(0); }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    _exit(exit_code);
  }

 private:
  void share_a_noticeboard() {
    MPI_Comm machine = MPI_COMM_NULL;
    require_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
                "the processes of this machine");
    MPI_Comm_rank(machine, &place_);
    MPI_Comm_size(machine, &here_);
    if (here_ > Noticeboard::most) throw std::runtime_error("more than 4096 processes on one machine");
    void* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    require_mpi(MPI_Win_allocate_shared(place_ == 0 ? sizeof(Noticeboard) : 0, 1, MPI_INFO_NULL, machine,
                                        &memory, &window),
                "memory shared by the processes of this machine");
    MPI_Aint size = 0;
    int unit = 0;
    require_mpi(MPI_Win_shared_query(window, 0, &size, &unit, &memory), "shared memory");
    if (place_ == 0) std::memset(memory, 0, sizeof(Noticeboard));
    MPI_Barrier(machine);
    board_ = static_cast<Noticeboard*>(memory);
    board_->place[place_].rank.store(all_->rank());
    board_->place[place_].process.store(getpid());
    MPI_Barrier(machine);
  }

  std::shared_ptr<Group> all_;
  MPI_Comm meeting_ = MPI_COMM_NULL;
  Noticeboard* board_ = nullptr;  // in a window that lives as long as message passing
  int here_ = 1, place_ = 0;
};

}  // namespace

}  // namespace eignn

extern "C" __attribute__((visibility("default"))) eignn::Launch* eignn_cluster_open(std::string* problem) {
  try {
    return new eignn::PetscLaunch();
  } catch (const std::exception& error) {
    *problem = error.what();
    return nullptr;
  }
}
