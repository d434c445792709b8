// Tables about nodes (csv.cpp), one file or several that are joined by id:
//
//   id,label,age,city,split        the header: names in any order
//   alice,cat,31,Oslo,train        a row per node, at most one in each file
//   "Bob, jr.",,NA,,               nothing, NA, N/A, n.a., NaN, null, None and ? are gaps (cell.h)
//
//   id      the column id, node_id, node or name, the first of these that is there, capitals or not. Any text
//   labels  the columns that the options name, else the one called label, labels, class, target or y
//   splits  split, or split_0, split_1, …: train, val, test, or nothing for a node in none of them
//
// Every other column is a feature. It has numbers where all its fields are numbers or gaps, a decimal comma
// instead of the point included, and a dash for a gap; else it is a category. Categories with nearly as many
// words as nodes are free text and not used. Refused are dates, numbers with signs between their thousands,
// percent signs or currencies, and columns where nearly all fields are numbers, or most are and there are
// many of them: a word among them is rather a mistake than a category.
//
// For a model that was trained already, a column of features is what it was in the training: what looks like
// free text in a thousand rows may look like a category in sixty, and the other way round.
//
// Labels of one column: numbers with decimals, or more than 50 different ones, are numbers to predict; other
// labels are classes, 0 … c-1 under their own numbers, any others in order, numbers before words. Labels of
// several columns: 0 and 1 (or no and yes, false and true) in all of them are a set of labels, other numbers
// are numbers to predict. The task of the options decides otherwise.
#include "data/node_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "data/cell.h"
#include "data/csv.h"
#include "data/memory_limit.h"
#include "data/text_lines.h"

namespace eignn {

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// The text on one line of a table for people.
std::string shown(std::string_view text) {
  const std::string quoted = quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t most = 6;
  std::string out;
  for (size_t k = 0; k < names.size() && k < most; ++k) out += (k == 0 ? "" : ", ") + shown(names[k]);
  return out + (names.size() > most ? ", …" : "");
}

// A field that is worth a message.
struct Spot {
  int64_t line = 0;  // 0: there is none
  std::string text;
  void note(int64_t at, std::string_view what) {
    if (line == 0) {
      line = at;
      text = what;
    }
  }
};

// The number of a column split, split_2, split-2 or split2; -1 for other names.
int64_t split_column(std::string_view name) {
  const std::string lower = lower_case(name);
  const std::string_view start = "split";
  if (lower.compare(0, start.size(), start) != 0) return -1;
  std::string_view rest = std::string_view(lower).substr(start.size());
  if (rest.empty()) return 0;
  if (rest[0] == '_' || rest[0] == '-' || rest[0] == ' ') rest.remove_prefix(1);
  int64_t number = -1;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() && stop == rest.data() + rest.size() ? number : -1;
}

// 0 train, 1 val, 2 test; -1: none, -2: no such word.
int part_of(std::string_view text) {
  const std::string lower = lower_case(trimmed(text));
  if (lower == "train" || lower == "training") return 0;
  if (lower == "val" || lower == "valid" || lower == "validation") return 1;
  if (lower == "test") return 2;
  return read_cell(lower).kind == CellKind::missing ? -1 : -2;
}

// The numbers of the texts of a pool; NaN for words.
std::vector<double> numbers_in(const TextPool& pool) {
  std::vector<double> out(static_cast<size_t>(pool.count()), no_value);
  for (int64_t k = 0; k < pool.count(); ++k)
    if (const Cell cell = read_cell(pool.text(k)); cell.kind == CellKind::number)
      out[static_cast<size_t>(k)] = cell.number;
  return out;
}

// The same, with 1 for true and yes and 0 for false and no.
std::vector<double> flags_in(const TextPool& pool) {
  std::vector<double> out = numbers_in(pool);
  for (int64_t k = 0; k < pool.count(); ++k) {
    const std::string text = lower_case(pool.text(k));
    if (text == "true" || text == "yes") out[static_cast<size_t>(k)] = 1;
    if (text == "false" || text == "no") out[static_cast<size_t>(k)] = 0;
  }
  return out;
}

// The texts of a pool, numbers first by their size, then words by their bytes.
std::vector<int64_t> sorted_texts(const TextPool& pool) {
  const std::vector<double> numbers = numbers_in(pool);
  std::vector<int64_t> order(static_cast<size_t>(pool.count()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double x = numbers[static_cast<size_t>(a)], y = numbers[static_cast<size_t>(b)];
    if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
    if (!std::isnan(x) && x != y) return x < y;
    return pool.text(a) < pool.text(b);
  });
  return order;
}

bool has_leading_zero(std::string_view text) {
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

}  // namespace

struct NodeTables::Column {
  File* file = nullptr;
  size_t field = 0;
  std::string name;
  ColumnRole role = ColumnRole::numbers;
  std::string note;

  // What the fields hold.
  int64_t numbers = 0, words = 0, dates = 0, marked = 0, placeholders = 0, known = 0;
  Spot first_word, first_date, first_grouped, first_out_of_range, first_comma, first_point, first_marked;

  // Of labels and categories: the different texts, with the line of the first of each.
  TextPool pool;
  std::vector<int64_t> line_of;
  std::vector<int64_t> codes;         // of labels and splits: of each row; of a label's gap minus the line
  std::vector<std::string> category;  // the words in order
  size_t place = 0;                   // of features: among those of the file

  Where at(int64_t line) const;
  Where at(const Spot& spot) const { return at(spot.line); }
  int64_t code_of(std::string_view text, int64_t line) {
    const int64_t code = pool.number_of(text);
    if (code == static_cast<int64_t>(line_of.size())) line_of.push_back(line);
    return code;
  }
};

struct NodeTables::File {
  NodeFile source;
  std::string name;  // without the folder
  std::unique_ptr<CsvReader> rows;
  int64_t header_line = 0;
  size_t id = 0;
  std::vector<int64_t> node_of_row;
  std::vector<Column*> features, labels, splits;
  std::vector<double> values;  // rows of features, with the codes of categories
  Where header() const { return {source.path, fmt::format("line {}", header_line)}; }
};

Where NodeTables::Column::at(int64_t line) const {
  return {file->source.path, fmt::format("line {}, column {}", line, quote(name))};
}

NodeTables::~NodeTables() = default;

NodeTables::NodeTables(std::vector<NodeFile> files, const TableOptions& options, TextPool* ids)
    : options_(options) {
  for (NodeFile& file : files) open(std::move(file));
  choose_labels();
  for (const auto& column : columns_) {
    File& file = *column->file;
    if (column->role == ColumnRole::label) file.labels.push_back(column.get());
    if (column->role == ColumnRole::split) file.splits.push_back(column.get());
    if (column->role == ColumnRole::numbers) {
      column->place = file.features.size();
      file.features.push_back(column.get());
    }
  }
  for (const auto& file : files_) read(*file, ids);
  for (const auto& file : files_) {
    for (Column* column : file->features) decide(*column);
    read_words(*file);
    file->rows.reset();
    file->source.text = std::string();
  }
  for (const auto& column : columns_)
    if (column->role == ColumnRole::numbers || column->role == ColumnRole::category)
      features_.push_back(column.get());
}

// Reads the header of a file and finds its columns.
void NodeTables::open(NodeFile source) {
  auto file = std::make_unique<File>();
  file->source = std::move(source);
  const std::string& path = file->source.path;
  file->name = std::filesystem::path(path).filename().string();
  file->rows = std::make_unique<CsvReader>(file->source.text, path);
  file->header_line = file->rows->line();
  const std::vector<std::string>& names = file->rows->names();
  size_t id = names.size();
  for (const char* called : {"id", "node_id", "node", "name"})
    for (size_t k = 0; k < names.size() && id == names.size(); ++k)
      if (lower_case(names[k]) == called) id = k;
  if (id == names.size())
    refuse(fmt::format("no column says which node a row is about, among {}", listed(names)), file->header(),
           fmt::format("call it id{}",
                       names.size() > 1 ? ", if it is the first: id in place of " + quote(names[0]) : ""));
  file->id = id;
  for (size_t k = 0; k < names.size(); ++k) {
    for (const auto& other : columns_)
      if (other->name == names[k] && k != id && other->role != ColumnRole::id &&
          other->role != ColumnRole::ignored)
        refuse(fmt::format("the column {} is in {} too", quote(names[k]), other->file->name), file->header(),
               "keep it in one file, or give it another name");
    auto column = std::make_unique<Column>();
    column->file = file.get();
    column->field = k;
    column->name = names[k];
    const auto& ignored = options_.ignore_columns;
    if (k == id)
      column->role = ColumnRole::id;
    else if (std::find(ignored.begin(), ignored.end(), names[k]) != ignored.end())
      column->role = ColumnRole::ignored;
    else if (split_column(names[k]) >= 0)
      column->role = ColumnRole::split;
    if (column->role == ColumnRole::split) splits_.push_back(column.get());
    columns_.push_back(std::move(column));
  }
  files_.push_back(std::move(file));
}

void NodeTables::choose_labels() {
  const auto find = [&](const std::string& name, bool any_case) -> Column* {
    for (const auto& column : columns_)
      if ((any_case ? lower_case(column->name) : column->name) == name &&
          (column->role == ColumnRole::numbers || (column->role == ColumnRole::split && !any_case)))
        return column.get();
    return nullptr;
  };
  if (options_.label.empty()) {
    for (const char* called : {"label", "labels", "class", "target", "y"})
      if (Column* column = find(called, /*any_case=*/true)) labels_.push_back(column);
    if (labels_.size() > 1)
      refuse(fmt::format("both {} and {} may be the label", quote(labels_[0]->name), quote(labels_[1]->name)),
             labels_[1]->at(labels_[1]->file->header_line), "name it by the setting label");
    if (labels_.size() == 1 && lower_case(labels_[0]->name) == "y" && find("x", true) != nullptr)
      refuse("a column y beside x may be a label or a coordinate",
             labels_[0]->at(labels_[0]->file->header_line), "name the label by the setting label");
    if (labels_.empty()) why_unlabelled_ = "no column of the nodes is called label, class, target or y";
  }
  std::string missing;
  for (const std::string& name : options_.label) {
    Column* column = find(name, /*any_case=*/false);
    if (column != nullptr)
      labels_.push_back(column);
    else if (missing.empty())
      missing = name;
  }
  if (!missing.empty() && !labels_.empty())
    refuse(fmt::format("no column {} for the labels", quote(missing)), files_[0]->header(),
           "add it, or name others by the setting label");
  if (!missing.empty()) why_unlabelled_ = fmt::format("the nodes have no column {}", quote(missing));
  for (Column* column : labels_) column->role = ColumnRole::label;
  splits_.erase(std::remove_if(splits_.begin(), splits_.end(),
                               [](const Column* column) { return column->role != ColumnRole::split; }),
                splits_.end());
  std::stable_sort(splits_.begin(), splits_.end(), [](const Column* a, const Column* b) {
    return split_column(a->name) < split_column(b->name);
  });
}

// The first pass: nodes, numbers, labels and splits.
void NodeTables::read(File& file, TextPool* ids) {
  CsvReader& rows = *file.rows;
  std::vector<bool> seen;
  while (rows.next()) {
    const std::string_view id = trimmed(rows.field(file.id));
    if (id.empty()) rows.refuse_field(file.id, "the id is empty", "name each node");
    const auto node = ids->number_of(id);
    if (seen.size() <= static_cast<size_t>(node)) seen.resize(2 * static_cast<size_t>(node) + 1, false);
    if (seen[static_cast<size_t>(node)])
      rows.refuse(fmt::format("a second row for node {}", quote(id)), "give each node one row in a file");
    seen[static_cast<size_t>(node)] = true;
    file.node_of_row.push_back(node);
    for (Column* column : file.features) {
      const std::string_view text = rows.field(column->field);
      const Cell cell = read_cell(text);
      file.values.push_back(cell.kind == CellKind::number ? cell.number : no_value);
      if (cell.kind == CellKind::missing) continue;
      ++column->known;
      switch (cell.kind) {
        case CellKind::number:
          ++column->numbers;
          // Where commas separate, one within a number is more often that of English thousands.
          if (cell.may_be_thousands && rows.separator() == ',')
            column->first_grouped.note(rows.line(), trimmed(text));
          if (cell.comma) column->first_comma.note(rows.line(), trimmed(text));
          if (cell.point) column->first_point.note(rows.line(), trimmed(text));
          break;
        case CellKind::out_of_range:
          column->first_out_of_range.note(rows.line(), trimmed(text));
          break;
        case CellKind::grouped:
          column->first_grouped.note(rows.line(), trimmed(text));
          break;
        case CellKind::date:
          ++column->dates;
          column->first_date.note(rows.line(), trimmed(text));
          break;
        case CellKind::marked:
          ++column->marked;
          column->first_marked.note(rows.line(), trimmed(text));
          break;
        default:
          if (is_placeholder(text)) {
            ++column->placeholders;
          } else {
            ++column->words;
            column->first_word.note(rows.line(), trimmed(text));
          }
      }
    }
    for (Column* column : file.labels) {
      const std::string_view text = trimmed(rows.field(column->field));
      const bool gap = read_cell(text).kind == CellKind::missing;
      column->codes.push_back(gap ? -rows.line() : column->code_of(text, rows.line()));
      column->known += gap ? 0 : 1;
    }
    for (Column* column : file.splits) {
      const int part = part_of(rows.field(column->field));
      if (part < -1)
        rows.refuse_field(column->field, quote(trimmed(rows.field(column->field))) + " is no part of a split",
                          "write train, val or test, or leave it empty");
      column->codes.push_back(part);
      column->known += part < 0 ? 0 : 1;
    }
  }
  if (file.node_of_row.empty())
    refuse("the table has no rows", file.header(), "give each node a row under the names of the columns");
}

// What the column was in the training of the model that reads this table; null where there is none.
const TrainedColumn* NodeTables::trained(const Column& column) const {
  for (const TrainedColumn& known : options_.trained_columns)
    if (known.name == column.name) return &known;
  return nullptr;
}

// A dash among numbers stands for nothing; among words it is one of them.
void NodeTables::settle_placeholders(Column& column) {
  const TrainedColumn* known = trained(column);
  const bool are_gaps =
      column.words == 0 && (known != nullptr ? known->role == ColumnRole::numbers : column.numbers > 0);
  (are_gaps ? column.known : column.words) += are_gaps ? -column.placeholders : column.placeholders;
}

// Whether the training has decided what the column is.
bool NodeTables::decide_as_trained(Column& column) {
  const TrainedColumn* known = trained(column);
  if (known == nullptr) return false;
  if (known->role == ColumnRole::category || known->role == ColumnRole::text) {
    column.role = known->role;
    if (known->role == ColumnRole::text) column.note = "not used, as in training";
    return true;
  }
  const Spot& odd = column.first_word.line > 0     ? column.first_word
                    : column.first_marked.line > 0 ? column.first_marked
                                                   : column.first_date;
  if (odd.line > 0)
    refuse(fmt::format("{} is not a number, and the model was trained on numbers", quote(odd.text)),
           column.at(odd), "leave the field empty where the value is not known");
  return false;
}

// Numbers, a category, or a reason to refuse the column.
void NodeTables::decide(Column& column) {
  settle_placeholders(column);
  if (decide_as_trained(column)) return;
  const std::string ignore = fmt::format("or list {} in ignore-columns", quote(column.name));
  const auto share = [&](int64_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max<int64_t>(column.known, 1));
  };
  constexpr double most_of_them = 0.5, nearly_all = 0.9;
  if (share(column.dates) > most_of_them)
    refuse(fmt::format("{} is a date or a time", quote(column.first_date.text)), column.at(column.first_date),
           "write a number instead, such as days since the first one, " + ignore);
  const bool has_numbers = share(column.numbers) > most_of_them;
  if (column.first_marked.line > 0 && share(column.marked + column.numbers) > most_of_them)
    refuse(fmt::format("{} has a sign beside its number", quote(column.first_marked.text)),
           column.at(column.first_marked), "write numbers alone, such as 50, " + ignore);
  if (column.first_grouped.line > 0 && share(column.words + column.dates) < most_of_them)
    refuse(fmt::format("{} has signs between its thousands", quote(column.first_grouped.text)),
           column.at(column.first_grouped), "write numbers such as 1234.5, " + ignore);
  if (column.first_out_of_range.line > 0 && (has_numbers || column.words == 0))
    refuse(fmt::format("{} is not in the range of finite numbers", quote(column.first_out_of_range.text)),
           column.at(column.first_out_of_range), "leave the field empty where there is no number, " + ignore);
  if (column.numbers == column.known) {
    if (column.first_comma.line > 0 && column.first_point.line > 0)
      refuse(fmt::format("{} has a decimal comma, and {} in line {} a point", quote(column.first_comma.text),
                         quote(column.first_point.text), column.first_point.line),
             column.at(column.first_comma), "use one of the two in a column");
    if (column.first_comma.line > 0) column.note = "decimal commas";
    if (column.known == 0) column.note = "empty";
    return;
  }
  const Spot& odd = column.first_word.line > 0   ? column.first_word
                    : column.first_date.line > 0 ? column.first_date
                                                 : column.first_out_of_range;
  if (share(column.numbers) >= nearly_all)
    refuse(fmt::format("{} is not a number, and nearly all other fields of the column are", quote(odd.text)),
           column.at(odd), "leave the field empty where the value is not known, " + ignore);
  column.role = ColumnRole::category;
}

// The second pass, for the words of categories.
void NodeTables::read_words(File& file) {
  std::vector<Column*> categories;
  for (Column* column : file.features)
    if (column->role == ColumnRole::category) categories.push_back(column);
  if (categories.empty()) return;
  CsvReader rows(file.source.text, file.source.path);
  for (size_t row = 0; rows.next(); ++row)
    for (Column* column : categories) {
      const std::string_view text = trimmed(rows.field(column->field));
      double& value = file.values[row * file.features.size() + column->place];
      value = read_cell(text).kind == CellKind::missing
                  ? no_value
                  : static_cast<double>(column->code_of(text, rows.line()));
    }
  for (Column* column : categories) {
    settle_words(*column);
    if (column->role != ColumnRole::category) continue;
    std::vector<double> sorted(static_cast<size_t>(column->pool.count()));
    const std::vector<int64_t> order = sorted_texts(column->pool);
    for (size_t place = 0; place < order.size(); ++place) {
      sorted[static_cast<size_t>(order[place])] = static_cast<double>(place);
      column->category.emplace_back(column->pool.text(order[place]));
    }
    for (size_t row = 0; row < file.node_of_row.size(); ++row) {
      double& value = file.values[row * file.features.size() + column->place];
      if (!std::isnan(value)) value = sorted[static_cast<size_t>(value)];
    }
    column->note = fmt::format("{} word{}: {}", column->category.size(),
                               column->category.size() == 1 ? "" : "s", listed(column->category));
  }
}

// A category, or free text.
void NodeTables::settle_words(Column& column) {
  if (trained(column) != nullptr) return;
  constexpr int64_t few = 100;
  constexpr int64_t few_numbers = 10;  // codes, such as floors: 1, 2, 3, attic
  const int64_t different = column.pool.count();
  const std::vector<double> values = numbers_in(column.pool);
  const int64_t words = std::count_if(values.begin(), values.end(), [](double x) { return std::isnan(x); });
  const int64_t numbers = different - words;
  if (column.first_word.line > 0 && 2 * column.numbers > column.known && numbers > few_numbers &&
      numbers > words)
    refuse(
        fmt::format("{} is not a number, and most other fields of the column are",
                    quote(column.first_word.text)),
        column.at(column.first_word),
        fmt::format("leave the field empty where the value is not known, or list {} in ignore-columns; for a "
                    "category write words alone",
                    quote(column.name)));
  if (different <= few || 2 * different <= column.known) return;
  column.role = ColumnRole::text;
  column.note = fmt::format("{} different texts: not used", different);
}

void NodeTables::take(int64_t nodes, RawDataset* set) {
  take_features(nodes, set);
  set->why_unlabelled = why_unlabelled_;
  take_labels(nodes, set);
  if (set->is_labelled()) take_splits(nodes, set);
  for (const auto& column : columns_) {
    ColumnReport row{column->file->name, column->name, column->role, 0, column->note};
    const int64_t about = column->role == ColumnRole::numbers || column->role == ColumnRole::category ||
                                  column->role == ColumnRole::label
                              ? nodes
                              : static_cast<int64_t>(column->file->node_of_row.size());
    if (column->role == ColumnRole::id)
      row.note = counted(static_cast<int64_t>(column->file->node_of_row.size()), "row");
    else if (column->role != ColumnRole::ignored && column->role != ColumnRole::split)
      row.gaps = about - column->known;
    set->report.push_back(std::move(row));
  }
}

void NodeTables::take_features(int64_t nodes, RawDataset* set) {
  const auto n = static_cast<size_t>(nodes);
  const size_t m = features_.size();
  set->columns.clear();
  for (const Column* column : features_) set->columns.push_back({column->name, column->category});
  require_memory(n * std::max<size_t>(m, 1) * sizeof(double), files_[0]->source.path);
  std::vector<double> row(m, no_value);
  Array& features = set->features;
  features.shape = {nodes, static_cast<int64_t>(m)};
  features.type = ElementType::float64;
  features.origin = files_[0]->source.path;
  features.bytes.resize(n * m * sizeof(double));
  if (m == 0) return;
  unsigned char* out = features.bytes.data();
  for (size_t v = 0; v < n; ++v) std::memcpy(out + v * m * sizeof(double), row.data(), m * sizeof(double));
  for (const auto& file : files_) {
    std::vector<std::pair<size_t, size_t>> moves;  // from a place in the file's row to one in the node's
    for (size_t j = 0; j < m; ++j)
      if (features_[j]->file == file.get()) moves.emplace_back(features_[j]->place, j);
    for (size_t r = 0; r < file->node_of_row.size(); ++r) {
      const double* from = file->values.data() + r * file->features.size();
      unsigned char* to = out + static_cast<size_t>(file->node_of_row[r]) * m * sizeof(double);
      for (const auto& [place, j] : moves) std::memcpy(to + j * sizeof(double), from + place, sizeof(double));
    }
    file->values = std::vector<double>();
  }
}

void NodeTables::take_labels(int64_t nodes, RawDataset* set) {
  if (labels_.empty()) return;
  const std::vector<const Column*> columns(labels_.begin(), labels_.end());
  if (std::all_of(columns.begin(), columns.end(), [](const Column* c) { return c->pool.count() == 0; })) {
    set->why_unlabelled = fmt::format("no node has a label in the column {}", quote(columns[0]->name));
    return;
  }
  const bool several = columns.size() > 1;
  if (several && options_.task == Task::classes)
    throw ArgumentError("task", "classes are in one column, and the label names several",
                        "use the task labels, or name one column");
  if (options_.task == Task::labels) return take_label_sets(columns, nodes, set);
  if (options_.task == Task::regression) return take_targets(columns, nodes, set);
  constexpr double most_classes_of_numbers = 50, nearly_all = 0.9;
  if (several) {
    bool flags = true;
    for (const Column* column : columns)
      for (const double value : flags_in(column->pool)) flags = flags && (value == 0 || value == 1);
    return flags ? take_label_sets(columns, nodes, set) : take_targets(columns, nodes, set);
  }
  if (options_.task == Task::classes) return take_classes(*columns[0], nodes, set);
  const std::vector<double> values = numbers_in(columns[0]->pool);
  std::set<double> different;
  bool decimals = false;
  size_t numbers = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    ++numbers;
    different.insert(value);
    decimals = decimals || value != std::floor(value);
  }
  const bool many = static_cast<double>(different.size()) > most_classes_of_numbers;
  const bool measured = decimals || many;
  if (measured && numbers == values.size()) return take_targets(columns, nodes, set);
  if (measured && many && static_cast<double>(numbers) >= nearly_all * static_cast<double>(values.size()))
    return take_targets(columns, nodes, set);  // which refuses the word among the numbers
  take_classes(*columns[0], nodes, set);
}

void NodeTables::take_classes(const Column& column, int64_t nodes, RawDataset* set) {
  const TextPool& pool = column.pool;
  const int64_t different = pool.count();
  constexpr int64_t few = 50;
  if (options_.task != Task::classes && different > few && 2 * different > column.known)
    refuse(fmt::format("{} different labels for {} nodes: {} looks like a name, not a class", different,
                       column.known, quote(column.name)),
           column.at(column.line_of[0]),
           "name the right column by the setting label, or set task to classes");
  const std::vector<double> numbers = numbers_in(pool);
  const bool as_numbers =
      std::none_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); }) && [&] {
        for (int64_t k = 0; k < different; ++k)
          if (has_leading_zero(pool.text(k))) return false;
        return true;
      }();
  std::vector<int64_t> class_of(static_cast<size_t>(different));
  std::vector<std::string> names;
  double before = no_value;
  bool own_numbers = as_numbers;
  for (const int64_t k : sorted_texts(pool)) {
    const double value = numbers[static_cast<size_t>(k)];
    if (!as_numbers || value != before) {
      own_numbers = own_numbers && value == static_cast<double>(names.size());
      names.push_back(as_numbers ? fmt::format("{}", value == 0 ? 0 : value) : std::string(pool.text(k)));
    }
    before = value;
    class_of[static_cast<size_t>(k)] = static_cast<int64_t>(names.size()) - 1;
  }
  set->classes = static_cast<int64_t>(names.size());
  set->labels.assign(static_cast<size_t>(nodes), -1);
  for (size_t row = 0; row < column.codes.size(); ++row)
    if (column.codes[row] >= 0)
      set->labels[static_cast<size_t>(column.file->node_of_row[row])] =
          class_of[static_cast<size_t>(column.codes[row])];
  labels_[0]->note =
      fmt::format("{} class{}: {}", names.size(), names.size() == 1 ? "" : "es", listed(names));
  if (!own_numbers) set->class_names = std::move(names);
}

namespace {

// The rows of several columns of labels, by node, and whether they are known: all columns, or none.
template <class Value, class Columns, class ValueOf>
std::vector<Value> label_rows(const Columns& columns, int64_t nodes, Value unknown,
                              std::vector<uint8_t>* known, ValueOf value_of) {
  const size_t c = columns.size();
  std::vector<Value> out(static_cast<size_t>(nodes) * c, unknown);
  std::vector<int64_t> count(static_cast<size_t>(nodes), 0);
  for (size_t k = 0; k < c; ++k)
    for (size_t row = 0; row < columns[k]->codes.size(); ++row) {
      const int64_t code = columns[k]->codes[row];
      if (code < 0) continue;
      const auto v = static_cast<size_t>(columns[k]->file->node_of_row[row]);
      out[v * c + k] = value_of(*columns[k], code);
      ++count[v];
    }
  known->assign(static_cast<size_t>(nodes), 0);
  for (size_t v = 0; v < count.size(); ++v) {
    (*known)[v] = count[v] == static_cast<int64_t>(c) ? 1 : 0;
    if (count[v] == 0 || (*known)[v] != 0) continue;
    for (size_t k = 0; k < c; ++k)
      for (size_t row = 0; row < columns[k]->codes.size(); ++row)
        if (static_cast<size_t>(columns[k]->file->node_of_row[row]) == v && columns[k]->codes[row] < 0)
          refuse("the label is empty, and other labels of the node are not",
                 columns[k]->at(-columns[k]->codes[row]), "fill in all of them, or none");
    refuse("a node has some of its labels, and no row for the others",
           columns[0]->at(columns[0]->file->header_line), "give it a row in each of the files with labels");
  }
  return out;
}

}  // namespace

void NodeTables::take_label_sets(const std::vector<const Column*>& columns, int64_t nodes, RawDataset* set) {
  std::vector<std::vector<double>> numbers;
  for (const Column* column : columns) {
    numbers.push_back(flags_in(column->pool));
    for (int64_t k = 0; k < column->pool.count(); ++k)
      if (const double value = numbers.back()[static_cast<size_t>(k)]; value != 0 && value != 1)
        refuse(
            fmt::format("{} among sets of labels", quote(column->pool.text(k))),
            column->at(column->line_of[static_cast<size_t>(k)]),
            "write 0 or 1 (no or yes, false or true) in each of these columns, or leave all of them empty");
  }
  set->classes = static_cast<int64_t>(columns.size());
  set->label_sets =
      label_rows<uint8_t>(columns, nodes, 0, &set->known, [&](const Column& column, int64_t code) {
        const auto at = std::find(columns.begin(), columns.end(), &column) - columns.begin();
        return static_cast<uint8_t>(numbers[static_cast<size_t>(at)][static_cast<size_t>(code)]);
      });
  for (Column* column : labels_) {
    set->class_names.push_back(column->name);
    column->note = "one of a set of labels";
  }
}

void NodeTables::take_targets(const std::vector<const Column*>& columns, int64_t nodes, RawDataset* set) {
  std::vector<std::vector<double>> numbers;
  for (const Column* column : columns) {
    numbers.push_back(numbers_in(column->pool));
    for (int64_t k = 0; k < column->pool.count(); ++k)
      if (std::isnan(numbers.back()[static_cast<size_t>(k)]))
        refuse(fmt::format("{} is not a number, and the labels are numbers to predict",
                           quote(column->pool.text(k))),
               column->at(column->line_of[static_cast<size_t>(k)]),
               columns.size() > 1 ? "write numbers in all of these columns; or 0 and 1 (no and yes, false "
                                    "and true) for sets of "
                                    "labels; or name one column for classes"
                                  : "leave it empty where it is not known; for classes set task to classes");
  }
  std::vector<uint8_t> known;
  set->classes = static_cast<int64_t>(columns.size());
  set->targets =
      label_rows<double>(columns, nodes, no_value, &known, [&](const Column& column, int64_t code) {
        const auto at = std::find(columns.begin(), columns.end(), &column) - columns.begin();
        return numbers[static_cast<size_t>(at)][static_cast<size_t>(code)];
      });
  for (size_t k = 0; k < labels_.size(); ++k) {
    set->class_names.push_back(labels_[k]->name);
    if (numbers[k].empty()) continue;
    const auto [least, most] = std::minmax_element(numbers[k].begin(), numbers[k].end());
    labels_[k]->note = fmt::format("a number to predict, {:.6g} to {:.6g}", *least, *most);
    if (options_.task == Task::automatic) labels_[k]->note += " (set task to classes for classes)";
  }
}

void NodeTables::take_splits(int64_t nodes, RawDataset* set) {
  for (Column* column : splits_) {
    std::vector<int> part(static_cast<size_t>(nodes), -1);
    for (size_t row = 0; row < column->codes.size(); ++row)
      part[static_cast<size_t>(column->file->node_of_row[row])] = static_cast<int>(column->codes[row]);
    NodeSplit split;
    std::vector<int64_t>* parts[] = {&split.train, &split.val, &split.test};
    for (int64_t v = 0; v < nodes; ++v)
      if (const int p = part[static_cast<size_t>(v)]; p >= 0) parts[p]->push_back(v);
    column->note =
        fmt::format("{} train, {} val, {} test", split.train.size(), split.val.size(), split.test.size());
    if (!options_.trained_columns.empty() &&
        (split.train.empty() || split.val.empty() || split.test.empty())) {
      column->note += ": not used";
      continue;
    }
    for (const auto& [name, members] :
         {std::pair<const char*, const std::vector<int64_t>*>{"train", parts[0]},
          {"val", parts[1]},
          {"test", parts[2]}})
      if (members->empty())
        refuse(fmt::format("no node is in {}", name), column->at(column->file->header_line),
               "name train, val and test nodes, or list the column in ignore-columns to have a split drawn");
    set->splits.push_back(std::move(split));
  }
}

}  // namespace eignn
