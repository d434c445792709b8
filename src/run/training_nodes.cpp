#include "run/training_nodes.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <queue>
#include <utility>

#include "data/sparse_tensor.h"
#include "data/tensor_bytes.h"
#include "eignn/error.h"

namespace eignn {

namespace {

constexpr size_t sample_size = 256;
constexpr double enough = 0.9;  // of the sample

// SplitMix64's finaliser.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t add_word(uint64_t hash, uint64_t word) {
  return mixed((hash ^ word) + 0x9e3779b97f4a7c15);
}

uint64_t hash_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, then mixed
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return mixed(hash);
}

std::vector<uint64_t> keys_of(const Dataset& data) {
  std::vector<uint64_t> keys(data.nodes());
  for (int64_t v = 0; v < data.nodes(); ++v) keys[v] = hash_of(data.node_name(v));
  return keys;
}

// Of a row of features, rounded to float32 so that a last digit does not matter. 0 where all are zero.
uint64_t hash_of_row(const MatrixRows& X, int64_t node) {
  uint64_t hash = 0;
  X.visit(node, [&](int64_t k, double exact) {
    const auto value = static_cast<float>(exact);
    if (value == 0) return;
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = add_word(hash, (static_cast<uint64_t>(k) << 32) | bits);
  });
  return hash;
}

bool has_features(const MatrixRows& X, int64_t node) {
  bool any = false;
  X.visit(node, [&](int64_t, double value) { any = any || static_cast<float>(value) != 0; });
  return any;
}

// The same for both directions, since an edge may be written either way.
uint64_t hash_of_arc(uint64_t a, uint64_t b) {
  return add_word(std::min(a, b), std::max(a, b));
}

// Keeps the items with the smallest hashes: a sample that depends on nothing but the items.
template <class Item>
class Smallest {
 public:
  void offer(uint64_t hash, const Item& item) {
    if (held_.size() == sample_size && hash >= held_.top().first) return;
    held_.push({hash, item});
    if (held_.size() > sample_size) held_.pop();
  }
  std::vector<Item> take() {
    std::vector<Item> out;
    for (; !held_.empty(); held_.pop()) out.push_back(held_.top().second);
    return out;
  }

 private:
  using Entry = std::pair<uint64_t, Item>;
  struct Less {
    bool operator()(const Entry& a, const Entry& b) const { return a.first < b.first; }
  };
  std::priority_queue<Entry, std::vector<Entry>, Less> held_;
};

// The node of each key.
class Lookup {
 public:
  explicit Lookup(const std::vector<uint64_t>& keys) {
    places_.reserve(keys.size());
    for (size_t v = 0; v < keys.size(); ++v) places_.emplace_back(keys[v], static_cast<int64_t>(v));
    std::sort(places_.begin(), places_.end());
  }
  // -1 where there is none.
  int64_t operator()(uint64_t key) const {
    const auto at = std::lower_bound(places_.begin(), places_.end(), std::make_pair(key, int64_t{0}));
    return at != places_.end() && at->first == key ? at->second : -1;
  }

 private:
  std::vector<std::pair<uint64_t, int64_t>> places_;
};

bool has_arc(const Graph& graph, int64_t u, int64_t v) {
  return std::binary_search(graph.target.begin() + graph.row_begin[u],
                            graph.target.begin() + graph.row_begin[u + 1], v);
}

bool most(size_t found, size_t all) {
  return static_cast<double>(found) >= enough * static_cast<double>(all);
}

std::string digest_of(const Dataset& data, const std::vector<uint64_t>& keys) {
  // Sums, so that the order does not matter; two of them, from different words.
  uint64_t a = 0, b = 0;
  const auto add = [&](uint64_t word) {
    a += mixed(word + 0x9e3779b97f4a7c15);
    b += mixed(word ^ 0xd1342543de82ef95);
  };
  for (const uint64_t key : keys) add(key);
  const Graph& graph = data.graph;
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t k = graph.row_begin[v]; k < graph.row_begin[v + 1]; ++k) {
      uint64_t word = add_word(add_word(1, keys[v]), keys[graph.target[k]]);
      if (!graph.weight.empty()) {
        uint64_t bits;
        std::memcpy(&bits, &graph.weight[k], sizeof bits);
        word = add_word(word, bits);
      }
      add(word);
    }
  return fmt::format("{:016x}{:016x}", a, b);
}

torch::Tensor index_of(std::vector<int64_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return torch::tensor(nodes, torch::kInt64);
}

// ---- in a file

constexpr const char* parts_name = "training.parts";
constexpr const char* member_names[] = {"training.train", "training.val", "training.test"};
constexpr const char* node_sample_name = "training.node_sample";
constexpr const char* arc_sample_name = "training.arc_sample";
constexpr const char *labels_name = "training.labels", *halves_name = "training.label_halves";

TensorBytes bytes_of(const std::vector<uint64_t>& words, std::vector<int64_t> shape) {
  TensorBytes out{ElementType::int64, std::move(shape), std::vector<unsigned char>(words.size() * 8)};
  if (!words.empty()) std::memcpy(out.bytes.data(), words.data(), out.bytes.size());
  return out;
}

[[noreturn]] void damaged(const std::string& path, const std::string& key) {
  throw DataError(path, key, "what the model keeps of its training nodes is damaged",
                  "train again, or take a copy of the file");
}

std::vector<uint64_t> words_of(const SafeTensors& content, const char* name, const std::string& path) {
  const auto at = content.tensors.find(name);
  if (at == content.tensors.end() || at->second.type != ElementType::int64) damaged(path, name);
  std::vector<uint64_t> words(at->second.bytes.size() / 8);
  if (!words.empty()) std::memcpy(words.data(), at->second.bytes.data(), words.size() * 8);
  return words;
}

std::string text_of(const SafeTensors& content, const char* key, const std::string& path) {
  const auto at = content.metadata.find(key);
  if (at == content.metadata.end()) damaged(path, key);
  return at->second;
}

int64_t count_of(const SafeTensors& content, const char* key, const std::string& path) {
  try {
    if (const int64_t count = std::stoll(text_of(content, key, path)); count >= 0) return count;
  } catch (const std::logic_error&) {  // of stoll
  }
  damaged(path, key);
}

}  // namespace

std::string graph_digest(const Dataset& data) {
  return digest_of(data, keys_of(data));
}

TrainingNodes TrainingNodes::of(const Dataset& data, const Split& split, bool features_are_own) {
  TrainingNodes out;
  out.named_ = !data.node_names.empty();
  out.features_are_own_ = features_are_own && !out.named_;
  out.nodes_ = data.nodes();
  out.arcs_ = data.graph.arcs();
  const std::vector<uint64_t> keys = keys_of(data);
  out.digest_ = digest_of(data, keys);
  size_t part = 0;
  for (const auto* nodes : {&split.train, &split.val, &split.test}) {
    const auto index = nodes->to(torch::kCPU, torch::kInt64).contiguous();
    auto& members = out.members_[part++];
    for (int64_t k = 0; k < index.numel(); ++k) {
      const int64_t v = index.data_ptr<int64_t>()[k];
      members.push_back(out.named_ ? keys[v] : static_cast<uint64_t>(v));
    }
    std::sort(members.begin(), members.end());
  }

  // Nodes whose features are all zero look alike, so that the others are asked first.
  const MatrixRows X(data.features);
  Smallest<int64_t> telling, silent;
  for (int64_t v = 0; v < data.nodes(); ++v) {
    const uint64_t hash = mixed(keys[v] ^ 0x5851f42d4c957f2d);
    (!out.features_are_own_ || has_features(X, v) ? telling : silent).offer(hash, v);
  }
  std::vector<int64_t> sample = telling.take();
  if (sample.empty()) sample = silent.take();
  for (const int64_t v : sample)
    out.node_sample_.push_back({keys[v], out.features_are_own_ ? hash_of_row(X, v) : 0});
  Smallest<std::pair<int64_t, int64_t>> arcs;
  for (int64_t v = 0; v < data.nodes(); ++v)
    for (int64_t k = data.graph.row_begin[v]; k < data.graph.row_begin[v + 1]; ++k)
      arcs.offer(hash_of_arc(keys[v], keys[data.graph.target[k]]), {v, data.graph.target[k]});
  for (const auto& [u, v] : arcs.take()) out.arc_sample_.push_back({keys[u], keys[v]});
  return out;
}

std::array<int64_t, 3> TrainingNodes::counts() const {
  std::array<int64_t, 3> out{};
  for (size_t part = 0; part < 3; ++part) out[part] = static_cast<int64_t>(members_[part].size());
  return out;
}

uint64_t TrainingNodes::key_of_number(int64_t node) const {
  return hash_of(std::to_string(node));
}

Recognition TrainingNodes::recognise(const Dataset& data) const {
  Recognition out;
  out.remembers = true;
  const auto empty = torch::empty({0}, torch::kInt64);
  out.split = {empty, empty, empty};
  const std::vector<uint64_t> keys = keys_of(data);
  const Lookup node_of(keys);
  const MatrixRows X(data.features);
  size_t there = 0, alike = 0, joined = 0;
  for (const NodeSample& node : node_sample_) {
    const int64_t v = node_of(node.key);
    if (v < 0) continue;
    ++there;
    alike += features_are_own_ && hash_of_row(X, v) == node.features;
  }
  for (const ArcSample& arc : arc_sample_) {
    const int64_t u = node_of(arc.source), v = node_of(arc.target);
    joined += u >= 0 && v >= 0 && (has_arc(data.graph, u, v) || has_arc(data.graph, v, u));
  }
  out.training_graph = most(there, node_sample_.size()) && most(joined, arc_sample_.size()) &&
                       (!features_are_own_ || most(alike, node_sample_.size()));
  if (!out.training_graph) return out;
  out.unchanged = digest_of(data, keys) == digest_;
  out.nodes_then = nodes_;
  torch::Tensor* const parts[] = {&out.split.train, &out.split.val, &out.split.test};
  for (size_t part = 0; part < 3; ++part) {
    std::vector<int64_t> found;
    for (const uint64_t member : members_[part])
      if (const int64_t v = node_of(named_ ? member : key_of_number(static_cast<int64_t>(member))); v >= 0)
        found.push_back(v);
    *parts[part] = index_of(std::move(found));
  }
  return out;
}

void TrainingNodes::keep_labels(const Dataset& data, const KnownLabels& labels) {
  const int64_t count = labels.nodes.numel();
  std::vector<std::pair<uint64_t, int64_t>> order;  // as members_[0] has them
  for (int64_t k = 0; k < count; ++k) {
    const int64_t v = labels.nodes[k].item<int64_t>();
    order.emplace_back(named_ ? hash_of(data.node_name(v)) : static_cast<uint64_t>(v), k);
  }
  std::sort(order.begin(), order.end());
  std::vector<int64_t> places;
  for (const auto& [member, k] : order) places.push_back(k);
  const auto index = torch::tensor(places, torch::kInt64);
  labels_ = labels.labels.index_select(0, index);
  half_ = labels.half.index_select(0, index);
}

std::optional<KnownLabels> TrainingNodes::labels_on(const Dataset& data) const {
  if (!labels_.defined() || !recognise(data).training_graph) return std::nullopt;
  const Lookup node_of(keys_of(data));
  std::vector<int64_t> nodes, places;
  for (size_t k = 0; k < members_[0].size(); ++k) {
    const uint64_t member = members_[0][k];
    const int64_t v = node_of(named_ ? member : key_of_number(static_cast<int64_t>(member)));
    if (v < 0) continue;
    nodes.push_back(v);
    places.push_back(static_cast<int64_t>(k));
  }
  const auto index = torch::tensor(places, torch::kInt64);
  return KnownLabels{torch::tensor(nodes, torch::kInt64), labels_.index_select(0, index),
                     half_.index_select(0, index)};
}

void TrainingNodes::save(SafeTensors& content) const {
  content.metadata["training.nodes"] = std::to_string(nodes_);
  content.metadata["training.arcs"] = std::to_string(arcs_);
  content.metadata["training.digest"] = digest_;
  content.metadata["training.names"] = named_ ? "text" : "numbers";
  content.metadata["training.features"] = features_are_own_ ? "compared" : "not compared";
  if (named_) {
    for (size_t part = 0; part < 3; ++part)
      content.tensors[member_names[part]] =
          bytes_of(members_[part], {static_cast<int64_t>(members_[part].size())});
  } else {  // 1, 2, 3 for train, val, test; four nodes in a byte
    std::vector<unsigned char> packed(static_cast<size_t>(nodes_ + 3) / 4, 0);
    for (size_t part = 0; part < 3; ++part)
      for (const uint64_t v : members_[part])
        packed[v / 4] |= static_cast<unsigned char>((part + 1) << (2 * (v % 4)));
    const auto size = static_cast<int64_t>(packed.size());
    content.tensors[parts_name] = {ElementType::uint8, {size}, std::move(packed)};
  }
  std::vector<uint64_t> nodes, arcs;
  for (const NodeSample& node : node_sample_) nodes.insert(nodes.end(), {node.key, node.features});
  for (const ArcSample& arc : arc_sample_) arcs.insert(arcs.end(), {arc.source, arc.target});
  content.tensors[node_sample_name] = bytes_of(nodes, {static_cast<int64_t>(node_sample_.size()), 2});
  content.tensors[arc_sample_name] = bytes_of(arcs, {static_cast<int64_t>(arc_sample_.size()), 2});
  if (!labels_.defined()) return;
  content.tensors[labels_name] = to_bytes(labels_);
  content.tensors[halves_name] = to_bytes(half_.to(torch::kUInt8));
}

std::optional<TrainingNodes> TrainingNodes::load(const SafeTensors& content, const std::string& path) {
  if (!content.metadata.count("training.nodes")) return std::nullopt;
  TrainingNodes out;
  out.nodes_ = count_of(content, "training.nodes", path);
  out.arcs_ = count_of(content, "training.arcs", path);
  out.digest_ = text_of(content, "training.digest", path);
  out.named_ = text_of(content, "training.names", path) == "text";
  out.features_are_own_ = text_of(content, "training.features", path) == "compared";
  if (out.named_) {
    for (size_t part = 0; part < 3; ++part) out.members_[part] = words_of(content, member_names[part], path);
  } else {
    const auto at = content.tensors.find(parts_name);
    if (at == content.tensors.end() || at->second.type != ElementType::uint8 ||
        at->second.bytes.size() != static_cast<size_t>(out.nodes_ / 4 + (out.nodes_ % 4 != 0)))
      damaged(path, parts_name);
    for (int64_t v = 0; v < out.nodes_; ++v) {
      const int part = (at->second.bytes[static_cast<size_t>(v) / 4] >> (2 * (v % 4))) & 3;
      if (part > 0) out.members_[part - 1].push_back(static_cast<uint64_t>(v));
    }
  }
  const auto nodes = words_of(content, node_sample_name, path),
             arcs = words_of(content, arc_sample_name, path);
  if (nodes.size() % 2 != 0 || arcs.size() % 2 != 0) damaged(path, node_sample_name);
  for (size_t k = 0; k < nodes.size(); k += 2) out.node_sample_.push_back({nodes[k], nodes[k + 1]});
  for (size_t k = 0; k < arcs.size(); k += 2) out.arc_sample_.push_back({arcs[k], arcs[k + 1]});
  if (!content.tensors.count(labels_name)) return out;
  const auto halves = content.tensors.find(halves_name);
  if (halves == content.tensors.end()) damaged(path, halves_name);
  out.labels_ = to_tensor(content.tensors.at(labels_name));
  out.half_ = to_tensor(halves->second).to(torch::kInt64);
  const auto count = static_cast<int64_t>(out.members_[0].size());
  if (out.labels_.dim() < 1 || out.labels_.size(0) != count) damaged(path, labels_name);
  if (out.half_.dim() != 1 || out.half_.size(0) != count || out.half_.gt(1).any().item<bool>())
    damaged(path, halves_name);
  return out;
}

}  // namespace eignn
