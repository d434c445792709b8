// For each block k, counted from the largest, a file has the tensors Qt.k (size, size) with an eigenvector in
// each row, as LAPACK returns them, and lambda.k (size). The metadata has a checksum under the name of each
// tensor, and the key of the matrix. Files are mapped, not read: the eigenvectors are in the system's page
// cache, which all processes share.
#include "eignn/spectrum_cache.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>

#include "data/cache_folder.h"
#include "data/mapped_file.h"
#include "data/safetensors.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "graph/content_hash.h"

namespace eignn {

namespace {

const std::string family = "eignn-spectrum-", format = family + "3";

// With these names the largest Qt is the first tensor of the file, where the data is aligned.
std::string vectors_name(size_t place) {
  return fmt::format("Qt.{}", place);
}
std::string values_name(size_t place) {
  return fmt::format("lambda.{}", place);
}

// Pieces of the tensor are hashed in parallel; the checksum is the hash of its name, its shape and the hashes
// of the pieces.
std::string checksum(const std::string& name, const TensorView& tensor) {
  constexpr size_t piece = size_t{1} << 20;
  const size_t pieces = (tensor.size + piece - 1) / piece;
  std::vector<std::string> prints(pieces);
  at::parallel_for(0, static_cast<int64_t>(pieces), 1, [&](int64_t first, int64_t last) {
    for (size_t k = first; k < static_cast<size_t>(last); ++k) {
      ContentHash hash;
      hash.add(tensor.data + k * piece, std::min(piece, tensor.size - k * piece));
      prints[k] = hash.hex();
    }
  });
  ContentHash hash;
  hash.add(name.data(), name.size());
  hash.add(tensor.shape);
  for (const std::string& print : prints) hash.add(print.data(), print.size());
  return hash.hex();
}

// Empty where there is none.
std::string metadata_of(const SafeTensorsView& content, const std::string& key) {
  const auto found = content.metadata.find(key);
  return found == content.metadata.end() ? "" : found->second;
}

[[noreturn]] void damaged(const std::string& what, const std::string& path) {
  throw DataError(path, {}, what);
}

// The tensor of this name as a view of the mapped file, after a check of its bytes.
torch::Tensor checked(const SafeTensorsView& content, const std::string& name,
                      const std::shared_ptr<const MappedFile>& file, const std::string& path) {
  const auto found = content.tensors.find(name);
  if (found == content.tensors.end()) damaged(name + " is missing", path);
  if (metadata_of(content, name) != checksum(name, found->second))
    damaged(name + " does not match its checksum", path);
  return tensor_over(found->second, file);
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
    const auto file = std::make_shared<const MappedFile>(path);
    const SafeTensorsView content = view_safetensors(file->bytes(), path);
    const std::string stated = metadata_of(content, "format");
    if (stated.rfind(family, 0) != 0) damaged("it has no known format", path);
    if (stated != format) return false;  // another version of the format: recomputed without a warning
    if (metadata_of(content, "matrix") != key) damaged("it belongs to another matrix", path);
    blocks.assign(content.tensors.size() / 2, {});
    for (size_t place = 0; place < blocks.size(); ++place)
      blocks[blocks.size() - 1 - place] = {checked(content, values_name(place), file, path),
                                           checked(content, vectors_name(place), file, path).t()};
    return true;
  } catch (const std::exception& error) {
    warn(fmt::format("a cached spectrum is damaged and is computed anew: {}", error.what()));
    return false;
  }
}

void SpectrumCache::save(const std::string& key, const std::vector<EigenBlock>& blocks) {
  try {
    std::filesystem::create_directories(folder_);
    SafeTensorsView content;
    std::vector<torch::Tensor> kept;  // owns the memory of the views
    const auto add = [&](const std::string& name, const torch::Tensor& tensor) {
      kept.push_back(tensor.detach().to(torch::kCPU).contiguous());
      const TensorView view = view_of(kept.back());
      content.tensors[name] = view;
      content.metadata[name] = checksum(name, view);
    };
    for (size_t place = 0; place < blocks.size(); ++place) {
      const EigenBlock& block = blocks[blocks.size() - 1 - place];
      add(values_name(place), block.values);
      add(vectors_name(place), block.vectors.t());
    }
    content.metadata["format"] = format;
    content.metadata["matrix"] = key;
    write_safetensors(path_of(key), content, /*alignment=*/64);
  } catch (const std::exception& error) {
    warn(fmt::format("the spectrum could not be cached: {}", error.what()));
  }
}

}  // namespace eignn
