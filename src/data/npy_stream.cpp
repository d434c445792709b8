#include "data/npy_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace eignn {

namespace {

constexpr size_t piece = size_t{1} << 16;        // bytes that are written and hashed together
constexpr size_t header_bytes = size_t{4} * 64;  // enough for any number of rows

}  // namespace

NpyStream::NpyStream(const std::string& path, ElementType type, std::vector<int64_t> row_shape)
    : path_(path), type_(type), shape_(std::move(row_shape)), file_(std::fopen(path.c_str(), "wbxe")) {
  if (!file_) refuse_file("write", path_, errno);
  row_bytes_ = byte_count(type, shape_).value_or(0);
  if (row_bytes_ == 0) throw std::invalid_argument("NpyStream: rows without a size");
  shape_.insert(shape_.begin(), 0);
  buffer_.reserve(piece);
  const std::string space(header_bytes, ' ');
  if (std::fwrite(space.data(), 1, space.size(), file_.get()) != space.size())
    refuse_file("write", path_, errno);
}

void NpyStream::append(const void* data, size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  written_ += bytes;
  while (bytes > 0) {
    const size_t some = std::min(bytes, piece - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + some);
    from += some;
    bytes -= some;
    if (buffer_.size() == piece) flush();
  }
}

void NpyStream::flush() {
  hash_.add(buffer_);
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size())
    refuse_file("write", path_, errno);
  buffer_.clear();
}

std::string NpyStream::finish() {
  if (written_ % row_bytes_ != 0) throw std::logic_error("NpyStream: the last row is not whole");
  flush();
  shape_[0] = static_cast<int64_t>(written_ / row_bytes_);
  const std::string header = npy_header(type_, shape_, header_bytes);
  if (header.size() != header_bytes) throw std::logic_error("NpyStream: a header longer than its place");
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0 ||
      std::fwrite(header.data(), 1, header.size(), file_.get()) != header.size() ||
      std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0 || std::fclose(file_.release()) != 0)
    refuse_file("write", path_, errno);
  return hash_.hex();
}

}  // namespace eignn
