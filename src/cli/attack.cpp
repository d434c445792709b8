#include "attack/attack.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "cli/flags.h"
#include "data/atomic_file.h"
#include "data/csv.h"
#include "data/disk_space.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "report/table.h"
#include "run/predictions_csv.h"
#include "run/provenance.h"
#include "run/restored_run.h"

namespace eignn::cli {

namespace {

Json report_json(const AttackReport& report) {
  Json json = {{"epsilon", report.options.epsilon}};
  if (report.options.method == AttackMethod::pgd) {
    json["step"] = report.options.step;
    json["steps"] = report.options.steps;
  }
  json["accuracy"] = report.accuracy();
  json["certified_accuracy"] = report.certified ? Json(*report.certified_accuracy()) : Json();
  json["kept"] = report.kept;
  json["lost"] = report.right - report.kept;
  json["righted"] = report.righted;
  json["certified"] = report.certified ? Json(*report.certified) : Json();
  json["largest_change"] = report.largest_change;
  return json;
}

// The labelled test nodes, or on another graph than that of the training all labelled nodes.
torch::Tensor nodes_to_attack(const RestoredRun& restored) {
  for (const auto& part : restored.parts())
    if (std::string(part.name) == "test" && part.count > 0) return part.nodes;
  throw DataError(restored.data.name, "labels", "no test node has a label to lose", "label some nodes");
}

// A row for every node and size; the bound and the radius are empty where nothing is certified.
std::string csv_of(const Dataset& data, const torch::Tensor& attacked,
                   const std::vector<AttackReport>& reports) {
  std::string csv =
      "node,label,epsilon,predicted,predicted_under_attack,margin,margin_under_attack,margin_bound,"
      "certified_radius\n";
  const auto cpu = [](const torch::Tensor& t) { return t.to(torch::kCPU).contiguous(); };
  const auto nodes = cpu(attacked), labels = cpu(reports.at(0).labels);
  const auto clean = cpu(reports.at(0).clean_scores);
  const auto predicted = clean.argmax(1), margin = margins_of(clean, labels).amin(1);
  const auto class_of = [&](const torch::Tensor& of, int64_t t) {
    return csv_field(data.class_name(of[t].item<int64_t>()));
  };
  for (const AttackReport& report : reports) {
    const auto scores = cpu(report.scores);
    const auto after = scores.argmax(1), margin_after = margins_of(scores, labels).amin(1);
    const bool certified = report.certified.has_value();
    const auto bound = certified ? cpu(report.margin_bound) : torch::Tensor();
    const auto radius = certified ? cpu(report.certified_radius) : torch::Tensor();
    for (int64_t t = 0; t < nodes.size(0); ++t)
      csv += fmt::format("{},{},{},{},{},{:.9g},{:.9g},{},{}\n",
                         csv_field(data.node_name(nodes[t].item<int64_t>())), class_of(labels, t),
                         report.options.epsilon, class_of(predicted, t), class_of(after, t),
                         margin[t].item<double>(), margin_after[t].item<double>(),
                         certified ? fmt::format("{:.9g}", bound[t].item<double>()) : "",
                         certified ? fmt::format("{:.9g}", radius[t].item<double>()) : "");
  }
  return csv;
}

}  // namespace

void run_attack(const AttackFlags& flags) {
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given());
  const auto attacked = nodes_to_attack(restored);
  constexpr double row = 90;  // of csv_of, about
  require_space_for_file(flags.out, row * static_cast<double>(attacked.numel() * flags.attacks.size()),
                         "eignn attack");
  Attacker attacker(*restored.model, restored.dataset, attacked);
  std::vector<AttackReport> reports;
  for (const AttackOptions& options : flags.attacks) reports.push_back(attacker.run(options));
  if (!flags.out.empty())
    write_file_atomically(flags.out, csv_of(restored.dataset, attacker.nodes(), reports));

  const AttackReport& first = reports.at(0);
  if (flags.json) {
    Json json = {{"checkpoint", flags.checkpoint},
                 {"dataset", restored.config.dataset},
                 {"model", name(restored.config.model)},
                 {"solver", restored.model->solver_name()},
                 {"split", restored.split_number},
                 {"method", name(first.options.method)},
                 {"targets", name(first.options.targets)},
                 {"objective", first.options.method == AttackMethod::noise ? Json() : Json(flags.objective)},
                 {"linear", attacker.linear()},
                 {"nodes", first.nodes},
                 {"right", first.right},
                 {"clean_accuracy", first.clean_accuracy()},
                 {"attacks", Json::array()}};
    for (const AttackReport& report : reports) json["attacks"].push_back(report_json(report));
    json["seed"] = restored.config.seed;
    json["noise_seed"] = first.options.method == AttackMethod::noise ? Json(first.options.seed) : Json();
    json["device"] = name(restored.config.device);
    json["dtype"] = name(restored.config.dtype);
    json["version"] = version();
    json["commit"] = built_commit();
    return print_json(json);
  }
  std::vector<std::vector<std::string>> rows = {
      {"none", "", percent(first.clean_accuracy()), fmt::format("{} of {}", first.right, first.nodes), ""}};
  for (const AttackReport& report : reports)
    rows.push_back({name(report.options.method), fmt::format("{}", report.options.epsilon),
                    percent(report.accuracy()), fmt::format("{} of {}", report.kept, report.nodes),
                    report.certified ? percent(*report.certified_accuracy()) : "-"});
  fmt::print("{}", format_table({"attack", "epsilon", "accuracy", "right", "certified"}, rows));
  fmt::print("{} on {}, split {}, seed {}; eignn {} ({})\n", name(restored.config.model),
             restored.config.dataset, restored.split_number, restored.config.seed, version(), built_commit());
  if (!attacker.linear())
    fmt::print("{} is not linear in the features: there is no certificate\n", name(restored.config.model));
  if (!flags.out.empty()) fmt::print("{} written to {}\n", counted(first.nodes, "node"), flags.out);
}

}  // namespace eignn::cli
