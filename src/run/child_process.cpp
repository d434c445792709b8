#include "run/child_process.h"

#include <fcntl.h>
#include <poll.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
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

// A file descriptor that is closed by the destructor.
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

// O_CLOEXEC: a child that another thread starts at the same time must not keep our pipes open.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe could be made", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// In the child: makes `from` its standard stream `to`. dup2 of a descriptor onto itself would keep O_CLOEXEC.
void redirect(int from, int to) {
  if (from == to)
    fcntl(from, F_SETFD, 0);
  else
    dup2(from, to);
}

// In the child: ends with the thread that forked it, which waits for it and so lives as long as `parent`
// does. The program begins with the handling of SIGPIPE that it expects, whatever ours is.
void die_with(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(128 + SIGKILL);  // it died before the line above
  std::signal(SIGPIPE, SIG_DFL);
}

// Blocks SIGPIPE in this thread during its lifetime, so that a write to a closed pipe fails with EPIPE
// instead of ending the process.
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

// A child process. The destructor kills it and waits for it, unless wait() was called.
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

  void send(int signal) const { kill(id_, signal); }
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

// Writes `input` to one pipe and reads the other as the child is ready. Writing all of the input first would
// deadlock with a child that waits for its output to be read.
std::string exchange(Descriptor to_child, const Descriptor& from_child, const std::string& input,
                     const Child& child, std::function<int()> stop) {
  constexpr int ask_every = 200;  // ms
  const NoBrokenPipeSignal guard;
  fcntl(to_child.number(), F_SETFL, fcntl(to_child.number(), F_GETFL) | O_NONBLOCK);
  std::string output;
  std::array<char, 1 << 16> buffer{};
  size_t written = 0;
  while (true) {
    if (written == input.size()) to_child.close();
    std::array<pollfd, 2> ends{
        {{from_child.number(), POLLIN, 0}, {to_child.number(), POLLOUT, 0}}};  // -1 is skipped by poll
    if (const int signal = stop ? stop() : 0) {
      child.send(signal);
      stop = nullptr;  // once
    }
    if (poll(ends.data(), ends.size(), stop ? ask_every : -1) < 0) {
      if (errno == EINTR) continue;
      fail("waiting for its output failed", errno);
    }
    if (ends[1].revents != 0) {
      const ssize_t count = write(to_child.number(), input.data() + written, input.size() - written);
      if (count > 0) written += static_cast<size_t>(count);
      // The child has closed its input; its exit code shows whether it failed.
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
                      const std::string& errors, const std::function<int()>& stop) {
  if (arguments.empty()) throw ArgumentError("arguments", "there is no program to run", "name one");
  Pipe to_child = make_pipe(), from_child = make_pipe();
  Descriptor error_file;
  if (!errors.empty()) {
    error_file = Descriptor(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (error_file.number() < 0) refuse_file("write", errors, errno);
  }
  // Made before the fork: in the child of a process with several threads memory must not be allocated.
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t id = fork();
  if (id < 0) fail("no process could be started", errno);
  if (id == 0) {
    die_with(parent);
    redirect(to_child.read.number(), STDIN_FILENO);
    redirect(from_child.write.number(), STDOUT_FILENO);
    if (error_file.number() >= 0) redirect(error_file.number(), STDERR_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Child child(id);
  to_child.read.close();
  from_child.write.close();
  ChildResult result;
  result.output = exchange(std::move(to_child.write), from_child.read, input, child, stop);
  result.exit_code = child.wait();
  return result;
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace eignn
