#include "train/config_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "data/atomic_file.h"
#include "data/toml.h"
#include "eignn/error.h"
#include "graph/content_hash.h"

namespace eignn {

namespace {

bool is_known_setting(const std::string& name) {
  const auto& all = known_fields();
  return std::any_of(all.begin(), all.end(), [&](const KnownField& field) { return field.name == name; });
}

// What wrote an encoder without naming its activation had relu alone.
void use_activation_of_before(TrainConfig& config) {
  if (config.is_eignn() && config.eignn().encoder > 0) config.eignn().encoder_activation = Activation::relu;
}

// Whether these are the settings of all models, as the first formats had them.
template <class Settings>
bool are_of_all_models(const Settings& settings) {
  return settings.count("samples-second") && settings.count("kappa");
}

// EIGNN had one layer then: what such files have under these names is other models'.
bool was_of_other_models(const TrainConfig& config, const std::string& name) {
  return config.is_eignn() && (name == "layers" || name == "hidden");
}

}  // namespace

std::string to_toml(const TrainConfig& config) {
  TrainConfig copy = config;
  std::string out = fmt::format("format = {}  # of this file\n", config_format);
  for (const Field& field : fields(copy)) {
    const std::string text = field.get();
    // TOML's whole numbers are signed.
    const bool exceeds_int64 = field.kind == Field::Kind::integer && text.size() >= 19 &&
                               config.seed > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const bool quoted = field.kind == Field::Kind::text || exceeds_int64;
    out += fmt::format("{} = {}  # {}\n", field.name, quoted ? toml_string(text) : text, field.help);
  }
  return out;
}

namespace {
constexpr const char* digest_mark = "# digest ";

std::string digest_line(const std::string& text) {
  ContentHash hash;
  hash.add(text.data(), text.size());
  return fmt::format("{}{}\n", digest_mark, hash.hex());
}
}  // namespace

std::string sealed_toml(const TrainConfig& config) {
  const std::string text = to_toml(config);
  return text + digest_line(text);
}

bool was_changed(const std::string& toml) {
  const size_t mark = toml.rfind(digest_mark);
  return mark != std::string::npos && toml.substr(mark) != digest_line(toml.substr(0, mark));
}

std::string read_sealed_toml(const std::string& path) {
  std::string text = read_small_file(path);
  if (was_changed(text))
    throw DataError(path, "", "the settings were changed after the runs of this folder began",
                    "put the file back as it was, or give another folder");
  return text;
}

bool is_config_format(const TomlSetting& setting, const std::string& origin) {
  if (setting.name != "format") return false;
  if (setting.single(origin) == std::to_string(config_format)) return true;
  throw DataError(origin, setting.place,
                  fmt::format("the file has format {}, and this version reads format {}", setting.values[0],
                              config_format),
                  "use the version of eignn that wrote it");
}

void assign_or_refuse(TrainConfig& config, const std::string& name, const std::string& text,
                      const std::string& origin, const std::string& place) {
  try {
    assign(config, name, text);
  } catch (const Error& error) {
    throw DataError(origin, place, error.problem(), error.remedy());
  }
}

std::set<std::string> apply_toml(TrainConfig& config, const std::string& toml,
                                 const std::set<std::string>& given, const std::string& origin) {
  std::set<std::string> set = given;
  const auto settings = parse_toml_settings(toml, origin);
  // First, for a file of another format may have settings that are not known here.
  bool has_format = false;
  for (const TomlSetting& setting : settings) has_format |= is_config_format(setting, origin);
  std::map<std::string, const TomlSetting*> by_name;
  for (const TomlSetting& setting : settings)
    if (!given.count(setting.name) && setting.name != "format") by_name[setting.name] = &setting;
  // The model first: which other settings there are is its business.
  if (const auto model = by_name.find("model"); model != by_name.end()) {
    assign_or_refuse(config, "model", model->second->single(origin), origin, model->second->place);
    set.insert("model");
    by_name.erase(model);
  }
  // A config.toml of the time before there was a format lists the settings of all models.
  const bool of_all_models = !has_format && are_of_all_models(by_name);
  const auto read = to_strings(config);
  for (const auto& [name, setting] : by_name) {
    if (of_all_models && is_known_setting(name) && !read.count(name)) continue;
    if (of_all_models && was_of_other_models(config, name)) continue;
    assign_or_refuse(config, name, setting->single(origin), origin, setting->place);
    set.insert(name);
  }
  // A file that a run wrote is complete: what it lacks did not exist then, and no recipe may fill it in.
  const auto in_file = [&](const char* name) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const TomlSetting& setting) { return setting.name == name; });
  };
  const bool of_a_run =
      has_format && in_file("dataset") && in_file("model") && in_file("seed") && in_file("threads");
  if (of_a_run || of_all_models) {
    if (!in_file("encoder-activation") && !given.count("encoder-activation"))
      use_activation_of_before(config);
    for (const auto& [name, text] : read) set.insert(name);
  }
  return set;
}

void assign_known(TrainConfig& config, std::map<std::string, std::string> texts) {
  if (const auto model = texts.find("model"); model != texts.end()) assign(config, "model", model->second);
  const auto read = to_strings(config);
  const bool of_all_models = are_of_all_models(texts);
  for (const KnownField& field : known_fields())
    if (!read.count(field.name) || (of_all_models && was_of_other_models(config, field.name)))
      texts.erase(field.name);
  assign(config, texts);
  if (!texts.count("encoder-activation")) use_activation_of_before(config);
}

}  // namespace eignn
