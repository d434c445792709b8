#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eignn {

/// The bytes of a file, mapped into memory. They stay valid when the file is replaced by a rename or removed,
/// but not when it is truncated or written in place, so this is for files that are only ever replaced (see
/// AtomicFile). Writes to the memory do not change the file.
class MappedFile {
 public:
  enum class Read { all, parts };  // whether to begin reading all of it now
  explicit MappedFile(const std::string& path, Read read = Read::all);  // throws when it cannot be read
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

  /// Lets the system drop the pages that lie wholly within these bytes; they are read again when needed.
  void forget(size_t offset, size_t size) const;

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

}  // namespace eignn
