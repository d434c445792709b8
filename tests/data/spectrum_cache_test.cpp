#include "eignn/spectrum_cache.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>

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

TEST_F(CacheTest, ADamagedFileIsReportedAndWrittenAnew) {
  SpectrumCache cache(folder.path("."));
  const auto first = solve(&cache);
  const auto path = files().at(0);
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size - 9));
    file.put('\x55');
  }
  testing::internal::CaptureStderr();
  EXPECT_TRUE(solve(&cache).equal(first));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("warning: a cached spectrum is damaged"),
            std::string::npos);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(solve(&cache).equal(first));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  std::filesystem::resize_file(path, size / 2);
  EXPECT_TRUE(solve(&cache).equal(first));
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
  testing::internal::CaptureStderr();
  EXPECT_TRUE(solve(&cache).equal(solve(nullptr)));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("could not be cached"), std::string::npos);
}

}  // namespace
}  // namespace eignn
