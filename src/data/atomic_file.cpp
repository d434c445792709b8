#include "data/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>

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

constexpr const char* temporary_mark = ".tmp-";

std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}{}{}-{}", target, temporary_mark, getpid(), counter++);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// The process that made a temporary of this name; 0 for a name that is none.
pid_t maker_of(const std::string& name) {
  const size_t mark = name.rfind(temporary_mark);
  if (mark == std::string::npos) return 0;
  const size_t digits = mark + std::string_view(temporary_mark).size();
  char* end = nullptr;
  const int64_t maker = std::strtoll(name.c_str() + digits, &end, 10);
  return *end == '-' && maker > 0 && maker <= std::numeric_limits<pid_t>::max() ? static_cast<pid_t>(maker)
                                                                                : 0;
}

// What a process that died while it wrote this very file left beside it.
void remove_dead_temporaries(const std::string& target) {
  const std::string folder = folder_of(target), name = target.substr(target.rfind('/') + 1) + temporary_mark;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (!entries) return;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string found = entry->d_name;
    if (found.rfind(name, 0) != 0) continue;
    const pid_t maker = maker_of(found);
    if (maker != 0 && kill(maker, 0) != 0 && errno == ESRCH) remove_folder(folder + "/" + found);
  }
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

void remove_temporaries(const std::string& folder) {
  for (const std::string& name : names_in_folder(folder))
    if (maker_of(name) != 0) remove_folder(folder + "/" + name);
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
  if (!in_place) {
    remove_dead_temporaries(target_);
    temporary_ = temporary_name(target_);
  }
  file_.reset(in_place ? std::fopen(target_.c_str(), "wbe") : std::fopen(temporary_.c_str(), "wbxe"));
  if (!file_) {
    const int error = errno;
    temporary_.clear();
    refuse_file("write", path_, error);
  }
  // Keeps the mode of the file that is replaced. A failure is ignored, since some file systems have no modes.
  if (exists && !in_place) static_cast<void>(fchmod(fileno(file_.get()), status.st_mode & 07777U) == 0);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t size) {
  if (size != 0 && std::fwrite(data, 1, size, file_.get()) != size) refuse_file("write", path_, errno);
}

void AtomicFile::commit() {
  if (std::fflush(file_.get()) != 0) refuse_file("write", path_, errno);
  if (!temporary_.empty() && fsync(fileno(file_.get())) != 0) refuse_file("write", path_, errno);
  if (std::fclose(file_.release()) != 0) refuse_file("write", path_, errno);
  if (temporary_.empty()) return;
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
  remove_dead_temporaries(target_);
  temporary_ = temporary_name(target_);
  if (mkdir(temporary_.c_str(), 0777) != 0) {
    const int error = errno;
    temporary_.clear();
    refuse_file("write", target_, error);
  }
}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) remove_folder(temporary_);
}

std::string AtomicFolder::path(const std::string& file) const {
  return temporary_ + "/" + file;
}

void AtomicFolder::commit() {
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

// Reads to the end of the file, and calls `refuse` with a size when there is more than `limit`.
template <class Refuse>
std::string read_to_end(const std::string& path, uint64_t limit, Refuse refuse) {
  const FileHandle file = open_for_reading(path);
  struct stat status = {};
  const bool sized = fstat(fileno(file.get()), &status) == 0 && S_ISREG(status.st_mode);
  if (sized && static_cast<uint64_t>(status.st_size) > limit) refuse(static_cast<uint64_t>(status.st_size));
  // One byte more than the file has, so that the first read already reaches its end.
  std::string content(sized ? static_cast<size_t>(status.st_size) + 1 : size_t{1} << 16, '\0');
  size_t used = 0;
  while (true) {
    used += std::fread(&content[used], 1, content.size() - used, file.get());
    if (used < content.size()) break;
    if (used > limit / 2) refuse(used);  // a device such as /dev/zero, or an endless pipe
    content.resize(2 * content.size());
  }
  if (std::ferror(file.get()) != 0) refuse_file("read", path, errno);
  content.resize(used);
  return content;
}

}  // namespace

std::string read_whole_file(const std::string& path) {
  const uint64_t limit = memory_limit();
  return read_to_end(path, limit, [&](uint64_t size) {
    require_memory(size, path);
    throw ResourceError(fmt::format("it has not ended after {:.1f} GB, and no more memory may be taken",
                                    static_cast<double>(size) / 1e9),
                        path, "check that it is the right file");
  });
}

std::string read_small_file(const std::string& path) {
  constexpr uint64_t limit = uint64_t{64} << 20U;
  return read_to_end(path, limit, [&](uint64_t) {
    throw DataError(path, "", "it has more than 64 MB", "check that it is the right file");
  });
}

}  // namespace eignn
