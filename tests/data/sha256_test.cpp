#include "data/sha256.h"

#include <gtest/gtest.h>

#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, HasThePublishedSums) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  const std::string million(1000000, 'a');
  EXPECT_EQ(sha256_of_file(folder.write("a", million)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_of_file(folder.write("b", "")), sha256_of(""));
  EXPECT_CONTAINS(message_of<DataError>([&] { sha256_of_file(folder.path("none")); }), "none");
}

}  // namespace
}  // namespace eignn
