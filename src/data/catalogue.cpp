// The named sets as tables. Addresses are pinned to a commit where the host has commits. The SHA-256 sums are
// those of copies that the readers' tests check. Where no sum is given, `eignn fetch` records that of what it
// downloads.
//
// In a data folder the set NAME is the folder NAME, which `eignn fetch` makes, or else one of `elsewhere`.
#include "data/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "data/cache_folder.h"
#include "data/readers.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

struct Sum {
  const char* sha256;
  int64_t size;
};

// ---- Geom-GCN: a folder with arcs, features and labels, and ten splits

constexpr const char* geom_gcn_url =
    "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f";

struct GeomGcn {
  const char* name;
  const char* description;
  Sum edges;
  Sum nodes;
  Sum splits[10];
};

// clang-format off
const GeomGcn geom_gcn[] = {
    {"cornell",
     "web pages of Cornell, with the features of Texas as published, 183 nodes",
     {"c4522a00cc40873c8a04a3a07c49e24a48a507eb284ac9c9f2d3e0590351bbb7", 2001},
     {"cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3", 624308},
     {{"14022a1e19ec7fc0a07a2c06a785a2f9dc52809dbcd1c14fc318f7800675d73f", 704},
      {"5568fa27e968a724c92211bf97026a36a08893cf94b218043e49b4c973c35cfb", 700},
      {"763fc1f423395e4172617fa5b6bc0d7adad2241e5fedd1a4f0a098a67f9dc8e9", 695},
      {"4334321cd9ec42de9d51107fb9a6dc310512e0921bc1cff0f390301ee37315fa", 701},
      {"2b6b3ef396f4dc7fcdc276fb16b88bb87409b25879dd672b3a506eca844dd8d7", 759},
      {"1a40ef8b20aa9e1aa850e1abdaba3efac1f66c98ef2c6a59eadefa21136ece6b", 754},
      {"bcddf4ab59eae4c7d47b8a6cec9025a54ec0e6d3f3bdcd7678e201f25ace4642", 758},
      {"2b497e12dfc123d7e7c9bb4fc4a82b5bee18409e109a3e3a04da439cacec964d", 693},
      {"5c4e110d252d7ad156b2e4cd34b6dbd1cecbcc1755f8d72e932cc2a54f2b643c", 701},
      {"80f1531807194d301affbf6f879a4ab4f56a19bdccb62d192e3ecd1b5275f052", 704}}},
    {"texas",
     "web pages of Texas, 183 nodes",
     {"0fe85183243a78cbee9b85a684f8240963d04d1020d10e9cd2b8cfb25e33b476", 2172},
     {"cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3", 624308},
     {{"7ba77bf7a8856fcc0ab15623a611b8cdce994e820f577da914123fb4f45272b0", 698},
      {"21cc244a96e3c51ad7993afb4dd227f90e467d82b964bb42d7d9fc500a6ef87f", 701},
      {"b9e96a699ccf3a4c31ffbd03e52b25570889833425d20fa44e06c37b327cf61e", 756},
      {"1a7deeb1285009789d5e6045d7e39f7d019c9223d9a75a2b7ce5e26d33b51f63", 759},
      {"b5419ff3fe31adcae66fdb085d4f47d0b188e9436ab59f438632af969aafc674", 702},
      {"68405fd1b9ff6105d99717220ecbd198785e338bf4a73abee722bbc9703d2667", 691},
      {"8ad78b973164e70e5ac0d282e79adcbc6006e373909fbdfd72a13131e09040b8", 756},
      {"a84bcbf997365bddf5fdf72ed49dc7e435e475f8c6210f8cdee7c8581a2bd6df", 693},
      {"65ba65f296f91d40d2d7d3c9369b67415094a7e254c6eee48cd6d6531c586fdf", 762},
      {"4306981d654ad8835c000c1f73fb6c1e60dfe99e26c13a6073f3b0f4cc3ce6ee", 693}}},
    {"wisconsin",
     "web pages of Wisconsin, 251 nodes",
     {"ebd213511c88fce1eda450c2f920600c4b8cbb38f02384856bcc47c6ec1807ae", 3606},
     {"a32b0aa38d42f0d36841e8a8cb646d197f0ff33a182ac75a2b4476aeed3c7e4b", 856324},
     {{"f66f641e191d35d491cd3b63d6c2cd93c4b436da398984b44c19a8d4d7e7b1a5", 805},
      {"534aeb97266bd5a85a8587adf8eebad3f2e001c1240610f24b62c0ad0c2466ee", 739},
      {"047a5b641778ec3a4c76055fd7f18ecb2424c0952f20dfff7e1b17749d8acbdd", 747},
      {"706c27b4c51d046c0316f1e915f093e4a1fff48b3436b3e7c421eab596a99e77", 810},
      {"7ee813605eec086457aaff022cf3837f2f893fcf8bd37e3a8d2ff0c80e4c4f87", 812},
      {"8094ac2bdaf2cbea8f7a48df66a0800c809b2fd5942740e6b0441b660d3a0dd5", 749},
      {"c423a8deea9b18f9ecb6cfd703578e2159df167de01fe7e6195b88995010252d", 735},
      {"57ad808c8d4dd94dc4404124370bbcebb3dcc597c2bea6457bf05f220adf1527", 733},
      {"27d4d62a2a6aea2cdc399302237512ab0d64fb0c84e648112f97c5896274e42f", 741},
      {"3c149cd124a19021031609e0d7743a7be59aae4f88c8d38410138e8f06f5daaf", 744}}},
    {"chameleon",
     "Wikipedia pages on chameleons, 2277 nodes",
     {"45ac593de9207470090230c8fd76beeb2f60b5371a9be088e8bf31e7f0619a4b", 332448},
     {"5fd29736ff31b43a1bfcf305bc8b4cffc3103fb0957667976b2ea0f78aedcf5b", 10602901},
     {{"36605525b69be4e7df5b31fe6a1d044288c6ebf9f9f0514ca151f6a36afc5e8b", 1775},
      {"d0779d5a1bedf1967d394468a52c0175fb00595d361fba897faf73322386c952", 1779},
      {"86ad0d827bf4301dff830598fc0b70d0dd8689c5b4d72dab1d87a6c1970c4c6e", 1777},
      {"37b3e994adf3afc55e16b617ed05af4e3ce308800755839084d77eced0528e9d", 1755},
      {"f6b1d067b2b330132839d8b6120077bdc6cf759f7ce421f881a02e2953ec4596", 1778},
      {"e7661834275c826692510cea0457b18b2c1ee38771f178d06e701b97541a1f6d", 1772},
      {"16648d1197c1d3a2dec385346212c382030b0d5a8c997f4255aa2afa68a6b174", 1774},
      {"61adcc53846becefecd466a5364dda23b983d387d1ac5d58c6e24d080c0fcba7", 1764},
      {"7076ad5341a8218b1f5b6eccf9cfd15d28286ea11ef5c06eeee77af24ff2bf63", 1770},
      {"743c4f813bf6130398a6511eb9ff07d2366c73bd6c7fddaf226a3f9e2917e0e7", 1773}}},
    {"squirrel",
     "Wikipedia pages on squirrels, 5201 nodes",
     {"453d8e96754d68e2ab0a7ebb56f93506b59531d95abaec7a2b46fe1eae7c39cd", 2115917},
     {"ac15ab755983717a187992eef8ce2017aae33ea444fd655b07e4662690dcc03a", 21765097},
     {{"f112b88d3354e86d164d4d915b6a1f695c10f0e01e3e6b9893fc7b09bb93191d", 3134},
      {"2486c687c8befb55930a6237f76f1d86ce2ba345782eda6157f4e752d05f304f", 3130},
      {"d62ff83862ad96022d3400dfc9b7ca405834ca62767319d97c36b3f02db978c0", 3121},
      {"af3d90e0b2718ac7417e10e8b5b382443667412e846cabc3cc4e4a592f4cedae", 3126},
      {"fbe848298bb72b88db0704050cf216e2a93c916540d577906f3e644b679a6a2c", 3124},
      {"cd04fab46a181151ddd97ce93c65fe79558fb79ffa230b62f488ebfaf5fdcd75", 3111},
      {"b9189f7903ca7556a025c54dd5be6c00ec5952d4299e71630bc9876157676412", 3118},
      {"ea7fb3ca5d5aa45b917b99fb7d64d4e87322b2b5303a0156c547aa3f1a6c8941", 3138},
      {"b43faa190ca6dd4885a39dfc2a93d59f56f5174f3567bdbc49b18dd9cd9b7fb4", 3132},
      {"529ade4b86fd191908a96011f25c454653083674b6d4f090b3fdd27af2d14f62", 3146}}},
    {"film",
     "actors that share a Wikipedia page, 7600 nodes",
     {"997cdce67ea9c29257d3ffe796328391931901cf823830affa453178b60e2c3e", 323820},
     {"1d5cdd094f8b91e770f6decfca85b35cf42f75d1efb51055fd6af16e11820ff8", 207718},
     {{"4505a41d4e90abd94d1ec22571ce528b09ad7cf20d87f764aebd4177590767f5", 4214},
      {"1871b0d24e3977c41e378fd24acc8025b63f86b77739be77a5b558d1287f207d", 4231},
      {"d26680e911ef3ecc9fc2a26d90c9d35028c63aadd7a5aea774649d1496c282cb", 4224},
      {"6755ad5f6a0be8594b344af3d2261eed935b83b73c4d70136e1a7beea7f78cb0", 4207},
      {"328fdca62b25074f21f2922518e042f24b3b8a1fc378f9dfb2cae36439aed902", 4233},
      {"5b3161a8dc8de4b2e651ebd56d68e768d1377044895b325566117fe26ab81cb7", 4224},
      {"e251b38abd4d7931b5e9ae5aba99dcdf87f0be283bdf6e65421274a1c9ef1df6", 4221},
      {"12164ef9f5620a2f12a387f4f2b8636859d42201101d6d32829ade62d5a98326", 4205},
      {"405cd1f7f631f678119f8bf2405809e86614d532985beb59566fcf95abd35b3f", 4217},
      {"505691c5d41bb37b20d085415dcdde2e8e68b5bc4e1feb2c0e361308002012bb", 4208}}},
};
// clang-format on

// docs/data.md has the evidence.
struct Caveat {
  const char* name;
  const char* text;
};
constexpr const char* treated_as_symmetric =
    "published EIGNN figures on this set come from a directed graph treated as if it were symmetric; the set "
    "whose name ends in -filtered has no duplicate nodes";
constexpr Caveat caveats[] = {
    {"cornell",
     "these are Texas's features and labels on Cornell's graph: the two published files are identical; "
     "cornell-true is the corrected set"},
    {"chameleon", treated_as_symmetric},
    {"squirrel", treated_as_symmetric},
};

NamedSet of_geom_gcn(const GeomGcn& row) {
  NamedSet set;
  set.name = row.name;
  set.description = row.description;
  const auto add = [&](const std::string& url, const std::string& path, const Sum& sum) {
    set.files.push_back({fmt::format("{}/{}", geom_gcn_url, url), path, sum.sha256, sum.size});
  };
  set.needs = {"out1_graph_edges.txt", "out1_node_feature_label.txt"};
  add(fmt::format("new_data/{}/{}", row.name, set.needs[0]), set.needs[0], row.edges);
  add(fmt::format("new_data/{}/{}", row.name, set.needs[1]), set.needs[1], row.nodes);
  for (int k = 0; k < 10; ++k) {
    const std::string file = fmt::format("{}_split_0.6_0.2_{}.npz", row.name, k);
    add("splits/" + file, "splits/" + file, row.splits[k]);
  }
  const auto caveat = std::find_if(std::begin(caveats), std::end(caveats),
                                   [&](const Caveat& known) { return set.name == known.name; });
  if (caveat != std::end(caveats)) set.caveat = caveat->text;
  // No NAME.npz: another collection has files of these names, and its cornell.npz is another graph.
  set.elsewhere = {fmt::format("geom_gcn/new_data/{}", row.name)};
  return set;
}

// ---- sets of one .npz

NamedSet of_npz(const char* name, const char* description, const std::string& base, const char* file,
                Sum sum) {
  NamedSet set;
  set.name = name;
  set.description = description;
  set.files = {{base + file, file, sum.sha256, sum.size}};
  set.needs = {file};
  set.entry = file;
  set.elsewhere = {fmt::format("{}.npz", name)};
  return set;
}

struct Heterophilous {
  const char* name;
  const char* file;
  Sum sum;
  const char* description;
};

// clang-format off
const Heterophilous heterophilous[] = {
    {"cornell-true", "cornell.npz", {"684c54ba3daa13b0ba1f04a3d6dd1b1175c1ae9bdeb982851fd4ff96d3aac298", 30515},
     "web pages of Cornell with their own features, 183 nodes"},
    {"chameleon-filtered", "chameleon_filtered.npz", {"bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5", 58924},
     "chameleon without duplicate nodes, 890 nodes"},
    {"squirrel-filtered", "squirrel_filtered.npz", {"f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7", 208215},
     "squirrel without duplicate nodes, 2223 nodes"},
    {"chameleon-directed", "chameleon_directed.npz", {"34aea6b6888063544232100d53d4aa7e87e37953ec8dd3a7092afb25bb2f0328", 191520},
     "chameleon with its arcs' directions, 2277 nodes"},
    {"squirrel-directed", "squirrel_directed.npz", {"3f0436486716cf77b651c372e54f6b4c2cc52262e7faeeab584a34b41bae2616", 760119},
     "squirrel with its arcs' directions, 5201 nodes"},
};
// clang-format on

NamedSet of_heterophilous(const Heterophilous& row) {
  constexpr const char* base =
      "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/"
      "a431395582e929d88271309716bea4fe24ce6318/data/";
  NamedSet set = of_npz(row.name, row.description, base, row.file, row.sum);
  set.elsewhere.push_back(fmt::format("heterophilous_npz/{}", row.file));
  return set;
}

struct GnnBenchmark {
  const char* name;
  const char* file;
  const char* description;
};

const GnnBenchmark gnn_benchmark[] = {
    {"amazon-computers", "amazon_electronics_computers.npz", "computers bought together, 13752 nodes"},
    {"amazon-photo", "amazon_electronics_photo.npz", "photo goods bought together, 7650 nodes"},
    {"coauthor-cs", "ms_academic_cs.npz", "co-authors in computer science, 18333 nodes"},
    {"coauthor-physics", "ms_academic_phy.npz", "co-authors in physics, 34493 nodes"},
};

NamedSet of_gnn_benchmark(const GnnBenchmark& row) {
  constexpr const char* base =
      "https://raw.githubusercontent.com/shchur/gnn-benchmark/99356931fd6158a05de41632669d5ab69e6e105e/data/"
      "npz/";
  NamedSet set = of_npz(row.name, row.description, base, row.file, {"", -1});
  set.elsewhere.emplace_back(row.file);
  return set;
}

// ---- sets of one archive

NamedSet ppi() {
  NamedSet set;
  set.name = "ppi";
  set.description = "protein interactions, 24 graphs, 56944 nodes, 121 labels a node";
  set.files = {{"https://data.dgl.ai/dataset/ppi.zip", "ppi.zip", "", -1}};
  set.archive = true;
  for (const char* part : {"train", "valid", "test"})
    for (const char* file : {"graph.json", "feats.npy", "labels.npy", "graph_id.npy"})
      set.needs.push_back(fmt::format("{}_{}", part, file));
  return set;
}

NamedSet ogbn_arxiv() {
  NamedSet set;
  set.name = "ogbn-arxiv";
  set.description = "citations among arXiv's computer science papers, 169343 nodes";
  set.files = {{"https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip", "arxiv.zip", "", -1}};
  set.archive = true;
  set.needs = {"raw/num-node-list.csv.gz", "raw/edge.csv.gz",         "raw/node-feat.csv.gz",
               "raw/node-label.csv.gz",    "split/time/train.csv.gz", "split/time/valid.csv.gz",
               "split/time/test.csv.gz"};
  set.elsewhere = {"ogbn_arxiv", "arxiv"};
  return set;
}

std::vector<NamedSet> all_sets() {
  std::vector<NamedSet> sets;
  for (const auto& row : geom_gcn) sets.push_back(of_geom_gcn(row));
  for (const auto& row : heterophilous) sets.push_back(of_heterophilous(row));
  for (const auto& row : gnn_benchmark) sets.push_back(of_gnn_benchmark(row));
  sets.push_back(ppi());
  sets.push_back(ogbn_arxiv());
  return sets;
}

}  // namespace

int64_t NamedSet::size() const {
  int64_t sum = 0;
  for (const RemoteFile& file : files) {
    if (file.size < 0) return -1;
    sum += file.size;
  }
  return sum;
}

const std::vector<NamedSet>& catalogue() {
  static const std::vector<NamedSet> sets = all_sets();
  return sets;
}

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  for (const NamedSet& set : catalogue()) names.push_back(set.name);
  return names;
}

const NamedSet* named_set(const std::string& name) {
  for (const NamedSet& set : catalogue())
    if (set.name == name) return &set;
  return nullptr;
}

std::optional<std::string> find_in_folder(const NamedSet& set, const std::string& folder) {
  const auto is_file = [](const std::string& path) {
    std::error_code unreadable;
    return fs::is_regular_file(path, unreadable);
  };
  // A set of one file may be that file itself. A folder is a copy of the set when it has all files in
  // `needs`.
  const auto copy_at = [&](const std::string& path) -> std::optional<std::string> {
    if (!set.entry.empty() && is_file(path)) return path;
    const bool whole = std::all_of(set.needs.begin(), set.needs.end(),
                                   [&](const std::string& file) { return is_file(path + "/" + file); });
    if (!whole) return std::nullopt;
    return set.entry.empty() ? path : path + "/" + set.entry;
  };
  if (auto copy = copy_at(folder + "/" + set.name)) return copy;
  // A folder that `eignn convert` wrote under the set's name. Not NAME.npz: see of_geom_gcn.
  if (const std::string path = folder + "/" + set.name;
      fs::is_directory(path) && compact_reader.recognise(path))
    return path;
  for (const std::string& place : set.elsewhere)
    if (auto copy = copy_at(folder + "/" + place)) return copy;
  return std::nullopt;
}

std::optional<std::string> find_named_set(const std::string& name, const std::vector<std::string>& folders) {
  const NamedSet* set = named_set(name);
  if (set == nullptr) return std::nullopt;
  for (const std::string& folder : folders)
    if (auto copy = find_in_folder(*set, folder)) return copy;
  return std::nullopt;
}

std::string require_named_set(const std::string& name, const std::vector<std::string>& folders) {
  if (named_set(name) == nullptr) throw unknown_name("data set", "dataset", name, catalogue_names());
  if (const auto copy = find_named_set(name, folders)) return *copy;
  throw DataError(fmt::format("looked in {}", fmt::join(folders, ", ")), {},
                  fmt::format("the data set {} is not here", name), "run: eignn fetch " + name);
}

}  // namespace eignn
