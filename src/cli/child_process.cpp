#include "cli/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "eignn/error.h"

namespace eignn::cli {

namespace {

void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote <= 0) return;  // the child closed its input: its exit code will tell
    done += static_cast<size_t>(wrote);
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, const std::string& input,
                      const std::string& errors) {
  std::array<int, 2> to_child{}, from_child{};
  // Closed on exec: a child started by another thread at the same time must not keep our pipes open.
  if (pipe2(to_child.data(), O_CLOEXEC) != 0 || pipe2(from_child.data(), O_CLOEXEC) != 0)
    throw InputError("no pipe could be made to a child process; close some files");
  std::signal(SIGPIPE, SIG_IGN);
  // Made before the fork: after it, with other threads about, nothing may be allocated.
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw InputError("no child process could be started (fork); free some memory");
  if (child == 0) {
    dup2(to_child[0], STDIN_FILENO);
    dup2(from_child[1], STDOUT_FILENO);
    if (!errors.empty()) {
      const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      if (file >= 0) dup2(file, STDERR_FILENO);
    }
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(to_child[0]);
  close(from_child[1]);
  write_all(to_child[1], input);
  close(to_child[1]);
  ChildResult result;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = read(from_child[0], buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    result.output.append(buffer.data(), static_cast<size_t>(got));
  }
  close(from_child[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace eignn::cli
