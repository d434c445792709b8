#include "train/config.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "data/readers.h"
#include "data/toml.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "train/early_stopping.h"

namespace eignn {

namespace {

std::string text_of(const std::string& value) {
  return value;
}
template <class Number>
std::string text_of(Number value) {
  return fmt::format("{}", value);  // the shortest text that reads back as the same number
}

void read_into(const std::string& text, const std::string&, std::string& field) {
  field = text;
}
template <class Number>
void read_into(const std::string& text, const std::string& name, Number& field) {
  const char* last = text.data() + text.size();
  const auto result = std::from_chars(text.data(), last, field);
  if (result.ec != std::errc() || result.ptr != last)
    throw InputError(fmt::format("'{}' is no number ({}); check the configuration", text, name));
}

void require(bool holds, const char* flag, double value, const char* range) {
  if (!holds) throw UsageError(fmt::format("{} is out of range (--{}); give {}", value, flag, range));
}

void require_name(const std::string& value, const char* what, const char* flag,
                  const std::vector<std::string>& known) {
  for (const auto& name : known)
    if (value == name) return;
  throw unknown_name(what, flag, value, known);
}

// A path is checked when it is read.
void require_dataset(const std::string& name) {
  if (is_dataset_path(name)) return;
  require_name(name, "data set", "dataset", dataset_names());
}

}  // namespace

std::string to_toml(const TrainConfig& config) {
  std::string out = fmt::format("format = {}  # of this file\n", config_format);
  visit(config, [&](const char* name, const auto& field, const char* help) {
    using Field = std::decay_t<decltype(field)>;
    bool quoted = std::is_same_v<Field, std::string>;
    // TOML's whole numbers are signed.
    if constexpr (std::is_same_v<Field, uint64_t>) quoted = field > std::numeric_limits<int64_t>::max();
    out += fmt::format("{} = {}  # {}\n", name, quoted ? toml_string(text_of(field)) : text_of(field), help);
  });
  return out;
}

std::map<std::string, std::string> to_strings(const TrainConfig& config) {
  std::map<std::string, std::string> out;
  visit(config, [&](const char* name, const auto& field, const char*) { out[name] = text_of(field); });
  return out;
}

bool assign(TrainConfig& config, const std::string& wanted, const std::string& value) {
  bool found = false;
  visit(config, [&](const char* name, auto& field, const char*) {
    if (wanted != name) return;
    read_into(value, wanted, field);
    found = true;
  });
  return found;
}

torch::Dtype parse_dtype(const std::string& name) {
  require_name(name, "dtype", "dtype", {"float32", "float64"});
  return name == "float32" ? torch::kFloat32 : torch::kFloat64;
}

torch::Device parse_device(const std::string& name) {
  require_name(name, "device", "device", {"cpu", "cuda"});
  if (name == "cpu") return torch::kCPU;
  if (!torch::cuda::is_available())
    throw InputError(
        "there is no CUDA device, or this libtorch was built without CUDA (--device cuda); use --device cpu");
  return torch::kCUDA;
}

void validate(const TrainConfig& c) {
  require_dataset(c.dataset);
  require_name(c.model, "model", "model", model_names());
  require_name(c.solver, "solver", "solver", solver_names());
  EarlyStopping::parse(c.stopping);
  require_name(c.schedule, "schedule", "schedule", {"constant", "cosine"});
  require_name(c.feature_norm, "choice", "feature-norm", {"none", "row"});
  require_name(c.tf32, "choice", "--tf32", {"on", "off"});
  require_name(c.self_loops, "choice", "self-loops", {"on", "off"});
  require_name(c.device, "device", "device", {"cpu", "cuda"});
  parse_dtype(c.dtype);
  parse_head(c.head);
  parse_start(c.start);
  parse_direction(c.direction);
  parse_normalisation(c.normalise);
  require(c.gamma > 0 && c.gamma <= 1, "gamma", c.gamma, "a number in (0, 1]");
  require(c.epsilon >= 0 && std::isfinite(c.epsilon), "epsilon", c.epsilon, "a finite number, 0 or more");
  require(c.dropout >= 0 && c.dropout < 1, "dropout", c.dropout, "a number in [0, 1)");
  require(c.lr > 0 && std::isfinite(c.lr), "lr", c.lr, "a positive number");
  require(c.lr_propagation == -1 || (c.lr_propagation >= 0 && std::isfinite(c.lr_propagation)),
          "lr-propagation", c.lr_propagation, "0 or more, or -1 for --lr's");
  require(c.weight_decay >= 0 && std::isfinite(c.weight_decay), "weight-decay", c.weight_decay, "0 or more");
  require(c.weight_decay_propagation == -1 ||
              (c.weight_decay_propagation >= 0 && std::isfinite(c.weight_decay_propagation)),
          "weight-decay-propagation", c.weight_decay_propagation, "0 or more, or -1 for --weight-decay's");
  require(c.feature_dim >= 1, "feature-dim", static_cast<double>(c.feature_dim), "1 or more");
  require(c.encoder >= 0, "encoder", static_cast<double>(c.encoder), "a width, or 0");
  require(c.equilibria >= 1 && c.equilibria <= 1024, "equilibria", static_cast<double>(c.equilibria),
          "1 to 1024");
  require(c.width >= 1, "width", static_cast<double>(c.width), "1 or more");
  require(c.blocks >= 0 && c.blocks <= 1000, "blocks", static_cast<double>(c.blocks), "0 to 1000");
  const auto count = [](const char* flag, int64_t value, int64_t least, int64_t most) {
    require(value >= least && value <= most, flag, static_cast<double>(value),
            fmt::format("{} to {}", least, most).c_str());
  };
  count("hidden", c.hidden, 1, 1'000'000);
  count("layers", c.layers, 1, 10'000);
  count("heads", c.heads, 1, 1024);
  count("output-heads", c.output_heads, 1, 1024);
  count("hops", c.hops, 0, 10'000);
  count("max-iterations", c.max_iterations, 1, 1'000'000);
  count("samples", c.samples, 0, 1'000'000);
  count("samples-second", c.samples_second, 0, 1'000'000);
  require(c.alpha > 0 && c.alpha <= 1, "alpha", c.alpha, "a number in (0, 1]");
  require(c.theta >= 0 && std::isfinite(c.theta), "theta", c.theta, "a finite number, 0 or more");
  require(c.kappa >= 0 && c.kappa < 1, "kappa", c.kappa, "a number in (0, 1), or 0 for no bound");
  require(c.tolerance > 0 && std::isfinite(c.tolerance), "tolerance", c.tolerance, "a positive number");
  require(c.clip >= 0 && std::isfinite(c.clip), "clip", c.clip, "a length, or 0 for none");
  require(c.implicit_layers == 1 || c.implicit_layers == 5, "implicit-layers",
          static_cast<double>(c.implicit_layers), "1 or 5");
  require(c.model != "ignn" || c.kappa > 0, "kappa", c.kappa,
          "a number in (0, 1): beyond the ball ignn's states need not exist");
  require(c.model != "h2gcn" || c.layers <= 8, "layers", static_cast<double>(c.layers),
          "1 to 8 for h2gcn, whose width doubles with each round");
  if (c.model == "ignn" || c.model == "ignn-finite")
    require_name(c.head, "head of this model", "head", {"plain", "l2"});
  require(c.train_graphs >= 0, "train-graphs", static_cast<double>(c.train_graphs), "0 or more");
  require(c.batch_graphs >= 1, "batch-graphs", static_cast<double>(c.batch_graphs), "1 or more");
  require(c.epochs >= 1, "epochs", static_cast<double>(c.epochs), "1 or more");
  require(c.patience >= 1, "patience", static_cast<double>(c.patience), "1 or more");
  require(c.threads >= 0 && c.threads <= 4096, "threads", static_cast<double>(c.threads), "0 to 4096");
  if (c.split != "all") {
    int64_t number = -1;
    const char* last = c.split.data() + c.split.size();
    const auto result = std::from_chars(c.split.data(), last, number);
    if (result.ec != std::errc() || result.ptr != last || number < 0)
      throw UsageError(fmt::format("'{}' is no split (--split); give a number from 0, or all", c.split));
  }
}

}  // namespace eignn
