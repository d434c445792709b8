// The public data sets that have a name: where they are downloaded from, and where copies are on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/cache_folder.h"

namespace eignn {

struct RemoteFile {
  std::string url;
  std::string path;    ///< inside the set's folder
  std::string sha256;  ///< hex; empty: not known
  int64_t size = -1;   ///< bytes; -1: not known
};

struct NamedSet {
  std::string name;
  std::string description;             ///< one line, for people
  std::vector<RemoteFile> files;       ///< what is downloaded
  bool archive = false;                ///< the one file is a zip to unpack into the folder
  std::vector<std::string> needs;      ///< what lies in every copy of the folder
  std::string entry;                   ///< the one of them that a reader opens; empty: the folder
  std::vector<std::string> elsewhere;  ///< where else under a data folder a copy may lie
  std::string caveat;                  ///< what to know before figures on it are believed; docs/data.md

  /// The sum of the files' sizes; -1 when one is not known.
  int64_t size() const;
};

/// All of them, in the order in which they are listed.
const std::vector<NamedSet>& catalogue();
std::vector<std::string> catalogue_names();

/// The set of that name; null when there is none.
const NamedSet* named_set(const std::string& name);

/// The copy of a set in one data folder: the path that read_dataset_file() takes; nothing when it has none.
std::optional<std::string> find_in_folder(const NamedSet& set, const std::string& folder);

/// The first copy in these folders; nothing when there is none, or the name is not known.
std::optional<std::string> find_named_set(const std::string& name,
                                          const std::vector<std::string>& folders = data_folders());

/// The same, or an error with a remedy: ArgumentError (field "dataset") for an unknown name, DataError for a
/// set of which there is no copy.
std::string require_named_set(const std::string& name,
                              const std::vector<std::string>& folders = data_folders());

}  // namespace eignn
