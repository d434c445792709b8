#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/npy.h"

struct zip;  // libzip's, so that only npz.cpp needs its header

namespace eignn {

/// Reads the arrays of a NumPy .npz archive.
///
///     NpzReader archive("graph.npz");
///     std::vector<int64_t> edges = archive.read("edges").as<int64_t>();
class NpzReader {
 public:
  explicit NpzReader(const std::string& path);

  bool has(const std::string& member) const;
  Array read(const std::string& member) const;

  /// The arrays there are, in the archive's order and without their ".npy".
  std::vector<std::string> names() const;

 private:
  std::string path_;
  std::unique_ptr<zip, void (*)(zip*)> archive_;
};

}  // namespace eignn
