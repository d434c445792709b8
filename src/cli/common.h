// What the commands share: flags of a run, JSON, notices, the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "eignn/error.h"
#include "eignn/options.h"

namespace eignn::cli {

using Json = nlohmann::ordered_json;

/// The request itself is wrong, in the words of the command line: "problem (--flag); remedy".
class UsageError : public ArgumentError {
 public:
  explicit UsageError(const std::string& what) : ArgumentError({}, what) {}
};

/// Each command registers its flags on `app` and its work as the subcommand's callback.
void add_train(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_predict(CLI::App& app);
void add_attack(CLI::App& app);
void add_solve(CLI::App& app);
void add_inspect(CLI::App& app);
void add_bench(CLI::App& app);
void add_convert(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_fetch(CLI::App& app);
void add_completion(CLI::App& app);

/// Makes a command: its callback first refuses what it does not know (with the nearest flag), then does
/// `work`.
CLI::App* add_command(CLI::App& app, const char* name, const char* description, const char* examples);
/// UsageError for the first of these flags that was not given. (CLI11's own check would hide a misspelt
/// flag.)
void require_flags(const CLI::App& command, const std::vector<std::string>& flags);
void set_work(CLI::App* command, std::function<void()> work);

/// Flags for settings of a run, as the tables of eignn/options.h have them. They keep the texts that were
/// given: which of them fit is known when the model is.
class SettingFlags {
 public:
  /// All settings of these groups, in groups of the help.
  void add(CLI::App& command, const std::set<Field::Group>& groups);
  /// Single ones.
  void add(CLI::App& command, const std::vector<std::string>& names);

  /// The settings that were given, by name (without dashes).
  std::map<std::string, std::string> given() const;
  std::set<std::string> names() const;

 private:
  void add(CLI::App& command, const KnownField& field, const std::string& group);

  struct Flag {
    std::string text;
    const CLI::Option* option;
  };
  std::map<std::string, std::shared_ptr<Flag>> flags_;  // CLI11 keeps addresses of the texts
};

/// One JSON object on standard output.
void print_json(const Json& json);

void note(const std::string& message);     // a line on standard error, for people
void warning(const std::string& message);  // likewise, marked

/// True once Ctrl-C was pressed; installing is done on first use, and a second Ctrl-C ends the process.
bool interrupted();
void watch_for_interrupt();

/// Thrown to end with exit code 130 after the work was saved.
struct Interrupted {
  std::string message;
};

std::string percent(double fraction);

}  // namespace eignn::cli
