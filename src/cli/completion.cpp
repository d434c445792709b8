// `eignn completion SHELL`: prints the shell's completion script for commands and flags, made from the same
// definitions as --help.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/definitions.h"
#include "graph/nearest_name.h"

namespace eignn::cli {

namespace {

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

// What may follow a command's words: subcommands and flags.
struct Word {
  std::string text, help;
  bool takes_value;
};
std::vector<Word> words_after(const CommandDefinition& command) {
  std::vector<Word> words;
  for (const auto& [name, description] : command.commands)
    words.push_back({name, in_short(description), false});
  for (const FlagDefinition& flag : command.flags)
    if (!flag.positional) words.push_back({flag.name, in_short(flag.help), !flag.type.empty()});
  return words;
}

std::string texts(const CommandDefinition& command) {
  std::string out;
  for (const Word& word : words_after(command)) out += (out.empty() ? "" : " ") + word.text;
  return out;
}

// The command is identified by the words before the first flag.
std::string bash(const std::vector<CommandDefinition>& all) {
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

std::string zsh(const std::vector<CommandDefinition>& all) {
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
    for (const Word& word : words_after(command)) text += fmt::format(" '{}:{}'", word.text, word.help);
    text += ") ;;\n";
  }
  text +=
      "  esac\n"
      "  _describe 'eignn' answers || _files\n"
      "}\n"
      "_eignn \"$@\"\n";
  return text;
}

std::string fish(const std::vector<CommandDefinition>& all) {
  std::string text = "# eignn completion fish: put it into ~/.config/fish/completions/eignn.fish\n";
  for (const auto& command : all) {
    std::string condition = "__fish_use_subcommand";
    if (!command.path.empty()) {
      condition = "__fish_seen_subcommand_from " + command.path.substr(0, command.path.find(' '));
      if (const size_t space = command.path.find(' '); space != std::string::npos)
        condition += "; and __fish_seen_subcommand_from " + command.path.substr(space + 1);
    }
    for (const Word& word : words_after(command)) {
      const bool flag = word.text.rfind("--", 0) == 0;
      text +=
          flag ? fmt::format("complete -c eignn -n '{}' -l {}{} -d '{}'\n", condition, word.text.substr(2),
                             word.takes_value ? " -r" : "", word.help)
               : fmt::format("complete -c eignn -f -n '{}' -a {} -d '{}'\n", condition, word.text, word.help);
    }
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
    const auto all = definitions_of(app);
    fmt::print("{}", *shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
  });
}

}  // namespace eignn::cli
