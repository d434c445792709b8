#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace eignn {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

/// Throws the ResourceError of a system call that failed on a file: "cannot write: No space left on device
/// (path); free some space or choose another disk". `error` is its errno. A path to read that is not there,
/// or is a folder, is a DataError.
[[noreturn]] void refuse_file(const char* verb, const std::string& path, int error);

/// Makes a folder and its parents where they do not exist.
void make_folders(const std::string& path);

/// Removes a folder and its contents; links are not followed. Does nothing where there is no such folder.
void remove_folder(const std::string& path);

/// Removes the temporaries of AtomicFile in a folder that nobody writes any more: NAME.tmp-DIGITS-DIGITS,
/// regular files on which no process of any machine has a lock. On a file system without locks they stay.
void remove_temporaries(const std::string& folder);

/// Whether the file at `path` is the one that is open as `file`: it may have been replaced or removed.
bool is_still_at(const std::string& path, int file);

/// Flushes new and renamed entries of a folder to the disk, on systems that can.
void flush_folder(const std::string& path);

/// A file that appears whole or not at all. Bytes go to a temporary in the same folder; `commit` flushes it
/// to the disk and renames it onto `path`; without `commit` the destructor removes it and an older file stays
/// as it was.
///
///     AtomicFile file("Z.npy");
///     file.write(header.data(), header.size());
///     file.commit();
///
/// The temporary is locked while it is written, so that another process can tell it from one whose writer has
/// died: that is removed when the same file is written again. A link is followed. A path that is no regular
/// file (a pipe, /dev/stdout) is written in place, because renaming onto it would replace the device. Every
/// failure is a ResourceError with the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size);
  void commit();

 private:
  std::string path_;       // as the user gave it, for messages
  std::string target_;     // the same with links followed
  std::string temporary_;  // empty when written in place, and after the rename
  FileHandle file_;
};

/// Writes `content` through an AtomicFile.
void write_file_atomically(const std::string& path, const std::string& content);

/// A folder of files that appears whole or not at all: `commit` renames a temporary folder beside it to
/// `path`; without `commit` the destructor removes that folder. A path that exists is refused. Until the
/// commit the folder has a file `.writing`, which is locked.
///
///     AtomicFolder folder("texas");
///     write_npy(folder.path("edges.npy"), {2, 2}, edges);
///     folder.commit();
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::string& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to write a file of the folder before the commit.
  std::string path(const std::string& file) const;
  void commit();

 private:
  std::string target_;
  std::string temporary_;  // empty after the rename
  FileHandle lock_;
};

/// The names of a folder's entries, sorted by bytes, without . and ..
std::vector<std::string> names_in_folder(const std::string& path);

/// Opens a file for reading, in binary. DataError when it is missing or a folder, ResourceError when
/// it cannot be read.
FileHandle open_for_reading(const std::string& path);

/// The most that is read from a pipe or a device, which may have no end.
constexpr uint64_t longest_stream = uint64_t{2} << 30U;
/// Whether an open file is a regular one, rather than a pipe or a device.
bool has_end(const FileHandle& file);
/// DataError where a pipe or a device has given more.
void require_end(uint64_t taken, const std::string& path);

/// All bytes of a file or pipe. ResourceError where there are more than half of the free memory, DataError
/// beyond longest_stream.
std::string read_whole_file(const std::string& path);
/// The same for a file that a person writes, such as settings: DataError beyond 64 MB.
std::string read_small_file(const std::string& path);

}  // namespace eignn
