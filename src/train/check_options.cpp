// Which settings exclude each other, and which have no effect beside others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "data/catalogue.h"
#include "data/memory_limit.h"
#include "data/readers.h"
#include "data/text_lines.h"
#include "data/utf8.h"
#include "eignn/error.h"
#include "eignn/options.h"
#include "graph/nearest_name.h"

namespace eignn {

namespace {

using IdleSettings = std::vector<IdleSetting>;

void add_idle(IdleSettings& out, bool idle, const char* why, std::initializer_list<const char*> names) {
  if (!idle) return;
  for (const char* name : names)
    if (std::none_of(out.begin(), out.end(), [&](const IdleSetting& known) { return known.name == name; }))
      out.push_back({name, why});
}

void add_idle_of_eignn(IdleSettings& out, const EignnOptions& model) {
  const bool one_layer = model.layers == 1, residual = model.head == Head::residual;
  add_idle(out, !residual, "the residual head alone reads it", {"width", "blocks"});
  add_idle(out, one_layer, "there is one layer of equilibria", {"hidden"});
  add_idle(out, model.encoder == 0, "there is no encoder", {"encoder-activation"});
  add_idle(out, model.solver != "truncated", "the solver truncated alone reads it", {"eigenpairs"});
  add_idle(out, one_layer && !residual && norm_of(model) == Norm::none,
           "a plain head without a norm has none", {"dropout"});
  add_idle(out, model.equilibria == 0, "there is no equilibrium",
           {"start", "gamma", "epsilon", "rank", "source", "lr-propagation", "weight-decay-propagation",
            "solver", "eigenpairs", "direction", "normalise", "self-loops", "weight-scale", "edge-weights"});
}

}  // namespace

IdleSettings idle_settings(const TrainConfig& config) {
  IdleSettings out;
  const bool built_in = config.dataset == "chains" || config.dataset == "karate";
  add_idle(out, config.dataset != "chains", "the data set is not chains",
           {"chain-length", "chains-per-class", "num-classes", "feature-dim", "noise"});
  add_idle(out, built_in, "the data set has no tables", {"label", "ignore-columns", "task"});
  add_idle(out, config.device == DeviceKind::cpu, "a CPU has no TF32", {"tf32"});
  if (config.is_eignn()) add_idle_of_eignn(out, config.eignn());
  for (const auto* model : {static_cast<const MlpOptions*>(std::get_if<MlpOptions>(&config.model)),
                            static_cast<const MlpOptions*>(std::get_if<GcnOptions>(&config.model))})
    if (model) add_idle(out, model->layers == 1, "there is one layer", {"hidden"});
  if (const auto* gat = std::get_if<GatOptions>(&config.model))
    add_idle(out, gat->layers == 1, "there is one layer", {"hidden", "heads"});
  add_idle(out, std::holds_alternative<MlpOptions>(config.model), "mlp does not read the graph",
           {"direction", "normalise", "self-loops", "weight-scale", "edge-weights"});
  add_idle(out,
           std::holds_alternative<GatOptions>(config.model) ||
               std::holds_alternative<H2gcnOptions>(config.model) ||
               std::holds_alternative<GraphsageOptions>(config.model),
           "the model reads which arcs there are, and not S",
           {"normalise", "self-loops", "weight-scale", "edge-weights"});
  const auto directions = config.directions();
  add_idle(out,
           std::all_of(directions.begin(), directions.end(),
                       [](Direction direction) { return direction == Direction::undirected; }),
           "both are the same on an undirected graph", {"normalise"});
  return out;
}

std::string idle_settings_in_words(const TrainConfig& config, const std::set<std::string>& given) {
  // What is given as it would be anyway misleads nobody.
  TrainConfig defaults;
  defaults.model = model_options(name(config.model));
  const auto usual = to_strings(defaults), now = to_strings(config);
  std::vector<std::string> named;
  for (const IdleSetting& setting : idle_settings(config))
    if (given.count(setting.name) && usual.at(setting.name) != now.at(setting.name))
      named.push_back(fmt::format("{} ({})", setting.name, setting.why));
  if (named.empty()) return "";
  return fmt::format("without effect under these settings: {}", fmt::join(named, ", "));
}

void check(const EignnOptions& options) {
  const Norm norm = norm_of(options);
  if (options.head == Head::residual && norm != Norm::none)
    throw ArgumentError("norm", "the residual head has batch norms of its own", "leave norm out");
  if (options.head == Head::residual && options.layers > 1)
    throw ArgumentError("layers", "the residual head stands on one layer of equilibria",
                        "use layers 1, or the head plain");
  if (options.label_inputs && options.equilibria == 0)
    throw ArgumentError("label-inputs", "without equilibria no label reaches another node",
                        "use equilibria 1 or more, or label-inputs off");
  if (options.layers > 1) return;
  if (options.skip)
    throw ArgumentError("skip", "one layer has nothing to skip", "use layers 2 or more, or skip off");
  if (options.jump != Jump::last)
    throw ArgumentError("jump",
                        fmt::format("one layer has nothing to {}",
                                    options.jump == Jump::max ? "take the maximum of" : "put side by side"),
                        "use layers 2 or more, or jump last");
}

namespace {

// Its name is written into config.toml, summary.json and checkpoints, which are UTF-8.
void require_writable_name(const std::string& dataset) {
  if (!is_utf8(dataset))
    throw ArgumentError("dataset", fmt::format("the name {} is not UTF-8", quote(dataset)),
                        "rename the file or folder");
}

void require_dataset(const std::string& name) {
  if (is_dataset_path(name)) return;
  std::vector<std::string> known = {"chains", "karate"};
  for (const auto& set : catalogue_names()) known.push_back(set);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw unknown_name("data set", "dataset", name, known);
}

void require_split(const std::string& text) {
  if (text == "all") return;
  int64_t number = -1;
  const char* last = text.data() + text.size();
  const auto result = std::from_chars(text.data(), last, number);
  if (result.ec != std::errc() || result.ptr != last || number < 0)
    throw ArgumentError("split", fmt::format("'{}' is no split", text), "give a number from 0, or all");
}

void require_memory_setting(const TrainConfig& config) {
  if (config.memory.empty()) return;
  bytes_of(config.memory);
  if (!config.is_eignn()) {
    throw ArgumentError("memory", fmt::format("eignn keeps within a limit, and not {}", name(config.model)),
                        "leave it out");
  }
  if (config.device != DeviceKind::cpu)
    throw ArgumentError("memory", "this is the memory of a CPU's process, and not of a GPU", "leave it out");
  const std::string& solver = config.eignn().solver;
  if (solver != "auto" && solver != "sparse") {
    throw ArgumentError("memory", fmt::format("sparse keeps within a limit, and not {}", solver),
                        "use solver sparse or auto, or leave it out");
  }
}

}  // namespace

void validate_settings(const TrainConfig& config) {
  TrainConfig copy = config;
  for (const Field& field : fields(copy)) field.check();
  if (config.is_eignn() && config.eignn().label_inputs && (config.partition > 0 || config.coarsen < 1))
    throw ArgumentError("label-inputs",
                        "labels are inputs on a whole graph, and not on its parts or clusters",
                        "leave out partition and coarsen, or use label-inputs off");
  if (config.partition > 0 && config.coarsen < 1)
    throw ArgumentError("coarsen", "a graph is cut into parts or coarsened, and not both",
                        "use partition 0, or coarsen 1");
  if (config.is_eignn()) check(config.eignn());
  if (!config.is_eignn() && !config.further_directions.empty())
    throw ArgumentError("direction", fmt::format("{} takes one direction", name(config.model)),
                        "name one; eignn takes several");
  require_memory_setting(config);
  require_split(config.split);
  require_writable_name(config.dataset);
}

void validate(const TrainConfig& config) {
  validate_settings(config);
  require_dataset(config.dataset);
}

}  // namespace eignn
