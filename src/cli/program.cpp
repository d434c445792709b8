#include "cli/program.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "cli/common.h"
#include "cli/streams.h"
#include "cluster/launched.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "graph/nearest_name.h"
#include "run/provenance.h"

namespace eignn::cli {

namespace {

int fail(int code, const std::string& message) {
  say(fmt::format("eignn: error: {}\n", message.substr(0, message.find('\n'))));
  return code;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// CLI11's message in our wording: "Could not convert: --epochs = ten" becomes "--epochs cannot be ten".
std::string plain_words(const CLI::ParseError& error) {
  const std::string text = error.what(), conversion = "Could not convert: ";
  if (text.rfind(conversion, 0) == 0) {
    std::string rest = text.substr(conversion.size());
    const size_t equals = rest.find(" = ");
    return equals == std::string::npos ? rest
                                       : rest.substr(0, equals) + " cannot be " + rest.substr(equals + 3);
  }
  if (const size_t colon = text.find(": "), missing = text.find("required");
      colon != std::string::npos && missing > colon && missing != std::string::npos)
    return text.substr(0, colon) +
           (text.find("but received") == std::string::npos ? " has no value" : " is given twice");
  return text;
}

void require_known_word(const char* word, const CLI::App& app, const char* what, const std::string& where) {
  const auto known = command_names(app);
  if (std::find(known.begin(), known.end(), word) == known.end())
    throw unknown_name(what, where, word, known);
}

// The subcommand that was parsed, or the program itself.
const CLI::App& deepest_command(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands()[0];
  return *deepest;
}

// The library's errors have a field name; where the command has a flag of that name, the message shows the
// flag.
std::string in_flags(const ArgumentError& error, const CLI::App& command) {
  const std::string flag = "--" + error.field();
  const bool known = !error.field().empty() && command.get_option_no_throw(flag) != nullptr;
  return Error::sentence(error.problem(), known ? flag : error.field(), error.remedy());
}

// What runs in one process is not to run in each of several: false for a process that has nothing to do.
bool has_work(int argc, char** argv, const Launched& launched) {
  if (launched.processes == 1) return true;
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "train" || command == "predict" || command == "evaluate" || command == "explain" ||
      (command == "bench" && argc > 2 && std::string(argv[2]) == "cluster"))
    return true;
  if (launched.rank > 0) return false;
  if (!command.empty() && command[0] != '-' && command != "inspect") {
    throw UsageError(fmt::format("{} runs in one process, and {} were started (eignn {}); leave out mpirun",
                                 command, launched.processes, command));
  }
  return true;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Infinite-depth graph neural networks, solved exactly.\n"
      "Z = γ g(F) Z S + X in closed form, with its exact gradient.",
      "eignn"};
  app.set_version_flag("--version", fmt::format("eignn {} ({})", version(), built_commit()));
  app.footer(
      "Examples:\n"
      "  eignn train --dataset chains --chain-length 200\n"
      "  eignn solve --graph g.mtx --features X.npy --weight F.npy --out Z.npy --json\n"
      "  eignn inspect --dataset karate\n"
      "Each command has its own --help.");
  app.require_subcommand(0, 1);
  add_train(app);
  add_evaluate(app);
  add_predict(app);
  add_attack(app);
  add_explain(app);
  add_solve(app);
  add_inspect(app);
  add_convert(app);
  add_reproduce(app);
  add_report(app);
  add_bench(app);
  add_fetch(app);
  add_completion(app);
  add_manual(app);

  if (argc > 1 && argv[1][0] != '-') require_known_word(argv[1], app, "command", "eignn");
  if (argc > 2 && std::string(argv[1]) == "bench" && argv[2][0] != '-')
    require_known_word(argv[2], *app.get_subcommand("bench"), "benchmark", "eignn bench");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", deepest_command(app).help());
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    fmt::print("{}", app.help("", CLI::AppFormatMode::All));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return 0;
  } catch (const ArgumentError& error) {
    return fail(2, in_flags(error, deepest_command(app)));
  } catch (const CLI::FileError& error) {
    throw ResourceError(error.what(), "", "check --config");
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string where = chosen.empty() ? "eignn" : "eignn " + chosen[0]->get_name();
    throw cli::UsageError(fmt::format("{} ({}); see {} --help", plain_words(error), where, where));
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return app.remaining().empty() ? 0 : 2;
  }
  return 0;
}

}  // namespace

int run_program(int argc, char** argv, const std::function<std::string(const std::exception&)>& in_words) {
  const WarningScope warnings(warning);
  const Launched launched = Launched::from_environment();
  if (launched.rank > 0) be_quiet();
  try {
    const int code = has_work(argc, argv, launched) ? run(argc, argv) : 0;
    flush_output();
    return code;
  } catch (const EndedQuietly& end) {
    return end.code;
  } catch (const Interrupted& stop) {
    say(fmt::format("eignn: {}\n", stop.message));
    return 130;
  } catch (const ArgumentError& error) {
    return fail(2, error.what());
  } catch (const Error& error) {
    return fail(1, error.what());
  } catch (const std::system_error& error) {  // flush_output() and fmt::print, of standard output
    constexpr int as_of_sigpipe = 128 + SIGPIPE;
    if (error.code().value() == EPIPE) return as_of_sigpipe;  // the reader, such as `head`, has seen enough
    return fail(1, Error::sentence(fmt::format("cannot write: {}", error.code().message()), "standard output",
                                   "free some space, or send it elsewhere"));
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory; use a smaller graph, fewer features or --dtype float32");
  } catch (const std::exception& error) {
    return fail(1, in_words(error));
  }
}

}  // namespace eignn::cli
