// Where the memory is not enough, every public function says so with an error of ours.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <new>
#include <vector>

#include "eignn/attack.h"
#include "eignn/error.h"
#include "eignn/explain.h"
#include "eignn/inspect.h"
#include "eignn/search.h"
#include "eignn/train.h"
#include "equilibrium/torch_errors.h"
#include "support/limited_memory.h"
#include "support/message_of.h"

namespace eignn {
namespace {

constexpr uint64_t gigabyte = uint64_t{1} << 30U;

Dataset small_ring() {
  constexpr int64_t nodes = 40;
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v) {
    from.push_back(v);
    to.push_back((v + 1) % nodes);
  }
  const auto side = torch::arange(nodes).remainder(2);
  return make_dataset(Graph::from_arcs(nodes, from, to),
                      torch::ones({nodes, 3}, torch::kFloat64) + side.unsqueeze(1), side);
}

// A matrix between two hidden layers has 8 TB.
TrainConfig far_too_wide() {
  GcnOptions model;
  model.layers = 3;
  model.hidden = 1'000'000;
  TrainConfig config;
  config.model = model;
  config.epochs = 2;
  config.threads = 1;
  return config;
}

class OutOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_limit_memory) GTEST_SKIP() << "the sanitizer ends the program where memory is exhausted";
  }
  const Dataset data_ = small_ring();
};

void expect_said(const char* what, const std::function<void()>& work) {
  SCOPED_TRACE(what);
  EXPECT_CONTAINS(message_of<ResourceError>(work), "there is not enough memory");
}

TEST_F(OutOfMemory, TrainingAndSearchSaySo) {
  TrainOptions options;
  options.config = far_too_wide();
  SearchPlan plan;
  plan.points = {options.config};
  const test::LimitedMemory limited(4 * gigabyte);
  expect_said("train", [&] { train(data_, options); });
  expect_said("search", [&] { search(data_, plan); });
}

TEST_F(OutOfMemory, MakingAModelSaysSo) {
  const auto S = std::make_shared<Propagation>(make_propagation(data_.graph));
  EignnOptions wide;
  wide.encoder = 1'000'000;
  const test::LimitedMemory limited(4 * gigabyte);
  expect_said("make_baseline", [&] {
    make_baseline(far_too_wide().model, {{{}, S}}, data_.features, 2, torch::kFloat32, 0);
  });
  expect_said("make_eignn", [&] {
    SolverOptions options;
    options.fixed_features = false;
    make_eignn(make_solver("sparse", S, options, 3), data_.features, 2, wide, 0);
  });
}

TEST_F(OutOfMemory, UsingAModelSaysSo) {
  const TrainedModel model(far_too_wide(), 3, 2, false, {});
  const auto nodes = data_.splits[0].test;
  const test::LimitedMemory limited(4 * gigabyte);
  expect_said("on", [&] { model.on(data_); });
  expect_said("predict", [&] { model.predict(data_); });
  expect_said("evaluate", [&] { model.evaluate(data_, nodes); });
  expect_said("attack", [&] { attack(model, data_, nodes, {{AttackMethod::fgsm, 0.1}}); });
  expect_said("explain", [&] { explain(model, data_, 3); });
  expect_said("influence", [&] { influence(model, data_); });
  expect_said("explain_edges", [&] { explain_edges(model, data_, 3); });
}

TEST_F(OutOfMemory, InspectionSaysSo) {
  constexpr int64_t nodes = 200'000;
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v + 1 < nodes; ++v) {
    from.push_back(v);
    to.push_back(v + 1);
  }
  const Dataset large = make_dataset(Graph::from_arcs(nodes, from, to), torch::ones({nodes, 100}));
  const test::LimitedMemory limited(gigabyte / 16);  // less than another copy of the features
  expect_said("inspect", [&] { inspect(large); });
}

TEST(OurErrors, EveryKindOfExhaustedMemoryIsAResourceError) {
  const auto thrown_by = [](const std::function<void()>& work) {
    return message_of<ResourceError>([&] { with_our_errors("here", work); });
  };
  EXPECT_EQ(thrown_by([] { throw std::bad_alloc(); }),
            "there is not enough memory (here); use fewer features, narrower layers or a part of the graph");
  EXPECT_CONTAINS(thrown_by([] { std::vector<int>().reserve(SIZE_MAX); }), "not enough memory (here)");
  EXPECT_CONTAINS(thrown_by([] { torch::empty({INT64_MAX / 2, 8}); }), "not enough memory");
  EXPECT_CONTAINS(thrown_by([] { torch::ones({2}).mm(torch::ones({2})); }), "(here)");
  EXPECT_EQ(message_of<ArgumentError>([] {
              with_our_errors("here",
                              []() -> int { throw ArgumentError("gamma", "it is too large", "give less"); });
            }),
            "it is too large (gamma); give less");
}

}  // namespace
}  // namespace eignn
