#include "cli/common.h"

#include <fmt/format.h>

#include <csignal>

#include "cli/streams.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn::cli {

namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int signal) {
  interrupt_count = interrupt_count + 1;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends the process
}

const char* heading(Field::Group group) {
  switch (group) {
    case Field::Group::data:
      return "Data";
    case Field::Group::model:
      return "Model";
    case Field::Group::optimisation:
      return "Optimisation";
    case Field::Group::machine:
      return "Machine";
  }
  return "";
}

// Refuses a flag or word that the command does not have, and suggests the nearest flag.
void refuse_extras(const CLI::App& command) {
  const auto extras = command.remaining(false);
  if (extras.empty()) return;
  const std::string word = extras[0].substr(0, extras[0].find('='));
  if (word.rfind("-", 0) != 0)
    throw UsageError(fmt::format("unexpected argument '{}' (eignn {}); see eignn {} --help", word,
                                 command.get_name(), command.get_name()));
  std::vector<std::string> flags;
  for (const auto* option : command.get_options()) flags.push_back("--" + option->get_single_name());
  const std::string near = nearest_name(word, flags);
  throw UsageError(fmt::format("unknown flag '{}' (eignn {}); {}see eignn {} --help", word,
                               command.get_name(), near.empty() ? "" : "did you mean " + near + "? ",
                               command.get_name()));
}

// A flag that was given an empty text, as by a shell's empty variable.
void refuse_empty(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& text : option->results())
      if (text.empty())
        throw UsageError(fmt::format("{} is empty (eignn {}); give it a value, or leave it out",
                                     option->get_name(), command.get_name()));
}

}  // namespace

CLI::App* add_command(CLI::App& app, const char* name, const char* description, const char* examples) {
  auto* command = app.add_subcommand(name, description);
  command->allow_extras();
  command->footer(std::string("Examples:\n") + examples);
  command->get_formatter()->column_width(34);
  return command;
}

void require_flags(const CLI::App& command, const std::vector<std::string>& flags) {
  for (const auto& flag : flags)
    if (command.get_option(flag)->count() == 0)
      throw UsageError(fmt::format("{} is missing (eignn {}); see eignn {} --help", flag, command.get_name(),
                                   command.get_name()));
}

void set_work(CLI::App* command, std::function<void()> work) {
  command->callback([command, work = std::move(work)] {
    refuse_extras(*command);
    refuse_empty(*command);
    work();
  });
}

void SettingFlags::add(CLI::App& command, const KnownField& field, const std::string& group) {
  auto flag = std::make_shared<Flag>();
  auto* option = command.add_option("--" + field.name, flag->text, field.help)->group(group);
  option->default_str(field.default_text);
  option->type_name(field.kind == Field::Kind::text      ? "TEXT"
                    : field.kind == Field::Kind::integer ? "INT"
                                                         : "FLOAT");
  flag->option = option;
  flags_[field.name] = std::move(flag);
}

void SettingFlags::add(CLI::App& command, const std::set<Field::Group>& groups) {
  for (const KnownField& field : known_fields())
    if (groups.count(field.group)) add(command, field, heading(field.group));
}

void SettingFlags::add(CLI::App& command, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const KnownField& field : known_fields())
      if (field.name == name) add(command, field, "OPTIONS");
}

std::map<std::string, std::string> SettingFlags::given() const {
  std::map<std::string, std::string> out;
  for (const auto& [name, flag] : flags_)
    if (flag->option->count() > 0) out[name] = flag->text;
  return out;
}

std::set<std::string> SettingFlags::names() const {
  std::set<std::string> out;
  for (const auto& [name, text] : given()) out.insert(name);
  return out;
}

void print_json(const Json& json) {
  // Names of files may have bytes that are not UTF-8; they are shown, not refused.
  fmt::print("{}\n", json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

void note(const std::string& message) {
  say(fmt::format("eignn: {}\n", message));
}

void warning(const std::string& message) {
  say(fmt::format("eignn: warning: {}\n", message));
}

void watch_for_interrupt() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    // One that is ignored from the start, as nohup does with SIGHUP, stays so.
    if (std::signal(signal, on_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool interrupted() {
  return interrupt_count > 0;
}

std::string percent(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

}  // namespace eignn::cli
