// One writer per folder: an advisory lock that ends with its process.
#pragma once

#include <string>

namespace eignn {

/// Holds a folder for this process until it is destroyed or the process ends, however it ends. The lock is a
/// file `.lock` in the folder, with the process and the host that hold it; it goes with the lock. Temporaries
/// that a process left behind which died while it wrote into the folder are removed. Locks of several `name`s
/// hold parts of a folder, such as the pages of one experiment.
///
///     const FolderLock lock("runs/texas");
///
/// ResourceError where another process, or another thread of this one, holds the folder. A file system
/// without locks (some network disks) gives a warning, and the folder is not held.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder, const std::string& name = ".lock");
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

 private:
  void release();

  std::string path_;
  int file_ = -1;
};

}  // namespace eignn
