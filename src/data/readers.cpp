#include "data/readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "data/folder_files.h"
#include "data/text_lines.h"

namespace eignn {

const std::vector<const Reader*>& readers() {
  static const std::vector<const Reader*> all = {
      &tables_reader, &own_graph_reader, &compact_reader,   &gnn_benchmark_reader, &geom_gcn_reader,
      &ogb_reader,    &ppi_reader,       &graphsage_reader, &musae_reader,         &sharded_reader};
  return all;
}

namespace {

// Settings that only tables have.
void refuse_options(const TableOptions& options, const Reader& reader) {
  const char* given = !options.label.empty()            ? "label"
                      : !options.ignore_columns.empty() ? "ignore-columns"
                      : options.task != Task::automatic ? "task"
                                                        : nullptr;
  if (given != nullptr)
    throw ArgumentError(given, fmt::format("this is for tables, and the data are {}", reader.name),
                        "leave it out, or write the data as nodes.csv and edges.csv");
}

}  // namespace

const Reader& reader_of(const std::string& path) {
  if (!file_exists(path)) refuse("no such file or folder", path, "check the spelling");
  std::vector<const Reader*> found;
  std::vector<std::string> looked_for, signs;
  for (const Reader* reader : readers()) {
    looked_for.push_back(fmt::format("{} ({})", reader->signature, reader->name));
    if (!reader->recognise(path)) continue;
    found.push_back(reader);
    signs.push_back(looked_for.back());
  }
  if (found.empty())
    refuse("not a data set of a known format", path,
           fmt::format("looked for {}; see docs/data.md", fmt::join(looked_for, ", ")));
  if (found.size() > 1)
    refuse(fmt::format("{} data sets in one place: {}", found.size(), fmt::join(signs, ", ")), path,
           "put each into a folder of its own");
  return *found[0];
}

RawDataset read_dataset_file(const std::string& path, const TableOptions& options) {
  const Reader& reader = reader_of(path);
  if (reader.read_with != nullptr) return reader.read_with(path, options);
  refuse_options(options, reader);
  return reader.read(path);
}

bool is_dataset_path(const std::string& name) {
  return name.find('/') != std::string::npos || file_exists(name);
}

}  // namespace eignn
