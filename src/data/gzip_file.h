#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/atomic_file.h"

namespace eignn {

/// The lines of a text file, gzip or plain (recognised by content), in blocks: memory is needed for one block
/// only, whatever the size of the file.
///
///     TextBlocks blocks("edge.csv.gz");
///     while (blocks.next()) use(blocks.block(), blocks.first_line());
class TextBlocks {
 public:
  explicit TextBlocks(const std::string& path);
  /// The same from a file that is open; `origin` names it in messages.
  TextBlocks(FileHandle file, const std::string& origin);
  ~TextBlocks();

  /// Steps to the next block; false after the last. Throws the DataError of a packed file that is damaged
  /// or cut off, of one that unpacks to hundreds of times its size, and of a line that does not end.
  bool next();

  /// Whole lines; only the last of the file may lack its line end.
  std::string_view block() const { return std::string_view(buffer_).substr(0, used_); }
  /// The number of the block's first line in the file, from 1.
  int64_t first_line() const { return first_line_; }

 private:
  class Source;
  std::unique_ptr<Source> source_;
  std::string buffer_;  // the block, followed by the beginning of the next one
  size_t used_ = 0;     // the block's bytes
  int64_t first_line_ = 1;
  std::string origin_;
};

}  // namespace eignn
