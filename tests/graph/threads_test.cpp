// The rooms without libtorch from several threads at once: each gets what it gets alone. Under
// ThreadSanitizer
// (./dev tsan) the same test finds state that is shared by mistake.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "eignn/options.h"
#include "eignn/warning.h"
#include "equilibrium/elimination/elimination.h"
#include "graph/content_hash.h"
#include "graph/unique_components.h"
#include "run/recipes.h"
#include "support/random_graph.h"

namespace eignn {
namespace {

// One thread's work, and all that came of it as text.
std::string outcome(uint64_t seed) {
  std::string heard;
  const WarningScope outer([&](const std::string& message) { heard += message; });
  const Propagation S = make_propagation(random_graph(80, 200, seed));
  std::string out = content_hash(S);
  for (const ComponentKind& kind : unique_components(S)) out += " " + std::to_string(kind.instances.size());
  out += " " + std::to_string(analyse_elimination(S).slots());
  TrainConfig config;
  config.dataset = seed % 2 == 0 ? "texas" : "karate";
  out += " " + apply_recipe(config, {});
  for (const auto& [name, text] : to_strings(config)) out += " " + name + "=" + text;
  {
    const WarningScope inner([&](const std::string& message) { heard += "inner " + message; });
    warn(std::to_string(seed));
  }
  warn(std::to_string(seed));
  return out + " " + heard;
}

TEST(ThreadsOfTheBase, EachGetsWhatItGetsAlone) {
  // Together first, so that tables which are made at their first use are made by several threads at once.
  std::vector<std::string> together(4);
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < together.size(); ++seed)
    threads.emplace_back([&, seed] {
      for (int again = 0; again < 5; ++again) together[seed] = outcome(seed);
    });
  for (auto& thread : threads) thread.join();
  for (uint64_t seed = 0; seed < together.size(); ++seed) EXPECT_EQ(together[seed], outcome(seed)) << seed;
}

}  // namespace
}  // namespace eignn
