#include "data/named_arrays.h"

#include <gtest/gtest.h>

#include "data/atomic_file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

TEST(NamedArrays, AreTheNpyFilesOfAFolder) {
  const TemporaryFolder folder;
  write_npy<int64_t>(folder.path("edges.npy"), {2}, {4, 5});
  write_npy<double>(folder.path("X.npy"), {1}, {0.5});
  folder.write("readme.txt", "hello");
  const NamedArrays arrays(folder.path(""));
  EXPECT_TRUE(arrays.is_folder());
  EXPECT_EQ(arrays.names(), (std::vector<std::string>{"X", "edges"}));
  EXPECT_TRUE(arrays.has("edges"));
  EXPECT_FALSE(arrays.has("readme"));
  EXPECT_EQ(arrays.read("edges").as<int64_t>(), (std::vector<int64_t>{4, 5}));
  EXPECT_CONTAINS(arrays.read("edges").origin, "/edges.npy");
}

TEST(NamedArrays, ListTheFilesThereAreWhenOneIsMissing) {
  const TemporaryFolder folder;
  EXPECT_CONTAINS(message_of<DataError>([&] { NamedArrays(folder.path("")).read("edges"); }),
                  "no array 'edges' among none");
  write_npy<int64_t>(folder.path("labels.npy"), {1}, {4});
  const std::string message = message_of<DataError>([&] { NamedArrays(folder.path("")).read("edges"); });
  EXPECT_CONTAINS(message, "no array 'edges' among 'labels' (" + folder.path(""));
  EXPECT_CONTAINS(message, "edges.npy");
}

TEST(NamedArrays, AreRecognisedByTheFirstBytes) {
  const TemporaryFolder folder;
  EXPECT_TRUE(is_named_arrays(folder.path("")));
  EXPECT_TRUE(is_named_arrays(folder.write("a", "PK\x03\x04...")));
  EXPECT_FALSE(is_named_arrays(folder.write("b.npz", "PK")));
  EXPECT_FALSE(is_named_arrays(folder.write("c.npz", "0 1\n1 2\n")));
  EXPECT_FALSE(is_named_arrays(folder.path("none.npz")));
}

TEST(NamedArrays, SayWhatIsMissingOrNoArchive) {
  const TemporaryFolder folder;
  const std::string path = folder.path("none.npz");
  EXPECT_CONTAINS(message_of<DataError>([&] { NamedArrays{path}; }), path);
}

#ifdef EIGNN_HAVE_LIBZIP
TEST(NamedArrays, AreTheMembersOfAnArchiveOnDiskOrInMemory) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.npz");
  const std::vector<int64_t> edges = {4, 5};
  NpzWriter writer(path);
  writer.add("edges", ElementType::int64, {2}, edges.data());
  writer.commit();
  const std::string bytes = read_whole_file(path);
  const NamedArrays on_disk(path), in_memory(bytes, path);
  for (const NamedArrays* arrays : {&on_disk, &in_memory}) {
    EXPECT_FALSE(arrays->is_folder());
    EXPECT_TRUE(arrays->has("edges"));
    EXPECT_EQ(arrays->read("edges").as<int64_t>(), edges);
    EXPECT_EQ(arrays->read("edges").origin, path + "[edges]");
    EXPECT_CONTAINS(message_of<DataError>([&] { arrays->read("labels"); }),
                    "no array 'labels' among 'edges'");
  }
}
#endif

}  // namespace
}  // namespace eignn
