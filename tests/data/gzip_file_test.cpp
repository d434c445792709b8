#include "data/gzip_file.h"

#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/gzip.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

// All blocks, each of which must begin where its line number says.
std::string text_of(TextBlocks& blocks) {
  std::string text;
  while (blocks.next()) {
    EXPECT_EQ(blocks.first_line(), 1 + std::count(text.begin(), text.end(), '\n'));
    EXPECT_FALSE(blocks.block().empty());
    text += blocks.block();
  }
  EXPECT_FALSE(blocks.next()) << "the end stays the end";
  return text;
}

std::string read(const std::string& path) {
  TextBlocks blocks(path);
  return text_of(blocks);
}

std::string many_lines() {
  std::string text;
  for (int k = 0; k < 400000; ++k) text += std::to_string(k * 7919LL) + "\n";
  return text + "the last";
}

TEST(GzipFile, ReadsPlainTextInWholeLines) {
  const TemporaryFolder folder;
  EXPECT_EQ(read(folder.write("a.csv", "1\n2\n")), "1\n2\n");
  EXPECT_EQ(read(folder.write("a.csv", "1\r\n2")), "1\r\n2");
  EXPECT_EQ(read(folder.write("a.csv", "")), "");
  EXPECT_EQ(read(folder.write("a.csv", "\x1f")), "\x1f");
  EXPECT_EQ(read(folder.write("a.csv", many_lines())), many_lines());
  EXPECT_CONTAINS(message_of<DataError>([&] { read(folder.path("none.csv")); }), folder.path("none.csv"));
}

TEST(GzipFile, RefusesALineWithoutEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.csv", "1\n" + std::string(100 << 20, 'x'));
  EXPECT_CONTAINS(message_of<DataError>([&] { read(path); }),
                  "a line of more than 67108864 bytes (" + path + ", line 2)");
}

#ifdef EIGNN_HAVE_ZLIB

std::string read_bytes(const std::string& bytes) {
  std::string copy = bytes;
  TextBlocks blocks(FileHandle(fmemopen(copy.data(), copy.size(), "rb")), "G.gz");
  return text_of(blocks);
}

TEST(GzipFile, UnpacksWhateverTheNameIs) {
  const TemporaryFolder folder;
  EXPECT_EQ(read(folder.write("a.csv", gzip("1\n2"))), "1\n2");
  EXPECT_EQ(read(folder.write("a.csv.gz", gzip(many_lines()))), many_lines());
  EXPECT_EQ(read_bytes(gzip("")), "");
}

TEST(GzipFile, UnpacksSeveralMembersAndZerosAfterThem) {
  EXPECT_EQ(read_bytes(gzip("1\n2") + gzip("") + gzip("3\n4")), "1\n23\n4");
  EXPECT_EQ(read_bytes(gzip("1\n") + std::string(1000, '\0')), "1\n");
  EXPECT_EQ(read_bytes(gzip("1\n") + std::string(3 << 20, '\0') + gzip("2\n")), "1\n2\n");
}

TEST(GzipFile, RefusesDamagedOrCutData) {
  const std::string packed = gzip("0,1\n1,2\n2,3\n");
  for (size_t length = 2; length < packed.size(); ++length)
    EXPECT_CONTAINS(message_of<DataError>([&] { read_bytes(packed.substr(0, length)); }), "cut off (G.gz)");
  EXPECT_CONTAINS(message_of<DataError>([&] { read_bytes(packed + "tail"); }), "damaged");
  std::string other_sum = packed;
  other_sum[packed.size() - 6] ^= 1;
  EXPECT_CONTAINS(message_of<DataError>([&] { read_bytes(other_sum); }),
                  "damaged: incorrect data check (G.gz)");
  survive_random_damage(packed, 5000, read_bytes);
}

TEST(GzipFile, RefusesAFewBytesThatUnpackToVeryMany) {
  std::string zeros;
  for (int k = 0; k < 1000; ++k) zeros += "0,0\n";
  std::string text;
  while (text.size() < size_t{100} << 20) text += zeros;
  const std::string packed = gzip(text);
  EXPECT_CONTAINS(message_of<DataError>([&] { read_bytes(packed); }), "unpack it with gunzip");
}

#else

TEST(GzipFile, SaysThatThisBuildCannotUnpack) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.csv.gz", "\x1f\x8b\x08");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { read(path); }),
                  "this build cannot read gzip (" + path + "); rebuild");
}

#endif

}  // namespace
}  // namespace eignn
