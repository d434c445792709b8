#include "data/npz.h"

#include <gtest/gtest.h>

#include "data/atomic_file.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

#ifdef EIGNN_HAVE_LIBZIP

#include <zip.h>

namespace eignn {
namespace {

struct Member {
  std::string file;
  std::string bytes;
  bool deflate = false;
};

std::string npy_bytes(const std::vector<int64_t>& values) {
  return npy_bytes(ElementType::int64, {static_cast<int64_t>(values.size())}, values.data());
}

std::string zip_bytes(const std::vector<Member>& members) {
  const TemporaryFolder folder;
  zip_t* archive = zip_open(folder.path("a.npz").c_str(), ZIP_CREATE, nullptr);
  for (const Member& member : members) {
    zip_source_t* source = zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.file.c_str(), source, 0);
    const zip_int32_t method = member.deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
    EXPECT_EQ(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0), 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return read_whole_file(folder.path("a.npz"));
}

std::string edges_and_labels() {
  return zip_bytes(
      {{"edges.npy", npy_bytes({0, 1, 2})}, {"labels.npy", npy_bytes(std::vector<int64_t>(99, 7)), true}});
}

// Replaces bytes of the first entry of the central directory, at `offset` from its start.
std::string patch_directory(std::string archive, size_t offset, const std::string& bytes) {
  const size_t entry = archive.find("PK\x01\x02");
  return archive.replace(entry + offset, bytes.size(), bytes);
}

std::string refusal(const std::string& archive, const std::string& member) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.npz", archive);
  const std::string message = message_of<DataError>([&] { NpzReader(path).read(member); });
  EXPECT_CONTAINS(message, path);
  return message;
}

void read_all(const std::string& archive, const TemporaryFolder& folder) {
  const NpzReader reader(folder.write("damaged.npz", archive));
  for (const std::string& member : reader.names()) reader.read(member);
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  const TemporaryFolder folder;
  const NpzReader reader(folder.write("a.npz", edges_and_labels()));
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"edges", "labels"}));
  EXPECT_TRUE(reader.has("edges"));
  EXPECT_FALSE(reader.has("weights"));
  EXPECT_EQ(reader.read("edges").as<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(reader.read("labels").as<int64_t>(), std::vector<int64_t>(99, 7));
  EXPECT_EQ(reader.read("edges").size(), 3) << "a member can be read twice";
}

TEST(Npz, ReadsMembersLargerThanOneChunk) {
  std::vector<int64_t> values(1 << 19);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i);
  const TemporaryFolder folder;
  const NpzReader reader(folder.write("a.npz", zip_bytes({{"x.npy", npy_bytes(values), true}})));
  EXPECT_EQ(reader.read("x").as<int64_t>(), values);
}

TEST(Npz, ListsWhatThereIsWhenAMemberIsMissing) {
  EXPECT_CONTAINS(refusal(edges_and_labels(), "weights"), "no array 'weights' among 'edges', 'labels'");
}

TEST(Npz, IgnoresMembersThatAreNoArrays) {
  const TemporaryFolder folder;
  const std::string archive = zip_bytes({{"readme.txt", "hello"}, {".npy", "x"}, {"a.npy", npy_bytes({1})}});
  EXPECT_EQ(NpzReader(folder.write("a.npz", archive)).names(), std::vector<std::string>{"a"});
}

TEST(Npz, NamesTheMemberThatIsNoArray) {
  EXPECT_CONTAINS(refusal(zip_bytes({{"edges.npy", "hello"}}), "edges"), "a.npz[edges]");
}

TEST(Npz, RefusesWhatIsNoArchive) {
  EXPECT_CONTAINS(refusal("0 1\n1 2\n", "edges"), "not a zip archive");
  EXPECT_CONTAINS(refusal("", "edges"), "save it with numpy.savez");
  EXPECT_CONTAINS(refusal(zip_bytes({{"readme.txt", "hello"}}), "edges"), "no arrays");
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<DataError>([&] { NpzReader(folder.path("none.npz")); }), "No such file");
  EXPECT_CONTAINS(message_of<DataError>([&] { NpzReader(folder.path("")); }), "not of a folder");
}

TEST(Npz, RefusesAWrongChecksum) {
  std::string archive = zip_bytes({{"edges.npy", npy_bytes({0, 1, 2})}});
  archive[archive.find("PK\x01\x02") - 1] ^= 1;  // the last byte of the data
  EXPECT_CONTAINS(refusal(archive, "edges"), "CRC");
}

TEST(Npz, RefusesEncryptedMembers) {
  const std::string archive = patch_directory(edges_and_labels(), 8, std::string("\1\0", 2));
  EXPECT_CONTAINS(refusal(archive, "edges"), "encrypted");
}

TEST(Npz, RefusesOtherCompressionMethods) {
  const std::string archive = patch_directory(edges_and_labels(), 10, std::string("\x0c\0", 2));
  EXPECT_CONTAINS(refusal(archive, "edges"), "compression method 12");
}

TEST(Npz, RefusesAZipBomb) {
  const std::string archive = patch_directory(edges_and_labels(), 24, std::string("\0\0\0\x10", 4));
  EXPECT_CONTAINS(refusal(archive, "edges"), "claim to unpack to 268435456");
}

TEST(Npz, RefusesDataThatIsLongerOrShorterThanStated) {
  const std::string deflated = zip_bytes({{"x.npy", npy_bytes(std::vector<int64_t>(99, 7)), true}});
  refusal(patch_directory(deflated, 24, std::string("\x40\0\0\0", 4)), "x");
  refusal(patch_directory(deflated, 24, std::string("\0\x40\0\0", 4)), "x");
}

TEST(Npz, RefusesEveryTruncation) {
  const TemporaryFolder folder;
  expect_every_truncation_refused(edges_and_labels(),
                                  [&](const std::string& bytes) { read_all(bytes, folder); });
}

TEST(Npz, SurvivesRandomDamage) {
  const TemporaryFolder folder;
  survive_random_damage(edges_and_labels(), 5000, [&](const std::string& bytes) { read_all(bytes, folder); });
}

TEST(Npz, ReadsFromMemory) {
  const std::string bytes = edges_and_labels();
  EXPECT_EQ(NpzReader(bytes, "a.npz").read("edges").as<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_CONTAINS(message_of<DataError>([] { NpzReader("", "a.npz"); }), "(a.npz); save it with numpy.savez");
  EXPECT_CONTAINS(message_of<DataError>([] { NpzReader("0 1", "a.npz"); }), "not a zip archive");
}

void write_two_arrays(const std::string& path) {
  const std::vector<int32_t> edges = {0, 1, 1, 2};
  const std::vector<double> X(1000, 0.5);
  NpzWriter writer(path);
  writer.add("edges", ElementType::int32, {2, 2}, edges.data());
  writer.add("X", ElementType::float64, {10, 100}, X.data());
  writer.commit();
}

TEST(NpzWriter, WritesWhatTheReaderReads) {
  const TemporaryFolder folder;
  write_two_arrays(folder.path("a.npz"));
  const NpzReader reader(folder.path("a.npz"));
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"edges", "X"}));
  EXPECT_EQ(reader.read("edges").type, ElementType::int32);
  EXPECT_EQ(reader.read("edges").shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(reader.read("edges").as<int64_t>(), (std::vector<int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(reader.read("X").as<double>(), std::vector<double>(1000, 0.5));
  EXPECT_LT(read_whole_file(folder.path("a.npz")).size(), 1000U) << "it is compressed";
  EXPECT_EQ(names_in_folder(folder.path("")), std::vector<std::string>{"a.npz"}) << "no temporary is left";
}

TEST(NpzWriter, WritesTheSameBytesAtAnyTime) {
  const TemporaryFolder folder;
  write_two_arrays(folder.path("a.npz"));
  const std::string bytes = read_whole_file(folder.path("a.npz"));
  // The time and the date of the first member: midnight, 1980-01-01.
  EXPECT_EQ(bytes.substr(10, 4), std::string("\0\0\x21\0", 4));
  write_two_arrays(folder.path("b.npz"));
  EXPECT_EQ(read_whole_file(folder.path("b.npz")), bytes);
}

TEST(NpzWriter, KeepsTheOldFileUntilTheCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.npz", "old");
  {
    NpzWriter writer(path);
    const int64_t one = 1;
    writer.add("x", ElementType::int64, {1}, &one);
  }
  EXPECT_EQ(read_whole_file(path), "old");
  write_two_arrays(path);
  EXPECT_EQ(NpzReader(path).names().size(), 2U);
}

TEST(NpzWriter, NamesThePathItCannotWrite) {
  const TemporaryFolder folder;
  const std::string path = folder.path("none/a.npz");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { write_two_arrays(path); }),
                  "No such file or directory (" + path);
}

}  // namespace
}  // namespace eignn

#else  // without libzip

namespace eignn {
namespace {

TEST(Npz, SaysThatThisBuildCannotReadIt) {
  const std::string message = message_of<ResourceError>([] { NpzReader("graph.npz"); });
  EXPECT_CONTAINS(message, "libzip");
  EXPECT_CONTAINS(message, "edge list");
  EXPECT_CONTAINS(message_of<ResourceError>([] { NpzWriter("graph.npz"); }), "cannot write .npz (graph.npz)");
}

}  // namespace
}  // namespace eignn

#endif
