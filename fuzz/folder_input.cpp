#include "folder_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "data/atomic_file.h"
#include "data/cache_folder.h"

namespace eignn {
namespace {

const std::string& folder() {
  static const std::string parent = environment("TMPDIR");
  static const std::string path =
      fmt::format("{}/eignn-fuzz-{}", parent.empty() ? "/dev/shm" : parent, getpid());
  return path;
}

}  // namespace

std::string write_folder(std::string_view bytes, const std::vector<std::string>& files) {
  constexpr std::string_view separator = "\n====\n";
  bool more = true;
  for (const std::string& file : files) {
    const std::string path = folder() + "/" + file;
    std::remove(path.c_str());
    if (!more) continue;
    const size_t end = bytes.find(separator);
    const std::string_view piece = bytes.substr(0, end);
    more = end != std::string_view::npos;
    if (more) bytes.remove_prefix(end + separator.size());
    make_folders(path.substr(0, path.rfind('/')));
    const FileHandle out(std::fopen(path.c_str(), "wbe"));
    if (!out || std::fwrite(piece.data(), 1, piece.size(), out.get()) != piece.size()) std::abort();
  }
  return folder();
}

}  // namespace eignn
