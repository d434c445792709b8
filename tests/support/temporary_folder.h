#pragma once

#include <ftw.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace eignn {

/// A fresh folder that disappears with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() : folder_((std::filesystem::temp_directory_path() / "eignn-test-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~TemporaryFolder() {
    // Not std::filesystem::remove_all: some libtorch wheels export a broken one of their own.
    nftw(
        folder_.c_str(), [](const char* path, const struct stat*, int, FTW*) { return std::remove(path); },
        16, FTW_DEPTH | FTW_PHYS);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// The path of a file in the folder.
  std::string path(const std::string& file) const { return folder_ + "/" + file; }

  /// Writes a file, byte by byte as given, and returns its path.
  std::string write(const std::string& file, const std::string& bytes) const {
    std::filesystem::remove(path(file));  // truncating an old file makes some file systems wait for the disk
    std::ofstream(path(file), std::ios::binary) << bytes;
    return path(file);
  }

 private:
  std::string folder_;
};

}  // namespace eignn
