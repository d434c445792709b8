// T_p(S) X of an unfinished run, in files of its folder.
#pragma once

#include <string>

#include "eignn/solver.h"

namespace eignn {

/// A file for each set of nodes of each process, RUN/propagated/KEY.safetensors. A file that is missing or
/// damaged counts as not kept, and one that cannot be written is a warning: the products are made again.
class TermsFolder : public TermsStore {
 public:
  /// `worth`: terms that took fewer seconds are not kept.
  explicit TermsFolder(const std::string& run_folder, double worth = 2);

  std::vector<torch::Tensor> load(const std::string& key) override;
  void save(const std::string& key, const std::vector<torch::Tensor>& terms, double seconds) override;

 private:
  std::string path_;
  double worth_;
};

/// Removes what TermsFolder has kept.
void remove_terms(const std::string& run_folder);

}  // namespace eignn
