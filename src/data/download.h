#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace eignn {

struct DownloadOptions {
  std::string sha256;  ///< the expected sum; empty: not known

  /// Called with the bytes that are present and the total (-1: not known); returning false stops the
  /// download.
  std::function<bool(int64_t done, int64_t total)> progress;

  long connect_seconds = 30;  ///< to wait for a connection
  long silent_seconds = 60;   ///< to wait without receiving a byte
};

/// Thrown when `progress` returned false; the bytes received so far are kept.
struct DownloadStopped {};

/// Downloads one file over HTTP or HTTPS, which appears under `path` whole and checked, or not at all;
/// returns its SHA-256 sum. An interrupted download leaves PATH.part, and the next goes on from there.
std::string download(const std::string& url, const std::string& path, const DownloadOptions& options);

}  // namespace eignn
