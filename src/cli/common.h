// What the commands share: flags of a run, JSON, notices, the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "eignn/training.h"

namespace eignn::cli {

using Json = nlohmann::ordered_json;

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

/// Makes a command: its callback first refuses what it does not know (with the nearest flag), then does
/// `work`.
CLI::App* add_command(CLI::App& app, const char* name, const char* description, const char* examples);
/// UsageError for the first of these flags that was not given. (CLI11's own check would hide a misspelt
/// flag.)
void require_flags(const CLI::App& command, const std::vector<std::string>& flags);
void set_work(CLI::App* command, std::function<void()> work);

/// The flags of a run's configuration, grouped in the help; the values land in `config`.
void add_data_flags(CLI::App& command, TrainConfig& config);
void add_machine_flags(CLI::App& command, TrainConfig& config);
void add_run_flags(CLI::App& command, TrainConfig& config);

/// The names (without dashes) of the configuration's flags that were given.
std::set<std::string> given_flags(const CLI::App& command);

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
