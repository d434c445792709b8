// Message passing between threads: what the plugin does between processes, without MPI.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/transport.h"

namespace eignn::test {

/// A group of threads, each of which brings bytes and sees those of all.
class Room {
 public:
  explicit Room(int size) : size_(size), brought_(static_cast<size_t>(size)) {}
  int size() const { return size_; }

  std::vector<std::string> meet(int rank, std::string bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    brought_[static_cast<size_t>(rank)] = std::move(bytes);
    wait_for_all(lock);
    auto seen = brought_;
    wait_for_all(lock);  // before anybody brings the next
    return seen;
  }

  /// The room of these members, the same one for all of them; `round` counts the divisions.
  std::shared_ptr<Room> part(int64_t round, int colour, int size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& room = parts_[{round, colour}];
    if (!room) room = std::make_shared<Room>(size);
    return room;
  }

 private:
  void wait_for_all(std::unique_lock<std::mutex>& lock) {
    const int64_t round = round_;
    if (++here_ == size_) {
      here_ = 0;
      ++round_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return round_ != round; });
    }
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable all_;
  std::vector<std::string> brought_;
  std::map<std::pair<int64_t, int>, std::shared_ptr<Room>> parts_;
  int here_ = 0;
  int64_t round_ = 0;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Room> room, int rank) : room_(std::move(room)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return room_->size(); }

  std::shared_ptr<const Transport> part(int colour) const override {
    int place = 0, members = 0;
    const auto colours = room_->meet(rank_, bytes_of(&colour, 1));
    for (int k = 0; k < size(); ++k) {
      if (std::memcmp(colours[static_cast<size_t>(k)].data(), &colour, sizeof colour) != 0) continue;
      if (k < rank_) ++place;
      ++members;
    }
    return std::make_shared<ThreadTransport>(room_->part(divisions_++, colour, members), place);
  }

  void sum(double* numbers, int64_t count) const override { add(numbers, count); }
  void sum(int64_t* numbers, int64_t count) const override { add(numbers, count); }
  void largest(double* numbers, int64_t count) const override {
    combine(numbers, count, [](double a, double b) { return std::max(a, b); });
  }

  void broadcast(void* bytes, int64_t count, int from) const override {
    const auto all = room_->meet(rank_, rank_ == from ? bytes_of(static_cast<char*>(bytes), count) : "");
    std::memcpy(bytes, all[static_cast<size_t>(from)].data(), static_cast<size_t>(count));
  }

  void exchange(const void* send, const int64_t* send_bytes, void* receive,
                const int64_t* receive_bytes) const override {
    int64_t total = 0;
    for (int k = 0; k < size(); ++k) total += send_bytes[k];
    const auto counts = room_->meet(rank_, bytes_of(send_bytes, size()));
    const auto all = room_->meet(rank_, bytes_of(static_cast<const char*>(send), total));
    auto* to = static_cast<char*>(receive);
    for (int k = 0; k < size(); ++k) {
      const auto* theirs = reinterpret_cast<const int64_t*>(counts[static_cast<size_t>(k)].data());
      int64_t begin = 0;
      for (int before = 0; before < rank_; ++before) begin += theirs[before];
      if (theirs[rank_] != receive_bytes[k])
        throw std::logic_error("messages of other lengths than expected");
      std::memcpy(to, all[static_cast<size_t>(k)].data() + begin, static_cast<size_t>(receive_bytes[k]));
      to += receive_bytes[k];
    }
  }

  // Nodes that are far from each other, as the parts of a partitioner are.
  std::vector<int64_t> partition(int64_t rows_of_all, const std::vector<int32_t>& begin,
                                 const std::vector<int32_t>&, const std::vector<int32_t>&, int parts,
                                 std::string&) const override {
    std::vector<int64_t> out;
    for (int64_t v = rows_of_all * rank_ / size(); out.size() + 1 < begin.size(); ++v)
      out.push_back(v * 7 % parts);
    return out;
  }

  std::unique_ptr<Halo> halo(int64_t given, const std::vector<HaloPlace>& needed) const override {
    return std::make_unique<Rows>(room_, rank_, given, needed);
  }

 private:
  class Rows : public Halo {
   public:
    Rows(std::shared_ptr<Room> room, int rank, int64_t given, std::vector<HaloPlace> needed)
        : room_(std::move(room)), rank_(rank), given_(given), needed_(std::move(needed)) {}
    void fetch(const void* own, void* others, int64_t bytes_of_row) const override {
      const auto all = room_->meet(rank_, bytes_of(static_cast<const char*>(own), given_ * bytes_of_row));
      auto* to = static_cast<char*>(others);
      for (const HaloPlace& place : needed_) {
        std::memcpy(to, all[static_cast<size_t>(place.process)].data() + place.row * bytes_of_row,
                    static_cast<size_t>(bytes_of_row));
        to += bytes_of_row;
      }
    }

   private:
    std::shared_ptr<Room> room_;
    int rank_;
    int64_t given_;
    std::vector<HaloPlace> needed_;
  };

  template <class T>
  static std::string bytes_of(const T* first, int64_t count) {
    return {reinterpret_cast<const char*>(first), static_cast<size_t>(count) * sizeof(T)};
  }
  template <class T, class Operation>
  void combine(T* numbers, int64_t count, const Operation& operation) const {
    const auto all = room_->meet(rank_, bytes_of(numbers, count));
    for (int64_t k = 0; k < count; ++k) {
      for (int from = 0; from < size(); ++from) {
        T theirs;
        std::memcpy(&theirs, all[static_cast<size_t>(from)].data() + k * static_cast<int64_t>(sizeof(T)),
                    sizeof(T));
        numbers[k] = from == 0 ? theirs : operation(numbers[k], theirs);
      }
    }
  }
  template <class T>
  void add(T* numbers, int64_t count) const {
    combine(numbers, count, [](T a, T b) { return a + b; });
  }

  std::shared_ptr<Room> room_;
  int rank_;
  mutable int64_t divisions_ = 0;
};

/// Calls work(transport) in so many threads, and throws the first error of the lowest rank.
inline void in_threads(int size, const std::function<void(const std::shared_ptr<const Transport>&)>& work) {
  const auto room = std::make_shared<Room>(size);
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(static_cast<size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(std::make_shared<ThreadTransport>(room, rank));
      } catch (...) {
        failures[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace eignn::test
