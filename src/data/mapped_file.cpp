#include "data/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "data/atomic_file.h"
#include "data/text_lines.h"

namespace eignn {

MappedFile::MappedFile(const std::string& path, Read read) {
  const FileHandle file = open_for_reading(path);
  struct stat status = {};
  if (fstat(fileno(file.get()), &status) != 0 || !S_ISREG(status.st_mode))
    refuse("only a regular file can be mapped", path, "give the path of a file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;  // an empty file is valid, but cannot be mapped
  start_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fileno(file.get()), 0);
  if (start_ == MAP_FAILED) {
    const int error = errno;
    start_ = nullptr;
    throw ResourceError("cannot map: " + std::generic_category().message(error), path,
                        "copy it to a local disk");
  }
  if (read == Read::all) madvise(start_, size_, MADV_WILLNEED);  // starts reading ahead now
}

void MappedFile::forget(size_t offset, size_t size) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t first = (offset + page - 1) / page * page, last = std::min(offset + size, size_) / page * page;
  if (first < last) madvise(static_cast<char*>(start_) + first, last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (start_) munmap(start_, size_);
}

}  // namespace eignn
