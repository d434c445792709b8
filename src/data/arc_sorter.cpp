#include "data/arc_sorter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/atomic_file.h"
#include "eignn/error.h"

namespace eignn {

namespace {

// A record is an arc as it is sorted: one number of 64 bits, the source before the target, and the weight
// where there are any.
using Key = uint64_t;
struct Weighted {
  Key key;
  double weight;
};

Key key_of(Key key) {
  return key;
}
Key key_of(const Weighted& arc) {
  return arc.key;
}
bool operator<(const Weighted& a, const Weighted& b) {
  return a.key != b.key ? a.key < b.key : a.weight < b.weight;
}
bool operator>(const Weighted& a, const Weighted& b) {
  return b < a;
}

constexpr size_t least_buffer = size_t{1} << 12;  // bytes, of a run that is merged
constexpr size_t most_runs_at_once = 256;         // files that are open

}  // namespace

class ArcSorter::Sort {
 public:
  virtual ~Sort() = default;
  virtual void add(Key key, double weight) = 0;
  virtual bool next(SortedArc* arc) = 0;
  int64_t runs = 0;
};

template <class Record>
class ArcSorter::SortOf : public Sort {
 public:
  SortOf(std::string scratch, uint64_t memory)
      : scratch_(std::move(scratch)),
        memory_(memory),
        capacity_(std::max<size_t>(memory / sizeof(Record), 1)) {}

  ~SortOf() override {
    for (const std::string& run : runs_) std::remove(run.c_str());
    for (const auto& reader : readers_) std::remove(reader->path().c_str());
  }

  void add(Key key, double weight) override {
    if (reading_) throw std::logic_error("ArcSorter: an arc after the first that was read");
    if (records_.size() == capacity_) spill();
    if (records_.size() == records_.capacity()) grow();
    if constexpr (std::is_same_v<Record, Key>) {
      records_.push_back(key);
    } else {
      records_.push_back({key, weight});
    }
  }

  bool next(SortedArc* arc) override {
    if (!reading_) begin_reading();
    Record record;
    if (!take(&record)) return false;
    const Key key = key_of(record);
    constexpr unsigned bits = 32;
    *arc = {static_cast<int64_t>(key >> bits), static_cast<int64_t>(key & 0xffffffff), 1};
    if constexpr (std::is_same_v<Record, Weighted>) arc->weight = record.weight;
    while (next_is(key)) {
      take(&record);
      if constexpr (std::is_same_v<Record, Weighted>) arc->weight += record.weight;
    }
    if (arc->weight > std::numeric_limits<double>::max()) {
      throw ArgumentError("weight",
                          fmt::format("the weights of {} -> {} add up to infinity", arc->source, arc->target),
                          "divide all weights by a large number");
    }
    return true;
  }

 private:
  // A run as it is written.
  class Writer {
   public:
    explicit Writer(std::string path, size_t buffer) : path_(std::move(path)) {
      file_.reset(std::fopen(path_.c_str(), "wbxe"));
      if (!file_) refuse_file("write", path_, errno);
      buffer_.reserve(std::max<size_t>(buffer / sizeof(Record), 1));
      std::setvbuf(file_.get(), nullptr, _IONBF, 0);
    }
    void add(const Record& record) {
      buffer_.push_back(record);
      if (buffer_.size() == buffer_.capacity()) {
        write(buffer_.data(), buffer_.size());
        buffer_.clear();
      }
    }
    void write(const Record* records, size_t count) {
      if (std::fwrite(records, sizeof(Record), count, file_.get()) != count)
        refuse_file("write", path_, errno);
    }
    void finish() {
      write(buffer_.data(), buffer_.size());
      if (std::fclose(file_.release()) != 0) refuse_file("write", path_, errno);
    }

   private:
    std::string path_;
    std::vector<Record> buffer_;
    FileHandle file_;
  };

  // A run as it is read.
  class Reader {
   public:
    Reader(std::string path, size_t buffer) : path_(std::move(path)), file_(open_for_reading(path_)) {
      buffer_.resize(std::max<size_t>(buffer / sizeof(Record), 1));
      std::setvbuf(file_.get(), nullptr, _IONBF, 0);
    }
    const std::string& path() const { return path_; }
    bool next(Record* record) {
      if (at_ == end_) {
        at_ = 0;
        end_ = std::fread(buffer_.data(), sizeof(Record), buffer_.size(), file_.get());
        if (std::ferror(file_.get()) != 0) refuse_file("read", path_, errno);
        if (end_ == 0) return false;
      }
      *record = buffer_[at_++];
      return true;
    }

   private:
    std::string path_;
    FileHandle file_;
    std::vector<Record> buffer_;
    size_t at_ = 0, end_ = 0;
  };

  struct Head {
    Record record;
    size_t reader;
  };
  struct Later {
    bool operator()(const Head& a, const Head& b) const { return a.record > b.record; }
  };

  std::string new_run() {
    runs_.push_back(fmt::format("{}.{}", scratch_, runs++));
    return runs_.back();
  }

  // All of the memory as soon as an eighth is full: growing needs the old place beside the new one.
  void grow() {
    constexpr size_t first = 1024;
    const size_t next = std::max(2 * records_.size(), first);
    records_.reserve(next <= capacity_ / 8 ? next : capacity_);
  }

  void sort() {
    std::sort(records_.begin(), records_.end());
    if constexpr (std::is_same_v<Record, Key>)
      records_.erase(std::unique(records_.begin(), records_.end()), records_.end());
  }

  void spill() {
    sort();
    // Many duplicates may leave enough room.
    if (records_.size() <= capacity_ / 2) return;
    Writer run(new_run(), sizeof(Record));
    run.write(records_.data(), records_.size());
    run.finish();
    records_.clear();
  }

  void open(size_t first, size_t count, size_t buffer) {
    for (size_t k = first; k < first + count; ++k) {
      readers_.push_back(std::make_unique<Reader>(runs_[k], buffer));
      Record record;
      if (readers_.back()->next(&record)) heads_.push({record, readers_.size() - 1});
    }
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(first),
                runs_.begin() + static_cast<std::ptrdiff_t>(first + count));
  }

  void close() {
    for (const auto& reader : readers_) std::remove(reader->path().c_str());
    readers_.clear();
  }

  void begin_reading() {
    reading_ = true;
    if (runs_.empty()) return sort();
    if (!records_.empty()) {
      sort();
      Writer run(new_run(), sizeof(Record));
      run.write(records_.data(), records_.size());
      run.finish();
    }
    std::vector<Record>().swap(records_);
    const size_t together = std::clamp<size_t>(memory_ / least_buffer, 3, most_runs_at_once + 1) - 1;
    const size_t buffer = memory_ / (together + 1);
    while (runs_.size() > together) {  // the oldest are merged into a new one
      Writer merged(new_run(), buffer);
      open(0, together, buffer);
      Record record;
      while (take(&record)) merged.add(record);
      merged.finish();
      close();
    }
    open(0, runs_.size(), buffer);
  }

  bool take(Record* record) {
    if (readers_.empty()) {
      if (at_ == records_.size()) return false;
      *record = records_[at_++];
      return true;
    }
    if (heads_.empty()) return false;
    Head head = heads_.top();
    heads_.pop();
    *record = head.record;
    if (readers_[head.reader]->next(&head.record)) heads_.push(head);
    return true;
  }

  bool next_is(Key key) const {
    if (readers_.empty()) return at_ < records_.size() && key_of(records_[at_]) == key;
    return !heads_.empty() && key_of(heads_.top().record) == key;
  }

  std::string scratch_;
  size_t memory_, capacity_;
  bool reading_ = false;
  std::vector<Record> records_;  // those that are not in runs
  size_t at_ = 0;                // the next of them to be read
  std::vector<std::string> runs_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::priority_queue<Head, std::vector<Head>, Later> heads_;
};

ArcSorter::ArcSorter(std::string scratch, uint64_t memory, bool weighted) {
  if (memory < least_memory) {
    throw ArgumentError("memory", fmt::format("{} bytes are too few to sort arcs in", memory),
                        fmt::format("give {} bytes or more", least_memory));
  }
  if (weighted) {
    sort_ = std::make_unique<SortOf<Weighted>>(std::move(scratch), memory);
  } else {
    sort_ = std::make_unique<SortOf<Key>>(std::move(scratch), memory);
  }
}

ArcSorter::~ArcSorter() = default;

void ArcSorter::add(int64_t source, int64_t target, double weight) {
  constexpr int64_t most = std::numeric_limits<uint32_t>::max();
  if (source < 0 || target < 0 || source > most || target > most) {
    throw ArgumentError("arcs", fmt::format("the arc {} -> {}", source, target),
                        "ids run from 0 to 4294967295");
  }
  if (!(weight >= 0 && weight <= std::numeric_limits<double>::max())) {
    throw ArgumentError("weight", fmt::format("the weight {} of {} -> {}", weight, source, target),
                        "weights are finite and not negative");
  }
  if (!(weight > 0)) return;
  constexpr unsigned bits = 32;
  sort_->add(static_cast<Key>(source) << bits | static_cast<Key>(target), weight);
}

bool ArcSorter::next(SortedArc* arc) {
  return sort_->next(arc);
}

int64_t ArcSorter::runs() const {
  return sort_->runs;
}

}  // namespace eignn
