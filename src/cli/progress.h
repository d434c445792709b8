// Progress: a bar on a terminal, plain lines when piped.
#pragma once

#include <cstdint>
#include <string>

#include "equilibrium/stopwatch.h"

namespace eignn::cli {

class Progress {
 public:
  /// Everything goes to standard error.
  explicit Progress(int64_t total);
  ~Progress();  // clears the bar
  void update(int64_t done, const std::string& text);

 private:
  void clear();
  int64_t total_, width_ = 80, next_line_ = 1;
  bool terminal_, colour_;
  bool shown_ = false;
  double last_shown_ = -1;
  Stopwatch watch_;
};

}  // namespace eignn::cli
