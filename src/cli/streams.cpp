#include "cli/streams.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace eignn::cli {

void hold_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    // open() takes the lowest number that is free, which is this one. Output that nobody can read must fail
    // to be written; notes for people may go nowhere.
    const int held = open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (held >= 0 && held != stream) close(held);
  }
}

void allow_many_files() {
  constexpr rlim_t enough = 16384;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough) return;
  limit.rlim_cur = std::min(limit.rlim_max, enough);
  setrlimit(RLIMIT_NOFILE, &limit);
}

namespace {
std::atomic<bool> quiet{false};
}  // namespace

void be_quiet() {
  quiet = true;
}

void speak_up() {
  quiet = false;
}

void say(const std::string& text) {
  if (quiet) return;
  std::fflush(stdout);  // what was printed before comes first, in a pipe too
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  std::clearerr(stderr);
}

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw std::system_error(errno == 0 ? EIO : errno, std::generic_category());
}

}  // namespace eignn::cli
