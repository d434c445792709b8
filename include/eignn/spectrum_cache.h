// Eigenbases of S on disk, so that a graph is decomposed once.
#pragma once

#include <string>

#include "eignn/solver.h"

namespace eignn {

/// A folder of safetensors files, each named by the content of the matrix it belongs to. Written under a
/// temporary name and renamed; mapped into memory on loading, each tensor checked against its checksum. A
/// file that does not check is told to the listener of eignn/warning.h, and the spectrum computed and written
/// anew. A folder that cannot be written costs the cache, not the run.
///
/// A mapped file may be replaced or removed while it is in use, but must not be cut or written in place.
class SpectrumCache : public SpectrumStore {
 public:
  /// Empty: $EIGNN_CACHE, else $XDG_CACHE_HOME/eignn, else ~/.cache/eignn.
  explicit SpectrumCache(std::string folder = {});

  bool load(const std::string& key, std::vector<EigenBlock>& blocks) override;
  void save(const std::string& key, const std::vector<EigenBlock>& blocks) override;

  std::string path_of(const std::string& key) const;

 private:
  std::string folder_;
};

}  // namespace eignn
