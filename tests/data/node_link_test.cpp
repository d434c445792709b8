#include "data/node_link.h"

#include <gtest/gtest.h>

#include "support/damaged_bytes.h"
#include "support/message_of.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Flags = std::vector<uint8_t>;

NodeLinkGraph parse(const std::string& text) {
  return parse_node_link(text, "G.json");
}

std::string refusal(const std::string& text) {
  return message_of<DataError>([&] { parse(text); });
}

TEST(NodeLink, ReadsNodesAndLinksInTheirOrder) {
  const auto graph = parse(R"({"directed": false, "multigraph": false, "graph": {},
    "nodes": [{"id": 2}, {"id": 0}, {"id": 1}],
    "links": [{"source": 0, "target": 1}, {"source": 2, "target": 2}, {"source": 0, "target": 1}]})");
  EXPECT_EQ(graph.ids, (Ids{2, 0, 1}));
  EXPECT_EQ(graph.source, (Ids{0, 2, 0}));
  EXPECT_EQ(graph.target, (Ids{1, 2, 1}));
  EXPECT_FALSE(graph.links_are_named_edges);
}

TEST(NodeLink, TakesTheKeysInAnyOrderAndSkipsTheOthers) {
  const auto graph = parse(R"({"edges": [{"w": [1, {"source": 9}], "target": "b", "key": 0, "source": "a"}],
    "graph": {"nodes": [{"id": 7}], "links": 3},
    "nodes": [{"features": [0.5, [1]], "id": "b", "val": true}, {"meta": {"id": 5}, "test": false, "id": "a"}]})");
  EXPECT_TRUE(graph.links_are_named_edges);
  ASSERT_EQ(graph.nodes(), 2);
  EXPECT_EQ(graph.spelled(graph.ids[0]), "b");
  EXPECT_EQ(graph.spelled(graph.ids[1]), "a");
  EXPECT_EQ(graph.source, (Ids{graph.ids[1]}));
  EXPECT_EQ(graph.target, (Ids{graph.ids[0]}));
  EXPECT_EQ(graph.val, (Flags{1, NodeLinkGraph::not_stated}));
  EXPECT_EQ(graph.test, (Flags{NodeLinkGraph::not_stated, 0}));
}

TEST(NodeLink, NamesWhatIsMissing) {
  EXPECT_CONTAINS(refusal(R"({"links": []})"), "no key 'nodes' (G.json)");
  EXPECT_CONTAINS(refusal(R"({"nodes": []})"), "no key 'links' (or 'edges') (G.json)");
  EXPECT_CONTAINS(refusal(R"({"nodes": [{"id": 0}, {"name": 1}], "links": []})"),
                  "no key 'id' (G.json, nodes[1])");
  EXPECT_CONTAINS(refusal(R"({"nodes": [], "links": [{"target": 0}]})"),
                  "no key 'source' (G.json, links[0])");
  EXPECT_CONTAINS(refusal(R"({"nodes": [], "edges": [{"source": 0}]})"),
                  "no key 'target' (G.json, edges[0])");
}

TEST(NodeLink, NamesWhatIsThereTwice) {
  EXPECT_CONTAINS(refusal(R"({"nodes": [{"id": 4}, {"id": 4}], "links": []})"),
                  "the id '4' comes twice (G.json, nodes[1])");
  EXPECT_CONTAINS(refusal(R"({"nodes": [{"id": "x"}, {"id": "x"}], "links": []})"), "the id 'x' comes twice");
  EXPECT_CONTAINS(refusal(R"({"nodes": [{"id": 4, "id": 5}], "links": []})"),
                  "the key comes twice (G.json, nodes[0].id)");
  EXPECT_CONTAINS(refusal(R"({"nodes": [], "links": [{"source": 4, "source": 4}]})"),
                  "the key comes twice (G.json, links[0].source)");
  EXPECT_CONTAINS(refusal(R"({"nodes": [], "nodes": [], "links": []})"),
                  "a second list of nodes (G.json, nodes)");
  EXPECT_CONTAINS(refusal(R"({"nodes": [], "links": [], "edges": []})"),
                  "a second list of links (G.json, edges)");
}

TEST(NodeLink, NamesWhatIsOfTheWrongKind) {
  EXPECT_CONTAINS(refusal("[]"), "not an object (G.json)");
  EXPECT_CONTAINS(refusal("3"), "not an object (G.json)");
  EXPECT_CONTAINS(refusal(R"({"nodes": {}})"), "not a list (G.json, nodes)");
  EXPECT_CONTAINS(refusal(R"({"links": 3})"), "not a list (G.json, links)");
  EXPECT_CONTAINS(refusal(R"({"nodes": [3]})"), "not an object (G.json, nodes[0])");
  EXPECT_CONTAINS(refusal(R"({"links": [[0, 1]]})"), "not an object (G.json, links[0])");
  for (const char* id : {"-1", "1.0", "null", "true", "[0]", "{}", "99999999999999999999"}) {
    EXPECT_CONTAINS(refusal(std::string(R"({"nodes": [{"id": )") + id + "}]}"), "(G.json, nodes[0].id)");
    EXPECT_CONTAINS(refusal(std::string(R"({"links": [{"target": )") + id + "}]}"),
                    "(G.json, links[0].target)");
  }
}

TEST(NodeLink, SurvivesDamage) {
  const std::string text =
      R"({"nodes": [{"id": 0, "val": true}, {"id": "b"}], "links": [{"source": 0, "target": "b"}], "x": {}})";
  survive_random_damage(text, 20000, parse);
  expect_every_truncation_refused(text, parse);
}

}  // namespace
}  // namespace eignn
