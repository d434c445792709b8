#include "cli/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <mutex>

#include "cli/streams.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn::cli {

namespace {

volatile std::sig_atomic_t first_signal = 0, passing_parent = 0;

int64_t milliseconds_now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// `timeout` sends its signal to the process and then to its group: the same signal twice at once is one. A
// second Ctrl-C comes later, and ends the process.
void on_interrupt(int signal, siginfo_t* from, void*) {
  static std::atomic<int64_t> first{0};
  static_assert(std::atomic<int64_t>::is_always_lock_free, "for use in a signal handler");
  constexpr int64_t at_once = 500;
  if (first_signal == 0) first_signal = signal;
  const bool passed_on = from->si_code == SI_USER && passing_parent > 0 && from->si_pid == passing_parent;
  if (signal != SIGINT || passed_on) return;
  const int64_t now = milliseconds_now(), before = first.exchange(now);
  if (before == 0 || now - before < at_once) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);  // when the handler has returned
}

// Lets `value` be read from decimal text alone. CLI11 then reads what is left.
template <class Whole>
CLI::Option* with_decimals(CLI::Option* option, const std::string& flag) {
  return option->transform(CLI::Validator(
      [flag](std::string& text) -> std::string {
        Whole value = 0;
        const char *first = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0),
                   *last = text.data() + text.size();
        const auto result = std::from_chars(first, last, value);
        if (result.ec == std::errc::result_out_of_range)
          throw UsageError(fmt::format("{} is out of range ({}); give a smaller number", text, flag));
        if (result.ec != std::errc() || result.ptr != last)
          throw UsageError(fmt::format("{} cannot be '{}' ({}); give a whole number", flag, text, flag));
        text = std::to_string(value);
        return "";
      },
      ""));
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

CLI::Option* add_whole(CLI::App& command, const std::string& flag, int64_t& value, const std::string& help) {
  return with_decimals<int64_t>(command.add_option(flag, value, help), flag);
}

CLI::Option* add_whole(CLI::App& command, const std::string& flag, uint64_t& value, const std::string& help) {
  return with_decimals<uint64_t>(command.add_option(flag, value, help), flag);
}

CLI::Option* add_whole(CLI::App& command, const std::string& flag, std::vector<int64_t>& values,
                       const std::string& help) {
  return with_decimals<int64_t>(command.add_option(flag, values, help), flag);
}

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

std::string shell_quoted(const std::string& text) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
  if (!text.empty() && text[0] == '-') return shell_quoted("./" + text);
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  const auto is_control = [](unsigned char letter) { return letter < ' ' || letter == 0x7f; };
  const bool escaped = std::any_of(text.begin(), text.end(), is_control);  // $'…', so that it stays one line
  std::string out = escaped ? "$'" : "'";
  for (const char letter : text)
    if (escaped && is_control(static_cast<unsigned char>(letter)))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    else if (letter == '\'')
      out += escaped ? "\\'" : "'\\''";
    else if (escaped && letter == '\\')
      out += "\\\\";
    else
      out += letter;
  return out + "'";
}

void print_json(const Json& json) {
  // Names of files may have bytes that are not UTF-8; they are shown, not refused.
  fmt::print("{}\n", json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

void note(const std::string& message) {
  say(fmt::format("eignn: {}\n", message));
}

void warning(const std::string& message) {
  // Once: the runs of several splits have the same to say.
  static std::mutex guard;
  static std::set<std::string> said;
  {
    const std::lock_guard<std::mutex> lock(guard);
    if (!said.insert(message).second) return;
  }
  say(fmt::format("eignn: warning: {}\n", message));
}

void say_long_reading(const std::string& path) {
  constexpr double large = 100e6;
  std::error_code unreadable;
  double bytes = 0;
  const auto add = [&](const std::filesystem::path& file) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(file, failed);
    if (!failed) bytes += static_cast<double>(size);
  };
  if (std::filesystem::is_directory(path, unreadable)) {
    auto file = std::filesystem::directory_iterator(path, unreadable);
    for (const auto end = std::filesystem::directory_iterator(); !unreadable && file != end;
         file.increment(unreadable))
      add(file->path());
  } else {
    add(path);
  }
  if (bytes > large) note(fmt::format("reading {} ({:.0f} MB) …", path, bytes / 1e6));
}

void watch_for_interrupt(int64_t parent) {
  passing_parent = static_cast<std::sig_atomic_t>(parent);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction ours = {}, before = {};
    ours.sa_sigaction = on_interrupt;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, &before);
    // One that is ignored from the start, as nohup does with SIGHUP, stays so.
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN)
      sigaction(signal, &before, nullptr);
  }
}

bool interrupted() {
  return first_signal != 0;
}

int received_signal() {
  return first_signal;
}

std::string duration_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds < 2 * minute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
  return fmt::format("{:.1f} h", seconds / hour);
}

std::string percent(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

}  // namespace eignn::cli
