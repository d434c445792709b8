#include "run/portfolio.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "data/toml.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "graph/random_stream.h"
#include "run/recipes.h"
#include "train/config_toml.h"

namespace eignn {

namespace {

constexpr const char* vary_table = "vary";
constexpr const char* folder = "portfolio/";

const EmbeddedRecipe* portfolio_of(const std::string& model) {
  for (const EmbeddedRecipe& recipe : embedded_recipes())
    if (recipe.name == folder + model) return &recipe;
  return nullptr;
}

bool reads(TrainConfig config, const std::string& setting) {
  const auto all = fields(config);
  return std::any_of(all.begin(), all.end(), [&](const Field& field) { return field.name == setting; });
}

// The base with this model: what is given of it, then the recipe for the data.
TrainConfig starting_config(const TrainConfig& base, const std::set<std::string>& given,
                            const std::string& model) {
  const auto texts = to_strings(base);
  TrainConfig config = base;
  config.model = model_options(model);
  for (const std::string& setting : given)
    if (const auto text = texts.find(setting);
        setting != "model" && text != texts.end() && reads(config, setting))
      assign(config, setting, text->second);
  apply_recipe(config, given);
  return config;
}

bool is_valid(const TrainConfig& config) {
  try {
    validate_settings(config);
    return true;
  } catch (const ArgumentError&) {  // settings that exclude each other
    return false;
  }
}

// Below this many features for each of its rows a thin F saves little, and learns less.
bool is_too_thin(const EignnOptions& model, int64_t features) {
  constexpr int64_t features_for_a_row = 8;
  const int64_t columns = model.encoder > 0 ? model.encoder : features;
  return model.rank > 0 && columns < features_for_a_row * model.rank;
}

}  // namespace

const std::vector<std::string>& Portfolio::models() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const std::string& model : model_names())
      if (portfolio_of(model) != nullptr) out.push_back(model);
    return out;
  }();
  return names;
}

Portfolio::Portfolio(const TrainConfig& base, const std::set<std::string>& given,
                     const std::vector<std::string>& models, bool directed, int64_t features)
    : directed_(directed),
      features_(features),
      direction_given_(given.count("direction") > 0),
      rank_given_(given.count("rank") > 0),
      seed_(base.seed) {
  for (const std::string& model : models) {
    const EmbeddedRecipe* recipe = portfolio_of(model);
    if (recipe == nullptr) throw unknown_name("model of a search", "models", model, Portfolio::models());
    const std::string origin = fmt::format("recipes/{}.toml", recipe->name);
    const TrainConfig start = starting_config(base, given, model);
    OfModel of;
    of.openings.push_back({model + "/recipe", start});
    for (const TomlTable& table : parse_toml_tables(recipe->toml, origin)) {
      TrainConfig config = start;
      for (const TomlSetting& setting : table.settings) {
        of.known.insert(setting.name);
        if (given.count(setting.name)) continue;
        if (table.name == vary_table)
          of.vary.emplace_back(setting.name, setting.values);
        else
          assign_or_refuse(config, setting.name, setting.single(origin), origin, setting.place);
      }
      if (table.name != vary_table) of.openings.push_back({model + "/" + table.name, config});
    }
    models_.push_back(std::move(of));
  }
  for (const std::string& setting : given)
    if (std::none_of(models_.begin(), models_.end(),
                     [&](const OfModel& of) { return reads(of.openings[0].config, setting); }))
      throw ArgumentError(setting,
                          fmt::format("none of these models reads {}: {}", setting, fmt::join(models, ", ")),
                          "leave it out");
  size_t most = 0;
  for (const OfModel& of : models_) most = std::max(most, of.openings.size());
  for (size_t k = most; k-- > 0;)
    for (size_t m = models_.size(); m-- > 0;)
      if (k < models_[m].openings.size()) waiting_.emplace_back(m, k);
}

std::optional<Candidate> Portfolio::fresh(const OfModel& model, const std::string& name, TrainConfig config) {
  if (!directed_ && !direction_given_) {
    config.propagation.direction = Direction::undirected;
    config.further_directions.clear();
    config.propagation.normalise = Normalisation::sym;
  }
  if (config.is_eignn() && !rank_given_ && is_too_thin(config.eignn(), features_)) return {};
  if (!is_valid(config) || !seen_.insert(to_toml(config)).second) return {};
  Candidate out{name, {}, config};
  for (const auto& [setting, text] : to_strings(config))
    if (model.known.count(setting)) out.settings[setting] = text;
  return out;
}

std::optional<Candidate> Portfolio::variant() {
  const auto draw = [&](size_t count) {
    return static_cast<size_t>(stream_seed(seed_, Stream::search, draws_++) % count);
  };
  const OfModel& model = models_[draw(models_.size())];
  const Opening& parent = model.openings[draw(model.openings.size())];
  TrainConfig config = parent.config;
  for (const auto& [setting, values] : model.vary) {
    constexpr size_t one_in = 3;  // of the settings is replaced
    const bool replaced = draw(one_in) == 0;
    const std::string& value = values[draw(values.size())];
    if (replaced) assign(config, setting, value);
  }
  return fresh(model, parent.name + ", varied", config);
}

std::optional<Candidate> Portfolio::next() {
  while (!waiting_.empty()) {
    const auto [m, k] = waiting_.back();
    waiting_.pop_back();
    const Opening& opening = models_[m].openings[k];
    if (auto candidate = fresh(models_[m], opening.name, opening.config)) return candidate;
  }
  // Draws that exclude themselves, or were there before.
  constexpr int tries = 1000;
  for (int k = 0; k < tries; ++k)
    if (auto candidate = variant()) return candidate;
  return {};
}

}  // namespace eignn
