#include "data/dataset_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "data/compact.h"
#include "data/folder_files.h"
#include "data/geom_gcn.h"
#include "data/gnn_benchmark.h"
#include "data/graphsage.h"
#include "data/musae.h"
#include "data/ogb.h"
#include "data/own_graph.h"
#include "data/ppi.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

struct Format {
  const char* sign;  // what it is known by, for people
  bool (*is)(const std::string& path);
  FileDataset (*read)(const std::string& path);
};

constexpr Format formats[] = {
    {"features.csv or features.npy (your own graph)", is_own_graph, read_own_graph},
    {"node_features and edges in an .npz or a folder (compact)", is_compact, read_compact},
    {"adj_indptr in an .npz or a folder (gnn-benchmark)", is_gnn_benchmark, read_gnn_benchmark},
    {"out1_graph_edges.txt (Geom-GCN)", is_geom_gcn, read_geom_gcn},
    {"raw/edge.csv.gz (Open Graph Benchmark)", is_ogb, read_ogb},
    {"train_graph.json (PPI)", is_ppi, read_ppi},
    {"one *-G.json (GraphSAGE)", is_graphsage, read_graphsage},
    {"one *_edges.csv and *_target.csv (MUSAE)", is_musae, read_musae},
};

}  // namespace

FileDataset read_dataset_file(const std::string& path) {
  if (!file_exists(path)) refuse("no such file or folder", path, "check the spelling");
  std::vector<const Format*> found;
  std::vector<const char*> looked_for, signs;
  for (const Format& format : formats) {
    looked_for.push_back(format.sign);
    if (!format.is(path)) continue;
    found.push_back(&format);
    signs.push_back(format.sign);
  }
  if (found.empty())
    refuse("not a data set of a known format", path,
           fmt::format("looked for {}; see docs/data.md", fmt::join(looked_for, ", ")));
  if (found.size() > 1)
    refuse(fmt::format("{} data sets in one place: {}", found.size(), fmt::join(signs, ", ")), path,
           "put each into a folder of its own");
  return found[0]->read(path);
}

bool is_dataset_path(const std::string& name) {
  return name.find('/') != std::string::npos || file_exists(name);
}

}  // namespace eignn
