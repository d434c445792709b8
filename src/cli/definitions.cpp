#include "cli/definitions.h"

namespace eignn::cli {

namespace {

FlagDefinition definition_of(const CLI::Option& option) {
  FlagDefinition out;
  out.positional = option.get_positional();
  out.name =
      option.get_lnames().empty() ? option.get_name(out.positional) : "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0)
    out.type = option.get_type_name().empty() ? "TEXT" : option.get_type_name();
  out.value = option.get_default_str();
  out.help = option.get_description();
  out.group = option.get_group();
  return out;
}

void collect(const CLI::App& app, const std::string& path, std::vector<CommandDefinition>& all) {
  CommandDefinition here{path, app.get_description(), app.get_footer(), {}, {}};
  const auto commands = app.get_subcommands(
      [](const CLI::App* command) { return !command->get_name().empty() && !command->get_group().empty(); });
  for (const auto* command : commands)
    here.commands.emplace_back(command->get_name(), command->get_description());
  for (const auto* option : app.get_options())
    if (!option->get_group().empty()) here.flags.push_back(definition_of(*option));
  all.push_back(std::move(here));
  for (const auto* command : commands)
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), all);
}

}  // namespace

std::vector<CommandDefinition> definitions_of(const CLI::App& app) {
  std::vector<CommandDefinition> all;
  collect(app, "", all);
  return all;
}

}  // namespace eignn::cli
