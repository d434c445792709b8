#include "run/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "data/atomic_file.h"
#include "eignn/error.h"

namespace eignn {

namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw ResourceError(std::string(what) + ": " + std::generic_category().message(error), "child process",
                      "close some files, or free some memory");
}

// An open file that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

struct Pipe {
  Descriptor read, write;
};

// Closed on exec: a child that another thread starts at the same time must not hold our pipes open.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe could be made", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// In the child: makes `from` its standard stream `to`. dup2 onto itself would leave it to be closed on exec.
void become(int from, int to) {
  if (from == to)
    fcntl(from, F_SETFD, 0);
  else
    dup2(from, to);
}

// While this lives, a write to a pipe that nobody reads any more fails in this thread (EPIPE) without the
// signal that would end the process.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigset_t pending;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) == -1 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

// A process that is waited for, and killed first when an exception passes by.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ < 0) return;
    kill(id_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t id_;
};

// Feeds `input` to one pipe and collects the other's bytes, each as the child is ready for it. Writing all of
// the input first would wait for ever on a child that waits for us to read its output.
std::string exchange(Descriptor to_child, const Descriptor& from_child, const std::string& input) {
  const NoBrokenPipeSignal guard;
  fcntl(to_child.number(), F_SETFL, fcntl(to_child.number(), F_GETFL) | O_NONBLOCK);
  std::string output;
  std::array<char, 1 << 16> buffer{};
  size_t written = 0;
  while (true) {
    if (written == input.size()) to_child.close();
    std::array<pollfd, 2> ends{
        {{from_child.number(), POLLIN, 0}, {to_child.number(), POLLOUT, 0}}};  // -1 is skipped by poll
    if (poll(ends.data(), ends.size(), -1) < 0) {
      if (errno == EINTR) continue;
      fail("waiting for its output failed", errno);
    }
    if (ends[1].revents != 0) {
      const ssize_t count = write(to_child.number(), input.data() + written, input.size() - written);
      if (count > 0) written += static_cast<size_t>(count);
      // The child has closed its input: its exit code will tell.
      if (count < 0 && errno != EINTR && errno != EAGAIN) written = input.size();
    }
    if (ends[0].revents != 0) {
      const ssize_t count = read(from_child.number(), buffer.data(), buffer.size());
      if (count == 0) return output;
      if (count > 0) output.append(buffer.data(), static_cast<size_t>(count));
      if (count < 0 && errno != EINTR && errno != EAGAIN) fail("its output could not be read", errno);
    }
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, const std::string& input,
                      const std::string& errors) {
  if (arguments.empty()) throw ArgumentError("arguments", "there is no program to run", "name one");
  Pipe to_child = make_pipe(), from_child = make_pipe();
  Descriptor error_file;
  if (!errors.empty()) {
    error_file = Descriptor(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (error_file.number() < 0) refuse_file("write", errors, errno);
  }
  // Made before the fork: after it, with other threads about, nothing may be allocated.
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t id = fork();
  if (id < 0) fail("no process could be started", errno);
  if (id == 0) {
    become(to_child.read.number(), STDIN_FILENO);
    become(from_child.write.number(), STDOUT_FILENO);
    if (error_file.number() >= 0) become(error_file.number(), STDERR_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Child child(id);
  to_child.read.close();
  from_child.write.close();
  ChildResult result;
  result.output = exchange(std::move(to_child.write), from_child.read, input);
  result.exit_code = child.wait();
  return result;
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace eignn
