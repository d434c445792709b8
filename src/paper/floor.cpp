#include "paper/floor.h"

#include <torch/torch.h>

#include <algorithm>
#include <set>

#include "data/sparse_tensor.h"
#include "equilibrium/fingerprint.h"
#include "equilibrium/stopwatch.h"
#include "graph/unique_components.h"
#include "train/assemble.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {

// The number of `nodes` that are chosen.
int64_t count_among(const std::vector<bool>& chosen, const std::vector<int64_t>& nodes) {
  return std::count_if(nodes.begin(), nodes.end(), [&](int64_t v) { return chosen[v]; });
}

std::vector<bool> flags_of(const torch::Tensor& index, int64_t nodes) {
  std::vector<bool> chosen(nodes, false);
  const auto at = index.to(torch::kCPU).contiguous();
  for (int64_t k = 0; k < at.numel(); ++k) chosen[at.data_ptr<int64_t>()[k]] = true;
  return chosen;
}

// Sums over the components c with takes_part(c).
struct Sums {
  double nodes = 0, entries = 0, feature_entries = 0;
  double train = 0, train_pairs = 0;  // Σ t, Σ k·t
  double val = 0, val_pairs = 0;
};

template <class TakesPart>
Sums sums_over(const EpochShape& shape, TakesPart takes_part) {
  Sums s;
  for (const ComponentShape& c : shape.components) {
    if (!takes_part(c)) continue;
    const auto k = static_cast<double>(c.nodes), t = static_cast<double>(c.train),
               v = static_cast<double>(c.val);
    s.nodes += k;
    s.entries += static_cast<double>(c.entries);
    s.feature_entries += static_cast<double>(c.feature_entries);
    s.train += t;
    s.val += v;
    // Equal components may together have more labelled nodes than one of them has rows.
    s.train_pairs += k * std::min(k, t);
    s.val_pairs += k * std::min(k, v);
  }
  return s;
}

bool in_step(const EpochShape& shape, const ComponentShape& c) {
  return shape.reads_all || c.train > 0;
}

// From the solution to Z at some rows, or back: a product with those rows of Q, which have `pairs` entries,
// or substitutions with the entries of S for every eigenvalue of g, which read and write a vector of all
// nodes.
Work between_bases(const char* what, const EpochShape& shape, double m, const Sums& s, double rows,
                   double pairs) {
  if (shape.eigenbasis) return {what, 2 * pairs * m, pairs + (s.nodes + rows) * m};
  return {what, 2 * s.entries * m, (s.entries + 2 * s.nodes) * m};
}

std::vector<Work> in_bytes(std::vector<Work> parts, const EpochShape& shape) {
  for (Work& part : parts) part.bytes *= static_cast<double>(shape.bytes_per_number);
  return parts;
}

template <class Run>
double best_seconds(torch::Device device, Run run) {
  const auto synchronise = [&] {
    if (device.is_cuda()) torch::cuda::synchronize();
  };
  run();  // warms up
  double best = std::numeric_limits<double>::infinity();
  const Stopwatch all;
  constexpr double long_enough = 0.5;
  for (int k = 0; k < 5 || (k < 200 && all.seconds() < long_enough); ++k) {
    synchronise();
    const Stopwatch watch;
    run();
    synchronise();
    best = std::min(best, watch.seconds());
  }
  return best;
}

}  // namespace

EpochShape epoch_shape(const TrainConfig& config, const Dataset& dataset, const std::string& solver) {
  const EignnOptions& model = config.eignn();
  EpochShape shape;
  shape.features = dataset.feature_count();
  shape.classes = dataset.classes;
  const int64_t columns = model.encoder > 0 ? model.encoder : shape.features;
  if (model.rank > 0 && model.rank < columns && solver != "published") shape.rank = model.rank;
  shape.bytes_per_number = static_cast<int64_t>(torch::elementSize(torch_dtype(config.dtype)));
  shape.node_space = solver == "deflated" || solver == "picard";
  shape.eigenbasis = solver != "direct" && solver != "sparse" && !shape.node_space;
  shape.skips_zeros = solver == "deflated";
  shape.reads_all = model.head == Head::batch_norm;
  shape.scores_alone = shape.rank == 0 && solver == "krylov" && model.head == Head::plain &&
                       model.gamma < 1 && model.encoder == 0 && model.equilibria == 1 &&
                       dataset.graphs() == 1;
  const Split& split = dataset.splits.at(std::stoll(config.split));
  const auto train = flags_of(split.train, dataset.nodes()), val = flags_of(split.val, dataset.nodes());
  const auto features = dense_matrix(dataset.features, "the floor").contiguous();
  for (const ComponentKind& kind : unique_components(make_propagation(dataset, config))) {
    RowsByContent rows(features);
    std::vector<ComponentShape> distinct;
    for (const auto& nodes : kind.instances) {
      const size_t number = rows.number_of(nodes);
      const bool is_new = number == distinct.size();
      if (is_new) distinct.emplace_back();
      ComponentShape& c = distinct[number];
      if (is_new)
        c.feature_entries =
            features.index_select(0, torch::tensor(nodes, torch::kInt64)).count_nonzero().item<int64_t>();
      c.nodes = kind.S.nodes;
      c.entries = kind.S.entries();
      c.train += count_among(train, nodes);
      c.val += count_among(val, nodes);
    }
    shape.components.insert(shape.components.end(), distinct.begin(), distinct.end());
  }
  if (dataset.graphs() > 1) {
    std::set<int64_t> graphs;
    for (int64_t v = 0; v < dataset.nodes(); ++v)
      if (train[v]) graphs.insert(dataset.graph_of[v]);
    const auto count = static_cast<int64_t>(graphs.size());
    shape.optimiser_steps = (count + config.batch_graphs - 1) / config.batch_graphs;
  }
  return shape;
}

namespace {

// With r rows in F: an equilibrium of width r, and products with the entries of X.
std::vector<Work> thin_step_work(const EpochShape& shape, const Sums& s) {
  const auto m = static_cast<double>(shape.features), c = static_cast<double>(shape.classes),
             r = static_cast<double>(shape.rank), steps = static_cast<double>(shape.optimiser_steps);
  const double n = s.nodes, t = s.train, e = s.feature_entries, at_train = e * t / std::max(n, 1.0);
  return in_bytes(
      {{"FFᵀ, one triangle", steps * m * r * r, steps * m * r},
       {"X Fᵀ", 2 * e * r, e + m * r + n * r},
       {"F X S", 2 * s.entries * r, s.entries + 2 * n * r},
       {"Ỹ, one product with FFᵀ", 2 * n * r * r, 2 * n * r},
       between_bases("Ỹ at the training nodes", shape, r, s, t, s.train_pairs),
       {"B: scores and ∇B", 4 * (at_train + t * r + m * r) * c, at_train + t * r + 2 * m * (r + c)},
       between_bases("∇Ỹ back", shape, r, s, t, s.train_pairs),
       {"V, one product with FFᵀ", 2 * n * r * r, 2 * n * r},
       {"V Sᵀ", 2 * s.entries * r, s.entries + 2 * n * r},
       {"V' Xᵀ", 2 * e * r, e + m * r + n * r},
       {"V' Ỹᵀ", 2 * n * r * r, 2 * n * r},
       {"∇F, two products with F", steps * 4 * m * r * r, steps * 4 * m * r},
       {"Adam", 0, steps * 7 * m * (r + c)}},
      shape);
}

}  // namespace

std::vector<Work> step_work(const EpochShape& shape) {
  const auto m = static_cast<double>(shape.features), classes = static_cast<double>(shape.classes),
             steps = static_cast<double>(shape.optimiser_steps);
  const Sums s = sums_over(shape, [&](const ComponentShape& c) { return in_step(shape, c); });
  if (shape.rank > 0) return thin_step_work(shape, s);
  const double n = s.nodes, t = s.train;
  if (shape.scores_alone)
    return in_bytes({{"FᵀF, one triangle", m * m * m, 2 * m * m},
                     {"B T_p, one product with g", 2 * m * m * classes, m * m},
                     {"scores from X̂", 2 * (n * m + s.train_pairs) * classes, n * m + s.train_pairs},
                     {"their gradient back", 2 * (n * m + s.train_pairs) * classes, n * m + s.train_pairs},
                     {"B T_p backwards, one product with g", 2 * m * m * classes, m * m},
                     {"∂L/∂g", 2 * m * m * classes, m * m},
                     {"∇F = F (ḡ + ḡᵀ - c FᵀF)", 2 * m * m * m, 4 * m * m},
                     {"Adam", 0, 7 * (m * m + m * classes)}},
                    shape);
  const double read = shape.skips_zeros ? s.feature_entries : n * m;
  return in_bytes({{"FᵀF, one triangle", steps * m * m * m, steps * 2 * m * m},
                   {"Ẑ, one product with g", 2 * read * m, read + n * m + m * m},
                   between_bases("Z at the training nodes", shape, m, s, t, s.train_pairs),
                   {"B: scores, ∇B, ∇Z", 6 * t * m * classes, 2 * t * m},
                   between_bases("∇Z back", shape, m, s, t, s.train_pairs),
                   {"Ŵ, one product with g", 2 * n * m * m, 2 * n * m + m * m},
                   {"R = ŴᵀΛẐ", 2 * n * m * m, 2 * n * m + m * m},
                   {"∇F = F (R + Rᵀ - c FᵀF)", steps * 2 * m * m * m, steps * 4 * m * m},
                   // reads the weights, the gradient and both moments; writes all but the gradient
                   {"Adam", 0, steps * 7 * (m * m + m * classes)}},
                  shape);
}

std::vector<Work> evaluation_work(const EpochShape& shape) {
  const auto m = static_cast<double>(shape.features), classes = static_cast<double>(shape.classes);
  // Components of the training step are solved already. Where a later batch has changed F since, there are
  // several graphs, and those to train on have no validation nodes.
  const Sums fresh =
      sums_over(shape, [&](const ComponentShape& c) { return !in_step(shape, c) && c.val > 0; });
  const Sums s = sums_over(shape, [](const ComponentShape& c) { return c.val > 0; });
  if (shape.rank > 0) {
    const auto r = static_cast<double>(shape.rank);
    const double at_val = s.feature_entries * s.val / std::max(s.nodes, 1.0);
    return in_bytes(
        {between_bases("Ỹ at the validation nodes", shape, r, s, s.val, s.val_pairs),
         {"B: scores", 2 * (at_val + s.val * r + m * r) * classes, at_val + s.val * r + m * (r + classes)}},
        shape);
  }
  if (shape.scores_alone)
    return in_bytes({{"scores at the validation nodes", 2 * s.val_pairs * classes, s.val_pairs}}, shape);
  return in_bytes(
      {{"Ẑ where no training node is", 2 * fresh.nodes * m * m,
        fresh.nodes > 0 ? 2 * fresh.nodes * m + m * m : 0},
       shape.node_space ? Work{"Z at the validation nodes", 0, 0}
                        : between_bases("Z at the validation nodes", shape, m, s, s.val, s.val_pairs),
       {"B: scores", 2 * s.val * m * classes, s.val * m}},
      shape);
}

Work total(const std::vector<Work>& parts) {
  Work sum{"all", 0, 0};
  for (const Work& part : parts) {
    sum.flops += part.flops;
    sum.bytes += part.bytes;
  }
  return sum;
}

MachineRates measure_rates(torch::Dtype dtype, torch::Device device, int64_t size, double bytes) {
  const auto type = torch::dtype(dtype).device(device);
  MachineRates rates;
  {
    const auto A = torch::rand({size, size}, type), B = torch::rand({size, size}, type);
    auto C = torch::empty({size, size}, type);
    const auto s = static_cast<double>(size);
    rates.flops_per_s = 2 * s * s * s / best_seconds(device, [&] { torch::mm_out(C, A, B); });
  }
  const auto width = static_cast<double>(torch::elementSize(dtype));
  const auto count = static_cast<int64_t>(bytes / (3 * width)) + 1;
  const auto a = torch::rand({count}, type), b = torch::rand({count}, type);
  auto c = torch::empty({count}, type);
  rates.bytes_per_s = 3 * width * static_cast<double>(count) /
                      best_seconds(device, [&] { torch::add_out(c, a, b, /*alpha=*/3); });
  return rates;
}

double floor_seconds(const std::vector<Work>& parts, const MachineRates& rates) {
  double seconds = 0;
  for (const Work& part : parts)
    seconds += std::max(part.flops / rates.flops_per_s, part.bytes / rates.bytes_per_s);
  return seconds;
}

}  // namespace eignn
