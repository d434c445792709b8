// Reads, checks and writes settings as text, from the tables of include/eignn/options.h.
#include "eignn/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <type_traits>

#include "data/catalogue.h"
#include "data/memory_limit.h"
#include "data/readers.h"
#include "data/text_lines.h"
#include "data/utf8.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn {

template <>
const std::vector<std::pair<Head, const char*>>& names_of() {
  static const std::vector<std::pair<Head, const char*>> names = {{Head::plain, "plain"},
                                                                  {Head::l2, "l2"},
                                                                  {Head::batch_norm, "batch-norm"},
                                                                  {Head::residual, "residual"}};
  return names;
}
template <>
const std::vector<std::pair<Start, const char*>>& names_of() {
  static const std::vector<std::pair<Start, const char*>> names = {{Start::xavier, "xavier"},
                                                                   {Start::orthogonal, "orthogonal"}};
  return names;
}
template <>
const std::vector<std::pair<Stopping, const char*>>& names_of() {
  static const std::vector<std::pair<Stopping, const char*>> names = {
      {Stopping::loss, "loss"}, {Stopping::score, "score"}, {Stopping::either, "either"}};
  return names;
}
template <>
const std::vector<std::pair<Schedule, const char*>>& names_of() {
  static const std::vector<std::pair<Schedule, const char*>> names = {{Schedule::constant, "constant"},
                                                                      {Schedule::cosine, "cosine"}};
  return names;
}
template <>
const std::vector<std::pair<FeatureNorm, const char*>>& names_of() {
  static const std::vector<std::pair<FeatureNorm, const char*>> names = {
      {FeatureNorm::none, "none"}, {FeatureNorm::row, "row"}, {FeatureNorm::standard, "standard"}};
  return names;
}
template <>
const std::vector<std::pair<Activation, const char*>>& names_of() {
  static const std::vector<std::pair<Activation, const char*>> names = {{Activation::none, "none"},
                                                                        {Activation::relu, "relu"}};
  return names;
}
template <>
const std::vector<std::pair<Source, const char*>>& names_of() {
  static const std::vector<std::pair<Source, const char*>> names = {
      {Source::own, "own"}, {Source::neighbours, "neighbours"}, {Source::both, "both"}};
  return names;
}
template <>
const std::vector<std::pair<Norm, const char*>>& names_of() {
  static const std::vector<std::pair<Norm, const char*>> names = {
      {Norm::none, "none"}, {Norm::l2, "l2"}, {Norm::batch, "batch"}, {Norm::layer, "layer"}};
  return names;
}
template <>
const std::vector<std::pair<Jump, const char*>>& names_of() {
  static const std::vector<std::pair<Jump, const char*>> names = {
      {Jump::last, "last"}, {Jump::concat, "concat"}, {Jump::max, "max"}};
  return names;
}
template <>
const std::vector<std::pair<Optimiser, const char*>>& names_of() {
  static const std::vector<std::pair<Optimiser, const char*>> names = {{Optimiser::adam, "adam"},
                                                                       {Optimiser::adamw, "adamw"}};
  return names;
}
template <>
const std::vector<std::pair<Task, const char*>>& names_of() {
  static const std::vector<std::pair<Task, const char*>> names = {{Task::automatic, "automatic"},
                                                                  {Task::classes, "classes"},
                                                                  {Task::labels, "labels"},
                                                                  {Task::regression, "regression"}};
  return names;
}
template <>
const std::vector<std::pair<EdgeWeights, const char*>>& names_of() {
  static const std::vector<std::pair<EdgeWeights, const char*>> names = {
      {EdgeWeights::automatic, "automatic"}, {EdgeWeights::use, "use"}, {EdgeWeights::ignore, "ignore"}};
  return names;
}
template <>
const std::vector<std::pair<ClassWeights, const char*>>& names_of() {
  static const std::vector<std::pair<ClassWeights, const char*>> names = {
      {ClassWeights::none, "none"}, {ClassWeights::balanced, "balanced"}};
  return names;
}
template <>
const std::vector<std::pair<Metric, const char*>>& names_of() {
  static const std::vector<std::pair<Metric, const char*>> names = {
      {Metric::automatic, "automatic"},
      {Metric::accuracy, "accuracy"},
      {Metric::micro_f1, "micro_f1"},
      {Metric::roc_auc, "roc_auc"},
      {Metric::average_precision, "average_precision"},
      {Metric::macro_f1, "macro_f1"},
      {Metric::balanced_accuracy, "balanced_accuracy"},
      {Metric::mse, "mse"},
      {Metric::mae, "mae"},
      {Metric::r2, "r2"}};
  return names;
}
template <>
const std::vector<std::pair<Precision, const char*>>& names_of() {
  static const std::vector<std::pair<Precision, const char*>> names = {{Precision::float32, "float32"},
                                                                       {Precision::float64, "float64"}};
  return names;
}
template <>
const std::vector<std::pair<DeviceKind, const char*>>& names_of() {
  static const std::vector<std::pair<DeviceKind, const char*>> names = {{DeviceKind::cpu, "cpu"},
                                                                        {DeviceKind::cuda, "cuda"}};
  return names;
}
template <>
const std::vector<std::pair<Direction, const char*>>& names_of() {
  static const std::vector<std::pair<Direction, const char*>> names = {
      {Direction::undirected, "undirected"}, {Direction::in, "in"}, {Direction::out, "out"}};
  return names;
}
template <>
const std::vector<std::pair<Normalisation, const char*>>& names_of() {
  static const std::vector<std::pair<Normalisation, const char*>> names = {{Normalisation::sym, "sym"},
                                                                           {Normalisation::out_in, "out-in"}};
  return names;
}

namespace {

template <class Enum>
const char* name_of(Enum value) {
  for (const auto& [known, name] : names_of<Enum>())
    if (known == value) return name;
  return "";
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(' ', from), text.size());
    if (to > from) out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

// An interval of the tables, such as "(0, 1]" or "[1, inf)".
struct Interval {
  double low, high;
  bool open_low, open_high;

  explicit Interval(const std::string& text)
      : low(bound(text.substr(1))),
        high(bound(text.substr(text.find(", ") + 2))),
        open_low(text.front() == '('),
        open_high(text.back() == ')') {}

  bool holds(double value) const {
    return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
  }

  std::string in_words(bool whole) const {
    if (std::isinf(high)) {
      if (low == 0)
        return open_low ? "a positive number" : whole ? "0 or more" : "a finite number, 0 or more";
      return fmt::format("{} or more", low);
    }
    if (whole) return fmt::format("{} to {}", static_cast<int64_t>(low), static_cast<int64_t>(high));
    return fmt::format("a number in {}{}, {}{}", open_low ? '(' : '[', low, high, open_high ? ')' : ']');
  }

 private:
  static double bound(const std::string& text) {
    return text.rfind("inf", 0) == 0 ? std::numeric_limits<double>::infinity() : std::stod(text);
  }
};

// The range in a row of a table: intervals or numbers separated by " or ". Empty: any finite number.
class Range {
 public:
  Range(const std::string& text, bool whole) : whole_(whole) {
    for (size_t from = 0; from < text.size();) {
      const size_t to = std::min(text.find(" or ", from), text.size());
      const std::string part = text.substr(from, to - from);
      if (part.front() == '(' || part.front() == '[')
        intervals_.emplace_back(part);
      else
        numbers_.push_back(std::stod(part));
      from = to + 4;
    }
  }

  bool holds(double value) const {
    if (std::isnan(value) || std::isinf(value)) return false;
    if (intervals_.empty() && numbers_.empty()) return true;
    return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end() ||
           std::any_of(intervals_.begin(), intervals_.end(),
                       [&](const Interval& interval) { return interval.holds(value); });
  }

  std::string in_words() const {
    std::vector<std::string> parts;
    for (const double number : numbers_) parts.push_back(fmt::format("{}", number));
    for (const Interval& interval : intervals_) parts.push_back(interval.in_words(whole_));
    return parts.empty() ? "a number" : fmt::format("{}", fmt::join(parts, ", or "));
  }

 private:
  bool whole_;
  std::vector<Interval> intervals_;
  std::vector<double> numbers_;
};

template <class Number>
Number number_from(const std::string& text, const std::string& name, const std::string& range) {
  Number value{};
  const char* last = text.data() + text.size();
  const auto result = std::from_chars(text.data(), last, value);
  if (result.ec == std::errc::result_out_of_range && result.ptr == last)
    throw ArgumentError(name, fmt::format("{} is out of range", text), "give " + range);
  if (result.ec != std::errc() || result.ptr != last)
    throw ArgumentError(name,
                        fmt::format("'{}' is no {}number", text, std::is_integral_v<Number> ? "whole " : ""),
                        "give " + range);
  return value;
}

ArgumentError unknown_value(const std::string& name, const std::string& text,
                            const std::vector<std::string>& known) {
  return unknown_name(name, name, text, known);
}

// Makes a Field from a row of a table.
template <class Value>
Field make_field(Field::Group group, const char* name, Value& value, const char* range, const char* help) {
  Field field{name, help, range, group, Field::Kind::text, {}, {}, {}};
  const std::string label = name;
  if constexpr (std::is_same_v<Value, std::string>) {
    const auto known = words(range);
    field.range = fmt::format("{}", fmt::join(known, ", "));
    field.get = [&value] { return value; };
    field.set = [&value](const std::string& text) { value = text; };
    field.check = [&value, known, label] {
      if (!known.empty() && std::find(known.begin(), known.end(), value) == known.end())
        throw unknown_value(label, value, known);
    };
  } else if constexpr (std::is_same_v<Value, bool>) {
    field.range = "on, off";
    field.get = [&value] { return std::string(value ? "on" : "off"); };
    field.set = [&value, label](const std::string& text) {
      if (text != "on" && text != "off") throw unknown_value(label, text, {"on", "off"});
      value = text == "on";
    };
    field.check = [] {};
  } else if constexpr (std::is_enum_v<Value>) {
    std::vector<std::string> known = words(range);
    if (known.empty())
      for (const auto& entry : names_of<Value>()) known.emplace_back(entry.second);
    field.range = fmt::format("{}", fmt::join(known, ", "));
    field.get = [&value] { return std::string(name_of(value)); };
    field.set = [&value, known, label](const std::string& text) {
      if (std::find(known.begin(), known.end(), text) == known.end()) throw unknown_value(label, text, known);
      for (const auto& [candidate, candidate_name] : names_of<Value>())
        if (text == candidate_name) value = candidate;
    };
    field.check = [&value, known, label] {
      if (std::find(known.begin(), known.end(), name_of(value)) == known.end())
        throw unknown_value(label, name_of(value), known);
    };
  } else {
    constexpr bool whole = std::is_integral_v<Value>;
    const Range allowed(range, whole);
    field.kind = whole ? Field::Kind::integer : Field::Kind::real;
    field.range = allowed.in_words();
    field.get = [&value] { return fmt::format("{}", value); };  // the shortest text that parses back exactly
    field.set = [&value, label, range = field.range](const std::string& text) {
      value = number_from<Value>(text, label, range);
    };
    field.check = [&value, label, allowed] {
      if (!allowed.holds(static_cast<double>(value)))
        throw ArgumentError(label, fmt::format("{} is out of range", value), "give " + allowed.in_words());
    };
  }
  return field;
}

// The field of a list of directions.
Field make_field(Field::Group group, const char* name, Directions value, const char* /*range*/,
                 const char* help) {
  std::vector<std::string> known;
  for (const auto& entry : names_of<Direction>()) known.emplace_back(entry.second);
  Field field{name, help, fmt::format("{}", fmt::join(known, ", ")), group, Field::Kind::text, {}, {}, {}};
  const std::string label = name;
  field.get = [value] {
    std::string text = name_of(value.first);
    for (const Direction direction : value.further) text += std::string(",") + name_of(direction);
    return text;
  };
  field.set = [value, known, label](const std::string& text) {
    std::vector<Direction> all;
    for (size_t from = 0; from <= text.size();) {
      const size_t to = std::min(text.find(',', from), text.size());
      const std::string part = text.substr(from, to - from);
      if (std::find(known.begin(), known.end(), part) == known.end()) throw unknown_value(label, part, known);
      const Direction direction = parse_direction(part);
      if (std::find(all.begin(), all.end(), direction) != all.end())
        throw ArgumentError(label, fmt::format("{} stands twice in '{}'", part, text), "name each once");
      all.push_back(direction);
      from = to + 1;
    }
    value.first = all[0];
    value.further.assign(all.begin() + 1, all.end());
  };
  field.check = [] {};
  return field;
}

// A visitor that collects the rows of a table.
struct Collect {
  std::vector<Field>& out;
  Field::Group group;
  template <class Value>
  void operator()(const char* name, Value&& value, const char* range, const char* help) const {
    out.push_back(make_field(group, name, value, range, help));
  }
};

std::vector<Field> model_fields(ModelOptions& model) {
  std::vector<Field> out;
  std::visit(
      [&](auto& options) {
        std::decay_t<decltype(options)>::fields(options, Collect{out, Field::Group::model});
      },
      model);
  return out;
}

// Calls visit(options) for each model with its defaults.
template <size_t... Index, class Visitor>
void for_each_model(std::index_sequence<Index...>, Visitor&& visit) {
  (visit(ModelOptions(std::in_place_index<Index>)), ...);
}
template <class Visitor>
void for_each_model(Visitor&& visit) {
  for_each_model(std::make_index_sequence<std::variant_size_v<ModelOptions>>(), visit);
}

// The field `model`, whose value is the name of the model.
Field field_of_model(TrainConfig& config) {
  Field field{"model",
              "eignn, or what it is compared with (docs/models.md)",
              "",
              Field::Group::model,
              Field::Kind::text,
              {},
              {},
              {}};
  field.range = fmt::format("{}", fmt::join(model_names(), ", "));
  field.get = [&config] { return std::string(name(config.model)); };
  field.set = [&config](const std::string& text) { config.model = model_options(text); };
  field.check = [] {};
  return field;
}

}  // namespace

const char* name(Head head) {
  return name_of(head);
}
const char* name(Start start) {
  return name_of(start);
}
const char* name(Stopping stopping) {
  return name_of(stopping);
}
const char* name(Schedule schedule) {
  return name_of(schedule);
}
const char* name(FeatureNorm norm) {
  return name_of(norm);
}
const char* name(Activation activation) {
  return name_of(activation);
}
const char* name(Source source) {
  return name_of(source);
}
const char* name(Norm norm) {
  return name_of(norm);
}
const char* name(Jump jump) {
  return name_of(jump);
}
const char* name(Optimiser optimiser) {
  return name_of(optimiser);
}
const char* name(Task task) {
  return name_of(task);
}
const char* name(EdgeWeights weights) {
  return name_of(weights);
}
const char* name(ClassWeights weights) {
  return name_of(weights);
}
const char* name(Metric metric) {
  return name_of(metric);
}
bool higher_is_better(Metric metric) {
  return metric != Metric::mse && metric != Metric::mae;
}
const char* name(Precision precision) {
  return name_of(precision);
}
const char* name(DeviceKind device) {
  return name_of(device);
}

const char* name(const ModelOptions& options) {
  return std::visit([](const auto& of) { return std::decay_t<decltype(of)>::model; }, options);
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for_each_model([&](const ModelOptions& options) { out.emplace_back(name(options)); });
    return out;
  }();
  return names;
}

ModelOptions model_options(const std::string& wanted) {
  ModelOptions found;
  bool known = false;
  for_each_model([&](const ModelOptions& options) {
    if (wanted != name(options)) return;
    found = options;
    known = true;
  });
  if (!known) throw unknown_name("model", "model", wanted, model_names());
  return found;
}

Norm norm_of(const EignnOptions& options) {
  const Norm named = options.head == Head::l2           ? Norm::l2
                     : options.head == Head::batch_norm ? Norm::batch
                                                        : Norm::none;
  if (named == Norm::none) return options.norm;
  if (options.norm != Norm::none && options.norm != named)
    throw ArgumentError("norm",
                        fmt::format("the head {} has a norm already, and it is not {}", name(options.head),
                                    name(options.norm)),
                        "use the head plain, or leave norm out");
  return named;
}

bool is_stack(const EignnOptions& options) {
  return options.layers > 1 || options.equilibria == 0;
}

int64_t rows_of_F(const EignnOptions& options, int64_t features) {
  if (options.rank > features)
    throw ArgumentError("rank",
                        fmt::format("F has {} columns and cannot have rank {}", features, options.rank),
                        fmt::format("give at most {}, or leave it out", features));
  return options.rank > 0 ? options.rank : features;
}

std::vector<Direction> TrainConfig::directions() const {
  std::vector<Direction> all = {propagation.direction};
  all.insert(all.end(), further_directions.begin(), further_directions.end());
  return all;
}

const EignnOptions& TrainConfig::eignn() const {
  if (const auto* options = std::get_if<EignnOptions>(&model)) return *options;
  throw ArgumentError("model", fmt::format("this takes the model eignn, and not {}", name(model)),
                      "choose eignn");
}
EignnOptions& TrainConfig::eignn() {
  return const_cast<EignnOptions&>(std::as_const(*this).eignn());
}

std::vector<Field> fields(TrainConfig& config) {
  std::vector<Field> out;
  TrainConfig::data_fields(config, Collect{out, Field::Group::data});
  out.push_back(field_of_model(config));
  for (Field& field : model_fields(config.model)) out.push_back(std::move(field));
  TrainConfig::optimisation_fields(config, Collect{out, Field::Group::optimisation});
  TrainConfig::machine_fields(config, Collect{out, Field::Group::machine});
  return out;
}

const std::vector<KnownField>& known_fields() {
  static const std::vector<KnownField> all = [] {
    // The help texts of a field and the models that share each: "eignn: …; ignn, ignn-finite: …".
    struct OfModels {
      std::vector<std::pair<std::string, std::vector<std::string>>> helps;
    };
    std::vector<KnownField> model_part;
    std::map<std::string, OfModels> helps;
    for_each_model([&](ModelOptions options) {
      const std::string model = name(options);
      for (const Field& field : model_fields(options)) {
        auto& known = helps[field.name].helps;
        if (known.empty()) model_part.push_back({field.group, field.name, "", field.get(), field.kind, {}});
        const auto same = std::find_if(known.begin(), known.end(),
                                       [&](const auto& entry) { return entry.first == field.help; });
        if (same == known.end())
          known.push_back({field.help, {model}});
        else
          same->second.push_back(model);
      }
    });
    for (KnownField& field : model_part) {
      std::vector<std::string> parts;
      for (const auto& [help, models] : helps[field.name].helps) {
        parts.push_back(fmt::format("{}: {}", fmt::join(models, ", "), help));
        field.models.insert(field.models.end(), models.begin(), models.end());
      }
      field.help = fmt::format("{}", fmt::join(parts, "; "));
    }
    TrainConfig defaults;
    std::vector<KnownField> out;
    for (const Field& field : fields(defaults)) {
      const bool of_model = field.group == Field::Group::model && field.name != "model";
      if (!of_model) {
        const bool choice = field.kind == Field::Kind::text && !field.range.empty();
        out.push_back({field.group,
                       field.name,
                       choice ? fmt::format("{} ({})", field.help, field.range) : field.help,
                       field.get(),
                       field.kind,
                       {}});
      }
      if (field.name == "model") out.insert(out.end(), model_part.begin(), model_part.end());
    }
    return out;
  }();
  return all;
}

void assign(TrainConfig& config, const std::string& wanted, const std::string& text) {
  for (const Field& field : fields(config))
    if (field.name == wanted) return field.set(text);
  std::vector<std::string> known, read;
  for (const KnownField& field : known_fields()) known.push_back(field.name);
  if (std::find(known.begin(), known.end(), wanted) == known.end())
    throw unknown_name("setting", wanted, wanted, known);
  for (const Field& field : model_fields(config.model)) read.push_back(field.name);
  throw ArgumentError(wanted, fmt::format("the model {} does not read {}", name(config.model), wanted),
                      fmt::format("leave it out; {} reads: {}", name(config.model), fmt::join(read, ", ")));
}

void assign(TrainConfig& config, const std::map<std::string, std::string>& texts) {
  if (const auto model = texts.find("model"); model != texts.end()) assign(config, "model", model->second);
  for (const auto& [name, text] : texts)
    if (name != "model") assign(config, name, text);
}

std::map<std::string, std::string> to_strings(const TrainConfig& config) {
  TrainConfig copy = config;
  std::map<std::string, std::string> out;
  for (const Field& field : fields(copy)) out[field.name] = field.get();
  return out;
}

}  // namespace eignn
