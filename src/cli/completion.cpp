// `eignn completion SHELL`: prints the shell's completion script for commands and flags, made from the same
// definitions as --help.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/common.h"
#include "graph/nearest_name.h"

namespace eignn::cli {

namespace {

// One command: its words ("bench chains"; "" for eignn itself), and the subcommands and flags that may
// follow.
struct Completions {
  struct Word {
    std::string text, help;
    bool takes_value;
  };
  std::string path;
  std::vector<Word> commands, flags;
};

// The help as one short line, without characters that have a meaning in the shells' syntax.
std::string in_short(const std::string& help) {
  constexpr size_t longest = 60;
  std::string line = help.substr(0, help.find('\n'));
  line.erase(std::remove_if(line.begin(), line.end(),
                            [](char c) { return std::string("'\"`$\\[]:").find(c) != std::string::npos; }),
             line.end());
  if (line.size() <= longest) return line;
  const size_t space = line.rfind(' ', longest);
  return line.substr(0, space == std::string::npos ? longest : space);
}

void collect(const CLI::App& app, const std::string& path, std::vector<Completions>& all) {
  Completions here{path, {}, {}};
  const auto commands =
      app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
  for (const auto* command : commands)
    here.commands.push_back({command->get_name(), in_short(command->get_description()), false});
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames())
      here.flags.push_back(
          {"--" + name, in_short(option->get_description()), option->get_items_expected_max() > 0});
  all.push_back(here);
  for (const auto* command : commands)
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), all);
}

std::string texts(const Completions& of) {
  std::string words;
  for (const auto* list : {&of.commands, &of.flags})
    for (const auto& word : *list) words += (words.empty() ? "" : " ") + word.text;
  return words;
}

// The command is identified by the words before the first flag.
std::string bash(const std::vector<Completions>& all) {
  std::string text =
      "# eignn completion bash: source it, or put it into /etc/bash_completion.d\n"
      "_eignn() {\n"
      "  local path= word answers=\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case $word in -*) break ;; esac\n"
      "    path=\"${path:+$path }$word\"\n"
      "  done\n"
      "  case $path in\n";
  for (const auto& command : all)
    text += fmt::format("    '{}') answers='{}' ;;\n", command.path, texts(command));
  text +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$answers\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "}\n"
      "complete -o default -F _eignn eignn\n";
  return text;
}

std::string zsh(const std::vector<Completions>& all) {
  std::string text =
      "#compdef eignn\n"
      "# eignn completion zsh: put it into a folder of $fpath as _eignn\n"
      "_eignn() {\n"
      "  local path_so_far= word\n"
      "  local -a answers\n"
      "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
      "    [[ $word == -* ]] && break\n"
      "    path_so_far=\"${path_so_far:+$path_so_far }$word\"\n"
      "  done\n"
      "  case $path_so_far in\n";
  for (const auto& command : all) {
    text += fmt::format("    '{}') answers=(", command.path);
    for (const auto* list : {&command.commands, &command.flags})
      for (const auto& word : *list) text += fmt::format(" '{}:{}'", word.text, word.help);
    text += ") ;;\n";
  }
  text +=
      "  esac\n"
      "  _describe 'eignn' answers || _files\n"
      "}\n"
      "_eignn \"$@\"\n";
  return text;
}

std::string fish(const std::vector<Completions>& all) {
  std::string text = "# eignn completion fish: put it into ~/.config/fish/completions/eignn.fish\n";
  for (const auto& command : all) {
    std::string condition = "__fish_use_subcommand";
    if (!command.path.empty()) {
      condition = "__fish_seen_subcommand_from " + command.path.substr(0, command.path.find(' '));
      if (const size_t space = command.path.find(' '); space != std::string::npos)
        condition += "; and __fish_seen_subcommand_from " + command.path.substr(space + 1);
    }
    for (const auto& word : command.commands)
      text += fmt::format("complete -c eignn -f -n '{}' -a {} -d '{}'\n", condition, word.text, word.help);
    for (const auto& word : command.flags)
      text += fmt::format("complete -c eignn -n '{}' -l {}{} -d '{}'\n", condition, word.text.substr(2),
                          word.takes_value ? " -r" : "", word.help);
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto* command = add_command(app, "completion", "Print what a shell needs to complete commands and flags",
                              "  eignn completion bash > /etc/bash_completion.d/eignn\n"
                              "  eignn completion zsh > \"${fpath[1]}/_eignn\"\n"
                              "  eignn completion fish > ~/.config/fish/completions/eignn.fish");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish");
  set_work(command, [&app, shell] {
    const std::vector<std::string> shells = {"bash", "zsh", "fish"};
    if (shell->empty()) throw UsageError("no shell is named (eignn completion); name bash, zsh or fish");
    if (std::find(shells.begin(), shells.end(), *shell) == shells.end())
      throw unknown_name("shell", "eignn completion", *shell, shells);
    std::vector<Completions> all;
    collect(app, "", all);
    fmt::print("{}", *shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
  });
}

}  // namespace eignn::cli
