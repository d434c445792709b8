#include "eignn/spectrum_cache.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>

#include "data/cache_folder.h"
#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "graph/content_hash.h"

namespace eignn {

namespace {

std::string fingerprint(const SafeTensors& content) {
  ContentHash hash;
  for (const auto& [name, tensor] : content.tensors) {
    hash.add(name.data(), name.size());
    hash.add(tensor.shape);
    hash.add(tensor.bytes);
  }
  return hash.hex();
}

void warn(const std::string& message) {
  fmt::print(stderr, "eignn: warning: {}\n", message);
}

}  // namespace

SpectrumCache::SpectrumCache(std::string folder)
    : folder_((folder.empty() ? cache_folder() : std::move(folder)) + "/spectra") {}

std::string SpectrumCache::path_of(const std::string& key) const {
  return folder_ + "/" + key + ".safetensors";
}

bool SpectrumCache::load(const std::string& key, std::vector<EigenBlock>& blocks) {
  const std::string path = path_of(key);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return false;
  try {
    const SafeTensors content = read_safetensors(path);
    const auto stated = content.metadata.find("fingerprint");
    if (stated == content.metadata.end() || stated->second != fingerprint(content))
      throw InputError(fmt::format("the content does not match its fingerprint ({})", path));
    blocks.clear();
    for (size_t k = 0; 2 * k < content.tensors.size(); ++k) {
      const auto values = to_tensor(content.tensors.at(fmt::format("values.{}", k)));
      const auto vectors = to_tensor(content.tensors.at(fmt::format("vectors.{}", k)));
      blocks.push_back({values, vectors});
    }
    return true;
  } catch (const std::exception& error) {
    warn(fmt::format("a cached spectrum is damaged and is computed anew: {}", error.what()));
    return false;
  }
}

void SpectrumCache::save(const std::string& key, const std::vector<EigenBlock>& blocks) {
  try {
    std::filesystem::create_directories(folder_);
    SafeTensors content;
    for (size_t k = 0; k < blocks.size(); ++k) {
      content.tensors[fmt::format("values.{}", k)] = to_bytes(blocks[k].values);
      content.tensors[fmt::format("vectors.{}", k)] = to_bytes(blocks[k].vectors);
    }
    content.metadata["format"] = "eignn-spectrum-1";
    content.metadata["fingerprint"] = fingerprint(content);
    write_safetensors(path_of(key), content);
  } catch (const std::exception& error) {
    warn(fmt::format("the spectrum could not be cached: {}", error.what()));
  }
}

}  // namespace eignn
