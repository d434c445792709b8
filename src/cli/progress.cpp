#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/streams.h"

namespace eignn::cli {

Progress::Progress(int64_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {
  const char* no_colour = std::getenv("NO_COLOR");
  colour_ = terminal_ && !(no_colour && *no_colour);
  winsize size{};
  if (terminal_ && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width_ = size.ws_col;
}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (shown_) say("\r\033[K");
  shown_ = false;
}

void Progress::update(int64_t done, const std::string& text) {
  if (!terminal_) {  // piped: a line at 1, 2, 5, 10, 20, 50, … is enough to see that it lives
    if (done < next_line_) return;
    say(fmt::format("{}/{}  {}\n", done, total_, text));
    std::string digits = std::to_string(next_line_);
    next_line_ *= digits[0] == '2' ? 5 : 2;
    if (digits[0] == '2') next_line_ /= 2;
    return;
  }
  constexpr double refresh = 0.1;
  if (watch_.seconds() - last_shown_ < refresh) return;
  last_shown_ = watch_.seconds();
  const std::string tail = fmt::format(" {}/{}  {}", done, total_, text);
  const int64_t room = std::clamp<int64_t>(width_ - static_cast<int64_t>(tail.size()) - 3, 5, 40);
  const int64_t filled = total_ > 0 ? room * done / total_ : 0;
  say(fmt::format("\r\033[K[{}{}{}{}]{}", colour_ ? "\033[32m" : "", std::string(filled, '='),
                  colour_ ? "\033[0m" : "", std::string(room - filled, ' '),
                  tail.substr(0, static_cast<size_t>(std::max<int64_t>(0, width_ - room - 3)))));
  shown_ = true;
}

}  // namespace eignn::cli
