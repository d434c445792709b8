// A column of numbers x becomes (fill(x) - shift) / scale: gaps take the training median, and with `standard`
// shift and scale are mean and deviation over the training nodes, with the gaps filled. Where a training node
// has a gap, a second column says so with 0 and 1. A category becomes a 0/1 column for each of its most
// frequent words among the training nodes, one for all other words if some training node has such a word,
// and one for gaps. 0/1 columns made here are left as they are: a rare word divided by its small deviation
// would outweigh all other features. What is constant over the training nodes cannot be learned from and is
// left out. `row` then divides each row of the result by its sum.
//
// Features without names, under `none` and `row`, are not treated one by one.
#include "train/feature_transform.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "data/cell.h"
#include "data/sparse_tensor.h"
#include "data/text_lines.h"
#include "eignn/error.h"

namespace eignn {

namespace {

using TransformJson = nlohmann::ordered_json;

constexpr const char* transform_version = "eignn-features-1";

// Rows divided by their sum; rows of zeros stay zero.
torch::Tensor row_normalised(const torch::Tensor& X, const std::string& name) {
  if ((stored_numbers(X) < 0).any().item<bool>())
    throw DataError(name, "", "a feature is negative, so that a row's sum says nothing of its size",
                    "use feature-norm none or standard");
  if (X.is_sparse()) {
    const auto row = X.indices()[0], values = X.values();
    const auto sum = torch::zeros({X.size(0)}, values.options()).index_add_(0, row, values);
    const auto scaled = values / torch::where(sum > 0, sum, torch::ones_like(sum)).index_select(0, row);
    return torch::sparse_coo_tensor(X.indices(), scaled, X.sizes(), X.options()).coalesce();
  }
  const auto sum = X.sum(1, /*keepdim=*/true);
  return X / torch::where(sum > 0, sum, torch::ones_like(sum));
}

std::vector<int64_t> rows_to_fit(const Dataset& data, const torch::Tensor& training) {
  std::vector<int64_t> rows;
  if (training.defined() && training.numel() > 0) {
    const auto index = training.contiguous();
    rows.assign(index.data_ptr<int64_t>(), index.data_ptr<int64_t>() + index.numel());
    for (const int64_t v : rows)
      if (v < 0 || v >= data.nodes())
        throw ArgumentError("training", fmt::format("node {} is none of the {}", v, data.nodes()),
                            "give nodes of the data set");
    return rows;
  }
  rows.resize(static_cast<size_t>(data.nodes()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// The middle value, or the mean of the two middle ones.
double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

// Mean and standard deviation of x_1 … x_n, the average of (x - mean)², in units of the largest |x|, so that
// no square overflows.
std::pair<double, double> mean_and_deviation(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  if (largest == 0) return {0, 0};
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double x : values) mean += x / largest;
  mean /= n;
  for (const double x : values) squares += (x / largest - mean) * (x / largest - mean);
  return {mean * largest, std::sqrt(squares / n) * largest};
}

// The number as the reader of tables would have found it in a text: 3, not 3.0.
std::string text_of(double value) {
  return fmt::format("{}", value == 0 ? 0 : value);
}

}  // namespace

int64_t FeatureTransform::Column::outputs() const {
  if (kind == Kind::constant) return 0;
  if (kind == Kind::number) return 1 + (gaps ? 1 : 0);
  return static_cast<int64_t>(words.size()) + (other ? 1 : 0) + (gaps ? 1 : 0);
}

FeatureTransform::Column FeatureTransform::fit_number(const double* values, int64_t stride,
                                                      const std::vector<int64_t>& rows, FeatureNorm norm) {
  Column out;
  std::vector<double> present;
  present.reserve(rows.size());
  for (const int64_t v : rows)
    if (const double x = values[v * stride]; !std::isnan(x)) present.push_back(x);
  const auto gaps = rows.size() - present.size();
  out.gaps = gaps > 0 && !present.empty();
  const auto [least, most] = std::minmax_element(present.begin(), present.end());
  const bool varies = !present.empty() && *least != *most;
  if (!varies && !out.gaps) {
    out.kind = Kind::constant;
    return out;
  }
  out.fill = gaps > 0 ? median_of(present) : 0;
  if (norm != FeatureNorm::standard) return out;
  present.insert(present.end(), gaps, out.fill);
  const auto [mean, deviation] = mean_and_deviation(present);
  out.shift = mean;
  // A deviation of zero: the value is constant where it is known, or varies within the round-off of its mean.
  if (std::isfinite(deviation) && deviation > 0) out.scale = deviation;
  return out;
}

FeatureTransform::Column FeatureTransform::fit_category(const FeatureColumn& column, const double* values,
                                                        int64_t stride, const std::vector<int64_t>& rows) {
  Column out;
  out.kind = Kind::category;
  std::vector<int64_t> count(column.words.size(), 0);
  int64_t gaps = 0;
  for (const int64_t v : rows) {
    const double code = values[v * stride];
    if (std::isnan(code)) {
      ++gaps;
      continue;
    }
    if (!(code >= 0) || code >= static_cast<double>(count.size()) || code != std::floor(code))
      throw ArgumentError("features", fmt::format("{} is no word of the category {}", code, column.name),
                          "give the position of a word, or NaN for a gap");
    ++count[static_cast<size_t>(code)];
  }
  std::vector<size_t> kept;
  for (size_t k = 0; k < count.size(); ++k)
    if (count[k] > 0) kept.push_back(k);
  if (kept.size() + (gaps > 0 ? 1 : 0) < 2) {
    out.kind = Kind::constant;
    return out;
  }
  out.gaps = gaps > 0;
  if (kept.size() > most_words) {
    std::stable_sort(kept.begin(), kept.end(), [&](size_t a, size_t b) { return count[a] > count[b]; });
    kept.resize(most_words);
    std::sort(kept.begin(), kept.end());
    out.other = true;
  }
  for (const size_t k : kept) out.words.push_back(column.words[k]);
  return out;
}

FeatureTransform FeatureTransform::fit(const Dataset& data, const torch::Tensor& training, FeatureNorm norm) {
  FeatureTransform out;
  out.norm_ = norm;
  const bool named = !data.columns.empty();
  if (!depends_on_training(data, norm)) {
    out.untouched_ = data.feature_count();
    return out;
  }
  const auto X = dense_matrix(data.features, "the scaling of each column").contiguous();
  const int64_t m = data.feature_count();
  if (named && static_cast<int64_t>(data.columns.size()) != m)
    throw ArgumentError("columns", fmt::format("{} columns for {} features", data.columns.size(), m),
                        "describe each feature");
  const std::vector<int64_t> rows = rows_to_fit(data, training);
  for (int64_t j = 0; j < m; ++j) {
    const double* values = X.data_ptr<double>() + j;
    const bool category = named && data.columns[j].is_category();
    out.columns_.push_back(category ? fit_category(data.columns[j], values, m, rows)
                                    : fit_number(values, m, rows, norm));
    if (named) out.columns_.back().name = data.columns[j].name;
  }
  for (const ColumnReport& row : data.report)
    if (named && row.role == ColumnRole::text) out.unused_.push_back(row.column);
  if (out.outputs() == 0)
    throw DataError(data.name, "", "every feature is the same at all training nodes",
                    "add features, or leave these out and take structure");
  return out;
}

bool FeatureTransform::depends_on_training(const Dataset& data, FeatureNorm norm) {
  return norm == FeatureNorm::standard || !data.columns.empty();
}

int64_t FeatureTransform::outputs() const {
  int64_t count = untouched_;
  for (const Column& column : columns_) count += column.outputs();
  return count;
}

int64_t FeatureTransform::inputs() const {
  return columns_.empty() ? untouched_ : static_cast<int64_t>(columns_.size());
}

bool FeatureTransform::has_names() const {
  return !columns_.empty() && !columns_[0].name.empty();
}

std::vector<std::string> FeatureTransform::names() const {
  std::vector<std::string> out;
  for (int64_t k = 0; k < untouched_; ++k) out.push_back(std::to_string(k));
  for (size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    const std::string name = column.name.empty() ? std::to_string(j) : column.name;
    if (column.kind == Kind::constant) continue;
    if (column.kind == Kind::number) out.push_back(name);
    for (const std::string& word : column.words) out.push_back(name + " = " + word);
    if (column.other) out.push_back(name + " (other)");
    if (column.gaps) out.push_back(name + " (missing)");
  }
  return out;
}

std::vector<TrainedColumn> FeatureTransform::trained_columns() const {
  std::vector<TrainedColumn> out;
  for (const std::string& name : unused_) out.push_back({name, ColumnRole::text});
  if (!has_names()) return out;
  for (const Column& column : columns_)
    if (column.kind != Kind::constant)
      out.push_back(
          {column.name, column.kind == Kind::category ? ColumnRole::category : ColumnRole::numbers});
  return out;
}

std::vector<FeatureTransform::Treatment> FeatureTransform::treatments() const {
  std::vector<Treatment> out;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    std::string words;
    const auto add = [&](const std::string& text) { words += (words.empty() ? "" : "; ") + text; };
    if (column.kind == Kind::constant) add("the same at all training nodes: left out");
    if (column.kind == Kind::category)
      add(fmt::format("one 0/1 column for each of {}{}", column.words.size(),
                      column.other ? " words, and one for others" : " words"));
    if (column.kind == Kind::number && column.gaps)
      add(fmt::format("gaps filled with the median {:.4g}", column.fill));
    if (column.kind != Kind::constant && column.gaps) add("a column that marks them");
    if (column.kind == Kind::number && norm_ == FeatureNorm::standard)
      add(fmt::format("less {:.4g}, divided by {:.4g}", column.shift, column.scale));
    out.push_back({column.name.empty() ? std::to_string(j) : column.name, words});
  }
  return out;
}

std::vector<FeatureTransform::Affine> FeatureTransform::raw_units() const {
  std::vector<Affine> out(static_cast<size_t>(untouched_));
  for (const Column& column : columns_) {
    const auto first = out.size();
    out.resize(first + static_cast<size_t>(column.outputs()));
    if (column.kind == Kind::number) out[first] = {column.scale, column.shift};
  }
  return out;
}

// The feature of the data that each of our columns reads; -1 for a constant one that the data lack.
std::vector<int64_t> FeatureTransform::inputs_of(const Dataset& data) const {
  std::vector<int64_t> input(columns_.size(), -1);
  const bool by_name = !data.columns.empty() && !columns_.empty() && !columns_[0].name.empty();
  if (!by_name) {
    if (data.feature_count() != static_cast<int64_t>(columns_.size()))
      throw DataError(data.name, "",
                      fmt::format("the data have {} features, and the model was trained on {}",
                                  data.feature_count(), columns_.size()),
                      "give the features that it was trained on");
    std::iota(input.begin(), input.end(), 0);
    return input;
  }
  std::map<std::string, int64_t> place;
  for (size_t j = 0; j < data.columns.size(); ++j)
    place.emplace(data.columns[j].name, static_cast<int64_t>(j));
  for (size_t k = 0; k < columns_.size(); ++k) {
    const auto at = place.find(columns_[k].name);
    if (at != place.end()) {
      input[k] = at->second;
      place.erase(at);
    } else if (columns_[k].kind != Kind::constant) {
      throw DataError(data.name, fmt::format("column {}", quote(columns_[k].name)),
                      "the model was trained with this feature, and the data lack it",
                      "add it; fields may be empty where it is not known");
    }
  }
  for (const std::string& name : unused_) place.erase(name);
  for (const FeatureColumn& column : data.columns)
    if (place.count(column.name))
      throw DataError(data.name, fmt::format("column {}", quote(column.name)),
                      "the model was trained without this feature",
                      "list it in ignore-columns, or train again with it");
  return input;
}

// Where the words of the data's column go: the output of each word, counted from the column's first, or -1
// where it has none.
std::vector<int64_t> FeatureTransform::outputs_of_words(const Dataset& data, const Column& column,
                                                        int64_t input) const {
  const FeatureColumn& given = data.columns[static_cast<size_t>(input)];
  const int64_t other = column.other ? static_cast<int64_t>(column.words.size()) : -1;
  std::vector<int64_t> out;
  for (const std::string& word : given.words) {
    auto at = std::find(column.words.begin(), column.words.end(), word);
    // A category of the training may be a column of numbers here, with a 3 written as 3.0.
    if (const Cell cell = read_cell(word); at == column.words.end() && cell.kind == CellKind::number)
      at = std::find(column.words.begin(), column.words.end(), text_of(cell.number));
    out.push_back(at == column.words.end() ? other : at - column.words.begin());
  }
  return out;
}

torch::Tensor FeatureTransform::apply(const Dataset& data) const {
  if (columns_.empty()) {
    if (!data.columns.empty() || data.feature_count() != untouched_)
      throw DataError(
          data.name, "",
          fmt::format("the data have {} {}features, and the model was trained on {} without names",
                      data.feature_count(), data.columns.empty() ? "" : "named ", untouched_),
          "give the features that it was trained on");
    return norm_ == FeatureNorm::row ? row_normalised(data.features, data.name) : data.features;
  }
  const std::vector<int64_t> inputs = inputs_of(data);
  const auto X = dense_matrix(data.features, "the scaling of each column").contiguous();
  const double* in = X.data_ptr<double>();
  const int64_t n = X.size(0), m = X.size(1), width = outputs();
  auto result = torch::zeros({n, width}, torch::kFloat64);
  double* out = result.data_ptr<double>();
  int64_t first = 0;  // output of the column
  for (size_t k = 0; k < columns_.size(); first += columns_[k].outputs(), ++k) {
    const Column& column = columns_[k];
    const int64_t j = inputs[k], gap = column.outputs() - 1;
    if (column.kind == Kind::constant) continue;
    const bool words = !data.columns.empty() && data.columns[static_cast<size_t>(j)].is_category();
    if (column.kind == Kind::number) {
      if (words)
        throw DataError(data.name, fmt::format("column {}", quote(column.name)),
                        fmt::format("there are words such as {} where the model was trained on numbers",
                                    quote(data.columns[static_cast<size_t>(j)].words[0])),
                        "write numbers, and leave the field empty where there is none");
      for (int64_t v = 0; v < n; ++v) {
        const double x = in[v * m + j];
        const bool missing = std::isnan(x);
        out[v * width + first] = ((missing ? column.fill : x) - column.shift) / column.scale;
        if (missing && column.gaps) out[v * width + first + gap] = 1;
      }
      continue;
    }
    const std::vector<int64_t> output_of = words ? outputs_of_words(data, column, j) : std::vector<int64_t>();
    for (int64_t v = 0; v < n; ++v) {
      const double x = in[v * m + j];
      int64_t output = -1;
      if (std::isnan(x)) {
        output = column.gaps ? gap : -1;
      } else if (words) {
        if (!(x >= 0) || x >= static_cast<double>(output_of.size()))
          throw ArgumentError("features", fmt::format("{} is no word of the category {}", x, column.name),
                              "give the position of a word, or NaN for a gap");
        output = output_of[static_cast<size_t>(x)];
      } else {  // all values of these data are numbers; in training there were words too
        const auto at = std::find(column.words.begin(), column.words.end(), text_of(x));
        output = at != column.words.end() ? at - column.words.begin()
                 : column.other           ? static_cast<int64_t>(column.words.size())
                                          : -1;
      }
      if (output >= 0) out[v * width + first + output] = 1;
    }
  }
  return norm_ == FeatureNorm::row ? row_normalised(result, data.name) : result;
}

std::string FeatureTransform::to_json() const {
  TransformJson json = {{"version", transform_version}, {"norm", name(norm_)}};
  if (columns_.empty()) {
    json["features"] = untouched_;
    return json.dump();
  }
  json["columns"] = TransformJson::array();
  for (const Column& column : columns_) {
    TransformJson entry = {{"name", column.name}};
    if (column.kind == Kind::constant) {
      entry["kind"] = "constant";
    } else if (column.kind == Kind::number) {
      entry.update({{"kind", "number"}, {"shift", column.shift}, {"scale", column.scale}});
      entry.update({{"fill", column.fill}, {"gaps", column.gaps}});
    } else {
      entry.update({{"kind", "category"}, {"words", column.words}, {"other", column.other}});
      entry["gaps"] = column.gaps;
    }
    json["columns"].push_back(std::move(entry));
  }
  if (!unused_.empty()) json["unused"] = unused_;
  return json.dump();
}

FeatureTransform FeatureTransform::from_json(const std::string& text, const std::string& where) {
  constexpr const char* remedy = "was the file changed by hand?";
  const auto require = [&](bool holds, const std::string& problem) {
    if (!holds) throw DataError(where, "", "the features' transformation does not hold: " + problem, remedy);
  };
  FeatureTransform out;
  try {
    const TransformJson json = TransformJson::parse(text);
    require(json.at("version") == transform_version, "it is of another version");
    const std::string norm = json.at("norm").get<std::string>();
    const auto& norms = names_of<FeatureNorm>();
    const auto known =
        std::find_if(norms.begin(), norms.end(), [&](const auto& entry) { return entry.second == norm; });
    require(known != norms.end(), "an unknown norm " + quote(norm));
    out.norm_ = known->first;
    if (json.contains("features")) {
      out.untouched_ = json.at("features").get<int64_t>();
      require(out.untouched_ > 0 && out.norm_ != FeatureNorm::standard, "features without columns");
      return out;
    }
    std::set<std::string> seen;
    for (const TransformJson& entry : json.at("columns")) {
      Column column;
      column.name = entry.at("name").get<std::string>();
      const std::string kind = entry.at("kind").get<std::string>();
      if (kind == "constant") {
        column.kind = Kind::constant;
      } else if (kind == "number") {
        column.shift = entry.at("shift").get<double>();
        column.scale = entry.at("scale").get<double>();
        column.fill = entry.at("fill").get<double>();
        column.gaps = entry.at("gaps").get<bool>();
        require(column.scale > 0, "a scale that is not positive");
      } else {
        require(kind == "category", "an unknown kind of column " + quote(kind));
        column.kind = Kind::category;
        column.words = entry.at("words").get<std::vector<std::string>>();
        column.other = entry.at("other").get<bool>();
        column.gaps = entry.at("gaps").get<bool>();
      }
      require(column.name.empty() || seen.insert(column.name).second,
              "two columns have the name " + quote(column.name));
      out.columns_.push_back(std::move(column));
    }
    if (json.contains("unused")) out.unused_ = json.at("unused").get<std::vector<std::string>>();
    for (const std::string& name : out.unused_)
      require(seen.insert(name).second, "two columns have the name " + quote(name));
    const bool named = !out.columns_.empty() && !out.columns_[0].name.empty();
    for (const Column& column : out.columns_)
      require(column.name.empty() != named, "a column without a name");
    require(out.outputs() > 0, "no feature is left");
  } catch (const nlohmann::json::exception&) {
    throw DataError(where, "", "the features' transformation is damaged", remedy);
  }
  return out;
}

}  // namespace eignn
