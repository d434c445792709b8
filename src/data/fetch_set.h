#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "data/catalogue.h"

namespace eignn {

struct FetchOptions {
  std::string folder;  ///< the data folder in which the set's folder is made
  std::string mirror;  ///< "https://host/path" in place of every address's scheme and host; empty: none

  /// Called with the bytes of the set that are present and the total (-1: not known); returning false stops.
  std::function<bool(int64_t done, int64_t total)> progress;
};

struct Fetched {
  std::string path;            ///< what a reader opens
  bool downloaded = false;     ///< false: there was a copy already
  int64_t files = 0;           ///< number of files downloaded and unpacked, or checked
  bool sums_recorded = false;  ///< the catalogue has no sums; they are now in SHA256SUMS
};

/// Downloads a set into FOLDER/NAME, which appears whole and checked or not at all. A set that is already
/// there is checked against the sums that are known or were recorded. Throws DownloadStopped when `progress`
/// returns false.
Fetched fetch_set(const NamedSet& set, const FetchOptions& options);

/// The address of a file on a mirror: "https://host/a/b.zip" and the mirror "http://other/x" make
/// "http://other/x/a/b.zip".
std::string on_mirror(const std::string& url, const std::string& mirror);

}  // namespace eignn
