#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eignn {

/// The bytes of a file, fetched from the disk as they are touched. A file that is renamed over or removed
/// afterwards stays as it was; one that is cut or written in place does not, so this is for files that are
/// only ever replaced (see AtomicFile). Writing to the memory does not reach the file.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  // an error when it cannot be read
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

}  // namespace eignn
