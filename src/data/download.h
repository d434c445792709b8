#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace eignn {

struct DownloadOptions {
  std::string sha256;  ///< what the file must have; empty: not known

  /// Told the bytes that are there and the bytes there will be (-1: not known); false stops the download.
  std::function<bool(int64_t done, int64_t total)> progress;

  long connect_seconds = 30;  ///< to wait for an answer to the connection
  long silent_seconds = 60;   ///< to wait while nothing arrives
};

/// Thrown when `progress` said to stop; what has arrived is kept.
struct DownloadStopped {};

/// Downloads one file over HTTP or HTTPS, which appears under `path` whole and checked, or not at all;
/// returns its SHA-256 sum. An interrupted download leaves PATH.part, and the next goes on from there.
std::string download(const std::string& url, const std::string& path, const DownloadOptions& options);

}  // namespace eignn
