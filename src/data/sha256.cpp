#include "data/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "data/atomic_file.h"
#include "eignn/error.h"

namespace eignn {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* data, size_t size) { require(EVP_DigestUpdate(context_.get(), data, size) == 1); }
  std::string hex() {
    unsigned char digest[32];
    require(EVP_DigestFinal_ex(context_.get(), digest, nullptr) == 1);
    std::string text;
    for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  static void require(bool done) {
    if (!done)
      throw ResourceError("OpenSSL has no SHA-256 here", "checksum", "check how OpenSSL is configured");
  }
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes.data(), bytes.size());
  return sum.hex();
}

std::string sha256_of_file(const std::string& path) {
  const FileHandle file = open_for_reading(path);
  Sha256 sum;
  std::vector<unsigned char> chunk(size_t{1} << 16);
  while (const size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) sum.add(chunk.data(), got);
  if (std::ferror(file.get()) != 0) refuse_file("read", path, errno);
  return sum.hex();
}

}  // namespace eignn
