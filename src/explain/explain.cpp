// The public functions of eignn/explain.h, on a trained model and data in memory.
#include "eignn/explain.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <charconv>

#include "eignn/error.h"
#include "eignn/execution.h"
#include "equilibrium/torch_errors.h"
#include "explain/explainer.h"
#include "graph/nearest_name.h"
#include "run/checkpoint.h"
#include "run/training_record.h"

namespace eignn {

namespace {

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// The position of a name, or of a number where that cannot be taken for a name.
int64_t find(const char* what, const char* field, const std::string& given,
             const std::vector<std::string>& names, int64_t count) {
  if (const auto at = std::find(names.begin(), names.end(), given); at != names.end())
    return at - names.begin();
  const auto number = whole_number(given);
  const bool by_number =
      names.empty() || std::none_of(names.begin(), names.end(),
                                    [](const std::string& name) { return whole_number(name).has_value(); });
  if (number && by_number && *number >= 0 && *number < count) return *number;
  const std::string range =
      count == 1 ? "there is one, number 0" : fmt::format("give a number from 0 to {}", count - 1);
  if (names.empty()) throw ArgumentError(field, fmt::format("there is no {} '{}'", what, given), range);
  constexpr size_t few = 20;
  if (names.size() <= few) throw unknown_name(what, field, given, names);
  const std::string near = nearest_name(given, names);
  throw ArgumentError(
      field, fmt::format("there is no {} '{}'", what, given),
      near.empty() ? "give its name as the data have it" : fmt::format("did you mean {}?", near));
}

}  // namespace

ScoreUnits units_of(const TrainedModel& trained) {
  return {trained.record()->target.scale, trained.record()->target.mean};
}

const char* name(ContributionKind kind) {
  switch (kind) {
    case ContributionKind::exact:
      return "exact";
    case ContributionKind::normalised:
      return "normalised";
    case ContributionKind::first_order:
      return "first-order";
  }
  return "";
}

int64_t find_node(const Dataset& data, const std::string& name_or_number) {
  return find("node", "node", name_or_number, data.node_names, data.nodes());
}

int64_t find_class(const Dataset& data, const std::string& name_or_number) {
  return find("class", "class", name_or_number, data.class_names, data.classes);
}

Explanation explain(const TrainedModel& trained, const Dataset& data, int64_t node,
                    std::optional<int64_t> class_number, const ExplainOptions& options) {
  return with_our_errors("explain", [&]() -> Explanation {
    const Execution execution(trained.config());
    const Dataset own = as_trained(trained, data);
    const auto model = trained.on(data);
    return Explainer(*model, own, trained.config(), units_of(trained)).explain(node, class_number, options);
  });
}

Influence influence(const TrainedModel& trained, const Dataset& data, const InfluenceOptions& options) {
  return with_our_errors("influence", [&]() -> Influence {
    const Execution execution(trained.config());
    const Dataset own = as_trained(trained, data);
    const auto model = trained.on(data);
    return Explainer(*model, own, trained.config(), units_of(trained)).influence(options);
  });
}

EdgeExplanation explain_edges(const TrainedModel& trained, const Dataset& data, int64_t node,
                              std::optional<int64_t> class_number, const EdgeOptions& options) {
  return with_our_errors("explain_edges", [&]() -> EdgeExplanation {
    const Execution execution(trained.config());
    const Dataset own = as_trained(trained, data);
    const auto model = trained.on(data);
    return Explainer(*model, own, trained.config(), units_of(trained)).edges(node, class_number, options);
  });
}

}  // namespace eignn
