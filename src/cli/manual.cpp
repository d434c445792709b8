// `eignn manual FORMAT`: all commands and flags as a man page or as Markdown (docs/commands.md), made from
// the same definitions as --help.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/definitions.h"
#include "graph/nearest_name.h"
#include "run/provenance.h"

namespace eignn::cli {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

// The groups of a command's flags, in their order.
std::vector<std::string> groups_of(const CommandDefinition& command) {
  std::vector<std::string> groups;
  for (const FlagDefinition& flag : command.flags)
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  return groups;
}

// "eignn bench chains [OPTIONS]", with its arguments.
std::string synopsis(const CommandDefinition& command) {
  std::string out = command.path.empty() ? "eignn" : "eignn " + command.path;
  for (const FlagDefinition& flag : command.flags)
    if (flag.positional) out += fmt::format(" [{}]", flag.name);
  return out + (command.commands.empty() ? " [OPTIONS]" : " COMMAND [OPTIONS]");
}

std::string with_default(const FlagDefinition& flag) {
  return flag.value.empty() ? flag.help : fmt::format("{} [default: {}]", flag.help, flag.value);
}

// A text in roff: dashes as such, and no line that begins as a request does.
std::string in_roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (out.empty() && (c == '.' || c == '\'')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string roff_of_flags(const CommandDefinition& command) {
  std::string out;
  for (const FlagDefinition& flag : command.flags) {
    out += fmt::format(
        ".TP\n\\fB{}\\fR{}\n{}\n", in_roff(flag.name),
        flag.type.empty() || flag.positional ? "" : fmt::format(" \\fI{}\\fR", in_roff(flag.type)),
        in_roff(with_default(flag)));
  }
  return out;
}

std::string roff_of_footer(const std::string& footer) {
  std::string out = ".PP\n.nf\n";
  for (const std::string& line : lines_of(footer)) out += in_roff(line) + "\n";
  return out + ".fi\n";
}

std::string man_page(const std::vector<CommandDefinition>& all) {
  const CommandDefinition& program = all.front();
  std::string out = fmt::format(
      ".TH EIGNN 1 \"\" \"eignn {}\" \"User Commands\"\n.SH NAME\n"
      "eignn \\- infinite\\-depth graph neural networks, solved exactly\n.SH SYNOPSIS\n"
      ".B eignn\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n",
      version());
  for (const std::string& line : lines_of(program.description)) out += in_roff(line) + "\n";
  out += ".SH OPTIONS\n" + roff_of_flags(program) + ".SH COMMANDS\n";
  for (const CommandDefinition& command : all) {
    if (command.path.empty()) continue;
    out += fmt::format(".SS {}\n{}\n", in_roff(synopsis(command)), in_roff(command.description));
    out += roff_of_flags(command) + roff_of_footer(command.footer);
  }
  out +=
      ".SH \"EXIT STATUS\"\n0: done. 2: an unknown command, flag or name, a value out of range, flags that "
      "exclude each "
      "other. 1: files, data, shapes, disk, non\\-convergence. 130: interrupted.\n"
      ".SH ENVIRONMENT\n.TP\n.B EIGNN_DATA\nWhere named data sets are looked for first.\n"
      ".TP\n.B EIGNN_CACHE\nWhere downloads and spectra are kept, in the place of ~/.cache/eignn.\n"
      ".TP\n.B NO_COLOR\nNo colours on a terminal.\n";
  return out;
}

// A text in a cell of a Markdown table.
std::string in_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string markdown_of(const CommandDefinition& command) {
  std::string out =
      fmt::format("## {}\n\n{}.\n\n    {}\n", command.path, command.description, synopsis(command));
  if (!command.commands.empty()) {
    out += "\n| command | what it does |\n| --- | --- |\n";
    for (const auto& [name, description] : command.commands)
      out += fmt::format("| `{}` | {} |\n", name, in_cell(description));
  }
  for (const std::string& group : groups_of(command)) {
    out += fmt::format("\n| {} | | |\n| --- | --- | --- |\n", group == "OPTIONS" ? "Other" : group);
    for (const FlagDefinition& flag : command.flags) {
      if (flag.group == group) {
        out += fmt::format("| `{}{}` | {} | {} |\n", flag.name,
                           flag.type.empty() || flag.positional ? "" : " " + flag.type,
                           flag.value.empty() ? "" : fmt::format("`{}`", flag.value), in_cell(flag.help));
      }
    }
  }
  out += "\n";
  for (const std::string& line : lines_of(command.footer)) {
    const bool shown = line.rfind("  ", 0) == 0;
    out +=
        shown ? "    " + line.substr(2) + "\n" : (line == "Examples:" ? "Examples:\n\n" : "\n" + line + "\n");
  }
  return out + "\n";
}

std::string markdown(const std::vector<CommandDefinition>& all) {
  std::string out =
      "# Commands\n\nWhat `eignn --help` and `eignn COMMAND --help` say, made by `eignn manual markdown`. "
      "The third column of a "
      "table is what holds when a flag is not given; the model's recipe (`recipes/`) may say otherwise.\n\n"
      "| command | what it does |\n| --- | --- |\n";
  for (const auto& [name, description] : all.front().commands)
    out += fmt::format("| [`{}`](#{}) | {} |\n", name, name, in_cell(description));
  out +=
      "\nExit codes: 0 done; 2 an unknown command, flag or name, a value out of range, flags that exclude "
      "each other; 1 files, "
      "data, shapes, disk, non-convergence; 130 interrupted. `--json` prints one object on standard output "
      "and nothing else.\n\n";
  for (const CommandDefinition& command : all)
    if (!command.path.empty()) out += markdown_of(command);
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
  return out;
}

}  // namespace

void add_manual(CLI::App& app) {
  auto* command =
      add_command(app, "manual", "Print the manual: a man page, or the page of commands in Markdown",
                  "  eignn manual man > /usr/local/share/man/man1/eignn.1\n"
                  "  eignn manual markdown");
  auto format = std::make_shared<std::string>();
  command->add_option("format", *format, "man or markdown");
  set_work(command, [&app, format] {
    const std::vector<std::string> formats = {"man", "markdown"};
    if (format->empty()) throw UsageError("no format is named (eignn manual); name man or markdown");
    if (std::find(formats.begin(), formats.end(), *format) == formats.end())
      throw unknown_name("format", "eignn manual", *format, formats);
    const auto all = definitions_of(app);
    fmt::print("{}", *format == "man" ? man_page(all) : markdown(all));
  });
}

}  // namespace eignn::cli
