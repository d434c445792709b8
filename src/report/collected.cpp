#include "report/collected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "train/config_toml.h"

namespace eignn {

namespace {

namespace fs = std::filesystem;

constexpr int deepest = 16;  // folders below a given one: a link may lead back up

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

bool exists(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

bool is_folder(const std::string& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// One JSON value; the parser's own message has its line and column.
ResultJson parse_file(const std::string& path) {
  try {
    return ResultJson::parse(read_whole_file(path));
  } catch (const ResultJson::parse_error& error) {
    std::string why = error.what();
    if (const size_t at = why.find("parse error"); at != std::string::npos) why = why.substr(at);
    std::replace(why.begin(), why.end(), '\n', ' ');
    throw DataError(path, "", "the file is no valid JSON: " + why, "make it again, or leave it out");
  }
}

bool has(const ResultJson& json, const char* key) {
  return json.is_object() && json.contains(key);
}

// Whether the first element of the array under `key` has `inner`.
bool has_in_first(const ResultJson& json, const char* key, const char* inner) {
  return has(json, key) && json.at(key).is_array() && !json.at(key).empty() && has(json.at(key)[0], inner);
}

bool is_summary(const ResultJson& json) {
  return has(json, "best_epoch") && has(json, "model") && has(json, "config");
}

// A run, or a run for each split, as a training prints them.
bool has_summaries(const ResultJson& json) {
  return is_summary(json) || (has(json, "runs") && json.at("runs").is_array() && !json.at("runs").empty() &&
                              is_summary(json.at("runs")[0]));
}

bool has_speed(const ResultJson& json) {
  if (has(json, "ours") && has(json, "published") && has(json.at("ours"), "epoch_ms") &&
      has(json.at("published"), "epoch_ms"))
    return true;
  if (!json.is_structured()) return false;
  return std::any_of(json.begin(), json.end(), [](const ResultJson& part) { return has_speed(part); });
}

class Search {
 public:
  void visit_given(const std::string& given) {
    const std::string path = without_slashes(given);
    taken_before_ = false;
    if (!exists(path)) open_for_reading(path);  // refuses it in the reader's own words
    if (is_folder(path)) {
      const size_t before = found();
      visit_folder(path, 0);
      if (found() == before && !taken_before_)
        throw DataError(path, "", "there is no run and no file of results in the folder",
                        "name a folder that a training or an experiment has written");
      return;
    }
    if (!is_new(path)) return;
    ResultJson json = parse_file(path);
    if (has_summaries(json)) return add_summaries(path, json);
    try {
      add(path, std::move(json));
    } catch (const ArgumentError& error) {
      throw DataError(path, "", error.problem(), error.remedy());
    }
  }

  Collected out;

 private:
  size_t found() const { return out.runs.size() + out.results.size() + out.not_shown.size(); }

  bool is_new(const std::string& path) {
    std::error_code none;
    const fs::path real = fs::canonical(path, none);
    const bool fresh = seen_.insert(none ? path : real.string()).second;
    taken_before_ = taken_before_ || !fresh;
    return fresh;
  }

  void visit_folder(const std::string& folder, int depth) {
    if (depth > deepest || !is_new(folder)) return;
    const bool finished = exists(joined(folder, "summary.json"));
    const bool begun = exists(joined(folder, "config.toml")) && exists(joined(folder, "metrics.jsonl"));
    if (exists(joined(folder, "failure.json")))
      out.not_shown.push_back(
          folder + ": " +
          failure_from_json(parse_file(joined(folder, "failure.json")), joined(folder, "failure.json"))
              .message);
    if (finished || begun) return add_run(folder, finished);
    for (const std::string& name : names_in_folder(folder)) {
      const std::string path = joined(folder, name);
      if (name.front() == '.') continue;
      if (is_folder(path)) {
        visit_folder(path, depth + 1);
      } else if (name.size() > 5 && name.compare(name.size() - 5, 5, ".json") == 0 &&
                 name != "failure.json") {
        if (!is_new(path)) continue;
        ResultJson json = parse_file(path);
        if (has_summaries(json)) {
          add_summaries(path, json);
          continue;
        }
        try {
          add(path, std::move(json));
        } catch (const ArgumentError& error) {
          out.not_shown.push_back(path + ": " + error.problem());
        }
      }
    }
  }

  void add(const std::string& path, ResultJson json) {
    const ResultKind kind = kind_of(json);
    out.results.push_back({path, kind, std::move(json)});
  }

  void add_run(const std::string& folder, bool finished) {
    CollectedRun run;
    run.name = run.folder = folder;
    run.finished = finished;
    if (finished) {
      const std::string path = joined(folder, "summary.json");
      run.result = result_from_json(parse_file(path), path);
    } else {
      const std::string path = joined(folder, "config.toml");
      apply_toml(run.result.config, read_sealed_toml(path), {}, path);
    }
    run.curves = read_metrics(joined(folder, "metrics.jsonl"), finished);
    out.runs.push_back(std::move(run));
  }

  // What a training printed as JSON: one run, or a run for each split.
  void add_summaries(const std::string& path, const ResultJson& json) {
    if (is_summary(json)) {
      out.runs.push_back({path, "", true, result_from_json(json, path), {}});
      return;
    }
    for (const ResultJson& each : json.at("runs")) {
      CollectedRun run{path, "", true, result_from_json(each, path), {}};
      run.name = fmt::format("{}/split-{}", path, run.result.split);
      out.runs.push_back(std::move(run));
    }
  }

  std::set<std::string> seen_;
  bool taken_before_ = false;  // whether something of the path at hand was taken by another one
};

}  // namespace

ResultKind kind_of(const ResultJson& json) {
  if (has(json, "experiment") && has(json, "points")) return ResultKind::study;
  if (has(json, "experiment") && has_in_first(json, "rows", "attacks")) return ResultKind::robustness;
  if (has(json, "experiment") && has(json, "rows")) return ResultKind::table;
  if (has(json, "attacks") && has(json, "clean_accuracy")) return ResultKind::attack;
  if (has(json, "by_hop") && has(json, "score") && has(json, "nodes")) return ResultKind::explanation;
  if (has_in_first(json, "runs", "mean_hops")) return ResultKind::influence;
  if (has_speed(json)) return ResultKind::speed;
  throw ArgumentError("file", "no page shows a file with these keys",
                      "name a run's folder, or what reproduce, bench, attack or explain has written as JSON");
}

MetricCurves read_metrics(const std::string& path, bool finished) {
  MetricCurves out;
  if (!exists(path)) return out;
  const std::string text = read_whole_file(path);
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  int64_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view row(text.data() + at, end - at);
    at = end + 1;
    ++line;
    const auto json = ResultJson::parse(row.begin(), row.end(), nullptr, /*allow_exceptions=*/false);
    const auto number = [&](const std::string& key) {
      const auto value = json.find(key);
      return value == json.end() || !value->is_number() ? undefined : value->get<double>();
    };
    if (!json.is_object() || !json.contains("epoch") || !json.contains("train_loss")) {
      if (!finished && at > text.size()) break;
      throw DataError(path, fmt::format("line {}", line), "the line is not an epoch of a training",
                      "remove the folder's metrics.jsonl, or leave the run out");
    }
    if (out.metric.empty())
      for (const auto& [key, value] : json.items())
        if (key.rfind("val_", 0) == 0 && key != "val_loss") out.metric = key.substr(4);
    out.train_loss.push_back(number("train_loss"));
    out.val_loss.push_back(number("val_loss"));
    out.val_score.push_back(number("val_" + out.metric));
  }
  return out;
}

Collected collect(const std::vector<std::string>& paths) {
  if (paths.empty()) throw ArgumentError("paths", "there is nothing to report on", "name runs or results");
  Search search;
  for (const std::string& path : paths) search.visit_given(path);
  return std::move(search.out);
}

}  // namespace eignn
