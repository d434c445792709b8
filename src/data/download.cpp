// One file over HTTP, with libcurl.
//
// The bytes go to PATH.part. Beside it PATH.part.version holds what the server calls this version of the
// file: its ETag, else its Last-Modified. A later download asks for the missing range "if it is still that
// version" (Range and If-Range); a server that cannot give ranges, or has another version, sends the whole
// file, and PATH.part begins anew. Without a version, PATH.part is continued only if the checksum of the
// whole file is known: it would reveal a mixture of two versions.
#include "data/download.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "data/atomic_file.h"
#include "data/cache_folder.h"
#include "data/sha256.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

constexpr long partial_content = 206;
constexpr long range_not_satisfiable = 416;
constexpr const char* go_on = "run it again: it goes on where it stopped";

// The input and the state of one request.
struct Transfer {
  std::string part, version_file;
  int64_t start = 0;  // bytes that are present and not requested again
  const DownloadOptions* options = nullptr;

  CURL* curl = nullptr;
  FileHandle file;
  std::string etag, last_modified, content_range;  // of the last response, after redirections
  bool begun = false;
  bool wrong_range = false;
  int write_error = 0;
};

// The value in a response's header line "Name: value"; names are case-insensitive.
std::string_view value_of(std::string_view line, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (line.size() <= name.size() || line[name.size()] != ':') return {};
  if (!std::equal(name.begin(), name.end(), line.begin(), [&](char b, char a) { return same(a, b); }))
    return {};
  line.remove_prefix(name.size() + 1);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
  return line;
}

size_t on_head(char* data, size_t, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size);
  if (line.substr(0, 5) == "HTTP/") transfer.etag = transfer.last_modified = transfer.content_range = "";
  if (const auto value = value_of(line, "etag"); !value.empty()) transfer.etag = value;
  if (const auto value = value_of(line, "last-modified"); !value.empty()) transfer.last_modified = value;
  if (const auto value = value_of(line, "content-range"); !value.empty()) transfer.content_range = value;
  return size;
}

// Called when the response's header is known: decides whether its bytes continue the file or replace it.
bool begin(Transfer& transfer) {
  transfer.begun = true;
  long status = 0;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
  if (status != partial_content) transfer.start = 0;
  if (transfer.start > 0 && transfer.content_range.rfind(fmt::format("bytes {}-", transfer.start), 0) != 0) {
    transfer.wrong_range = true;
    return false;
  }
  std::FILE* file = transfer.file.get();
  if (ftruncate(fileno(file), transfer.start) != 0 || fseeko(file, transfer.start, SEEK_SET) != 0) {
    transfer.write_error = errno;
    return false;
  }
  if (transfer.start > 0) return true;
  // If-Range does not accept weak ETags, which do not guarantee equal bytes.
  const bool strong = !transfer.etag.empty() && transfer.etag.rfind("W/", 0) != 0;
  const std::string& version = strong ? transfer.etag : transfer.last_modified;
  std::error_code none;
  fs::remove(transfer.version_file, none);
  if (!version.empty()) write_file_atomically(transfer.version_file, version);
  return true;
}

size_t on_body(char* data, size_t, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    if (!transfer.begun && !begin(transfer)) return 0;
  } catch (const std::exception&) {  // must not pass through libcurl
    transfer.write_error = EIO;
    return 0;
  }
  const size_t written = std::fwrite(data, 1, size, transfer.file.get());
  if (written != size) transfer.write_error = errno;
  return written;
}

int on_progress(void* user, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(user);
  if (!transfer.options->progress) return 0;
  const int64_t there = transfer.start + done;
  return transfer.options->progress(there, total > 0 ? transfer.start + total : -1) ? 0 : 1;
}

template <class Value>
void set(CURL* curl, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(curl, option, value);
  if (code != CURLE_OK) throw ResourceError(fmt::format("libcurl: {}", curl_easy_strerror(code)), {}, {});
}

// No other protocols, and no redirection from HTTPS to HTTP.
void set_protocols(CURL* curl, const std::string& url) {
  const bool secure = url.rfind("https:", 0) == 0;
#if LIBCURL_VERSION_NUM >= 0x075500
  set(curl, CURLOPT_PROTOCOLS_STR, secure ? "https" : "http,https");
  set(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
#else
  const long allowed = secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS;
  set(curl, CURLOPT_PROTOCOLS, allowed);
  set(curl, CURLOPT_REDIR_PROTOCOLS, allowed);
#endif
}

// The curl command reads these variables, but the library does not (it reads only those of proxies).
void set_certificates(CURL* curl) {
  for (const char* variable : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const auto file = environment(variable); !file.empty()) {
      set(curl, CURLOPT_CAINFO, file.c_str());
      break;
    }
  if (const auto folder = environment("SSL_CERT_DIR"); !folder.empty())
    set(curl, CURLOPT_CAPATH, folder.c_str());
}

struct Answer {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string reason;
};

Answer request(const std::string& url, const std::string& version, Transfer& transfer) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(ready == CURLE_OK ? curl_easy_init() : nullptr,
                                                      curl_easy_cleanup);
  CURL* curl = transfer.curl = handle.get();
  if (curl == nullptr) throw ResourceError("libcurl does not start", {}, {});
  char reason[CURL_ERROR_SIZE] = "";
  set(curl, CURLOPT_ERRORBUFFER, reason);
  set(curl, CURLOPT_URL, url.c_str());
  set(curl, CURLOPT_USERAGENT, "eignn");
  set(curl, CURLOPT_NOSIGNAL, 1L);
  set(curl, CURLOPT_FAILONERROR, 1L);
  set(curl, CURLOPT_FOLLOWLOCATION, 1L);
  set(curl, CURLOPT_MAXREDIRS, 10L);
  set(curl, CURLOPT_CONNECTTIMEOUT, transfer.options->connect_seconds);
  set(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(curl, CURLOPT_LOW_SPEED_TIME, transfer.options->silent_seconds);
  set_protocols(curl, url);
  set_certificates(curl);
  set(curl, CURLOPT_HEADERFUNCTION, on_head);
  set(curl, CURLOPT_HEADERDATA, &transfer);
  set(curl, CURLOPT_WRITEFUNCTION, on_body);
  set(curl, CURLOPT_WRITEDATA, &transfer);
  set(curl, CURLOPT_NOPROGRESS, 0L);
  set(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  set(curl, CURLOPT_XFERINFODATA, &transfer);

  std::unique_ptr<curl_slist, void (*)(curl_slist*)> fields(nullptr, curl_slist_free_all);
  // Not CURLOPT_RESUME_FROM, which fails where the server sends the whole file.
  if (transfer.start > 0) {
    set(curl, CURLOPT_RANGE, fmt::format("{}-", transfer.start).c_str());
    if (!version.empty()) fields.reset(curl_slist_append(nullptr, ("If-Range: " + version).c_str()));
  }
  set(curl, CURLOPT_HTTPHEADER, fields.get());

  Answer answer;
  answer.code = curl_easy_perform(curl);
  // An empty file has no body, so that on_body() is not called.
  if (answer.code == CURLE_OK && !transfer.begun && !begin(transfer)) answer.code = CURLE_WRITE_ERROR;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.reason = *reason != '\0' ? reason : curl_easy_strerror(answer.code);
  std::replace(answer.reason.begin(), answer.reason.end(), '\n', ' ');
  return answer;
}

[[noreturn]] void fail(const Answer& answer, const std::string& url, const Transfer& transfer) {
  switch (answer.code) {
    case CURLE_ABORTED_BY_CALLBACK:
      throw DownloadStopped{};
    case CURLE_WRITE_ERROR:
      refuse_file("write", transfer.part, transfer.write_error);
    case CURLE_HTTP_RETURNED_ERROR:
      throw ResourceError(
          fmt::format("the server answered {}", answer.status), url,
          answer.status >= 500 ? "try again later, or use a mirror" : "use a mirror that has it");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_OPERATION_TIMEDOUT:
      throw ResourceError("the download broke off: " + answer.reason, url, go_on);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      throw ResourceError("the server cannot be trusted: " + answer.reason, url,
                          "name your certificates' file in SSL_CERT_FILE");
    default:
      throw ResourceError("cannot download: " + answer.reason, url,
                          "check the network and the proxy (https_proxy), or use a mirror");
  }
}

void flush_to_disk(Transfer& transfer) {
  std::FILE* file = transfer.file.get();
  if (std::fflush(file) != 0 || fsync(fileno(file)) != 0) refuse_file("write", transfer.part, errno);
  if (std::fclose(transfer.file.release()) != 0) refuse_file("write", transfer.part, errno);
}

}  // namespace

std::string download(const std::string& url, const std::string& path, const DownloadOptions& options) {
  Transfer transfer;
  transfer.part = path + ".part";
  transfer.version_file = transfer.part + ".version";
  transfer.options = &options;
  transfer.file.reset(std::fopen(transfer.part.c_str(), "abe"));  // creates it, or keeps its content
  if (transfer.file) transfer.file.reset(std::fopen(transfer.part.c_str(), "r+be"));
  if (!transfer.file) refuse_file("write", transfer.part, errno);

  std::error_code none;
  const std::string version =
      fs::exists(transfer.version_file, none) ? read_whole_file(transfer.version_file) : "";
  struct stat status = {};
  const bool resumable = !version.empty() || !options.sha256.empty();
  if (resumable && fstat(fileno(transfer.file.get()), &status) == 0) transfer.start = status.st_size;

  Answer answer = request(url, version, transfer);
  // The server has no bytes beyond those present, or has sent another range than the requested one.
  const bool no_such_range = answer.status == range_not_satisfiable && transfer.start > 0;
  if (no_such_range || transfer.wrong_range) {
    transfer.start = 0;
    transfer.begun = transfer.wrong_range = false;
    answer = request(url, "", transfer);
  }
  if (answer.code != CURLE_OK) {
    transfer.file.reset();
    if (fs::file_size(transfer.part, none) == 0) fs::remove(transfer.part, none);
    fail(answer, url, transfer);
  }
  flush_to_disk(transfer);

  const std::string sum = sha256_of_file(transfer.part);
  fs::remove(transfer.version_file, none);
  if (!options.sha256.empty() && sum != options.sha256) {
    fs::remove(transfer.part, none);
    refuse(fmt::format("the file has the SHA-256 sum {}, not {}", sum, options.sha256), url,
           "it was removed; try again, and if this repeats do not trust the server");
  }
  if (std::rename(transfer.part.c_str(), path.c_str()) != 0) refuse_file("write", path, errno);
  flush_folder(fs::path(path).parent_path().string());
  return sum;
}

}  // namespace eignn
