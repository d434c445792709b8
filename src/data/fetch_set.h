#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "data/catalogue.h"

namespace eignn {

struct FetchOptions {
  std::string folder;  ///< the data folder in which the set's own will lie
  std::string mirror;  ///< "https://host/path" in place of every address's scheme and host; empty: none

  /// Told the bytes of the set that are there and how many there will be (-1: not known); false stops.
  std::function<bool(int64_t done, int64_t total)> progress;
};

struct Fetched {
  std::string path;            ///< what a reader opens
  bool downloaded = false;     ///< false: it was there
  int64_t files = 0;           ///< that were downloaded and unpacked, or checked
  bool sums_recorded = false;  ///< not known before; now in the folder's SHA256SUMS
};

/// Downloads a set into FOLDER/NAME, which appears whole and checked or not at all; a set that is there is
/// checked against the sums that are known or were recorded. Throws DownloadStopped when `progress` says so.
Fetched fetch_set(const NamedSet& set, const FetchOptions& options);

/// The address of a file on a mirror: "https://host/a/b.zip" and the mirror "http://other/x" make
/// "http://other/x/a/b.zip".
std::string on_mirror(const std::string& url, const std::string& mirror);

}  // namespace eignn
