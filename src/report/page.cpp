#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "eignn/error.h"
#include "report/thinned_curve.h"
#include "run/provenance.h"
#include "run/statistics.h"

namespace eignn {

const char* report_template();  // web/dist/report.html, embedded by cmake/Embed.cmake

namespace {

// So many points of all curves together keep the page quick; a single curve never needs more than the second.
constexpr size_t points_of_page = 120'000, points_of_curve = 1200, fewest_points = 60;

// Six digits: more cannot be seen, and the file would be twice as large.
ResultJson rounded(double value) {
  if (!std::isfinite(value)) return {};
  return std::stod(fmt::format("{:.6g}", value));
}

ResultJson curve_json(const char* name, const std::vector<double>& y, size_t most) {
  const ThinnedCurve curve = thinned(y, most);
  ResultJson values = ResultJson::array();
  for (const double value : curve.value) values.push_back(rounded(value));
  return {{"name", name}, {"x", curve.place}, {"y", std::move(values)}};
}

ResultJson run_json(const CollectedRun& run, size_t points) {
  ResultJson summary = result_json(run.result);
  ResultJson settings = std::move(summary["config"]);
  for (const char* key : {"config", "columns"}) summary.erase(key);
  if (!run.finished)  // it has no scores yet
    summary = {{"dataset", summary["dataset"]}, {"model", summary["model"]}, {"seed", summary["seed"]}};
  ResultJson curves = ResultJson::array();
  if (run.curves.epochs() > 0)
    for (const auto& [name, values] : {std::pair("train_loss", &run.curves.train_loss),
                                       {"val_loss", &run.curves.val_loss},
                                       {"val_score", &run.curves.val_score}})
      curves.push_back(curve_json(name, *values, points));
  return {{"name", run.name},
          {"finished", run.finished},
          {"summary", std::move(summary)},
          {"settings", std::move(settings)},
          {"metric", run.curves.metric.empty() ? run.result.metric : run.curves.metric},
          {"epochs", run.curves.epochs()},
          {"curves", std::move(curves)}};
}

// Values of one experiment's file; a wrong type is the DataError of the file.
template <class Make>
ResultJson made_of(const CollectedResult& result, Make make) {
  try {
    return make(result.json);
  } catch (const ResultJson::exception& error) {
    throw DataError(result.name, "", fmt::format("the results are damaged: {}", error.what()),
                    "make them again, or leave the file out");
  }
}

ExperimentWords words_of(const ResultJson& json, const PageOptions& options) {
  const std::string name = json.at("experiment").get<std::string>();
  ExperimentWords words = {name, "", ""};
  if (options.words)
    if (auto known = options.words(json)) words = std::move(*known);
  if (json.value("quick", false)) words.title += " (quick)";
  return words;
}

ResultJson figures_of(const ResultJson& runs, const std::string& metric) {
  ResultJson out = ResultJson::array();
  if (!runs.is_array()) return out;
  for (const ResultJson& run : runs) {
    if (run.is_number()) {
      out.push_back(run);
    } else if (const auto value = run.find("test_" + metric); value != run.end() && value->is_number()) {
      out.push_back(rounded(100 * value->get<double>()));
    }
  }
  return out;
}

double number_at(const ResultJson& json, const char* key) {
  return json.at(key).get<double>();
}

ResultJson or_null(const ResultJson& json, const char* key) {
  const auto value = json.find(key);
  return value == json.end() ? ResultJson() : *value;
}

ResultJson study_json(const CollectedResult& result, const PageOptions& options) {
  return made_of(result, [&](const ResultJson& json) -> ResultJson {
    const ExperimentWords words = words_of(json, options);
    ResultJson points = ResultJson::array();
    for (const ResultJson& point : json.at("points")) {
      points.push_back({{"panel", point.at("panel").get<std::string>()},
                        {"series", point.at("series").get<std::string>()},
                        {"x", number_at(point, "x")},
                        {"x_text", point.at("x_text").get<std::string>()},
                        {"mean", number_at(point, "mean")},
                        {"std", point.value("std", 0.0)},
                        {"ci95", point.value("ci95", 0.0)},
                        {"runs", point.value("runs_count", 1)},
                        {"paper", or_null(point, "paper")}});
    }
    ResultJson losses = ResultJson::array();
    for (const ResultJson& curve : json.value("loss_curves", ResultJson::array()))
      losses.push_back({{"panel", curve.at("panel").get<std::string>()},
                        {"series", curve.at("series").get<std::string>()},
                        {"x_text", curve.at("x_text").get<std::string>()},
                        {"epochs", curve.at("epochs").get<std::vector<double>>()},
                        {"train", curve.at("train").get<std::vector<double>>()}});
    ResultJson claims = ResultJson::array();
    for (const ResultJson& claim : json.value("claims", ResultJson::array())) {
      ResultJson panels = ResultJson::array();
      for (const ResultJson& panel : claim.at("panels"))
        panels.push_back({{"panel", panel.at("panel").get<std::string>()},
                          {"points", panel.at("points").get<int64_t>()},
                          {"verdict", panel.at("verdict").get<std::string>()},
                          {"breaches", panel.at("breaches").get<std::vector<std::string>>()},
                          {"controls", panel.value("controls", std::vector<std::string>())}});
      claims.push_back({{"text", claim.at("text").get<std::string>()}, {"panels", std::move(panels)}});
    }
    return {{"file", result.name},         {"experiment", json.at("experiment")},
            {"title", words.title},        {"x_label", words.x_label},
            {"y_label", words.y_label},    {"points", std::move(points)},
            {"claims", std::move(claims)}, {"loss_curves", std::move(losses)}};
  });
}

ResultJson table_json(const CollectedResult& result, const PageOptions& options) {
  return made_of(result, [&](const ResultJson& json) -> ResultJson {
    const ExperimentWords words = words_of(json, options);
    ResultJson rows = ResultJson::array();
    for (const ResultJson& row : json.at("rows")) {
      const std::string metric = row.value("metric", "accuracy");
      rows.push_back({{"label", row.at("label").get<std::string>()},
                      {"model", row.value("model", "eignn")},
                      {"metric", metric},
                      {"mean", number_at(row, "mean")},
                      {"std", row.value("std", 0.0)},
                      {"runs", row.value("runs_count", 1)},
                      {"values", figures_of(or_null(row, "runs"), metric)},
                      {"paper", or_null(row, "paper")},
                      {"difference", or_null(row, "difference")},
                      {"p", or_null(row, "p")},
                      {"remark", row.value("remark", "")}});
    }
    return {{"file", result.name}, {"title", words.title}, {"rows", std::move(rows)}};
  });
}

// The number behind the attack's name: "FGSM 1e-4".
std::pair<std::string, double> method_and_epsilon(const std::string& attack) {
  const size_t space = attack.rfind(' ');
  char* end = nullptr;
  const double epsilon = space == std::string::npos ? 0 : std::strtod(attack.c_str() + space + 1, &end);
  if (!(epsilon > 0) || end == nullptr || *end != '\0') return {attack, 0};
  return {attack.substr(0, space), epsilon};
}

ResultJson robustness_json(const CollectedResult& result, const PageOptions& options) {
  return made_of(result, [&](const ResultJson& json) -> ResultJson {
    const ExperimentWords words = words_of(json, options);
    ResultJson rows = ResultJson::array();
    for (const ResultJson& row : json.at("rows")) {
      ResultJson attacks = ResultJson::array();
      for (const ResultJson& attack : row.at("attacks")) {
        const auto [method, epsilon] = method_and_epsilon(attack.at("attack").get<std::string>());
        const ResultJson certified = or_null(attack, "certified");
        attacks.push_back({{"method", method},
                           {"epsilon", epsilon},
                           {"accuracy", number_at(attack.at("each"), "mean")},
                           {"std", attack.at("each").value("std", 0.0)},
                           {"certified", certified.is_object() ? or_null(certified, "mean") : ResultJson()},
                           {"paper", or_null(attack, "paper")}});
      }
      rows.push_back({{"dataset", row.at("dataset").get<std::string>()},
                      {"model", row.at("model").get<std::string>()},
                      {"clean", number_at(row.at("clean"), "mean")},
                      {"attacks", std::move(attacks)}});
    }
    return {{"file", result.name}, {"title", words.title}, {"rows", std::move(rows)}};
  });
}

// What `attack` printed, as a robustness experiment of one row.
ResultJson attack_json(const CollectedResult& result) {
  return made_of(result, [&](const ResultJson& json) -> ResultJson {
    ResultJson attacks = ResultJson::array();
    const auto percent = [](const ResultJson& share) {
      return share.is_number() ? rounded(100 * share.get<double>()) : ResultJson();
    };
    for (const ResultJson& attack : json.at("attacks"))
      attacks.push_back({{"method", json.value("method", "")},
                         {"epsilon", number_at(attack, "epsilon")},
                         {"accuracy", percent(attack.at("accuracy"))},
                         {"std", 0.0},
                         {"certified", percent(or_null(attack, "certified_accuracy"))},
                         {"paper", nullptr}});
    const ResultJson row = {{"dataset", json.value("dataset", "")},
                            {"model", json.value("model", "")},
                            {"clean", percent(json.at("clean_accuracy"))},
                            {"attacks", std::move(attacks)}};
    return {{"file", result.name},
            {"title", "Attack on " + json.value("checkpoint", json.value("dataset", std::string()))},
            {"rows", ResultJson::array({row})}};
  });
}

ResultJson side_json(const ResultJson& side) {
  return {{"solver", side.value("solver", "")},
          {"epoch_ms", or_null(side, "epoch_ms")},
          {"step_ms", or_null(side, "step_ms")},
          {"preprocess_s", or_null(side, "preprocess_s")},
          {"peak_memory_bytes", or_null(side, "peak_memory_bytes")}};
}

// Every measurement of ours beside published in the file, however deep; machine, commit and device are those
// of the object around it.
void add_speed(const ResultJson& json, ResultJson around, const std::string& file, ResultJson& rows) {
  if (json.is_object()) {
    for (const char* key : {"machine", "commit", "device", "dtype", "threads", "dataset", "n", "m"})
      if (json.contains(key) && json.at(key).is_primitive()) around[key] = json.at(key);
    if (json.contains("chain_length") && json.contains("chains_per_class"))
      around["dataset"] =
          fmt::format("chains ({}, {})", json.at("chain_length").dump(), json.at("chains_per_class").dump());
    if (json.contains("ours") && json.contains("published") && json.at("ours").contains("epoch_ms")) {
      ResultJson row = around;
      row["file"] = file;
      row["ours"] = side_json(json.at("ours"));
      row["published"] = side_json(json.at("published"));
      row["ratio"] = or_null(json, "epoch_ratio");
      const ResultJson floor = or_null(json, "floor");
      row["floor_ms"] = floor.is_object() ? or_null(floor, "epoch_ms") : ResultJson();
      row["over_floor"] = or_null(json, "epoch_over_floor");
      rows.push_back(std::move(row));
      return;
    }
  }
  if (json.is_structured())
    for (const ResultJson& part : json) add_speed(part, around, file, rows);
}

ResultJson explanation_page(const std::string& name, const ResultJson& json) {
  for (const char* key : {"score", "constant", "sum"}) number_at(json, key);
  for (const ResultJson& part : json.at("nodes")) number_at(part, "contribution");
  for (const ResultJson& part : json.at("features")) number_at(part, "contribution");
  for (const ResultJson& part : json.at("by_hop"))
    for (const char* key : {"contribution", "raising", "lowering", "nodes"}) number_at(part, key);
  ResultJson out = json;
  out["file"] = name;
  for (const char* key : {"version", "commit", "seconds"}) out.erase(key);
  return out;
}

void add_influences(const CollectedResult& result, ResultJson& out) {
  made_of(result, [&](const ResultJson& json) -> ResultJson {
    for (const ResultJson& run : json.at("runs")) {
      ResultJson hops = ResultJson::array();
      for (const ResultJson& hop : run.at("by_hop"))
        hops.push_back({{"hops", hop.at("hops").get<int64_t>()},
                        {"share", rounded(number_at(hop, "share"))},
                        {"cumulative", rounded(number_at(hop, "cumulative"))}});
      out.push_back({{"file", result.name},
                     {"run", run.value("checkpoint", "")},
                     {"model", run.value("model", "")},
                     {"mean_hops", number_at(run, "mean_hops")},
                     {"by_hop", std::move(hops)}});
    }
    return {};
  });
}

// The runs of one training on several splits: folders split-0, split-1, … side by side.
std::string group_of(const CollectedRun& run) {
  const std::filesystem::path path(run.name);
  return path.filename().string().rfind("split-", 0) == 0 ? path.parent_path().string() : "";
}

// Means over splits, as the tables of experiments have them.
ResultJson split_tables(const std::vector<CollectedRun>& runs) {
  std::map<std::string, std::vector<const RunResult*>> groups;
  for (const CollectedRun& run : runs)
    if (run.finished && !group_of(run).empty()) groups[group_of(run)].push_back(&run.result);
  ResultJson rows = ResultJson::array();
  for (const auto& [name, results] : groups) {
    const std::string& metric = results[0]->metric;
    const bool shares = metric != "mse" && metric != "mae" && metric != "r2";
    std::vector<double> values;
    for (const RunResult* result : results)
      if (result->metric == metric && std::isfinite(result->score.test))
        values.push_back((shares ? 100 : 1) * result->score.test);
    if (values.empty()) continue;
    const MeanOfRuns mean = mean_of_runs(values);
    rows.push_back({{"label", name},
                    {"model", eignn::name(results[0]->config.model)},
                    {"metric", metric},
                    {"mean", rounded(mean.mean)},
                    {"std", rounded(mean.std)},
                    {"runs", values.size()},
                    {"values", ResultJson::array()},
                    {"paper", nullptr},
                    {"difference", nullptr},
                    {"p", nullptr},
                    {"remark", ""}});
    for (const double value : values) rows.back()["values"].push_back(rounded(value));
  }
  return rows;
}

ResultJson file_json(const CollectedResult& result) {
  const ResultJson& json = result.json;
  const ResultJson provenance = or_null(json, "provenance");
  const auto word = [&](const char* key) {
    for (const ResultJson* from : {&provenance, &json})
      if (from->is_object() && from->contains(key) && from->at(key).is_string()) return from->at(key);
    return ResultJson();
  };
  ResultJson commit = word("commit");
  if (commit.is_null()) commit = word("table_commit");
  return {{"file", result.name},
          {"command", word("command")},
          {"machine", word("machine")},
          {"version", word("version")},
          {"commit", commit}};
}

}  // namespace

ResultJson page_data(const Collected& collected, const PageOptions& options) {
  ResultJson data = {
      {"format", 1},
      {"made", {{"version", version()}, {"commit", built_commit()}, {"command", options.command}}}};
  for (const char* list :
       {"runs", "studies", "tables", "robustness", "speed", "explanations", "influences", "graphs", "files"})
    data[list] = ResultJson::array();
  const size_t curves = std::max<size_t>(1, 3 * collected.runs.size());
  const size_t points = std::clamp(points_of_page / curves, fewest_points, points_of_curve);
  for (const CollectedRun& run : collected.runs) data["runs"].push_back(run_json(run, points));
  for (const CollectedResult& result : collected.results) {
    switch (result.kind) {
      case ResultKind::study:
        data["studies"].push_back(study_json(result, options));
        break;
      case ResultKind::table:
        data["tables"].push_back(table_json(result, options));
        break;
      case ResultKind::robustness:
        data["robustness"].push_back(robustness_json(result, options));
        break;
      case ResultKind::attack:
        data["robustness"].push_back(attack_json(result));
        break;
      case ResultKind::explanation:
        data["explanations"].push_back(
            made_of(result, [&](const ResultJson& json) { return explanation_page(result.name, json); }));
        break;
      case ResultKind::influence:
        add_influences(result, data["influences"]);
        break;
      case ResultKind::speed:
        made_of(result, [&](const ResultJson& json) -> ResultJson {
          add_speed(json, ResultJson::object(), result.name, data["speed"]);
          return {};
        });
        break;
    }
    data["files"].push_back(file_json(result));
  }
  if (ResultJson rows = split_tables(collected.runs); !rows.empty())
    data["tables"].push_back({{"file", ""}, {"title", "Runs over splits"}, {"rows", std::move(rows)}});
  for (const ResultJson& why : options.explanations)
    data["explanations"].push_back(explanation_page("", why));
  for (const ResultJson& graph : options.graphs) data["graphs"].push_back(graph);
  data["not_shown"] = collected.not_shown;
  return data;
}

std::string script_safe(const ResultJson& data) {
  // All but ASCII is escaped, and what is no UTF-8 replaced.
  const std::string json = data.dump(-1, ' ', /*ensure_ascii=*/true, ResultJson::error_handler_t::replace);
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    // These stand within strings alone, where an escape means the same.
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

std::string page_html(const ResultJson& data) {
  const std::string page = report_template(), place = "\"the data of the report\"";
  const size_t at = page.find(place);
  return page.substr(0, at) + script_safe(data) + page.substr(at + place.size());
}

}  // namespace eignn
