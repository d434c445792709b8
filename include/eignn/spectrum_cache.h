// A cache of eigenbases of S on disk, so that a graph is decomposed only once.
#pragma once

#include <string>

#include "eignn/solver.h"

namespace eignn {

/// A folder of safetensors files, each named by a hash of its matrix. Files are written under a temporary
/// name and renamed; on loading they are mapped into memory, and each tensor is checked against its checksum.
/// A damaged file gives a warning (eignn/warning.h), and the spectrum is computed and written again. A folder
/// that cannot be written gives a warning and does not end the run.
///
/// A file in use may be replaced or removed, but must not be truncated or written in place.
class SpectrumCache : public SpectrumStore {
 public:
  /// Files are kept in the subfolder `spectra`. Empty: of $EIGNN_CACHE, else $XDG_CACHE_HOME/eignn, else
  /// ~/.cache/eignn.
  explicit SpectrumCache(std::string folder = {});

  bool load(const std::string& key, std::vector<EigenBlock>& blocks) override;
  void save(const std::string& key, const std::vector<EigenBlock>& blocks) override;

  std::string path_of(const std::string& key) const;

 private:
  std::string folder_;
};

}  // namespace eignn
