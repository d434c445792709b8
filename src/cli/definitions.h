// The commands and flags of the program, as --help, completions and the manual have them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eignn::cli {

struct FlagDefinition {
  std::string name;   // "--dataset"; of an argument without dashes its name
  std::string type;   // "TEXT"; empty: it takes no value
  std::string value;  // its default; may be empty
  std::string help, group;
  bool positional = false;
};

struct CommandDefinition {
  std::string path;  // "bench chains"; empty: eignn itself
  std::string description, footer;
  std::vector<std::pair<std::string, std::string>> commands;  // the names of subcommands, and what they do
  std::vector<FlagDefinition> flags;
};

/// The program's definition and those of its commands, in the order of --help. What --help hides is left out.
std::vector<CommandDefinition> definitions_of(const CLI::App& app);

}  // namespace eignn::cli
