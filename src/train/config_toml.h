// A run's configuration as a text: config.toml, and the settings that files of earlier versions have.
#pragma once

#include <map>
#include <set>
#include <string>

#include "eignn/options.h"

namespace eignn {

struct TomlSetting;

/// The format of config.toml, in its key `format`. Files of versions before 0.2 do not have the key.
constexpr int64_t config_format = 1;

/// config.toml: one `name = value` per field that the model reads.
std::string to_toml(const TrainConfig& config);

/// The same with a digest of its lines in the last one, a comment: config.toml as a run's folder has it.
std::string sealed_toml(const TrainConfig& config);
/// The text of such a file. DataError where it was changed after it was written; a file without the comment,
/// of an older version, passes.
std::string read_sealed_toml(const std::string& path);

/// Whether a text has a digest in its last line and was changed after that was written.
bool was_changed(const std::string& toml);

/// Whether a setting is the format number of a configuration; DataError when it is another one than ours.
bool is_config_format(const TomlSetting& setting, const std::string& origin);

/// Sets one field of the configuration from a file's text; DataError when there is no such field or the text
/// does not fit.
void assign_or_refuse(TrainConfig& config, const std::string& name, const std::string& text,
                      const std::string& origin, const std::string& place);

/// Fills what the caller did not set from `name = value` lines (a config.toml); returns the names set by
/// either. A config.toml that a run wrote counts as complete: settings that it lacks, being older, are named
/// too, with their defaults; its encoder, where there is one, has the activation relu. DataError for a line
/// or a name that makes no sense; `origin` names the text in messages.
std::set<std::string> apply_toml(TrainConfig& config, const std::string& toml,
                                 const std::set<std::string>& given, const std::string& origin);

/// Sets the fields that this model reads from what an older version wrote, and skips those of other models,
/// which files of the first format have. What such a file does not say yet means what it meant then.
/// ArgumentError for a name that no model has.
void assign_known(TrainConfig& config, std::map<std::string, std::string> texts);

}  // namespace eignn
