// A table of edges (csv.cpp), separated by tabs, semicolons, commas or blanks:
//
//   source,target,weight      the names of the columns; may be missing
//   alice,"Bob, jr.",2.5      an arc, and its weight: a number, not negative; 0: there is no such arc
//
// The ends are source and target, from and to, src and dst, or another of the pairs below, else the first two
// columns. The weight is the column weight, weights, edge_weight or w, else a third column of numbers that is
// not named like a time or a type (time, since, created_at, edge_type) and does not hold seconds since 1970.
// There may be no other columns, unless the options list them as ignored.
//
// The first line has names where it has one of the pairs; otherwise it is an arc where one of its ends is the
// id of a node that is known, or where a number stands in it.
#include "data/edge_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "data/cell.h"
#include "data/csv.h"
#include "data/text_lines.h"

namespace eignn {

namespace {

using Names = std::vector<std::string>;

const std::pair<const char*, const char*> pairs_of_ends[] = {
    {"source", "target"}, {"from", "to"},       {"src", "dst"},     {"source_id", "target_id"},
    {"src", "dest"},      {"from_id", "to_id"}, {"node1", "node2"}, {"node_1", "node_2"},
    {"id1", "id2"},       {"id_1", "id_2"},     {"source", "dest"}, {"u", "v"}};
constexpr const char* names_of_weights[] = {"weight", "weights", "edge_weight", "w"};
constexpr const char* names_of_other_things[] = {
    "time",  "timestamp", "date", "datetime", "year", "month", "day",     "hour",     "since",
    "until", "ts",        "unix", "epoch",    "when", "type",  "kind",    "relation", "category",
    "id",    "label",     "sign", "edge_id",  "key",  "rel",   "created", "updated"};
constexpr const char* ends_of_other_things[] = {"_at", "_on",   "_time", "_timestamp", "_date",
                                                "_ts", "_type", "_kind", "_category",  "_id"};

// Whether a column, its name in lower case, is called like a time or a type.
bool is_other_thing(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), ' ', '_');
  const auto is_name = [&](const char* other) { return name == other; };
  const auto ends_with = [&](std::string_view end) {
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  return std::any_of(std::begin(names_of_other_things), std::end(names_of_other_things), is_name) ||
         std::any_of(std::begin(ends_of_other_things), std::end(ends_of_other_things), ends_with);
}

// Whether all numbers are whole and lie where seconds or milliseconds since 1970 do, those of 2001 to 2040.
bool are_time_stamps(const std::vector<double>& values) {
  const auto is_stamp = [](double x) {
    const bool seconds = x >= 9.8e8 && x < 2.2e9, milliseconds = x >= 9.8e11 && x < 2.2e12;
    return x == std::floor(x) && (seconds || milliseconds);
  };
  return !values.empty() && std::all_of(values.begin(), values.end(), is_stamp);
}

Names lower_case(const Names& names) {
  Names out = names;
  for (std::string& name : out)
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<size_t> place_of(const Names& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<size_t>(at - names.begin());
}

std::optional<std::pair<size_t, size_t>> named_ends(const Names& lower) {
  for (const auto& [first, second] : pairs_of_ends)
    if (const auto a = place_of(lower, first), b = place_of(lower, second); a && b)
      return std::pair<size_t, size_t>(*a, *b);
  return std::nullopt;
}

// Which column is what.
struct Layout {
  size_t source = 0, target = 1;
  std::optional<size_t> weight;
  bool weight_by_name = false;  // and not because it is the third column
  std::vector<size_t> ignored;
};

class EdgeReader {
 public:
  EdgeReader(std::string_view text, const std::string& path, const TableOptions& options, TextPool* ids)
      : path_(path), options_(options), ids_(*ids), rows_(text, path, csv_options()) {}

  EdgeTable read() {
    EdgeTable out;
    bool more = rows_.next();
    if (!more) refuse("the file is empty", {path_, "line 1"}, "write source,target and a line for each edge");
    if (rows_.columns() < 2)
      rows_.refuse("one column, where an edge needs two",
                   "write source and target, with a comma, a tab, a semicolon or a blank between them");
    if (is_header()) {
      rows_.take_names();
      layout_ = layout_of_names();
      more = rows_.next();
    } else {
      layout_ = layout_without_names();
    }
    for (; more; more = rows_.next()) take_arc(&out);
    check_no_times(out);
    tell(&out);
    return out;
  }

 private:
  static CsvOptions csv_options() {
    CsvOptions options;
    options.header = false;
    options.any_separator = true;
    return options;
  }

  Names first_row() const {
    Names out;
    for (size_t k = 0; k < rows_.columns(); ++k) out.emplace_back(trimmed(rows_.field(k)));
    return out;
  }

  bool is_header() const {
    const Names row = first_row();
    if (named_ends(lower_case(row))) return true;
    if (ids_.find(row[0]) >= 0 || ids_.find(row[1]) >= 0) return false;
    return std::none_of(row.begin(), row.end(),
                        [](const std::string& field) { return read_cell(field).kind == CellKind::number; });
  }

  // Whether a column that may hold weights is read.
  bool wants_weights() const { return options_.edge_weights != EdgeWeights::ignore; }

  Layout layout_of_names() {
    const Names& names = rows_.names();
    const Names lower = lower_case(names);
    Layout out;
    if (const auto ends = named_ends(lower)) {
      std::tie(out.source, out.target) = *ends;
    } else if (place_of({"id", "edge_id", "edge", "index", "key", "weight"}, lower[0])) {
      rows_.refuse_field(0, "it is not clear which columns are the ends of an edge",
                         "call them source and target");
    }
    std::vector<size_t> others;
    for (size_t k = 0; k < names.size(); ++k) {
      if (k == out.source || k == out.target) continue;
      const auto& ignored = options_.ignore_columns;
      if (std::find(ignored.begin(), ignored.end(), names[k]) != ignored.end())
        out.ignored.push_back(k);
      else
        others.push_back(k);
    }
    for (const char* name : names_of_weights)
      if (const auto at = place_of(lower, name); at && !out.weight)
        if (const auto own = std::find(others.begin(), others.end(), *at); own != others.end()) {
          out.weight = *at;
          out.weight_by_name = true;
          others.erase(own);
        }
    if (!out.weight && others.size() == 1 && !is_other_thing(lower[others[0]])) {
      out.weight = others[0];
      others.clear();
    }
    if (!others.empty()) refuse_undecided(others);
    return out;
  }

  // Names all columns that nobody has said anything about.
  [[noreturn]] void refuse_undecided(const std::vector<size_t>& columns) const {
    std::vector<std::string> quoted, bare;
    for (const size_t k : columns) {
      quoted.push_back(quote(rows_.names()[k]));
      bare.push_back(rows_.names()[k]);
    }
    const bool one = columns.size() == 1;
    rows_.refuse_field(
        columns[0],
        fmt::format("the column{} {} {} an end of the edges nor their weight", one ? "" : "s",
                    fmt::join(quoted, ", "), one ? "is neither" : "are neither"),
        one ? fmt::format("list it in ignore-columns ({}), or call it weight if it is one", bare[0])
            : fmt::format("list them in ignore-columns ({}), and call one weight if it is one",
                          fmt::join(bare, ",")));
  }

  // A third column of times must not become weights in silence.
  void check_no_times(const EdgeTable& table) const {
    if (!layout_.weight || layout_.weight_by_name || !are_time_stamps(table.arcs.weight)) return;
    const bool named = !rows_.names().empty();
    const std::string column = named ? rows_.names()[*layout_.weight] : "3";
    refuse(fmt::format("the third column holds what look like seconds or milliseconds since 1970, such as {}",
                       table.arcs.weight[0]),
           {path_, fmt::format("column {}", quote(column))},
           named ? fmt::format("list it in ignore-columns ({}), or call it weight if it is one", column)
                 : "name the columns in the first line, such as source,target,time, and list time in "
                   "ignore-columns, "
                   "or call it weight if it is one");
  }

  Layout layout_without_names() {
    Layout out;
    if (rows_.columns() > 3)
      rows_.refuse(fmt::format("{} columns, and no line with their names", rows_.columns()),
                   "name them in the first line, source,target,weight, and list others in ignore-columns");
    if (rows_.columns() == 3) out.weight = 2;
    return out;
  }

  int64_t take_node(size_t column) {
    const std::string_view id = trimmed(rows_.field(column));
    if (id.empty()) rows_.refuse_field(column, "the id is empty", "name both ends of an edge");
    return ids_.number_of(id);
  }

  double weight_of_row() const {
    const size_t column = *layout_.weight;
    const Cell cell = read_cell(rows_.field(column));
    const std::string text = quote(trimmed(rows_.field(column)));
    switch (cell.kind) {
      case CellKind::number:
        if (cell.may_be_thousands && rows_.separator() == ',')
          rows_.refuse_field(column, fmt::format("{} has signs between its thousands", text),
                             "write numbers such as 1234.5");
        if (cell.number < 0)
          rows_.refuse_field(column, fmt::format("the weight {} is negative", text),
                             "a weight says how much is passed on: give 0 or more, or leave the edge out");
        return cell.number;
      case CellKind::missing:
        rows_.refuse_field(column, "the weight is missing",
                           "write a number, such as 1, or leave the edge out");
      case CellKind::out_of_range:
        rows_.refuse_field(column, fmt::format("the weight {} is not a finite number", text),
                           "write a number of an ordinary size");
      case CellKind::grouped:
        rows_.refuse_field(column, fmt::format("{} has signs between its thousands", text),
                           "write numbers such as 1234.5");
      default:
        rows_.refuse_field(column, fmt::format("{} is not a weight", text),
                           "write a number; a column that is no weight must be listed in ignore-columns");
    }
  }

  void take_arc(EdgeTable* out) {
    const int64_t source = take_node(layout_.source), target = take_node(layout_.target);
    ++read_;
    if (layout_.weight && wants_weights()) {
      const double weight = weight_of_row();
      if (weight == 0) {
        ++out->of_weight_0;
        return;
      }
      out->arcs.weight.push_back(weight);
    }
    out->arcs.source.push_back(source);
    out->arcs.target.push_back(target);
  }

  void tell(EdgeTable* out) const {
    const std::string file = std::filesystem::path(path_).filename().string();
    const auto name = [&](size_t k) {
      return rows_.names().empty() ? fmt::format("{}", k + 1) : rows_.names()[k];
    };
    out->report.push_back({file, name(layout_.source), ColumnRole::source, 0, counted(read_, "row")});
    out->report.push_back({file, name(layout_.target), ColumnRole::target, 0, ""});
    if (layout_.weight && !wants_weights())
      out->report.push_back({file, name(*layout_.weight), ColumnRole::ignored, 0, "weights, not used"});
    if (layout_.weight && wants_weights()) {
      const auto& weight = out->arcs.weight;
      const auto [least, most] = std::minmax_element(weight.begin(), weight.end());
      std::string note = weight.empty() ? "" : fmt::format("{:.6g} to {:.6g}", *least, *most);
      if (out->of_weight_0 > 0)
        note += fmt::format("{}{} of weight 0 left out", note.empty() ? "" : "; ",
                            counted(out->of_weight_0, "edge"));
      out->report.push_back({file, name(*layout_.weight), ColumnRole::weight, 0, note});
    }
    for (const size_t k : layout_.ignored)
      out->report.push_back({file, name(k), ColumnRole::ignored, 0, "as asked"});
  }

  const std::string& path_;
  const TableOptions& options_;
  TextPool& ids_;
  CsvReader rows_;
  Layout layout_;
  int64_t read_ = 0;
};

}  // namespace

EdgeTable parse_edge_table(std::string_view text, const std::string& path, const TableOptions& options,
                           TextPool* ids) {
  return EdgeReader(text, path, options, ids).read();
}

}  // namespace eignn
