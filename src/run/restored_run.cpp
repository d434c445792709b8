#include "run/restored_run.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>

#include "data/text_lines.h"
#include "eignn/error.h"
#include "graph/content_hash.h"
#include "run/checkpoint.h"
#include "run/training_record.h"
#include "train/assemble.h"
#include "train/config_toml.h"
#include "train/graph_reduction.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// A checkpoint remembers where its data were, and they may have moved since.
void require_data(const TrainConfig& config, const std::map<std::string, std::string>& settings) {
  std::error_code unreadable;
  if (settings.count("dataset") || is_dataset_name(config.dataset) ||
      std::filesystem::exists(config.dataset, unreadable))
    return;
  throw ArgumentError("dataset",
                      fmt::format("the data of the training, {}, are not there", quote(config.dataset)),
                      "give their path, or that of other data");
}

bool same_nodes(const torch::Tensor& a, const torch::Tensor& b) {
  return a.numel() == b.numel() && std::get<0>(a.sort()).equal(std::get<0>(b.sort()));
}

bool same_parts(const Split& a, const Split& b) {
  return same_nodes(a.train, b.train) && same_nodes(a.val, b.val) && same_nodes(a.test, b.test);
}

// The processes must have read one model and be given the same settings.
void require_one_model(const Ranks& ranks, const RestoredRun& run, const std::string& path) {
  ContentHash hash;
  for (const auto& [name, weight] : run.trained->weights()) {
    hash.add(name.data(), name.size());
    const auto bytes = weight.contiguous();
    hash.add(bytes.data_ptr(), static_cast<size_t>(bytes.nbytes()));
  }
  require_alike(ranks, path, hash.hex(), "the processes have read different models",
                "give all the same file");
  require_alike(ranks, path, to_toml(run.config), "the processes were given different settings",
                "start all with one command");
}

// Names without features, of so many nodes.
std::unique_ptr<const Dataset> names_of_all(const Dataset& here) {
  auto out = std::make_unique<Dataset>(here);
  out->graph = Graph::from_arcs(here.spread->nodes, {}, {});
  out->first_node = 0;
  out->node_names = here.spread->node_names;
  return out;
}

// The rows that this process has of a folder of shards; false where the settings name other data.
bool restore_shards(RestoredRun& run, const std::map<std::string, std::string>& settings, bool new_node,
                    const SpreadOptions& spread) {
  const TrainedModel& trained = *run.trained;
  const auto& transform = trained.record()->transform;
  ShardReading reading;
  reading.for_training = false;
  if (transform) reading.trained = &*transform;
  auto part = spread_from_shards(run.config, spread, reading);
  if (!part) return false;
  if (new_node)
    throw ArgumentError("node", "a node cannot be added to shards", "give the data as they were before");
  if ((transform && transform->has_names()) || part->feature_count() != trained.features()) {
    throw ArgumentError(
        "data",
        fmt::format("the model was trained on {} features{}, and the shards have {} without names",
                    trained.features(), transform && transform->has_names() ? " with names" : "",
                    part->feature_count()),
        "give the features that it was trained on");
  }
  run.in_shards = true;
  run.data = *part;
  run.dataset = std::move(*part);
  take_own_classes(trained, run.data, run.dataset);
  const auto none = torch::empty({0}, torch::kInt64);
  run.recognised.split = run.split = {none, none, none};
  run.split_number = std::stoll(run.config.split);
  run.has_parts = settings.count("split") > 0 || !run.dataset.splits.empty();
  if (run.has_parts) run.split = run.dataset.splits.at(split_number(run.config, run.dataset));
  return true;
}

// Leaves this process its part of what all have read.
void keep_part(RestoredRun& run, const SpreadOptions& spread) {
  run.dataset = eignn::spread(std::move(run.dataset), run.config, spread);
  const OwnNodes& own = run.dataset.spread->own;
  run.data.features = torch::Tensor();
  run.data = own.part_of(std::move(run.data));
  run.data.spread = run.dataset.spread;
  run.split = own.of(run.split);
}

}  // namespace

RestoredRun restore_run(const std::string& path, const std::map<std::string, std::string>& settings,
                        const DescribeNode& new_node, const SpreadOptions* spread) {
  RestoredRun out;
  out.trained = std::make_shared<TrainedModel>(load_model(path));
  const TrainedModel& trained = *out.trained;
  out.config = trained.config();
  require_data(out.config, settings);
  // The labels of a table are read as in training; other formats say themselves what theirs are.
  const auto& transform = trained.record()->transform;
  if (transform && transform->has_names()) out.config.task = trained.task();
  assign(out.config, settings);
  if (out.config.split == "all") out.config.split = "0";
  validate(out.config);
  out.execution = std::make_unique<Execution>(on_machine(out.config, spread));
  const auto finish = [&] {
    if (spread && out.is_first()) out.names_of_all = names_of_all(out.dataset);
    out.cache = std::make_unique<SpectrumCache>();
    out.model = restore_model(trained, out.dataset, out.config, out.cache.get(), path);
  };
  if (spread) require_one_model(spread->ranks, out, path);
  if (spread && restore_shards(out, settings, static_cast<bool>(new_node), *spread)) {
    finish();
    return out;
  }
  out.data = load_raw_dataset(out.config, trained.tables().trained_columns);
  if (new_node) out.data = with_node(out.data, new_node(out.data));
  try {
    out.dataset = as_trained(trained, out.data);
  } catch (const ArgumentError& error) {  // the files do not fit the model
    throw DataError(out.data.name, "", error.problem(), error.remedy());
  }
  // Other parts than those of the training, or none.
  if (settings.count("partition") > 0 || settings.count("coarsen") > 0)
    out.dataset = reduced(std::move(out.dataset), out.config);
  // `train-graphs` cuts the training parts of the data's own splits.
  if (out.config.train_graphs > 0 && out.dataset.graphs() > 1 && !out.dataset.splits.empty())
    out.dataset = prepared(std::move(out.dataset), out.config);

  out.recognised = recognise_prepared(trained, out.dataset);
  const bool own_split = settings.count("split") > 0 || !out.recognised.remembers;
  out.split = out.recognised.split;
  out.split_number = std::stoll(out.config.split);
  out.has_parts = out.recognised.training_graph;
  if (own_split) {
    out.has_parts = settings.count("split") > 0 || !out.dataset.splits.empty();
    if (out.has_parts) out.split = out.dataset.splits.at(split_number(out.config, out.dataset));
  } else if (out.has_parts && out.split_number < static_cast<int64_t>(out.dataset.splits.size())) {
    // The same nodes in the order of the training, so that sums over them round alike.
    const Split& of_data = out.dataset.splits[static_cast<size_t>(out.split_number)];
    if (same_parts(out.split, of_data)) out.split = of_data;
  }
  if (spread) keep_part(out, *spread);
  finish();
  return out;
}

Metric RestoredRun::metric() const {
  return dataset.spread ? dataset.spread->metric : resolved_metric(config.metric, dataset);
}

torch::Tensor RestoredRun::on_device(const torch::Tensor& tensor) const {
  return tensor.to(model->type().device());
}

std::vector<RestoredRun::Part> RestoredRun::parts() const {
  const bool labelled = data.labels.defined() && data.known.defined();
  std::vector<Part> out;
  int64_t count = 0;
  const auto add = [&](const char* name, const torch::Tensor& nodes) {
    const auto known =
        labelled ? nodes.masked_select(data.known.index_select(0, nodes)) : nodes.narrow(0, 0, 0);
    const auto check = [&] { require_own_classes(*trained, data, dataset, known); };
    ranks() ? ranks()->together(check) : check();
    const int64_t nodes_of_all = total(known.numel());
    count += nodes_of_all;
    out.push_back({name, known, nodes_of_all});
  };
  if (has_parts) {
    add("train", split.train);
    add("val", split.val);
    add("test", split.test);
  } else {
    add("test", torch::arange(data.nodes(), torch::kInt64));
  }
  if (count == 0)
    throw DataError(data.name, "labels", "there is no labelled node to judge the model by",
                    "label some nodes");
  return out;
}

std::string RestoredRun::which_graph() const {
  if (in_shards) return "a graph in shards, which is not compared with that of the training";
  if (!recognised.remembers) return "the model is of an older version and does not know its training nodes";
  if (!recognised.training_graph) return "another graph than that of the training";
  if (recognised.unchanged) return "the graph of the training";
  const int64_t more = all_nodes() - recognised.nodes_then;
  if (more == 0) return "the graph of the training, with other arcs";
  return fmt::format("the graph of the training, with {} node{} {}", std::abs(more),
                     std::abs(more) == 1 ? "" : "s", more > 0 ? "more" : "less");
}

Predictions RestoredRun::predictions(const torch::Tensor& nodes) const {
  return predictions_of(*trained, scores_of(*model, on_device(nodes)));
}

}  // namespace eignn
