#include "run/result_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "eignn/error.h"
#include "graph/content_hash.h"
#include "train/config_toml.h"
#include "train/metrics.h"

namespace eignn {

namespace {

ResultJson scores_json(const Scores& scores) {
  return {{"train", scores.train}, {"val", scores.val}, {"test", scores.test}};
}

ResultJson number_of(const Field& field) {
  const std::string text = field.get();
  if (field.kind == Field::Kind::real) return std::stod(text);
  return text.front() == '-' ? ResultJson(std::stoll(text)) : ResultJson(std::stoull(text));
}

std::string text_of(const ResultJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Reads a value that may be missing. A wrong type throws nlohmann's exception, which the caller translates.
template <class Value>
void take(const ResultJson& json, const char* key, Value& into) {
  if (const auto at = json.find(key); at != json.end() && !at->is_null()) into = at->template get<Value>();
}

constexpr const char* digest_key = "digest";
constexpr const char* format_key = "format";
// Files of version 0.1 have no format, and no digest. Format 2 has a digest, and the keys of its own version.
constexpr int64_t summary_format = 2;

std::string digest_of(const ResultJson& json) {
  ContentHash hash;
  const std::string text = json.dump();
  hash.add(text.data(), text.size());
  return hash.hex();
}

// Whether the object has a format; ArgumentError unless it is ours, and the digest that of the content. Takes
// both out.
bool unseal(ResultJson& json) {
  if (!json.is_object()) throw ArgumentError("summary", "it is no object");
  const bool has_format = json.contains(format_key), has_digest = json.contains(digest_key);
  if (!has_digest && has_format) throw ArgumentError(digest_key, "it has no digest of its content");
  if (!has_digest) return false;
  const auto digest = json.at(digest_key);
  json.erase(digest_key);
  if (digest != digest_of(json)) throw ArgumentError(digest_key, "its content is not what was written");
  if (!has_format) return false;
  if (json.at(format_key) != summary_format)
    throw ArgumentError(format_key, fmt::format("it has format {}, and this version reads format {}",
                                                json.at(format_key).dump(), summary_format));
  json.erase(format_key);
  return true;
}

// ArgumentError for a key that only one of the two has, also inside "config".
void require_same_keys(const ResultJson& found, const ResultJson& known, const std::string& prefix = "") {
  for (const auto& [key, value] : found.items())
    if (!known.contains(key)) throw ArgumentError(prefix + key, "no summary has this key");
  for (const auto& [key, value] : known.items()) {
    if (!found.contains(key)) throw ArgumentError(prefix + key, "this key is missing");
    if (key == "config") require_same_keys(found.at(key), value, "config.");
  }
}

ResultJson or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? ResultJson(*value) : ResultJson();
}

// The metrics of a part under "test_accuracy", …. The one that the run goes by is `score`, also where the
// others are not known, as in results of earlier versions.
void add_part(const std::string& part, const PartScores& scores, const std::string& metric, double score,
              ResultJson& json) {
  for (const Metric each : all_metrics())
    json[part + "_" + name(each)] =
        or_null(metric == name(each) ? std::optional<double>(score) : scores.of(each));
}

void take_part(const ResultJson& json, const std::string& part, PartScores& into) {
  for (const Metric each : all_metrics())
    if (const auto at = json.find(part + "_" + name(each)); at != json.end() && !at->is_null())
      into.of(each) = at->get<double>();
}

// The score of a part: NaN where it is null.
double score_at(const ResultJson& json, const std::string& key) {
  const ResultJson& value = json.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// NaN passes: a metric may be undefined.
void require_in_range(const std::string& metric, double value) {
  const Metric kind = metric_by_name(metric);
  if (kind == Metric::r2 ? value > 1 : value < 0)
    throw ArgumentError(metric, fmt::format("{} is out of range", value));
  if (kind == Metric::mse || kind == Metric::mae || kind == Metric::r2) return;
  if (value > 1) throw ArgumentError(metric, fmt::format("{} is no share of the nodes", value));
}

ColumnRole role_by_name(const std::string& text) {
  for (int role = static_cast<int>(ColumnRole::id); role <= static_cast<int>(ColumnRole::ignored); ++role)
    if (text == name(static_cast<ColumnRole>(role))) return static_cast<ColumnRole>(role);
  throw ArgumentError("columns", fmt::format("a column is no '{}'", text));
}

void require_count(const char* name, int64_t value) {
  if (value < 0) throw ArgumentError(name, fmt::format("{} is no count", value));
}

}  // namespace

ResultJson sealed(ResultJson json) {
  json[format_key] = summary_format;
  json[digest_key] = digest_of(json);
  return json;
}

ResultJson config_json(const TrainConfig& config) {
  TrainConfig copy = config;
  ResultJson out;
  for (const Field& field : fields(copy))
    if (field.kind == Field::Kind::text)
      out[field.name] = field.get();
    else
      out[field.name] = number_of(field);
  return out;
}

ResultJson columns_json(const std::vector<ColumnReport>& columns) {
  ResultJson out = ResultJson::array();
  for (const ColumnReport& column : columns)
    out.push_back({{"file", column.file},
                   {"column", column.column},
                   {"kind", name(column.role)},
                   {"gaps", column.gaps},
                   {"note", column.note},
                   {"treatment", column.treatment}});
  return out;
}

ResultJson reduction_json(const ReductionFacts& facts) {
  return {{"kind", facts.kind == ReductionKind::partition ? "partition" : "coarsening"},
          {"groups", facts.groups},
          {"least_nodes", facts.least},
          {"most_nodes", facts.most},
          {"edges", facts.edges},
          {"lost_edges", facts.lost_edges},
          {"lost_weight_share", facts.lost_weight}};
}

ResultJson error_bound_json(const ErrorBound& bound) {
  return {{"eigenpairs", bound.eigenpairs},
          {"next_eigenvalue", bound.next_eigenvalue},
          {"bound", or_null(bound.bound)},
          {"size", or_null(bound.size)}};
}

ResultJson result_json(const RunResult& s) {
  const TrainConfig& c = s.config;
  ResultJson json = {
      {"dataset", c.dataset},     {"model", name(c.model)},
      {"solver", s.solver},       {"solver_requested", c.is_eignn() ? c.eignn().solver : "none"},
      {"device", name(c.device)}, {"dtype", name(c.dtype)},
      {"threads", s.threads},     {"seed", c.seed},
      {"split", s.split},         {"epochs", s.epochs},
      {"max_epochs", c.epochs},   {"best_epoch", s.best_epoch},
      {"metric", s.metric}};
  add_part("train", s.parts.train, s.metric, s.score.train, json);
  add_part("val", s.parts.val, s.metric, s.score.val, json);
  add_part("test", s.parts.test, s.metric, s.score.test, json);
  json["majority_share"] = or_null(s.constant.accuracy);
  json["constant_" + s.metric] = or_null(s.constant.of(metric_by_name(s.metric)));
  if (!s.parts.test.confusion.empty()) json["test_confusion"] = s.parts.test.confusion;
  if (s.calibration)
    json["calibration"] = {{"temperature", s.calibration->temperature},
                           {"test_error", s.calibration->error},
                           {"test_error_with_temperature", s.calibration->error_with_temperature}};
  if (s.conformal)
    json["conformal"] = {
        {"alpha", s.conformal->alpha},         {"calibration_nodes", s.conformal->calibration_nodes},
        {"threshold", s.conformal->threshold}, {"test_coverage", s.conformal->test_coverage},
        {"mean_size", s.conformal->mean_size}, {"valid_for", "exchangeable nodes"}};
  json.update({{"loss", scores_json(s.loss)},
               {"seconds_total", s.seconds_total},
               {"seconds_per_epoch", s.seconds_per_epoch},
               {"seconds_per_train_step", s.seconds_per_train_step},
               {"preprocess_seconds", s.preprocess_seconds},
               {"peak_memory_bytes", s.peak_memory_bytes}});
  if (!s.mu_start.empty()) {  // only of EIGNN
    json["weight_change"] = s.weight_change;
    json["mu_start"] = s.mu_start;
    json["mu_end"] = s.mu_end;
  }
  if (s.non_converged_solves) json["non_converged_solves"] = *s.non_converged_solves;
  if (s.reduction) json["reduction"] = reduction_json(*s.reduction);
  if (s.error_bound) json["error_bound"] = error_bound_json(*s.error_bound);
  if (!s.by_distance.empty()) {
    ResultJson bands = ResultJson::array();
    for (const DistanceScore& band : s.by_distance)
      bands.push_back(
          {{"from", band.from}, {"to", band.to}, {"nodes", band.nodes}, {"accuracy", band.accuracy}});
    json["accuracy_by_distance"] = bands;
  }
  if (!s.columns.empty()) json["columns"] = columns_json(s.columns);
  json["config"] = config_json(c);
  json["machine"] = s.machine;
  json["version"] = s.version;
  json["commit"] = s.commit;
  return json;
}

std::string to_json(const RunResult& result) {
  return result_json(result).dump(2);
}

namespace {

void read_config(const ResultJson& json, TrainConfig& into) {
  std::map<std::string, std::string> config;
  if (json.contains("config"))
    for (const auto& [name, value] : json.at("config").items()) config[name] = text_of(value);
  else if (json.contains("model"))
    config["model"] = text_of(json.at("model"));
  assign_known(into, config);
}

// Calls `read`, and names the file in what it throws.
template <class Read>
void reading(const std::string& path, Read read) {
  const auto damaged = [&](const std::exception& error) {
    throw DataError(path, "", fmt::format("the summary is damaged: {}", error.what()),
                    "delete the folder to run it again");
  };
  try {
    read();
  } catch (const ResultJson::exception& error) {
    damaged(error);
  } catch (const ArgumentError& error) {
    damaged(error);
  }
}

}  // namespace

ResultJson failure_json(const RecordedFailure& failure) {
  return sealed(
      {{"failure", failure.message}, {"seconds", failure.seconds}, {"config", config_json(failure.config)}});
}

RecordedFailure failure_from_json(ResultJson json, const std::string& path) {
  RecordedFailure out;
  reading(path, [&] {
    if (!unseal(json)) throw ArgumentError(format_key, "it has no format");
    read_config(json, out.config);
    out.message = json.at("failure").get<std::string>();
    if (out.message.empty()) throw ArgumentError("failure", "it is empty");
    out.seconds = json.value("seconds", 0.0);  // earlier versions did not write it
  });
  return out;
}

RunResult result_from_json(ResultJson json, const std::string& path) {
  RunResult out;
  reading(path, [&] {
    const bool of_our_format = unseal(json);
    read_config(json, out.config);
    take(json, "seed", out.config.seed);
    // Versions before 0.3 have one metric, and no word for which.
    out.metric = json.contains("test_micro_f1") ? "micro_f1" : "accuracy";
    take(json, "metric", out.metric);
    take(json, ("train_" + out.metric).c_str(), out.score.train);
    out.score.val = score_at(json, "val_" + out.metric);
    out.score.test = score_at(json, "test_" + out.metric);
    take_part(json, "train", out.parts.train);
    take_part(json, "val", out.parts.val);
    take_part(json, "test", out.parts.test);
    take(json, "test_confusion", out.parts.test.confusion);
    if (const auto at = json.find("majority_share"); at != json.end() && !at->is_null())
      out.constant.accuracy = at->get<double>();
    if (const auto at = json.find("constant_" + out.metric); at != json.end() && !at->is_null())
      out.constant.of(metric_by_name(out.metric)) = at->get<double>();
    if (const auto at = json.find("calibration"); at != json.end())
      out.calibration = {at->at("temperature").get<double>(), at->at("test_error").get<double>(),
                         at->at("test_error_with_temperature").get<double>()};
    if (const auto at = json.find("conformal"); at != json.end()) {
      constexpr double infinite = std::numeric_limits<double>::infinity();  // JSON has none: null
      const auto number = [&](const char* key) {
        return at->at(key).is_null() ? infinite : at->at(key).get<double>();
      };
      out.conformal = {number("alpha"), at->at("calibration_nodes").get<int64_t>(), number("threshold"),
                       number("test_coverage"), number("mean_size")};
    }
    if (const auto loss = json.find("loss"); loss != json.end()) {
      take(*loss, "train", out.loss.train);
      take(*loss, "val", out.loss.val);
      take(*loss, "test", out.loss.test);
    }
    take(json, "solver", out.solver);
    take(json, "threads", out.threads);
    take(json, "split", out.split);
    take(json, "epochs", out.epochs);
    take(json, "best_epoch", out.best_epoch);
    take(json, "seconds_total", out.seconds_total);
    take(json, "seconds_per_epoch", out.seconds_per_epoch);
    take(json, "seconds_per_train_step", out.seconds_per_train_step);
    take(json, "preprocess_seconds", out.preprocess_seconds);
    take(json, "peak_memory_bytes", out.peak_memory_bytes);
    take(json, "weight_change", out.weight_change);
    take(json, "mu_start", out.mu_start);
    take(json, "mu_end", out.mu_end);
    if (json.contains("non_converged_solves"))
      out.non_converged_solves = json.at("non_converged_solves").get<int64_t>();
    if (const auto at = json.find("reduction"); at != json.end()) {
      const auto kind = at->at("kind").get<std::string>();
      if (kind != "partition" && kind != "coarsening")
        throw ArgumentError("reduction", fmt::format("{} is neither partition nor coarsening", kind));
      out.reduction = {kind == "partition" ? ReductionKind::partition : ReductionKind::coarsening,
                       at->at("groups").get<int64_t>(),
                       at->at("least_nodes").get<int64_t>(),
                       at->at("most_nodes").get<int64_t>(),
                       at->at("edges").get<int64_t>(),
                       at->at("lost_edges").get<int64_t>(),
                       at->at("lost_weight_share").get<double>()};
    }
    if (const auto at = json.find("error_bound"); at != json.end()) {
      const auto number = [&](const char* key) {  // JSON has no infinity
        return at->at(key).is_null() ? std::numeric_limits<double>::infinity() : at->at(key).get<double>();
      };
      out.error_bound = {at->at("eigenpairs").get<int64_t>(), at->at("next_eigenvalue").get<double>(),
                         number("bound"), number("size")};
    }
    if (json.contains("accuracy_by_distance"))
      for (const ResultJson& band : json.at("accuracy_by_distance"))
        out.by_distance.push_back({band.at("from").get<int64_t>(), band.at("to").get<int64_t>(),
                                   band.at("nodes").get<int64_t>(), band.at("accuracy").get<double>()});
    if (json.contains("columns"))
      for (const ResultJson& column : json.at("columns"))
        out.columns.push_back({column.at("file").get<std::string>(), column.at("column").get<std::string>(),
                               role_by_name(column.at("kind").get<std::string>()),
                               column.at("gaps").get<int64_t>(), column.at("note").get<std::string>(),
                               column.at("treatment").get<std::string>()});
    take(json, "machine", out.machine);
    take(json, "version", out.version);
    take(json, "commit", out.commit);
    for (const double score : {out.score.train, out.score.val, out.score.test})
      require_in_range(out.metric, score);
    require_count("epochs", out.epochs);
    require_count("split", out.split);
    require_count("threads", out.threads);
    if (out.best_epoch >= out.epochs)
      throw ArgumentError("best_epoch",
                          fmt::format("{} is none of the {} epochs", out.best_epoch, out.epochs));
    if (of_our_format) require_same_keys(json, result_json(out));
  });
  return out;
}

}  // namespace eignn
