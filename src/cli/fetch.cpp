#include <fmt/format.h>

#include "cli/flags.h"
#include "cli/progress.h"
#include "data/cache_folder.h"
#include "data/catalogue.h"
#include "data/download.h"
#include "data/fetch_set.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "report/table.h"

namespace eignn::cli {

namespace {

std::string megabytes(int64_t bytes) {
  return bytes < 0 ? "?" : fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

std::vector<const NamedSet*> sets_of(const std::vector<std::string>& names) {
  std::vector<const NamedSet*> sets;
  for (const auto& name : names) {
    sets.push_back(named_set(name));
    if (!sets.back()) throw unknown_name("data set", "eignn fetch", name, catalogue_names());
  }
  return sets;
}

// The copy in the folder of --to, or without --to in any data folder.
std::optional<std::string> find(const NamedSet& set, const FetchFlags& flags) {
  return flags.to.empty() ? find_named_set(set.name) : find_in_folder(set, flags.to);
}

void list(const std::vector<const NamedSet*>& sets, const FetchFlags& flags) {
  Json json = {{"sets", Json::array()}};
  std::vector<std::vector<std::string>> rows;
  for (const auto* set : sets) {
    const auto path = find(*set, flags);
    rows.push_back({set->name, megabytes(set->size()), path ? "here" : "-", set->description});
    json["sets"].push_back({{"name", set->name},
                            {"description", set->description},
                            {"bytes", set->size() < 0 ? Json() : Json(set->size())},
                            {"path", path ? Json(*path) : Json()}});
  }
  if (flags.json) return print_json(json);
  // Table cells are right-aligned; padding the descriptions to equal width makes them left-aligned.
  size_t widest = 0;
  for (const auto& row : rows) widest = std::max(widest, row.back().size());
  for (auto& row : rows) row.back().resize(widest, ' ');
  fmt::print("{}", format_table({"name", "download", "", std::string("what").append(widest - 4, ' ')}, rows));
}

Fetched fetch_with_progress(const NamedSet& set, const std::string& folder, const FetchFlags& flags) {
  constexpr int64_t percent = 100;
  Progress bar(percent);
  FetchOptions options;
  options.folder = folder;
  options.mirror = flags.mirror;
  options.progress = [&](int64_t done, int64_t total) {
    if (total > 0) bar.update(percent * done / total, fmt::format("{}: {}", set.name, megabytes(total)));
    return !interrupted();
  };
  try {
    return fetch_set(set, options);
  } catch (const DownloadStopped&) {
    throw Interrupted{
        fmt::format("interrupted; what has arrived is in {}/{}.part, and the next fetch goes on from there",
                    folder, set.name)};
  }
}

void report(const NamedSet& set, const Fetched& fetched) {
  if (fetched.downloaded)
    note(fmt::format("{} is in {}: {} files", set.name, fetched.path, fetched.files));
  else if (fetched.files > 0)
    note(
        fmt::format("{} was here: {} ({} files have the right sums)", set.name, fetched.path, fetched.files));
  else
    note(fmt::format("{} was here: {}", set.name, fetched.path));
  if (fetched.sums_recorded)
    note(fmt::format("the sums of {} were not known beforehand; they are now recorded in its SHA256SUMS",
                     set.name));
}

}  // namespace

void run_fetch(FetchFlags& flags) {
  if (flags.names.empty() && !flags.list)
    throw UsageError("no data set is named (eignn fetch); name one or more, or give --list");
  if (flags.mirror.empty()) flags.mirror = environment("EIGNN_MIRROR");
  if (!flags.mirror.empty() && flags.mirror.rfind("http://", 0) != 0 &&
      flags.mirror.rfind("https://", 0) != 0)
    throw UsageError(
        fmt::format("'{}' is no address (--mirror, EIGNN_MIRROR); begin it with https://", flags.mirror));
  const auto sets = sets_of(flags.names.empty() ? catalogue_names() : flags.names);
  if (flags.list) return list(sets, flags);

  watch_for_interrupt();
  const std::string folder = flags.to.empty() ? download_folder() : flags.to;
  Json json = {{"sets", Json::array()}};
  for (const auto* set : sets) {
    Fetched fetched;
    const auto there = find(*set, flags);
    // A copy in another data folder of the user is used as it is, without a check.
    if (there && !find_in_folder(*set, folder))
      fetched.path = *there;
    else
      fetched = fetch_with_progress(*set, folder, flags);
    json["sets"].push_back({{"name", set->name},
                            {"path", fetched.path},
                            {"downloaded", fetched.downloaded},
                            {"files", fetched.files},
                            {"sums_recorded", fetched.sums_recorded}});
    if (!flags.json) report(*set, fetched);
  }
  if (flags.json) print_json(json);
}

}  // namespace eignn::cli
