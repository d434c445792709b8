#include "run/restored_run.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>

#include "data/text_lines.h"
#include "eignn/error.h"
#include "run/checkpoint.h"
#include "run/training_record.h"
#include "train/assemble.h"
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

}  // namespace

RestoredRun restore_run(const std::string& path, const std::map<std::string, std::string>& settings,
                        const DescribeNode& new_node) {
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
  out.execution = std::make_unique<Execution>(out.config);
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
  out.cache = std::make_unique<SpectrumCache>();
  out.model = restore_model(trained, out.dataset, out.config, out.cache.get(), path);
  return out;
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
    require_own_classes(*trained, data, dataset, known);
    count += known.numel();
    out.push_back({name, known});
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
  if (!recognised.remembers) return "the model is of an older version and does not know its training nodes";
  if (!recognised.training_graph) return "another graph than that of the training";
  if (recognised.unchanged) return "the graph of the training";
  const int64_t more = data.nodes() - recognised.nodes_then;
  if (more == 0) return "the graph of the training, with other arcs";
  return fmt::format("the graph of the training, with {} node{} {}", std::abs(more),
                     std::abs(more) == 1 ? "" : "s", more > 0 ? "more" : "less");
}

Predictions RestoredRun::predictions(const torch::Tensor& nodes) const {
  return predictions_of(*trained, scores_of(*model, on_device(nodes)));
}

}  // namespace eignn
