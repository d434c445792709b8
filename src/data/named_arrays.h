#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/npy.h"
#include "data/npz.h"

namespace eignn {

/// Named arrays: the members of an .npz archive, or the .npy files of a folder. Unzipping the archive gives
/// such a folder, which a build without libzip can read.
///
///     NamedArrays arrays("texas.npz");  // or "texas", a folder with edges.npy
///     Array edges = arrays.read("edges");
class NamedArrays {
 public:
  explicit NamedArrays(const std::string& path);

  /// An archive in memory, which must outlive this; `origin` names it in messages.
  NamedArrays(std::string_view archive, const std::string& origin);

  bool has(const std::string& name) const;

  /// The array, with the origin "texas.npz[edges]" or "texas/edges.npy". DataError where it is missing.
  Array read(const std::string& name) const;

  std::vector<std::string> names() const;
  const std::string& path() const { return path_; }
  bool is_folder() const { return !archive_; }

 private:
  std::string path_;
  std::optional<NpzReader> archive_;
};

/// Whether `path` can hold named arrays: a folder, or a file that begins as a zip archive does.
bool is_named_arrays(const std::string& path);

}  // namespace eignn
