// The one list of what a run is made of: flags, config.toml, recipes and checkpoints all come from it.
#pragma once

#include <map>
#include <string>

#include "eignn/training.h"

namespace eignn {

/// Calls visitor(name, field, help) for every field in its group.
template <class Config, class Visitor>
void visit_data(Config& c, Visitor&& visitor) {
  visitor("dataset", c.dataset,
          "A built-in set (chains, karate), a named one (eignn fetch --list), or a path (docs/data.md)");
  visitor("chain-length", c.chain_length, "chains: nodes in each chain");
  visitor("chains-per-class", c.chains_per_class, "chains: chains of each class");
  visitor("num-classes", c.num_classes, "chains: classes");
  visitor("feature-dim", c.feature_dim, "chains: features of each node");
  visitor("noise", c.noise, "chains: uniform noise on the features, U(-A, A)");
  visitor("split", c.split, "Split number, or all");
  visitor("feature-norm", c.feature_norm, "none; row: each node's features divided by their sum");
  visitor("train-graphs", c.train_graphs,
          "Sets of several graphs: train on so many, the first ones; 0: on all");
  visitor("direction", c.direction, "undirected; in: a node hears along the arcs; out: against them");
  visitor("normalise", c.normalise, "sym: D^-1/2 (A+I) D^-1/2; out-in: D_out^-1/2 (A+I) D_in^-1/2");
  visitor("self-loops", c.self_loops, "on: A+I; off: A");
}

template <class Config, class Visitor>
void visit_model(Config& c, Visitor&& visitor) {
  visitor("model", c.model,
          "eignn, or what it is compared with: mlp, gcn, sgc, gat, jknet, appnp, ppnp, gcnii, h2gcn, "
          "geom-gcn, graphsage, sse, ignn, ignn-finite (docs/models.md)");
  visitor("head", c.head,
          "eignn: plain: B z; l2: normalise, dropout, linear; batch-norm: batch norm, dropout, linear; "
          "residual: a deep network on z and x. ignn, ignn-finite: plain or l2");
  visitor("start", c.start, "eignn: where F starts, xavier or orthogonal (docs/long-range.md)");
  visitor("gamma", c.gamma, "eignn: the contraction factor, in (0, 1]");
  visitor("epsilon", c.epsilon, "eignn: the epsilon of g(F)");
  visitor("dropout", c.dropout,
          "Dropout, in [0, 1); eignn: after the equilibrium; the others: docs/models.md");
  visitor("encoder", c.encoder, "eignn: width of a layer before the equilibrium; 0: the features themselves");
  visitor("equilibria", c.equilibria, "eignn: equilibria side by side, each with an F of its own");
  visitor("width", c.width, "eignn, residual head: width of the hidden layers");
  visitor("blocks", c.blocks, "eignn, residual head: number of blocks");
  visitor("hidden", c.hidden,
          "Width of the hidden layers (all but eignn and sgc); gat: of each head; ignn with 5 implicit "
          "layers: of the fourth");
  visitor("layers", c.layers,
          "mlp, gcn, gat, jknet, gcnii: layers; h2gcn: rounds; ignn-finite: steps of the recurrence");
  visitor("heads", c.heads, "gat: heads of a hidden layer, side by side");
  visitor("output-heads", c.output_heads, "gat: heads of the last layer, averaged");
  visitor("hops", c.hops, "sgc, appnp: steps along the graph; sse: updates on the way to the steady state");
  visitor("alpha", c.alpha,
          "appnp, ppnp: probability to go back; gcnii: share of the first state; sse: damping. In (0, 1]");
  visitor("theta", c.theta, "gcnii: layer l's weight has the share log(theta/l + 1)");
  visitor("kappa", c.kappa,
          "ignn, ignn-finite: W is kept where |W|_inf <= kappa/rho(S), in (0, 1); 0: anywhere");
  visitor("tolerance", c.tolerance, "ignn: a step that moves no entry by more than this ends a solve");
  visitor("max-iterations", c.max_iterations, "ignn: steps of a solve at most");
  visitor("implicit-layers", c.implicit_layers, "ignn: 1, or 5 with linear skips, as on PPI");
  visitor("samples", c.samples, "graphsage: neighbours that the first layer draws in training; 0: all");
  visitor("samples-second", c.samples_second, "graphsage: those that the second layer draws; 0: all");
}

template <class Config, class Visitor>
void visit_optimisation(Config& c, Visitor&& visitor) {
  visitor("lr", c.lr, "Adam's learning rate");
  visitor("lr-propagation", c.lr_propagation, "Learning rate of F; -1: as --lr");
  visitor("weight-decay", c.weight_decay, "L2 penalty");
  visitor("weight-decay-propagation", c.weight_decay_propagation, "L2 penalty on F; -1: as --weight-decay");
  visitor("epochs", c.epochs, "Epochs at most");
  visitor("patience", c.patience, "Epochs without improvement before stopping");
  visitor("stopping", c.stopping,
          "loss: patience on validation loss; score: on accuracy or micro-F1; either: reset by one of them");
  visitor("schedule", c.schedule, "Learning rates: constant, or cosine from the full rate to 0 at --epochs");
  visitor("clip", c.clip, "Gradients longer than this are shortened, each weight's by itself; 0: never");
  visitor("batch-graphs", c.batch_graphs, "Sets of several graphs: graphs in a step");
}

template <class Config, class Visitor>
void visit_machine(Config& c, Visitor&& visitor) {
  visitor("solver", c.solver, "auto, spectral, direct, krylov, deflated, sparse, picard or published");
  visitor("device", c.device, "cpu or cuda");
  visitor("dtype", c.dtype, "float32 or float64");
  visitor("tf32", c.tf32, "cuda: on lets products round to TF32; solvers still prove their residual in full");
  visitor("threads", c.threads, "Threads; 0: all cores, and one with --device cuda");
  visitor("seed", c.seed, "Fixes the generated split, the start and dropout");
}

template <class Config, class Visitor>
void visit(Config& c, Visitor&& visitor) {
  visit_data(c, visitor);
  visit_model(c, visitor);
  visit_optimisation(c, visitor);
  visit_machine(c, visitor);
}

/// The format of config.toml, in its key `format`; a file without the key is of the time before there was
/// one, and is read likewise.
constexpr int64_t config_format = 1;

/// config.toml: one `name = value` per field, readable by `eignn train --config`.
std::string to_toml(const TrainConfig& config);

/// Flat strings, for the metadata of checkpoints.
std::map<std::string, std::string> to_strings(const TrainConfig& config);

/// Sets one field from its text; false when there is no such field. InputError when the text does not fit.
bool assign(TrainConfig& config, const std::string& name, const std::string& value);

/// How this configuration reads the arcs and makes S of them.
PropagationOptions propagation_options(const TrainConfig& config);

torch::Dtype parse_dtype(const std::string& name);  // UsageError for an unknown name
torch::Device parse_device(
    const std::string& name);  // UsageError; InputError when there is no such device here

}  // namespace eignn
