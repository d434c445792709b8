// Downloads a data set into a data folder.
//
// Its files are collected in NAME.part, which is renamed to NAME at the very end: an interrupted or wrong
// download is never taken for a data set, and the next attempt continues it. The set's folder gets a
// SHA256SUMS in the format of `sha256sum`, with the addresses as comments.
#include "data/fetch_set.h"

#include <fmt/format.h>

#include "data/text_lines.h"

namespace eignn {

std::string on_mirror(const std::string& url, const std::string& mirror) {
  if (mirror.empty()) return url;
  const size_t host = url.find("://") + 3;
  const size_t path = std::min(url.find('/', host), url.size());
  std::string_view base = mirror;
  while (!base.empty() && base.back() == '/') base.remove_suffix(1);
  return std::string(base) + url.substr(path);
}

}  // namespace eignn

#ifdef EIGNN_HAVE_CURL

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/download.h"
#include "data/sha256.h"
#include "data/unzip.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

constexpr const char* sums_file = "SHA256SUMS";

using Sums = std::map<std::string, std::string>;  // of paths inside the set's folder

// Keeps two processes from downloading into the same folder.
class DownloadLock {
 public:
  explicit DownloadLock(const std::string& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) refuse_file("read", folder, errno);
    // A file system without locks does not prevent the download.
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    close(descriptor_);
    throw ResourceError("another download is at work here", folder, "wait for it");
  }
  ~DownloadLock() { close(descriptor_); }
  DownloadLock(const DownloadLock&) = delete;
  DownloadLock& operator=(const DownloadLock&) = delete;

 private:
  int descriptor_;
};

std::string format_sums(const Sums& sums, const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) text += "# " + comment + "\n";
  for (const auto& [path, sum] : sums) text += fmt::format("{}  {}\n", sum, path);
  return text;
}

Sums read_sums(const std::string& path) {
  constexpr size_t digits = 64;
  const std::string text = read_whole_file(path);
  TextLines lines(text, path);
  Sums sums;
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (line.empty() || line.front() == '#') continue;
    if (line.size() < digits + 3 || line.substr(digits, 2) != "  ")
      lines.refuse("not 'SUM  FILE': " + quote(line), "delete the folder and fetch the set again");
    sums[std::string(line.substr(digits + 2))] = line.substr(0, digits);
  }
  return sums;
}

// Checks an existing copy against the sums of the catalogue and those recorded in SHA256SUMS.
Fetched check_copy(const NamedSet& set, const std::string& folder, Fetched result) {
  Sums expected;
  if (const std::string path = folder + "/" + sums_file; fs::exists(path)) expected = read_sums(path);
  for (const RemoteFile& file : set.files)
    if (!set.archive && !file.sha256.empty()) expected[file.path] = file.sha256;
  for (const auto& [file, sum] : expected) {
    const std::string path = folder + "/" + file;
    if (const std::string actual = sha256_of_file(path); actual != sum)
      refuse(fmt::format("the file has the SHA-256 sum {}, not {}", actual, sum), path,
             fmt::format("move {} away and fetch the set again", folder));
    ++result.files;
  }
  return result;
}

// What is still to be downloaded, where the catalogue knows the sizes.
double bytes_to_fetch(const NamedSet& set, const std::string& folder) {
  double sum = 0;
  for (const RemoteFile& file : set.files) {
    const std::string path = folder + "/" + file.path;
    std::error_code missing;
    if (file.size < 0 || fs::exists(path, missing)) continue;
    const auto there = fs::file_size(path + ".part", missing);
    sum += std::max(0.0, static_cast<double>(file.size) - (missing ? 0.0 : static_cast<double>(there)));
  }
  return sum;
}

// Downloads the files of the catalogue into NAME.part and returns their sums.
Sums collect(const NamedSet& set, const FetchOptions& options, const std::string& folder) {
  Sums sums;
  int64_t before = 0;
  const int64_t total = set.size();
  for (const RemoteFile& file : set.files) {
    const std::string path = folder + "/" + file.path;
    make_folders(fs::path(path).parent_path().string());
    std::string& sum = sums[file.path];
    // A file that an interrupted attempt has completed is not downloaded again.
    if (fs::exists(path)) sum = sha256_of_file(path);
    if (sum.empty() || (!file.sha256.empty() && sum != file.sha256)) {
      DownloadOptions one;
      one.sha256 = file.sha256;
      if (options.progress)
        one.progress = [&](int64_t done, int64_t size) {
          return options.progress(before + done, total >= 0 ? total : size);
        };
      sum = download(on_mirror(file.url, options.mirror), path, one);
    }
    before += std::max<int64_t>(file.size, 0);
  }
  return sums;
}

// Unpacks the archive of the set into the folder `unpacked` beside it, removes the archive, and returns the
// sums of its files.
Sums unpack(const NamedSet& set, const std::string& folder) {
  const std::string archive = folder + "/" + set.files.front().path, inside = folder + "/unpacked";
  remove_folder(inside);  // of an interrupted attempt
  make_folders(inside);
  Sums sums;
  try {
    for (const std::string& file : unpack_zip(archive, inside))
      sums[file] = sha256_of_file(inside + "/" + file);
    for (const std::string& file : set.needs)
      if (sums.count(file) == 0)
        refuse("the archive lacks " + quote(file), archive, "get the set from another place");
  } catch (const Error&) {
    remove_folder(inside);
    fs::remove(archive);  // so that the next attempt downloads it again
    throw;
  }
  fs::remove(archive);
  return sums;
}

}  // namespace

Fetched fetch_set(const NamedSet& set, const FetchOptions& options) {
  const std::string folder = options.folder + "/" + set.name, part = folder + ".part";
  Fetched result;
  if (const auto copy = find_in_folder(set, options.folder)) {
    result.path = *copy;
    const bool ours = copy->rfind(folder + "/", 0) == 0 || *copy == folder;
    return ours ? check_copy(set, folder, result) : result;
  }
  if (fs::exists(fs::symlink_status(folder)))
    throw ResourceError("something is in the way that is not the whole set", folder, "move it away");
  make_folders(part);
  const DownloadLock lock(part);

  require_space(part, bytes_to_fetch(set, part), set.name);
  Sums sums = collect(set, options, part);
  std::vector<std::string> comments;
  for (const RemoteFile& file : set.files) {
    result.sums_recorded = result.sums_recorded || file.sha256.empty();
    comments.push_back(set.archive ? fmt::format("{} {}", sums[file.path], file.url) : file.url);
  }
  std::string whole = part;
  if (set.archive) {
    sums = unpack(set, part);
    whole = part + "/unpacked";
  }
  write_file_atomically(whole + "/" + sums_file, format_sums(sums, comments));
  flush_folder(whole);
  if (std::rename(whole.c_str(), folder.c_str()) != 0) refuse_file("write", folder, errno);
  if (set.archive) remove_folder(part);
  flush_folder(options.folder);

  result.downloaded = true;
  result.files = static_cast<int64_t>(sums.size());
  result.path = set.entry.empty() ? folder : folder + "/" + set.entry;
  return result;
}

}  // namespace eignn

#else  // without libcurl

namespace eignn {

Fetched fetch_set(const NamedSet& set, const FetchOptions& options) {
  throw ResourceError("this build cannot download", set.name,
                      fmt::format("rebuild it with libcurl, libcrypto and libzip, or put a copy into {}/{}",
                                  options.folder, set.name));
}

}  // namespace eignn

#endif
