// MUSAE's layout, which SNAP's Twitch, Facebook, GitHub, LastFM and Deezer sets have: a folder with
//
//   NAME_edges.csv      a header, then two ids per line: one arc, as the file has it
//   NAME_target.csv     a header, then one node per line, in any order (csv.cpp)
//   NAME_features.json  {"0": [3, 17], ...}: for each node the features that it has; also named NAME.json
//
// Ids are 0 … n-1. In NAME_target.csv the id is the column `new_id` (Twitch), or else `id`; the label is the
// first that is there of `target`, `ml_target`, `page_type` and `mature`. The first row says what labels are:
// True or False (1 or 0); whole numbers, which are the classes; or texts, numbered in alphabetical order.
// Quantities (the traffic of the Wikipedia sets) are no classes: refused, by a fraction or by a value >= n.
//
// Features become (n, d) zeros and ones, where d is the largest index plus one.
#include "data/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "data/atomic_file.h"
#include "data/csv.h"
#include "data/folder_files.h"
#include "data/keyed_numbers.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

constexpr const char* edges_suffix = "_edges.csv";
constexpr const char* no_quantities =
    "labels are classes 0, 1, 2, ...; put a quantity into classes first (Geom-GCN's chameleon and squirrel "
    "are)";

size_t label_column(const CsvReader& rows, const std::string& path) {
  for (const char* name : {"target", "ml_target", "page_type", "mature"})
    if (const auto column = rows.find(name)) return *column;
  refuse("no column target, ml_target, page_type or mature", path, "name the column of labels so");
}

enum class LabelKind { boolean, whole, text };

template <class Number>
bool spells(std::string_view field) {
  Number number = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, number);
  return stop == end && error == std::errc();
}

LabelKind kind_of(std::string_view field) {
  if (field == "True" || field == "False") return LabelKind::boolean;
  return spells<double>(field) ? LabelKind::whole : LabelKind::text;
}

// The classes of texts, in alphabetical order.
std::vector<int64_t> numbered(const std::vector<std::string>& texts) {
  std::map<std::string_view, int64_t> number;
  for (const std::string& text : texts) number.emplace(text, 0);
  int64_t next = 0;
  for (auto& entry : number) entry.second = next++;
  std::vector<int64_t> out;
  for (const std::string& text : texts) out.push_back(number[text]);
  return out;
}

// Reads the ids and labels of NAME_target.csv: the number of nodes, and the label of each.
void read_target(const std::string& path, RawDataset* set) {
  const std::string content = read_whole_file(path);
  CsvReader rows(content, path);
  const size_t id = rows.find("new_id") ? rows.need("new_id") : rows.need("id");
  const size_t label = label_column(rows, path);
  std::vector<int64_t> ids, lines, labels;
  std::vector<std::string> texts;
  std::optional<LabelKind> kind;
  while (rows.next()) {
    ids.push_back(rows.whole_number(id));
    lines.push_back(rows.line());
    if (rows.is_empty(label)) rows.refuse_field(label, "no label", "label every node");
    const std::string_view field = trimmed(rows.field(label));
    if (!kind) kind = kind_of(field);
    if (*kind == LabelKind::whole) {
      if (!spells<int64_t>(field))
        rows.refuse_field(label, quote(field) + " is not a whole number", no_quantities);
      labels.push_back(rows.whole_number(label));
    } else if (*kind == LabelKind::text) {
      texts.emplace_back(field);
    } else if (field == "True" || field == "False") {
      labels.push_back(field == "True" ? 1 : 0);
    } else {
      rows.refuse_field(label, quote(field) + " is neither True nor False", "write one of them in each row");
    }
  }
  if (kind == LabelKind::text) labels = numbered(texts);

  const auto n = static_cast<int64_t>(ids.size());
  std::vector<int64_t> line_of(ids.size(), 0);
  set->arcs.nodes = n;
  set->labels.resize(ids.size());
  for (size_t k = 0; k < ids.size(); ++k) {
    const auto fail = [&](const std::string& what, const std::string& remedy) {
      refuse(what, {path, fmt::format("line {}", lines[k])}, remedy);
    };
    if (ids[k] < 0 || ids[k] >= n)
      fail(fmt::format("the id {} among {} nodes", ids[k], n), fmt::format("use 0 to {}, each once", n - 1));
    if (line_of[ids[k]] != 0)
      fail(fmt::format("the id {} was there in line {}", ids[k], line_of[ids[k]]), "give each node one line");
    if (labels[k] < 0 || (kind == LabelKind::whole && labels[k] >= n))
      fail(fmt::format("the label {} among {} nodes", labels[k], n), no_quantities);
    line_of[ids[k]] = lines[k];
    set->labels[ids[k]] = labels[k];
    set->classes = std::max(set->classes, labels[k] + 1);
  }
}

void read_edges(const std::string& path, ArcList* arcs) {
  const std::string content = read_whole_file(path);
  CsvReader rows(content, path);
  if (rows.columns() != 2)
    refuse(fmt::format("{} columns", rows.columns()), {path, "line 1"},
           "write two, the ids of an arc's ends");
  while (rows.next())
    for (const size_t column : {0, 1}) {
      const int64_t id = rows.whole_number(column);
      if (id < 0 || id >= arcs->nodes)
        rows.refuse(fmt::format("the id {} among {} nodes", id, arcs->nodes),
                    "give every node a label first");
      (column == 0 ? arcs->source : arcs->target).push_back(id);
    }
}

// The number of features. Memory grows with it, so a large number claimed by few entries is refused.
int64_t feature_count(const KeyedNumbers& active, const std::string& path) {
  constexpr int64_t always_fine = 65536;
  int64_t largest = -1;
  for (size_t k = 0; k < active.keys.size(); ++k)
    for (size_t j = active.begin[k]; j < active.begin[k + 1]; ++j) {
      const int64_t index = active.numbers[j];
      if (index < 0 || (index >= always_fine && index >= static_cast<int64_t>(active.numbers.size())))
        refuse(fmt::format("the feature {} in a file with {} entries", index, active.numbers.size()),
               at_key(path, active.keys[k]), "number the features 0, 1, 2, ...");
      largest = std::max(largest, index);
    }
  return largest + 1;
}

Array read_features(const std::string& path, int64_t n, std::optional<SparseRows>& entries) {
  constexpr int64_t most_bytes = int64_t{8} << 30;
  const KeyedNumbers active = parse_keyed_numbers(read_whole_file(path), path);
  if (!active.keys.empty() && !active.lists)
    refuse("a number instead of a list", at_key(path, active.keys[0]), "list the features of each node");
  for (int64_t v = 0; v < n; ++v)
    if (active.place.count(std::to_string(v)) == 0)
      refuse(fmt::format("no key '{}'", v), path, "list the features of each node, [] for none");
  if (static_cast<int64_t>(active.keys.size()) > n)
    for (const std::string& key : active.keys) {
      int64_t v = -1;
      const bool is_number = std::from_chars(key.data(), key.data() + key.size(), v).ec == std::errc();
      if (!is_number || v < 0 || v >= n || std::to_string(v) != key)
        refuse(fmt::format("not the id of one of the {} nodes", n), at_key(path, key), "remove it");
    }

  Array features;
  features.origin = path;
  features.type = ElementType::uint8;
  const int64_t d = feature_count(active, path);
  features.shape = {n, d};
  if (stay_sparse(n, d, static_cast<int64_t>(active.numbers.size()))) {
    SparseRows rows;
    for (int64_t v = 0; v < n; ++v) {
      const size_t k = active.place.at(std::to_string(v));
      std::set<int64_t> listed(active.numbers.begin() + static_cast<std::ptrdiff_t>(active.begin[k]),
                               active.numbers.begin() + static_cast<std::ptrdiff_t>(active.begin[k + 1]));
      rows.column.insert(rows.column.end(), listed.begin(), listed.end());
      rows.begin.push_back(static_cast<int64_t>(rows.column.size()));
    }
    rows.value.assign(rows.column.size(), 1);
    entries = sorted_rows(std::move(rows), d, path);
    return features;
  }
  if (n > 0 && d > most_bytes / n)
    refuse(fmt::format("{} features of {} nodes do not fit into 8 GiB", d, n), path, "use fewer features");
  features.bytes.resize(static_cast<size_t>(n * d));
  for (int64_t v = 0; v < n; ++v) {
    const size_t k = active.place.at(std::to_string(v));
    for (size_t j = active.begin[k]; j < active.begin[k + 1]; ++j)
      features.bytes[v * d + active.numbers[j]] = 1;
  }
  return features;
}

bool is_musae(const std::string& folder) {
  const std::vector<std::string> names = stems_in(folder, edges_suffix);
  return names.size() == 1 && file_exists(folder + "/" + names[0] + "_target.csv");
}

RawDataset read_musae(const std::string& folder) {
  const std::vector<std::string> names = stems_in(folder, edges_suffix);
  if (names.size() != 1)
    refuse(fmt::format("{} files *_edges.csv", names.size()), folder, "give a folder with exactly one");
  RawDataset set;
  set.name = names[0];
  set.format = "MUSAE folder";
  set.path = folder;
  const std::string prefix = folder + "/" + set.name;
  read_target(prefix + "_target.csv", &set);
  read_edges(prefix + edges_suffix, &set.arcs);
  const bool short_name = !file_exists(prefix + "_features.json") && file_exists(prefix + ".json");
  set.features = read_features(prefix + (short_name ? ".json" : "_features.json"), set.nodes(), set.entries);
  check(set);
  return set;
}

}  // namespace

const Reader musae_reader = {"MUSAE", "one *_edges.csv and *_target.csv", is_musae, read_musae};

}  // namespace eignn
