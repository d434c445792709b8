// networkx's node-link JSON, one object; the keys stand in any order, and others than these are skipped:
//
//   {"directed": false, "multigraph": false, "graph": {},
//    "nodes": [{"id": 0}, {"id": "b", "val": true, "test": false}],
//    "links": [{"source": 0, "target": 1}]}
//
// Ids are whole numbers >= 0 or texts. networkx 3.4 and later write "edges" for "links". networkx 1 writes
// as source and target the positions of the two nodes in the list, networkx 2 and 3 their ids. An undirected
// link is there once, and `directed` changes nothing here: links are taken as the file has them.
#include "data/node_link.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "data/json_events.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

constexpr const char* as_networkx = "write it with networkx.node_link_data";

class NodeLinkVisitor : public JsonVisitor {
 public:
  explicit NodeLinkVisitor(const std::string& origin) : origin_(origin) {}

  void open(const JsonPath& path, bool object) override {
    if (path.depth() == 0) {
      if (!object) fail("not an object", path);
    } else if (path.depth() == 1) {
      list_ = list_named(path.key(0));
      if (list_ == List::none) return;
      if (object) fail("not a list", path);
      begin_list(path);
    } else if (list_ == List::none) {
      return;
    } else if (path.depth() == 2) {
      if (!object) fail("not an object", path);
      record_ = {};
    } else if (path.depth() == 3 && (is_end(path.key(2)) || is_id(path.key(2)))) {
      fail("neither a whole number nor a text", path);
    }
  }

  void scalar(const JsonPath& path, const JsonScalar& value) override {
    if (path.depth() == 0) fail("not an object", path);
    if (path.depth() == 1 && list_named(path.key(0)) != List::none) fail("not a list", path);
    if (path.depth() == 1 || list_ == List::none) return;
    if (path.depth() == 2) fail("not an object", path);
    if (path.depth() > 3) return;
    const std::string& key = path.key(2);
    if (is_id(key) || (is_end(key) && key[0] == 's')) {
      set(&record_.first, path, value);
    } else if (is_end(key)) {
      set(&record_.second, path, value);
    } else if (list_ == List::nodes && value.is_boolean() && (key == "val" || key == "test")) {
      (key == "val" ? record_.val : record_.test) = static_cast<uint8_t>(value.whole);
    }
  }

  void close(const JsonPath& path) override {
    if (path.depth() == 1) list_ = List::none;
    if (path.depth() != 2 || list_ == List::none) return;
    if (list_ == List::nodes) {
      if (record_.first == missing) fail("no key 'id'", path);
      if (!seen_.insert(record_.first).second) {
        fail(fmt::format("the id {} comes twice", quote(graph_.spelled(record_.first))), path);
      }
      graph_.ids.push_back(record_.first);
      graph_.val.push_back(record_.val);
      graph_.test.push_back(record_.test);
    } else {
      if (record_.first == missing) fail("no key 'source'", path);
      if (record_.second == missing) fail("no key 'target'", path);
      graph_.source.push_back(record_.first);
      graph_.target.push_back(record_.second);
    }
  }

  NodeLinkGraph finish() {
    if (!has_nodes_) refuse("no key 'nodes'", origin_, as_networkx);
    if (!has_links_) refuse("no key 'links' (or 'edges')", origin_, as_networkx);
    return std::move(graph_);
  }

 private:
  enum class List { none, nodes, links };
  static constexpr int64_t missing = INT64_MIN;

  // The node or link that is being read: its id, or its source and target.
  struct Record {
    int64_t first = missing, second = missing;
    uint8_t val = NodeLinkGraph::not_stated, test = NodeLinkGraph::not_stated;
  };

  static List list_named(const std::string& key) {
    if (key == "nodes") return List::nodes;
    return key == "links" || key == "edges" ? List::links : List::none;
  }

  bool is_id(const std::string& key) const { return list_ == List::nodes && key == "id"; }
  bool is_end(const std::string& key) const {
    return list_ == List::links && (key == "source" || key == "target");
  }

  void begin_list(const JsonPath& path) {
    bool& has = list_ == List::nodes ? has_nodes_ : has_links_;
    if (has) fail(list_ == List::nodes ? "a second list of nodes" : "a second list of links", path);
    has = true;
    if (path.key(0) == "edges") graph_.links_are_named_edges = true;
  }

  void set(int64_t* id, const JsonPath& path, const JsonScalar& value) {
    if (*id != missing) fail("the key comes twice", path);
    if (value.is_text()) {
      *id = ~numbered(std::string(value.text));
    } else if (value.is_whole() && value.whole >= 0) {
      *id = value.whole;
    } else {
      fail("neither a whole number >= 0 nor a text", path);
    }
  }

  int64_t numbered(std::string text) {
    const auto [place, is_new] = number_of_.try_emplace(text, static_cast<int64_t>(graph_.texts.size()));
    if (is_new) graph_.texts.push_back(std::move(text));
    return place->second;
  }

  [[noreturn]] void fail(const std::string& what, const JsonPath& path) const {
    refuse(what, {origin_, path.text()}, as_networkx);
  }

  const std::string& origin_;
  NodeLinkGraph graph_;
  List list_ = List::none;  // the list that is being read
  Record record_;
  bool has_nodes_ = false, has_links_ = false;
  std::unordered_set<int64_t> seen_;                    // ids of nodes
  std::unordered_map<std::string, int64_t> number_of_;  // of a text
};

}  // namespace

std::string NodeLinkGraph::spelled(int64_t id) const {
  return id >= 0 ? std::to_string(id) : texts[static_cast<size_t>(~id)];
}

NodeLinkGraph parse_node_link(std::string_view text, const std::string& origin) {
  NodeLinkVisitor visitor(origin);
  walk_json(text, origin, visitor);
  return visitor.finish();
}

}  // namespace eignn
