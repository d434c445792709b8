#include "run/terms_folder.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "eignn/warning.h"

namespace eignn {

namespace {

constexpr const char* format = "eignn-terms-1";

std::string folder_of(const std::string& run_folder) {
  return run_folder + "/propagated";
}

std::string name_of(size_t term) {
  return fmt::format("T{:04}", term);
}

}  // namespace

TermsFolder::TermsFolder(const std::string& run_folder, double worth)
    : path_(folder_of(run_folder)), worth_(worth) {}

std::vector<torch::Tensor> TermsFolder::load(const std::string& key) {
  const std::string path = path_ + "/" + key + ".safetensors";
  if (!std::filesystem::exists(path)) return {};
  try {
    const SafeTensors content = read_safetensors(path);
    check_seal(content, path, /*required=*/true);
    const auto written = content.metadata.find("format");
    if (written == content.metadata.end() || written->second != format) return {};
    std::vector<torch::Tensor> terms;
    for (size_t term = 0; term < content.tensors.size(); ++term)
      terms.push_back(to_tensor(content.tensors.at(name_of(term))));
    return terms;
  } catch (const std::exception&) {  // as if it had not been kept
    return {};
  }
}

void TermsFolder::save(const std::string& key, const std::vector<torch::Tensor>& terms, double seconds) {
  if (seconds < worth_) return;
  SafeTensors content;
  for (size_t term = 0; term < terms.size(); ++term) content.tensors[name_of(term)] = to_bytes(terms[term]);
  content.metadata["format"] = format;
  seal(content);
  try {
    make_folders(path_);
    write_safetensors(path_ + "/" + key + ".safetensors", content);
  } catch (const ResourceError& error) {
    warn(fmt::format("the products with S are not kept, and a run that goes on makes them again: {}",
                     error.what()));
  }
}

void remove_terms(const std::string& run_folder) {
  remove_folder(folder_of(run_folder));
}

}  // namespace eignn
