#include "eignn/spectrum_cache.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "eignn/warning.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

class CacheTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::shared_ptr<Propagation> S = std::make_shared<Propagation>(make_propagation(chain_graph(3, 40)));
  torch::Tensor X = test::random_matrix(120, 4, 1), F = test::random_matrix(4, 4, 2);

  torch::Tensor solve(SpectrumStore* store) {
    SolverOptions options;
    options.store = store;
    return make_solver("spectral", S, options, 4)->solve(F, X)->rows().values;
  }
  /// What the solve warns of; its result must be `expected`.
  std::string warning_of_solve(SpectrumStore* store, const torch::Tensor& expected) {
    std::string warnings;
    const WarningScope scope([&](const std::string& message) { warnings += message; });
    EXPECT_TRUE(solve(store).equal(expected));
    return warnings;
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path(".")))
      if (entry.is_regular_file()) out.push_back(entry.path());
    return out;
  }
};

TEST_F(CacheTest, ASecondRunReadsWhatTheFirstWrote) {
  SpectrumCache cache(folder.path("."));
  const auto first = solve(&cache);
  ASSERT_EQ(files().size(), 1u);
  const auto written = std::filesystem::last_write_time(files()[0]);
  EXPECT_TRUE(solve(&cache).equal(first));
  EXPECT_TRUE(solve(nullptr).equal(first));
  EXPECT_EQ(std::filesystem::last_write_time(files()[0]), written);
}

TEST_F(CacheTest, ADamagedTensorIsReportedAndTheFileWrittenAnew) {
  SpectrumCache cache(folder.path("."));
  const auto first = solve(&cache);
  const auto path = files().at(0);
  const std::string whole = read_whole_file(path);
  const size_t vectors = whole.size() - 8 * (40 * 40 + 40);  // Qt.0 of a chain of 40, then lambda.0
  for (const size_t byte : {vectors, vectors + 8 * 40 * 40 - 1, vectors + 8 * 40 * 40, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    write_file_atomically(path, damaged);
    const auto warning = warning_of_solve(&cache, first);
    EXPECT_CONTAINS(warning, "a cached spectrum is damaged");
    EXPECT_CONTAINS(warning, byte < vectors + 8 * 40 * 40 ? "Qt.0" : "lambda.0");
    EXPECT_EQ(read_whole_file(path), whole);
    EXPECT_EQ(warning_of_solve(&cache, first), "");
  }
}

TEST_F(CacheTest, ATruncatedFileIsReportedAndWrittenAnew) {
  SpectrumCache cache(folder.path("."));
  const auto first = solve(&cache);
  const auto path = files().at(0);
  const std::string whole = read_whole_file(path);
  for (const size_t length : {size_t{0}, size_t{5}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_file_atomically(path, whole.substr(0, length));
    EXPECT_CONTAINS(warning_of_solve(&cache, first), "a cached spectrum is damaged");
    EXPECT_EQ(read_whole_file(path), whole);
  }
}

TEST_F(CacheTest, AFileOfAnotherMatrixIsNotTaken) {
  SpectrumCache cache(folder.path("."));
  const auto first = solve(&cache);
  const auto path = files().at(0);
  const std::string own = read_whole_file(path);
  const auto kept = S;  // the same sizes, another matrix
  S = std::make_shared<Propagation>(make_propagation(chain_graph(3, 40), {Direction::undirected, {}, false}));
  solve(&cache);
  for (const auto& file : files())
    if (file != path) std::filesystem::rename(file, path);
  ASSERT_NE(read_whole_file(path), own);
  S = kept;
  EXPECT_CONTAINS(warning_of_solve(&cache, first), "it belongs to another matrix");
  EXPECT_EQ(read_whole_file(path), own);
}

TEST_F(CacheTest, AFileOfTheFormerFormatIsReplacedWithoutAWord) {
  SpectrumCache cache(folder.path("."));
  const auto first = solve(&cache);
  const auto path = files().at(0);
  const std::string whole = read_whole_file(path);
  SafeTensors former;
  former.tensors["values.0"] = {ElementType::float64, {1}, std::vector<unsigned char>(8)};
  former.tensors["vectors.0"] = {ElementType::float64, {1, 1}, std::vector<unsigned char>(8)};
  former.metadata = {{"format", "eignn-spectrum-1"}, {"fingerprint", "0"}};
  write_safetensors(path, former);
  EXPECT_EQ(warning_of_solve(&cache, first), "");
  EXPECT_EQ(read_whole_file(path), whole);
}

TEST_F(CacheTest, WhatWasLoadedOutlivesItsFile) {
  SpectrumCache cache(folder.path("."));
  const std::vector<EigenBlock> blocks = {
      {torch::arange(3, torch::kFloat32), test::random_matrix(3, 3, 1).to(torch::kFloat32)},
      {torch::arange(700, torch::kFloat32), test::random_matrix(700, 700, 2).to(torch::kFloat32)}};
  cache.save("key", blocks);
  std::vector<EigenBlock> loaded;
  ASSERT_TRUE(cache.load("key", loaded));
  cache.save("key", {{torch::ones(1), torch::ones({1, 1})}});  // replaced by another
  std::filesystem::remove(files().at(0));
  ASSERT_EQ(loaded.size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_TRUE(loaded[k].values.equal(blocks[k].values));
    EXPECT_TRUE(loaded[k].vectors.equal(blocks[k].vectors));
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(loaded[1].vectors.data_ptr()) % 64, 0u);
  const auto rest = loaded[1].vectors.select(0, 699);  // a view keeps the mapping too
  loaded.clear();
  EXPECT_TRUE(rest.equal(blocks[1].vectors.select(0, 699)));
}

TEST_F(CacheTest, AnotherMatrixOrPrecisionHasAnotherFile) {
  SpectrumCache cache(folder.path("."));
  solve(&cache);
  S = std::make_shared<Propagation>(make_propagation(chain_graph(3, 40), {Direction::undirected, {}, false}));
  solve(&cache);
  SolverOptions single;
  single.store = &cache;
  single.dtype = torch::kFloat32;
  make_solver("krylov", S, single, 4)->solve(F.to(torch::kFloat32), X.to(torch::kFloat32));
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenCostsTheCacheAndNotTheRun) {
  std::ofstream(folder.path("file")) << "in the way";
  SpectrumCache cache(folder.path("file"));
  EXPECT_CONTAINS(warning_of_solve(&cache, solve(nullptr)), "could not be cached");
}

}  // namespace
}  // namespace eignn
