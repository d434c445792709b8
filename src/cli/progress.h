// A bar on a terminal, plain lines when piped.
#pragma once

#include <cstdint>
#include <string>

#include "equilibrium/stopwatch.h"

namespace eignn::cli {

class Progress {
 public:
  /// `quiet` shows nothing but errors. Everything goes to standard error.
  Progress(int64_t total, bool quiet);
  ~Progress();  // clears the bar
  void update(int64_t done, const std::string& text);

 private:
  void clear();
  int64_t total_, width_ = 80, next_line_ = 1;
  bool quiet_, terminal_, colour_;
  bool shown_ = false;
  double last_shown_ = -1;
  Stopwatch watch_;
};

}  // namespace eignn::cli
