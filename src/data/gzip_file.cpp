// gzip (RFC 1952), by zlib: one or more members, each a deflate stream between a header (1f 8b …) and a
// checksum; `gzip -t FILE` checks it. A file that does not begin with 1f 8b is taken as it is.
#include "data/gzip_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "data/text_lines.h"

#ifdef EIGNN_HAVE_ZLIB
#include <zlib.h>
#endif

namespace eignn {
namespace {

constexpr size_t piece = size_t{1} << 20;
constexpr size_t longest_line = size_t{1} << 26;

size_t read_some(const FileHandle& file, char* to, size_t size, const std::string& origin) {
  const size_t got = std::fread(to, 1, size, file.get());
  if (got < size && std::ferror(file.get()) != 0)
    throw ResourceError("cannot read: " + std::generic_category().message(errno), origin, "check the disk");
  return got;
}

#ifdef EIGNN_HAVE_ZLIB

// A gzip decoder.
class Inflater {
 public:
  explicit Inflater(std::string origin) : origin_(std::move(origin)) {
    constexpr int gzip_with_largest_window = 15 + 16;
    if (inflateInit2(&stream_, gzip_with_largest_window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks up to `size` bytes and returns their number, 0 at the end. `refill` returns the next packed
  // bytes, none at their end.
  template <class Refill>
  size_t unpack(char* to, size_t size, Refill refill) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        const std::string_view more = refill();
        stream_.next_in =
            reinterpret_cast<Bytef*>(const_cast<char*>(more.data()));  // zlib never writes there
        stream_.avail_in = static_cast<uInt>(more.size());
        packed_ += more.size();
        if (more.empty()) {
          if (!between_members_) refuse("the packed data is cut off", origin_, copy_again);
          return 0;
        }
      }
      if (between_members_ && !start_member()) continue;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        between_members_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        refuse(fmt::format("the packed data is damaged: {}", stream_.msg == nullptr ? "" : stream_.msg),
               origin_, copy_again);
      }
    }
    unpacked_ += size - stream_.avail_out;
    check_ratio();
    return size - stream_.avail_out;
  }

 private:
  static constexpr const char* copy_again = "download or copy it again";

  // Skips zeros (padding of tape blocks) and starts the next member. False where more input is needed to know
  // whether there is one.
  bool start_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    between_members_ = false;
    inflateReset(&stream_);
    return true;
  }

  // Guards against decompression bombs: numbers in text pack to a tenth, sparse ones to a fiftieth.
  void check_ratio() const {
    constexpr uint64_t always_fine = uint64_t{64} << 20;
    constexpr uint64_t largest_ratio = 400;
    if (unpacked_ > always_fine && unpacked_ / largest_ratio > packed_)
      refuse(fmt::format("{} bytes unpack to more than {}", packed_, unpacked_), origin_,
             "if you trust it, unpack it with gunzip");
  }

  std::string origin_;
  z_stream stream_ = {};
  bool between_members_ = false;
  uint64_t packed_ = 0, unpacked_ = 0;
};

#endif

}  // namespace

// The unpacked bytes of the file, in order.
class TextBlocks::Source {
 public:
  Source(FileHandle file, const std::string& origin)
      : file_(std::move(file)), origin_(origin), has_end_(has_end(file_)), packed_(piece, '\0') {
    head_ = read_some(file_, packed_.data(), packed_.size(), origin_);
    if (std::string_view(packed_).substr(0, std::min<size_t>(head_, 2)) != "\x1f\x8b") return;
#ifdef EIGNN_HAVE_ZLIB
    inflater_ = std::make_unique<Inflater>(origin_);
#else
    throw ResourceError("this build cannot read gzip", origin_,
                        "rebuild it with zlib, or unpack it with gunzip");
#endif
  }

  // Appends some bytes; false at the end.
  bool append_to(std::string* text) {
#ifdef EIGNN_HAVE_ZLIB
    if (inflater_) {
      const size_t before = text->size();
      text->resize(before + piece);
      text->resize(before + inflater_->unpack(&(*text)[before], piece, [this] { return refill(); }));
      return text->size() > before;
    }
#endif
    const std::string_view bytes = refill();
    text->append(bytes);
    return !bytes.empty();
  }

 private:
  std::string_view refill() {
    const size_t got =
        head_ > 0 ? std::exchange(head_, 0) : read_some(file_, packed_.data(), packed_.size(), origin_);
    taken_ += got;
    if (!has_end_) require_end(taken_, origin_);
    return std::string_view(packed_).substr(0, got);
  }

  FileHandle file_;
  std::string origin_;
  bool has_end_;
  uint64_t taken_ = 0;
  std::string packed_;  // raw bytes of the file
  size_t head_ = 0;     // of these, the bytes read to detect the format
#ifdef EIGNN_HAVE_ZLIB
  std::unique_ptr<Inflater> inflater_;
#endif
};

TextBlocks::TextBlocks(const std::string& path) : TextBlocks(open_for_reading(path), path) {}

TextBlocks::TextBlocks(FileHandle file, const std::string& origin)
    : source_(std::make_unique<Source>(std::move(file), origin)), origin_(origin) {}

TextBlocks::~TextBlocks() = default;

bool TextBlocks::next() {
  const std::string_view last = block();
  first_line_ += std::count(last.begin(), last.end(), '\n');
  buffer_.erase(0, used_);
  used_ = 0;
  while (used_ == 0) {
    const size_t searched = buffer_.size();
    if (!source_->append_to(&buffer_)) {
      used_ = buffer_.size();
      return used_ > 0;
    }
    const size_t end = std::string_view(buffer_).substr(searched).rfind('\n');
    if (end != std::string_view::npos) used_ = searched + end + 1;
    if (used_ == 0 && buffer_.size() > longest_line)
      refuse(fmt::format("a line of more than {} bytes", longest_line),
             {origin_, fmt::format("line {}", first_line_)}, "check that it is the right file");
  }
  return true;
}

}  // namespace eignn
