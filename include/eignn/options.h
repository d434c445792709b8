// All settings of a run, as plain structs without libtorch. The command line, Python and the checkpoints all
// read these tables.
//
// A hyper-parameter is a member with its default and, below it in the same struct, a row of the table
// `fields` with its name, its range and its help. Flags, config.toml, checkpoints and --help follow from that
// row.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

enum class Head {
  plain,       // f = B z, the paper's for the universities
  l2,          // z/‖z‖, dropout, linear: the chains
  batch_norm,  // batch norm over all nodes, dropout, linear: Wikipedia
  residual,    // ELU(BN(W₀z + W_r x)), residual blocks ELU(BN(Wh + h)), linear: PPI
};
/// The initial F. `xavier` is the paper's. `orthogonal` makes all eigenvalues of g equal, so that no
/// direction dominates on a long path; see docs/long-range.md.
enum class Start { xavier, orthogonal };
enum class Stopping { loss, score, either };
enum class Schedule { constant, cosine };
enum class FeatureNorm {
  none,
  row,       // each node's features divided by their sum
  standard,  // each column's mean and deviation over the training nodes become 0 and 1
};
enum class Activation { none, relu };
/// P of Z = γ g Z S + X P: where a node starts from.
enum class Source {
  own,         // P = I, the paper's: from its own features
  neighbours,  // P = S: from what its neighbours say
  both         // two equilibria, one of each
};
/// What follows the states of a layer, node by node or, for `batch`, over all nodes.
enum class Norm { none, l2, batch, layer };
/// What the last linear map of a stack reads: the last layer, or all layers side by side, or their
/// element-wise maximum.
enum class Jump { last, concat, max };
/// Adam with the L2 penalty in the gradient, or with a decay of the weights themselves (Loshchilov, Hutter,
/// 2019).
enum class Optimiser { adam, adamw };
/// What the labels are: a class, a set of labels, or numbers. `automatic` reads it from the labels.
enum class Task { automatic, classes, labels, regression };
/// `automatic` uses the weights of tables and of `edge_weight` arrays, and ignores those of Matrix Market
/// files.
enum class EdgeWeights { automatic, use, ignore };
enum class ClassWeights { none, balanced };
/// What stopping by score and a search go by. `automatic`: accuracy, ROC-AUC for two unbalanced classes (the
/// rarer one has less than a quarter of the labels), micro-F1 for sets of labels, R² for numbers.
enum class Metric {
  automatic,
  accuracy,
  micro_f1,
  roc_auc,
  average_precision,
  macro_f1,
  balanced_accuracy,
  mse,
  mae,
  r2
};
enum class Precision { float32, float64 };
enum class DeviceKind { cpu, cuda };

/// The values of an enum with their names, in order.
template <class Enum>
const std::vector<std::pair<Enum, const char*>>& names_of();
template <>
const std::vector<std::pair<Head, const char*>>& names_of();
template <>
const std::vector<std::pair<Start, const char*>>& names_of();
template <>
const std::vector<std::pair<Stopping, const char*>>& names_of();
template <>
const std::vector<std::pair<Schedule, const char*>>& names_of();
template <>
const std::vector<std::pair<FeatureNorm, const char*>>& names_of();
template <>
const std::vector<std::pair<Activation, const char*>>& names_of();
template <>
const std::vector<std::pair<Source, const char*>>& names_of();
template <>
const std::vector<std::pair<Norm, const char*>>& names_of();
template <>
const std::vector<std::pair<Jump, const char*>>& names_of();
template <>
const std::vector<std::pair<Optimiser, const char*>>& names_of();
template <>
const std::vector<std::pair<Task, const char*>>& names_of();
template <>
const std::vector<std::pair<EdgeWeights, const char*>>& names_of();
template <>
const std::vector<std::pair<ClassWeights, const char*>>& names_of();
template <>
const std::vector<std::pair<Metric, const char*>>& names_of();
template <>
const std::vector<std::pair<Precision, const char*>>& names_of();
template <>
const std::vector<std::pair<DeviceKind, const char*>>& names_of();
template <>
const std::vector<std::pair<Direction, const char*>>& names_of();
template <>
const std::vector<std::pair<Normalisation, const char*>>& names_of();

const char* name(Head head);
const char* name(Start start);
const char* name(Stopping stopping);
const char* name(Schedule schedule);
const char* name(FeatureNorm norm);
const char* name(Activation activation);
const char* name(Source source);
const char* name(Norm norm);
const char* name(Jump jump);
const char* name(Optimiser optimiser);
const char* name(Task task);
const char* name(EdgeWeights weights);
const char* name(ClassWeights weights);
const char* name(Metric metric);
/// False for mse and mae, which are errors.
bool higher_is_better(Metric metric);
const char* name(Precision precision);
const char* name(DeviceKind device);

// ---- options of the models

/// EIGNN: Z = γ g(F) Z S + X P, then a head; or a stack of such equilibria:
///
///     H_0 = encoder(X),   H_l = dropout(ReLU(norm(W_l [Z_1 | Z_2 | …]) + H_{l-1})),   f = B jump(H_1 … H_L)
///
/// with the equilibria Z_k of H_{l-1}: one for each direction of the run, source and repetition.
struct EignnOptions {
  static constexpr const char* model = "eignn";
  Head head = Head::plain;
  Start start = Start::xavier;
  double dropout = 0;
  int64_t encoder = 0;
  Activation encoder_activation = Activation::none;
  bool intercept = false;
  bool label_inputs = false;
  int64_t equilibria = 1;
  int64_t rank = -1;
  Source source = Source::own;
  int64_t layers = 1;
  int64_t hidden = 64;
  Norm norm = Norm::none;
  bool skip = false;
  Jump jump = Jump::last;
  int64_t width = 256;
  int64_t blocks = 2;
  double gamma = 0.8;
  double epsilon = 1e-12;
  double lr_propagation = -1;
  double weight_decay_propagation = -1;
  std::string solver = "auto";
  int64_t eigenpairs = 0;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("head", o.head, "",
          "plain: B z; l2: normalise, dropout, linear; batch-norm: batch norm, dropout, linear; residual: a "
          "deep network on z and x");
    field("start", o.start, "", "Where F starts (docs/long-range.md)");
    field("gamma", o.gamma, "(0, 1]", "The contraction factor");
    field("epsilon", o.epsilon, "[0, inf)", "The epsilon of g(F)");
    field("dropout", o.dropout, "[0, 1)", "Dropout after the equilibrium");
    field("encoder", o.encoder, "[0, 1000000]",
          "Width of a layer before the equilibrium; 0: the features themselves");
    field("encoder-activation", o.encoder_activation, "",
          "none keeps the scores affine in the features, so that eignn explain is exact for them");
    field("intercept", o.intercept, "", "on: each score has a constant of its own; the paper has none");
    field("label-inputs", o.label_inputs, "",
          "on: in each epoch a random half of the training labels is input beside the features, and the loss "
          "is on the other half; no node is scored with its own");
    field("equilibria", o.equilibria, "[0, 1024]",
          "Equilibria side by side, each with an F of its own, for each direction and source; 0: none, so "
          "that no node hears another");
    field(
        "rank", o.rank, "-1 or [1, 1000000]",
        "Rows of each F, at most as many as it has columns: an equilibrium of this width, and products with "
        "the features; -1: as many as columns");
    field(
        "source", o.source, "",
        "own: a node starts from its own features; neighbours: from what its neighbours have (Z = g Z S + X "
        "S; pair it with self-loops off, since a loop lets the node's own in); both: two equilibria");
    field("layers", o.layers, "[1, 64]",
          "Layers of equilibria; with 2 or more each ends in a linear map to `hidden`, the norm, ReLU and "
          "dropout");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the layers of a stack");
    field("norm", o.norm, "",
          "What follows the states of each layer; head l2 and batch-norm are other names for l2 and batch");
    field("skip", o.skip, "",
          "on: a layer of a stack adds its input to its output, where both have one width");
    field("jump", o.jump, "", "What the scores of a stack read: its last layer, or all of them");
    field("width", o.width, "[1, 1000000]", "residual head: width of the hidden layers");
    field("blocks", o.blocks, "[0, 1000]", "residual head: number of blocks");
    field("lr-propagation", o.lr_propagation, "-1 or [0, inf)", "Learning rate of F; -1: as lr");
    field("weight-decay-propagation", o.weight_decay_propagation, "-1 or [0, inf)",
          "L2 penalty on F; -1: as weight-decay");
    field("solver", o.solver, "auto spectral direct krylov deflated sparse picard truncated published",
          "Which solver; auto picks one (eignn inspect says which, and why)");
    field(
        "eigenpairs", o.eigenpairs, "[0, inf)",
        "solver truncated: how many eigenpairs of S are kept, the largest; 0: 64, or all of a smaller graph");
  }
};

struct MlpOptions {
  static constexpr const char* model = "mlp";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t layers = 2;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("layers", o.layers, "[1, 10000]", "Layers");
  }
};

struct GcnOptions : MlpOptions {
  static constexpr const char* model = "gcn";
};

struct JknetOptions : MlpOptions {
  static constexpr const char* model = "jknet";
};

struct SgcOptions {
  static constexpr const char* model = "sgc";
  int64_t hops = 10;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("hops", o.hops, "[0, 10000]", "Steps along the graph: the power of S");
  }
};

struct GatOptions {
  static constexpr const char* model = "gat";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t layers = 2;
  int64_t heads = 8;
  int64_t output_heads = 1;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads, and of the attention");
    field("hidden", o.hidden, "[1, 1000000]", "Width of each head");
    field("layers", o.layers, "[1, 10000]", "Layers");
    field("heads", o.heads, "[1, 1024]", "Heads of a hidden layer, side by side");
    field("output-heads", o.output_heads, "[1, 1024]", "Heads of the last layer, averaged");
  }
};

struct AppnpOptions {
  static constexpr const char* model = "appnp";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t hops = 10;
  double alpha = 0.1;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads, and of the entries of S");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("hops", o.hops, "[0, 10000]", "Steps along the graph");
    field("alpha", o.alpha, "(0, 1]", "Probability to go back to the start");
  }
};

struct PpnpOptions {
  static constexpr const char* model = "ppnp";
  double dropout = 0;
  int64_t hidden = 64;
  double alpha = 0.1;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("alpha", o.alpha, "(0, 1]", "Probability to go back to the start");
  }
};

struct GcniiOptions {
  static constexpr const char* model = "gcnii";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t layers = 2;
  double alpha = 0.1;
  double theta = 1;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("layers", o.layers, "[1, 10000]", "Layers");
    field("alpha", o.alpha, "(0, 1]", "Share of the first state");
    field("theta", o.theta, "[0, inf)", "Layer l's weight has the share log(theta/l + 1)");
  }
};

struct H2gcnOptions {
  static constexpr const char* model = "h2gcn";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t layers = 2;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout before the last layer");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("layers", o.layers, "[1, 8]", "Rounds; each doubles the width");
  }
};

struct GeomGcnOptions {
  static constexpr const char* model = "geom-gcn";
  double dropout = 0;
  int64_t hidden = 64;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
  }
};

struct GraphsageOptions {
  static constexpr const char* model = "graphsage";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t samples = 25;
  int64_t samples_second = 10;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout of what each layer reads");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("samples", o.samples, "[0, 1000000]", "Neighbours that the first layer draws in training; 0: all");
    field("samples-second", o.samples_second, "[0, 1000000]", "Those that the second layer draws; 0: all");
  }
};

struct SseOptions {
  static constexpr const char* model = "sse";
  double dropout = 0;
  int64_t hidden = 64;
  int64_t hops = 10;
  double alpha = 0.1;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout before the last two layers");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("hops", o.hops, "[0, 10000]", "Updates on the way to the steady state");
    field("alpha", o.alpha, "(0, 1]", "Damping");
  }
};

struct IgnnOptions {
  static constexpr const char* model = "ignn";
  double dropout = 0;
  Head head = Head::plain;
  int64_t hidden = 64;
  double kappa = 0.9;
  double tolerance = 3e-6;
  int64_t max_iterations = 300;
  int64_t implicit_layers = 1;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout before the last layer");
    field("head", o.head, "plain l2", "l2 normalises the states before the last layer");
    field("hidden", o.hidden, "[1, 1000000]",
          "Width of the hidden layers; with 5 implicit layers of the fourth");
    field("kappa", o.kappa, "(0, 1)", "W is kept where |W|_inf <= kappa/rho(S)");
    field("tolerance", o.tolerance, "(0, inf)", "A step that moves no entry by more than this ends a solve");
    field("max-iterations", o.max_iterations, "[1, 1000000]", "Steps of a solve at most");
    field("implicit-layers", o.implicit_layers, "1 or 5", "1, or 5 with linear skips, as on PPI");
  }
};

struct IgnnFiniteOptions {
  static constexpr const char* model = "ignn-finite";
  double dropout = 0;
  Head head = Head::plain;
  int64_t hidden = 64;
  int64_t layers = 2;
  double kappa = 0.9;

  template <class Options, class Visitor>
  static void fields(Options& o, Visitor&& field) {
    field("dropout", o.dropout, "[0, 1)", "Dropout before the last layer");
    field("head", o.head, "plain l2", "l2 normalises the states before the last layer");
    field("hidden", o.hidden, "[1, 1000000]", "Width of the hidden layers");
    field("layers", o.layers, "[1, 10000]", "Steps of the recurrence");
    field("kappa", o.kappa, "[0, 1)", "W is kept where |W|_inf <= kappa/rho(S); 0: anywhere");
  }
};

/// One of the models, with its options. A new model is one more entry here.
using ModelOptions = std::variant<EignnOptions, MlpOptions, GcnOptions, SgcOptions, GatOptions, JknetOptions,
                                  AppnpOptions, PpnpOptions, GcniiOptions, H2gcnOptions, GeomGcnOptions,
                                  GraphsageOptions, SseOptions, IgnnOptions, IgnnFiniteOptions>;

/// "eignn", then the baselines.
const std::vector<std::string>& model_names();
const char* name(const ModelOptions& options);
/// The default options of a model; ArgumentError{"model"} for an unknown name.
ModelOptions model_options(const std::string& name);

/// The norm that `head` and `norm` name together; ArgumentError{"norm"} where they name two.
Norm norm_of(const EignnOptions& options);
/// Whether these are layers of a stack rather than one equilibrium under a head.
bool is_stack(const EignnOptions& options);
/// The number of rows of an F for so many features: `rank`, or as many. ArgumentError where `rank` is more.
int64_t rows_of_F(const EignnOptions& options, int64_t features);
/// Throws ArgumentError for settings that exclude each other.
void check(const EignnOptions& options);

// ---- a whole run

/// The directions of a run as one setting: a name, or several with commas between.
struct Directions {
  Direction& first;
  std::vector<Direction>& further;
};

/// Everything that determines a run: on one machine the same configuration gives the same result.
struct TrainConfig {
  // data
  std::string dataset = "chains";
  int64_t chain_length = 100;
  int64_t chains_per_class = 20;
  int64_t num_classes = 2;
  int64_t feature_dim = 100;
  double noise = 0;
  std::string split = "0";
  int64_t drawn = 1;
  std::string label;
  std::string ignore_columns;
  Task task = Task::automatic;
  FeatureNorm feature_norm = FeatureNorm::none;
  bool structure = false;
  EdgeWeights edge_weights = EdgeWeights::automatic;
  int64_t train_graphs = 0;
  int64_t partition = 0;
  double coarsen = 1;
  PropagationOptions propagation;
  /// EIGNN alone: further directions, each with equilibria of its own beside those of propagation.direction.
  std::vector<Direction> further_directions;
  // model
  ModelOptions model = EignnOptions{};
  // optimisation
  double lr = 0.01;
  double weight_decay = 5e-4;
  Optimiser optimiser = Optimiser::adam;
  int64_t epochs = 2000;
  int64_t patience = 200;
  Stopping stopping = Stopping::loss;
  Metric metric = Metric::automatic;
  ClassWeights class_weights = ClassWeights::none;
  double conformal = 0;
  Schedule schedule = Schedule::constant;
  double clip = 0;
  int64_t batch_graphs = 2;
  // machine
  DeviceKind device = DeviceKind::cpu;
  Precision dtype = Precision::float32;
  bool tf32 = false;
  int64_t threads = 0;
  std::string memory;
  uint64_t seed = 0;

  /// The options of EIGNN; ArgumentError{"model"} where the model is another.
  EignnOptions& eignn();
  const EignnOptions& eignn() const;
  bool is_eignn() const { return std::holds_alternative<EignnOptions>(model); }
  /// All directions, propagation.direction first.
  std::vector<Direction> directions() const;

  template <class Config, class Visitor>
  static void data_fields(Config& c, Visitor&& field) {
    field("dataset", c.dataset, "",
          "A built-in set (chains, karate), a named one (see eignn fetch), or a path (docs/data.md)");
    field("chain-length", c.chain_length, "[1, inf)", "chains: nodes in each chain");
    field("chains-per-class", c.chains_per_class, "[1, inf)", "chains: chains of each class");
    field("num-classes", c.num_classes, "[1, inf)", "chains: classes");
    field("feature-dim", c.feature_dim, "[1, inf)", "chains: features of each node");
    field("noise", c.noise, "[0, inf)", "chains: uniform noise on the features, U(-A, A)");
    field("split", c.split, "", "Split number, or all");
    field("drawn", c.drawn, "[1, 1000]",
          "Splits to draw where the data have none; split k by the seed and k");
    field("label", c.label, "", "Tables: the column of the labels, or several with commas between");
    field("ignore-columns", c.ignore_columns, "", "Tables: columns to leave out, with commas between");
    field("task", c.task, "", "Tables: what the labels are; automatic reads it from them (docs/data.md)");
    field(
        "feature-norm", c.feature_norm, "",
        "row: each node's features divided by their sum; standard: mean 0, deviation 1 over training nodes");
    field("structure", c.structure, "",
          "on: features of the graph itself beside the given ones: degree, core, walks (docs/data.md)");
    field(
        "edge-weights", c.edge_weights, "",
        "use or ignore the weights of the arcs; automatic: those of tables are used, of .mtx files ignored");
    field("train-graphs", c.train_graphs, "[0, inf)",
          "Sets of several graphs: train on so many, the first ones; 0: on all");
    field("partition", c.partition, "[0, inf)",
          "Cut each graph into so many parts (METIS) and drop the edges between them; 0: not at all");
    field("coarsen", c.coarsen, "(0, 1]",
          "Merge neighbours along heavy edges until this share of each graph's nodes is left; 1: not at all");
    field("direction", Directions{c.propagation.direction, c.further_directions}, "",
          "in: a node receives along the arcs; out: against them; eignn takes a list with commas between");
    field("normalise", c.propagation.normalise, "",
          "sym: D^-1/2 (A+I) D^-1/2; out-in: D_out^-1/2 (A+I) D_in^-1/2");
    field("self-loops", c.propagation.self_loops, "", "on: A+I; off: A");
    field("weight-scale", c.propagation.weight_scale, "[0, inf)",
          "What the weights of arcs are divided by; 0: their mean, which a checkpoint keeps");
  }
  template <class Config, class Visitor>
  static void optimisation_fields(Config& c, Visitor&& field) {
    field("lr", c.lr, "(0, inf)", "Adam's learning rate");
    field("weight-decay", c.weight_decay, "[0, inf)", "L2 penalty, or the decay of adamw");
    field("optimiser", c.optimiser, "",
          "adam: the penalty is part of the gradient; adamw: weights shrink by lr times weight-decay");
    field("epochs", c.epochs, "[1, inf)", "Epochs at most");
    field("patience", c.patience, "[1, inf)", "Epochs without improvement before stopping");
    field("stopping", c.stopping, "",
          "loss: patience on validation loss; score: on the metric; either: reset by one of them");
    field(
        "metric", c.metric, "",
        "What stopping by score and a search go by; automatic: accuracy, roc_auc for two unbalanced classes, "
        "micro_f1 for sets of labels, r2 for numbers");
    field("class-weights", c.class_weights, "", "balanced: each class counts the same in the loss");
    field("conformal", c.conformal, "[0, 1)",
          "Prediction sets that miss the truth for at most this share of nodes, calibrated on half of the "
          "validation nodes (docs/which-model.md); 0: none");
    field("schedule", c.schedule, "", "cosine: learning rates fall from full to 0 at the last epoch");
    field("clip", c.clip, "[0, inf)",
          "Gradients longer than this are shortened, each weight's by itself; 0: never");
    field("batch-graphs", c.batch_graphs, "[1, inf)",
          "Sets of several graphs, and parts of a partition: graphs in a step");
  }
  template <class Config, class Visitor>
  static void machine_fields(Config& c, Visitor&& field) {
    field("device", c.device, "", "Where to compute");
    field("dtype", c.dtype, "", "Precision of weights and solves");
    field("tf32", c.tf32, "",
          "cuda: on lets products round to TF32; solvers still prove their residual in full");
    field("threads", c.threads, "[0, 4096]", "Threads; 0: all cores, and one with a GPU");
    field(
        "memory", c.memory, "",
        "eignn on a CPU: a limit on the program's memory, such as 8G; it works with fewer columns at a time");
    field("seed", c.seed, "", "Fixes the generated split, the start and dropout");
  }
};

/// One setting of a run, read and written as text by flags, files and checkpoints.
struct Field {
  enum class Group { data, model, optimisation, machine };
  enum class Kind { text, integer, real };
  std::string name, help;
  std::string range;  // for people: "a number in (0, 1]", "plain, l2"
  Group group;
  Kind kind;
  std::function<std::string()> get;
  std::function<void(const std::string&)> set;  // ArgumentError{name} for a text that is not such a value
  std::function<void()> check;                  // ArgumentError{name} for a value out of range
};

/// The settings that this configuration's model reads, in order: data, `model`, the model's own,
/// optimisation, machine. They hold references into `config`, which must outlive them; those of the model are
/// invalid after config.model was assigned.
std::vector<Field> fields(TrainConfig& config);

/// A setting of any model, with the help of each model that reads it.
struct KnownField {
  Field::Group group;
  std::string name, help, default_text;
  Field::Kind kind;
  std::vector<std::string> models;  // the models that read it; empty: all
};
const std::vector<KnownField>& known_fields();

/// Sets one field from its text. Setting `model` resets the model's own fields to their defaults.
/// ArgumentError for a name that no model has, for one that the chosen model does not read (with the list of
/// those it reads) and for a text that does not fit.
void assign(TrainConfig& config, const std::string& name, const std::string& text);
/// Sets several fields, `model` first.
void assign(TrainConfig& config, const std::map<std::string, std::string>& texts);
/// All fields as texts, `model` among them.
std::map<std::string, std::string> to_strings(const TrainConfig& config);

/// A setting that the model or the data set reads in principle, but not under the configuration's others.
struct IdleSetting {
  std::string name, why;
};
/// Those of this configuration, whatever their values. What only the data can tell is not among them.
std::vector<IdleSetting> idle_settings(const TrainConfig& config);
/// One line for people about the settings in `given` that are idle and not at their defaults; empty where
/// none is.
std::string idle_settings_in_words(const TrainConfig& config, const std::set<std::string>& given);

/// Throws ArgumentError for values out of range and for a data set that is neither a name nor a path.
void validate(const TrainConfig& config);
/// The same without the check of `dataset`, for data that are in memory already.
void validate_settings(const TrainConfig& config);

}  // namespace eignn
