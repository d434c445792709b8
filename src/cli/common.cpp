#include "cli/common.h"

#include <fmt/format.h>

#include <csignal>

#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "train/config.h"

namespace eignn::cli {

namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int) {
  interrupt_count = interrupt_count + 1;
  std::signal(SIGINT, SIG_DFL);  // the second one is not for us
}

struct AddOption {
  CLI::App& command;
  const char* group;
  template <class Field>
  void operator()(const char* name, Field& field, const char* help) const {
    auto* option =
        command.add_option(std::string("--") + name, field, help)->group(group)->capture_default_str();
    // CLI11 would let -1 wrap round to a huge seed.
    if constexpr (std::is_unsigned_v<Field>) option->check(CLI::NonNegativeNumber);
  }
};

// A flag or word that the command does not have, answered with the nearest one that it has.
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
    work();
  });
}

void add_data_flags(CLI::App& command, TrainConfig& config) {
  visit_data(config, AddOption{command, "Data"});
}

void add_machine_flags(CLI::App& command, TrainConfig& config) {
  visit_machine(config, AddOption{command, "Machine"});
}

void add_run_flags(CLI::App& command, TrainConfig& config) {
  add_data_flags(command, config);
  visit_model(config, AddOption{command, "Model"});
  visit_optimisation(config, AddOption{command, "Optimisation"});
  add_machine_flags(command, config);
}

std::set<std::string> given_flags(const CLI::App& command) {
  std::set<std::string> given;
  TrainConfig any;
  visit(any, [&](const char* name, auto&, const char*) {
    const auto* option = command.get_option_no_throw(std::string("--") + name);
    if (option && option->count() > 0) given.insert(name);
  });
  return given;
}

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2));
}

void note(const std::string& message) {
  fmt::print(stderr, "eignn: {}\n", message);
}

void warning(const std::string& message) {
  fmt::print(stderr, "eignn: warning: {}\n", message);
}

void watch_for_interrupt() {
  std::signal(SIGINT, on_interrupt);
}

bool interrupted() {
  return interrupt_count > 0;
}

std::string percent(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

}  // namespace eignn::cli
