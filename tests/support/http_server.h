#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace eignn {

/// How the server answers for one path.
struct Page {
  Page(std::string sent = "", std::string version = "") : body(std::move(sent)), etag(std::move(version)) {}

  std::string body;
  std::string etag;           ///< with its quotes; empty: none is sent
  bool ranges = true;         ///< false: a Range is ignored and the whole body sent
  int64_t cut_after = -1;     ///< closes the connection after so many bytes of the body; -1: never
  bool stalls = false;        ///< sends nothing more where it would close the connection, until the end
  bool states_length = true;  ///< false: no Content-Length; the end of the connection ends the body
  int64_t range_shift = 0;    ///< answers a Range with bytes from elsewhere
  int status = 200;
  std::string redirect;  ///< an address; the status is then 302
};

/// A server on 127.0.0.1 that is as good or as bad as its pages say. One request per connection.
///
///     HttpServer server;
///     server.put("/a.txt", {"hello"});
///     download(server.url("/a.txt"), …);
class HttpServer {
 public:
  HttpServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || bind(listener_, any, size) != 0 || listen(listener_, 8) != 0 ||
        getsockname(listener_, any, &size) != 0) {
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    stopping_ = true;
    thread_.join();
    close(listener_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void put(const std::string& path, const Page& page) {
    const std::lock_guard<std::mutex> lock(mutex_);
    pages_[path] = page;
  }
  std::string url(const std::string& path) const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }

  /// The heads of all requests so far.
  std::vector<std::string> requests() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }

 private:
  static constexpr int patience_ms = 20;

  void serve() {
    while (!stopping_) {
      pollfd waiting = {listener_, POLLIN, 0};
      if (poll(&waiting, 1, patience_ms) <= 0) continue;
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) continue;
      answer(connection);
      close(connection);
    }
  }

  static void send_all(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  static std::string field(const std::string& head, const std::string& name) {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

  void answer(int connection) {
    std::string head;
    char chunk[4096];
    while (head.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = recv(connection, chunk, sizeof(chunk), 0);
      if (got <= 0) return;
      head.append(chunk, static_cast<size_t>(got));
    }
    const size_t begin = head.find(' ') + 1;
    const std::string path = head.substr(begin, head.find(' ', begin) - begin);
    Page page;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(head);
      const auto found = pages_.find(path);
      if (found == pages_.end()) {
        page.status = 404;
        page.body = "no such page";
      } else {
        page = found->second;
      }
    }
    respond(connection, page, head);
  }

  void respond(int connection, Page page, const std::string& head) {
    std::string fields = "Connection: close\r\n";
    if (!page.redirect.empty()) {
      page.status = 302;
      fields += "Location: " + page.redirect + "\r\n";
    }
    const std::string range = field(head, "Range"), condition = field(head, "If-Range");
    size_t start = 0;
    if (page.status == 200 && page.ranges && !range.empty() &&
        (condition.empty() || condition == page.etag)) {
      start = std::stoul(range.substr(range.find('=') + 1)) + static_cast<size_t>(page.range_shift);
      page.status = start < page.body.size() ? 206 : 416;
      fields += page.status == 206 ? fmt::format("Content-Range: bytes {}-{}/{}\r\n", start,
                                                 page.body.size() - 1, page.body.size())
                                   : fmt::format("Content-Range: bytes */{}\r\n", page.body.size());
      if (page.status == 416) start = page.body.size();
    }
    if (!page.etag.empty()) fields += "ETag: " + page.etag + "\r\n";
    std::string_view body = std::string_view(page.body).substr(start);
    if (page.states_length) fields += fmt::format("Content-Length: {}\r\n", body.size());
    send_all(connection, fmt::format("HTTP/1.1 {} Whatever\r\n{}\r\n", page.status, fields));
    if (page.cut_after >= 0) body = body.substr(0, static_cast<size_t>(page.cut_after));
    send_all(connection, body);
    while (page.stalls && !stopping_) std::this_thread::sleep_for(std::chrono::milliseconds(patience_ms));
  }

  int listener_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // of the two below
  std::map<std::string, Page> pages_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace eignn
