// Shared by the commands: flags of a run, JSON output, notices, interrupts.
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

/// An error in the command line itself: "problem (--flag); remedy".
class UsageError : public ArgumentError {
 public:
  explicit UsageError(const std::string& what) : ArgumentError({}, what) {}
};

/// Each adds a command to `app`: its flags, and its work as the subcommand's callback.
void add_train(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_predict(CLI::App& app);
void add_attack(CLI::App& app);
void add_explain(CLI::App& app);
void add_solve(CLI::App& app);
void add_inspect(CLI::App& app);
void add_bench(CLI::App& app);
void add_convert(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_report(CLI::App& app);
void add_fetch(CLI::App& app);
void add_completion(CLI::App& app);
void add_manual(CLI::App& app);

/// Makes a command. set_work() sets its callback, which first refuses unknown flags and words (suggesting the
/// nearest flag) and then calls `work`.
CLI::App* add_command(CLI::App& app, const char* name, const char* description, const char* examples);
/// UsageError for the first of these flags that was not given. (CLI11's own check would hide a misspelt
/// flag.)
void require_flags(const CLI::App& command, const std::vector<std::string>& flags);
void set_work(CLI::App* command, std::function<void()> work);

/// Flags for the settings in the tables of eignn/options.h. They keep the given texts, because which of them
/// are valid depends on the model.
class SettingFlags {
 public:
  /// Adds all settings of these groups, under headings in the help.
  void add(CLI::App& command, const std::set<Field::Group>& groups);
  /// Adds single settings.
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

/// An option of the command whose value is a whole number as people write it: 010 is ten, and what does not
/// fit is refused. (CLI11 alone reads numbers as C does, where 010 is eight, and wraps what is too large.)
CLI::Option* add_whole(CLI::App& command, const std::string& flag, int64_t& value, const std::string& help);
CLI::Option* add_whole(CLI::App& command, const std::string& flag, uint64_t& value, const std::string& help);
CLI::Option* add_whole(CLI::App& command, const std::string& flag, std::vector<int64_t>& values,
                       const std::string& help);

bool ends_with(const std::string& text, const std::string& ending);

/// A text as one word of a shell's command line.
std::string shell_quoted(const std::string& text);

/// One JSON object on standard output.
void print_json(const Json& json);

void note(const std::string& message);     // a line on standard error, for people
void warning(const std::string& message);  // the same, marked as a warning

/// A line before files are read for a while: those at this path, a file or a folder, where they are large.
void say_long_reading(const std::string& path);

/// True once SIGINT, SIGTERM or SIGHUP came after watch_for_interrupt(), which installs the handler. A second
/// SIGINT, half a second later or more, ends the process, but where the process `parent` passes one on: it
/// may be the one of the terminal's that came to both.
bool interrupted();
void watch_for_interrupt(int64_t parent = 0);
/// The first of them; 0: none yet.
int received_signal();

/// Thrown to end with exit code 130 after the work was saved.
struct Interrupted {
  std::string message;
};

/// Thrown to end with this exit code and without a word: another process of the job has said it.
struct EndedQuietly {
  int code;
};

std::string percent(double fraction);

/// "45 s", "3 min", "2.5 h".
std::string duration_text(double seconds);

}  // namespace eignn::cli
