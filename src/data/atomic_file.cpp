#include "data/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/memory_limit.h"
#include "eignn/error.h"

namespace eignn {
namespace {

const char* remedy_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another disk";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a place where you have the permission, or change it";
    case ENOENT:
      return "check the spelling and that the folder exists";
    case ENOTDIR:
      return "check the path: a part of it is a file, not a folder";
    case EISDIR:
      return "give the name of a file, not of a folder";
    case EEXIST:
      return "choose another name, or move the old one away";
    case EMFILE:
    case ENFILE:
      return "raise the number of files that may be open (ulimit -n), or work on fewer runs at once";
    default:
      return "choose another path";
  }
}

// Renaming onto a link would replace the link; its target is what the user means.
std::string follow_links(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_symlink(path, none)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, none);
  return none ? path : target.string();
}

constexpr std::string_view temporary_mark = ".tmp-";
// In a temporary folder, locked while it is written, since its own lock would not do on network disks.
constexpr const char* folder_mark = ".writing";

std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}{}{}-{}", target, temporary_mark, getpid(), counter++);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// What a temporary was to become: "a.csv" for "a.csv.tmp-12-0"; empty for a name that is none.
std::string_view target_of(std::string_view name) {
  const size_t mark = name.rfind(temporary_mark);
  if (mark == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(mark + temporary_mark.size());
  const size_t dash = std::min(numbers.find('-'), numbers.size());
  const bool ours =
      are_digits(numbers.substr(0, dash)) && dash < numbers.size() && are_digits(numbers.substr(dash + 1));
  return ours ? name.substr(0, mark) : std::string_view();
}

// Closes a descriptor, and with the last one of an opened file goes its lock.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

bool is_regular(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Whoever writes a temporary holds a lock on it for as long as it lives, on whatever machine: where we get
// the lock, nobody writes any more. A file system without locks gives none, and then nothing is removed.
template <class Remove>
void remove_if_abandoned(const std::string& locked, Remove remove) {
  if (!is_regular(locked)) return;
  constexpr int safely = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int number = open(locked.c_str(), O_WRONLY | safely);
  if (number < 0) number = open(locked.c_str(), O_RDONLY | safely);
  const OpenFile file(number);
  if (number >= 0 && flock(number, LOCK_EX | LOCK_NB) == 0 && is_still_at(locked, number)) remove();
}

void remove_file_if_abandoned(const std::string& path) {
  remove_if_abandoned(path, [&] { unlink(path.c_str()); });
}

// Runs `act` on the temporaries of this very target, by their paths.
template <class Act>
void for_temporaries_of(const std::string& target, const Act& act) {
  const std::string folder = folder_of(target), name = target.substr(target.rfind('/') + 1);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (!entries) return;
  while (const dirent* entry = readdir(entries.get()))
    if (target_of(entry->d_name) == name) act(folder + "/" + entry->d_name);
}

// Locks what was just made. False where somebody who removes abandoned temporaries took it for one, between
// its making and its lock.
bool lock_new(int file, const std::string& path) {
  if (flock(file, LOCK_EX | LOCK_NB) != 0)
    return errno != EWOULDBLOCK;  // without locks it is written as well
  return is_still_at(path, file);
}

// Tries names until one is free; `make` returns whether it could use the name, or throws.
template <class Make>
void make_temporary(const Make& make) {
  constexpr int most_tries = 100;
  for (int k = 0; k < most_tries; ++k)
    if (make()) return;
  throw ResourceError("no name is free for a temporary file", "", "remove old files named *.tmp-*");
}

}  // namespace

void refuse_file(const char* verb, const std::string& path, int error) {
  const std::string problem = fmt::format("cannot {}: {}", verb, std::generic_category().message(error));
  const bool named_wrongly = error == ENOENT || error == ENOTDIR || error == EISDIR;
  if (verb == std::string_view("read") && named_wrongly)
    throw DataError(path, {}, problem, remedy_for(error));
  throw ResourceError(problem, path, remedy_for(error));
}

void make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) refuse_file("make the folder", path, error.value());
}

// Not std::filesystem::remove_all: some libtorch wheels export a broken one of their own.
void remove_folder(const std::string& path) {
  constexpr int open_folders = 16;
  const auto remove = [](const char* name, const struct stat*, int, FTW*) {
    static_cast<void>(std::remove(name));
    return 0;
  };
  nftw(path.c_str(), remove, open_folders, FTW_DEPTH | FTW_PHYS);
}

bool is_still_at(const std::string& path, int file) {
  struct stat here = {}, there = {};
  return fstat(file, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

void remove_temporaries(const std::string& folder) {
  for (const std::string& name : names_in_folder(folder))
    // All files of ours have an ending; "backup.tmp-2023-11" is somebody else's.
    if (target_of(name).find('.') != std::string_view::npos) remove_file_if_abandoned(folder + "/" + name);
}

void flush_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  struct stat status = {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) refuse_file("write", path_, errno);
  if (exists && S_ISDIR(status.st_mode)) refuse_file("write", path_, EISDIR);
  // A rename needs no permission on the old file, and a file that is write-protected is so on purpose.
  if (exists && access(target_.c_str(), W_OK) != 0) refuse_file("write", path_, errno);

  const bool in_place = exists && !S_ISREG(status.st_mode);
  if (in_place) {
    file_.reset(std::fopen(target_.c_str(), "wbe"));
    if (!file_) refuse_file("write", path_, errno);
    return;
  }
  for_temporaries_of(target_, remove_file_if_abandoned);
  make_temporary([&] {
    const std::string name = temporary_name(target_);
    file_.reset(std::fopen(name.c_str(), "wbxe"));
    if (!file_ && errno == EEXIST) return false;
    if (!file_) refuse_file("write", path_, errno);
    temporary_ = name;
    return lock_new(fileno(file_.get()), name);
  });
  // Keeps the mode of the file that is replaced. A failure is ignored, since some file systems have no modes.
  if (exists) static_cast<void>(fchmod(fileno(file_.get()), status.st_mode & 07777U) == 0);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t size) {
  if (size != 0 && std::fwrite(data, 1, size, file_.get()) != size) refuse_file("write", path_, errno);
}

void AtomicFile::commit() {
  if (std::fflush(file_.get()) != 0) refuse_file("write", path_, errno);
  if (temporary_.empty()) {
    if (std::fclose(file_.release()) != 0) refuse_file("write", path_, errno);
    return;
  }
  if (fsync(fileno(file_.get())) != 0) refuse_file("write", path_, errno);
  // The lock stays until the name is the final one, and closing the stream must not end it.
  const OpenFile lock(fcntl(fileno(file_.get()), F_DUPFD_CLOEXEC, 0));
  if (lock.number() < 0) refuse_file("write", path_, errno);
  if (std::fclose(file_.release()) != 0) refuse_file("write", path_, errno);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse_file("write", path_, errno);
  temporary_.clear();
}

void write_file_atomically(const std::string& path, const std::string& content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

AtomicFolder::AtomicFolder(const std::string& path) : target_(path) {
  while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  struct stat status = {};
  if (lstat(target_.c_str(), &status) == 0) refuse_file("write", target_, EEXIST);
  for_temporaries_of(target_, [](const std::string& folder) {
    remove_if_abandoned(folder + "/" + folder_mark, [&] { remove_folder(folder); });
  });
  make_temporary([&] {
    const std::string name = temporary_name(target_);
    if (mkdir(name.c_str(), 0777) != 0) {
      if (errno == EEXIST) return false;
      refuse_file("write", target_, errno);
    }
    temporary_ = name;
    const std::string mark = this->path(folder_mark);
    lock_.reset(std::fopen(mark.c_str(), "wbxe"));
    if (!lock_) {
      const int error = errno;
      remove_folder(std::exchange(temporary_, ""));
      refuse_file("write", target_, error);
    }
    return lock_new(fileno(lock_.get()), mark);
  });
}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) remove_folder(temporary_);
}

std::string AtomicFolder::path(const std::string& file) const {
  return temporary_ + "/" + file;
}

void AtomicFolder::commit() {
  std::remove(path(folder_mark).c_str());
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse_file("write", target_, errno);
  temporary_.clear();
}

// Not std::filesystem's iterator: some libtorch wheels export a broken std::filesystem of their own.
std::vector<std::string> names_in_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) refuse_file("read", path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

FileHandle open_for_reading(const std::string& path) {
  FileHandle file(std::fopen(path.c_str(), "rbe"));
  if (!file) refuse_file("read", path, errno);
  struct stat status = {};
  // Opening a folder succeeds; without this check only a later read would fail.
  if (fstat(fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)) refuse_file("read", path, EISDIR);
  return file;
}

namespace {

// What a file that is open says of its size; nothing where it is a pipe or a device, which may have no end.
std::optional<uint64_t> stated_size(const FileHandle& file) {
  struct stat status = {};
  if (fstat(fileno(file.get()), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return static_cast<uint64_t>(status.st_size);
}

// Reads to the end of the file, and calls `refuse` with a size when there is more than `limit`.
template <class Refuse>
std::string read_to_end(const FileHandle& file, const std::string& path, uint64_t limit, Refuse refuse) {
  const std::optional<uint64_t> size = stated_size(file);
  if (size && *size > limit) refuse(*size);
  // One byte more than the file has, so that the first read already reaches its end.
  std::string content(size ? *size + 1 : uint64_t{1} << 16U, '\0');
  size_t used = 0;
  while (true) {
    used += std::fread(&content[used], 1, content.size() - used, file.get());
    if (used < content.size()) break;
    if (used > limit) refuse(used);
    content.resize(std::min<uint64_t>(2 * used, limit + 1));
  }
  if (std::ferror(file.get()) != 0) refuse_file("read", path, errno);
  content.resize(used);
  return content;
}

}  // namespace

bool has_end(const FileHandle& file) {
  return stated_size(file).has_value();
}

void require_end(uint64_t taken, const std::string& path) {
  if (taken > longest_stream)
    throw DataError(path, "",
                    fmt::format("it has not ended after {} MB, and a pipe or a device may give no more",
                                longest_stream >> 20U),
                    "save it in a file, and give the file's path");
}

std::string read_whole_file(const std::string& path) {
  const FileHandle file = open_for_reading(path);
  // Half of all numbers there are where the limit is not known.
  const uint64_t memory = std::min(memory_limit(), std::numeric_limits<uint64_t>::max() / 2);
  const uint64_t limit = has_end(file) ? memory : std::min(memory, longest_stream);
  return read_to_end(file, path, limit, [&](uint64_t size) {
    if (!has_end(file)) require_end(size, path);
    require_memory(size, path);
    throw ResourceError("it grew while it was read", path, "wait until it is written");
  });
}

std::string read_small_file(const std::string& path) {
  constexpr uint64_t limit = uint64_t{64} << 20U;
  return read_to_end(open_for_reading(path), path, limit, [&](uint64_t) {
    throw DataError(path, "", "it has more than 64 MB", "check that it is the right file");
  });
}

}  // namespace eignn
