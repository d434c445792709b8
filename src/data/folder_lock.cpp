#include "data/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "eignn/warning.h"

namespace eignn {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

// "process 123 on host", as the holder wrote it.
std::string holder_of(int file) {
  std::array<char, 512> text{};
  const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
  std::string holder(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  for (char& letter : holder)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  while (!holder.empty() && holder.back() == ' ') holder.pop_back();
  return holder.empty() ? "another process" : holder;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& name) : path_(folder + "/" + name) {
  while (true) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) refuse_file("lock", path_, errno);
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string holder = error == EWOULDBLOCK ? holder_of(file_) : "";
      close(std::exchange(file_, -1));
      if (error == EINTR) continue;
      if (error == EWOULDBLOCK)
        throw ResourceError(fmt::format("{} is writing into this folder", holder), folder,
                            "wait for it to end, or give another folder");
      unlink(path_.c_str());
      if (error != ENOLCK && error != EOPNOTSUPP && error != ENOSYS) refuse_file("lock", path_, error);
      warn(fmt::format("{}: this file system has no locks; see to it that nobody else writes there", folder));
      return;
    }
    // Its last holder may have removed it between our open and our lock.
    if (is_still_at(path_, file_)) break;
    close(std::exchange(file_, -1));
  }
  // For the message of whoever comes next; a full disk does not make the lock less of one.
  const std::string holder = fmt::format("process {} on {}\n", getpid(), host_name());
  if (ftruncate(file_, 0) != 0 || pwrite(file_, holder.data(), holder.size(), 0) < 0) errno = 0;
  remove_temporaries(folder);
}

FolderLock::~FolderLock() {
  release();
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  release();
  path_ = std::move(other.path_);
  file_ = std::exchange(other.file_, -1);
  return *this;
}

void FolderLock::release() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // while the lock is held: see the constructor
  close(std::exchange(file_, -1));
}

}  // namespace eignn
