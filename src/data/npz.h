#pragma once

#include <memory>
#include <string>
#include <string_view>
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

  /// The same from memory, which must outlive the reader; `origin` names the bytes in messages.
  NpzReader(std::string_view bytes, const std::string& origin);

  bool has(const std::string& member) const;
  Array read(const std::string& member) const;

  /// The arrays there are, in the archive's order and without their ".npy".
  std::vector<std::string> names() const;

 private:
  std::string path_;
  std::unique_ptr<zip, void (*)(zip*)> archive_;
};

/// Writes a compressed .npz that numpy.load reads. The file appears at `commit`, whole or not at all, and the
/// same arrays give the same bytes: the members carry no time.
///
///     NpzWriter archive("graph.npz");
///     archive.add("edges", ElementType::int64, {2, 2}, edges.data());
///     archive.commit();
class NpzWriter {
 public:
  explicit NpzWriter(const std::string& path);

  /// Takes a copy of C-ordered, little-endian elements.
  void add(const std::string& name, ElementType type, const std::vector<int64_t>& shape, const void* data);
  void commit();

 private:
  struct Member {
    std::string file;
    std::string bytes;
  };
  std::string path_;
  std::vector<Member> members_;
};

}  // namespace eignn
