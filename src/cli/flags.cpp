#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "paper/names.h"

namespace eignn::cli {

namespace {

/// --checkpoint, the data flags and those of the machine.
void add_restore_flags(CLI::App& command, SettingFlags& settings, std::string& checkpoint) {
  command.add_option("--checkpoint", checkpoint, "model.safetensors, or the run folder that holds it");
  settings.add(command, {Field::Group::data, Field::Group::machine});
  settings.add(command, std::vector<std::string>{"solver", "eigenpairs"});
}

void add_grid_flag(CLI::App& command, GridFlag& flags) {
  command.add_option("--grid", flags.grid,
                     "Under mpirun: parts of the rows times parts of the columns, such as 2x4; the fewest "
                     "parts of the rows that fit into memory when not given (docs/cluster.md)");
  command
      .add_option(
          "--order", flags.order,
          "Under mpirun: the order in which processes take nodes: given, bfs (breadth-first search), or "
          "ptscotch (its parts of few cut arcs)")
      ->capture_default_str();
}

/// The flags of all benchmarks against published.
void add_bench_flags(CLI::App& command, BenchFlags& flags) {
  flags.settings.add(command, std::vector<std::string>{"solver", "dtype", "device", "threads", "seed"});
  add_whole(command, "--batch-runs", flags.batch_runs,
            "Also measure this many runs trained as one batch; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024));
  add_whole(command, "--blocks", flags.blocks,
            "Blocks of epochs to time; 0: as many as fill ten seconds of published, from 3 to 20")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  add_whole(command, "--check-epochs", flags.check_epochs,
            "Epochs in float64 whose losses must agree to 1e-6")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_flag("--no-memory", flags.no_memory, "Start no process for the peak memory of each side");
  command.add_flag("--json", flags.json, "Print one JSON object");
}

/// --no-python, where there is a transcription to time (cli/transcription.h).
void add_python_flag(CLI::App& command, BenchFlags& flags) {
  command.add_flag("--no-python", flags.no_python, "Do not time the PyTorch transcription");
}

}  // namespace

void add_train(CLI::App& app) {
  auto* command = add_command(
      app, "train", "Train a model and test it once, with the weights that validation chose",
      "  eignn train --dataset chains --chain-length 200 --num-classes 5\n"
      "  eignn train --dataset chains --direction in --seed 3 --json\n"
      "  eignn train --dataset karate --out runs/karate\n"
      "  eignn train --resume runs/karate\n"
      "  eignn train --resume runs/karate --epochs 400\n"
      "  eignn train --config runs/karate/config.toml\n"
      "  eignn train --recipe squirrel --dataset squirrel.npz\n"
      "  eignn train --dataset cornell --split all --out runs/cornell\n"
      "  eignn train --dataset cornell --split all --batch-runs 10 --device cuda\n"
      "  eignn train --dataset my-graph --split all --drawn 10 --class-weights balanced\n"
      "  eignn train --dataset my-graph --search auto --budget 10m --out runs/best\n"
      "  eignn train --dataset my-graph --search auto --trials 30 --models gcn,gat,graphsage\n"
      "  eignn train --dataset my-graph --partition 50 --batch-graphs 5\n"
      "  eignn train --dataset my-graph --coarsen 0.25 --solver truncated --eigenpairs 128\n"
      "  eignn train --dataset texas --search grid.toml --out runs/search\n"
      "  eignn train --dataset texas --search grid.toml --batch-runs 20 --out runs/search --device cuda\n"
      "  mpirun -n 8 eignn train --dataset my-graph --recipe paper --out runs/large\n"
      "What is not given comes from the data set's recipe (own, for data without one: docs/which-model.md), "
      "then from the defaults shown above.");
  auto flags = std::make_shared<TrainFlags>();
  flags->settings.add(
      *command, {Field::Group::data, Field::Group::model, Field::Group::optimisation, Field::Group::machine});
  command->add_option("--out", flags->out, "Keep the run in this folder");
  command->add_option("--resume", flags->resume,
                      "Go on with the interrupted run in this folder; with --epochs to another end");
  command->add_flag("--json", flags->json, "Print the summary as one JSON object");
  command->add_option("--config", flags->config_file, "Read flags from a file, such as a run's config.toml");
  command->add_option(
      "--recipe", flags->recipe,
      "Take the model's recipe of this name (a data set or kind, recipes/), whatever the data");
  command->add_option("--search", flags->search_file,
                      "Try the lists of values in this TOML file, or, with auto, settings that differ in "
                      "kind; validation chooses (docs/data.md)");
  command->add_option(
      "--budget", flags->budget,
      "--search auto: the time for all trainings, such as 90s, 10m or 2h; 10m when not given");
  add_whole(
      *command, "--trials", flags->trials,
      "--search auto: so many candidates, in the place of a budget; the same flags then choose the same");
  add_whole(*command, "--splits", flags->splits,
            "--search auto: judge by the mean over the first so many splits")
      ->capture_default_str();
  command->add_option("--models", flags->models,
                      "--search auto: models to choose among, with commas between; eignn when not given");
  add_whole(*command, "--jobs", flags->jobs, "Runs at a time, with --split all or --search")
      ->capture_default_str();
  add_whole(*command, "--batch-runs", flags->batch_runs,
            "With --split all or --search: train so many runs as one batched problem "
            "(docs/performance.md); 0: one by one")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  add_grid_flag(*command, *flags);
  // For a parent process that runs many jobs: receives the message of a training that did not converge.
  command->add_option("--failure-file", flags->failure_file, "")->group("");
  add_whole(*command, "--parent", flags->parent, "")->group("");
  set_work(command, [flags] {
    check(*flags);
    try {
      run_train(*flags);
    } catch (const ConvergenceError& error) {
      if (!flags->failure_file.empty()) write_file_atomically(flags->failure_file, error.what());
      throw;
    }
  });
}

void add_evaluate(CLI::App& app) {
  auto* command = add_command(app, "evaluate", "Loss and accuracy of a checkpoint on a data set",
                              "  eignn evaluate --checkpoint runs/a/model.safetensors --json\n"
                              "  eignn evaluate --checkpoint runs/a --dataset chains --chain-length 400\n"
                              "  mpirun -n 8 eignn evaluate --checkpoint runs/large\n"
                              "Data flags that are not given are those of the training run. On its graph the "
                              "parts are those of the\ntraining, on another one all labelled nodes are test "
                              "nodes; --split takes a split of the data.");
  auto flags = std::make_shared<EvaluateFlags>();
  add_restore_flags(*command, flags->settings, flags->checkpoint);
  add_grid_flag(*command, *flags);
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] {
    check(*command, *flags);
    run_evaluate(*flags);
  });
}

void add_predict(CLI::App& app) {
  auto* command = add_command(
      app, "predict", "Predict the class, or the number, of every node",
      "  eignn predict --checkpoint runs/a --out predictions.csv\n"
      "  eignn predict --checkpoint runs/a --dataset grown --top 3 --probabilities --out predictions.csv\n"
      "  eignn predict --checkpoint runs/a --out probabilities.npy\n"
      "  eignn predict --checkpoint runs/a --node 'age=33,city=Rome' --neighbours Bob,Eve:2.5\n"
      "  mpirun -n 8 eignn predict --checkpoint runs/large --out predictions.csv\n"
      ".csv: node,split,label,predicted,p0,p1,… (label empty where it is not known; columns by name where "
      "classes have\nnames: docs/files.md); .npy: class probabilities, float64 (nodes, classes), or the "
      "numbers of a regression.\n"
      "The data need neither labels nor a split. Without --dataset they are looked for where they were in "
      "training.");
  auto flags = std::make_shared<PredictFlags>();
  add_restore_flags(*command, flags->settings, flags->checkpoint);
  command->add_option("--out", flags->out, "Where to write: FILE.csv or FILE.npy");
  add_whole(*command, "--top", flags->top,
            "The likeliest classes, so many, in the place of all probabilities");
  command->add_flag("--probabilities", flags->probabilities,
                    "All probabilities beside --top; without --top they are there anyway");
  command->add_option("--node", flags->node,
                      "Predict a node that is not in the data: its features, 'age=33,city=Rome'; nothing "
                      "behind = where one is not known");
  command->add_option("--neighbours", flags->neighbours,
                      "The nodes that it is joined to, 'Bob,Eve:2.5', with weights behind colons");
  add_grid_flag(*command, *flags);
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] {
    check(*command, *flags);
    run_predict(*flags);
  });
}

void add_attack(CLI::App& app) {
  auto* command = add_command(
      app, "attack", "Accuracy of a checkpoint when test nodes' features are perturbed",
      "  eignn attack --checkpoint runs/a --method fgsm --epsilon 0.001 --epsilon 0.01\n"
      "  eignn attack --checkpoint runs/a --method pgd --epsilon 0.01 --step 0.001 --steps 15 --json\n"
      "  eignn attack --checkpoint runs/a --method noise --epsilon 0.1 --targets all --out nodes.csv\n"
      "Misclassified test nodes count as wrong. Certified: no perturbation of this size takes the class "
      "(linear models).\nData flags that are not given are those of the training run.");
  auto flags = std::make_shared<AttackFlags>();
  add_restore_flags(*command, flags->settings, flags->checkpoint);
  command->add_option("--method", flags->method, "noise, fgsm or pgd");
  command
      ->add_option("--epsilon", flags->epsilons,
                   "No feature changes by more than this; may be given several times")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--step", flags->step, "pgd: size of a step; a tenth of epsilon when not given");
  add_whole(*command, "--steps", flags->steps, "pgd: number of steps")->capture_default_str();
  command
      ->add_option("--targets", flags->targets,
                   "each: one test node at a time, its own row; all: every row of the graph at once")
      ->capture_default_str();
  command
      ->add_option("--objective", flags->objective,
                   "What grows: loss, or margin (the lead of the worst other class)")
      ->capture_default_str();
  add_whole(*command, "--noise-seed", flags->noise_seed, "noise: fixes the draw")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--no-certificate", flags->no_certificate,
                    "Leave out what is certified: it costs a backward pass for each node and class");
  command->add_option("--out", flags->out, "Write a row per node and epsilon: FILE.csv");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] {
    check(*command, *flags);
    run_attack(*flags);
  });
}

void add_explain(CLI::App& app) {
  auto* command = add_command(
      app, "explain", "Why a node has its score: what each node of the graph and each feature gave to it",
      "  eignn explain --checkpoint runs/a --node 17\n"
      "  eignn explain --checkpoint runs/a --node alice --class spam --top 50 --out alice.graphml\n"
      "  eignn explain --checkpoint runs/a --node alice --edges\n"
      "  mpirun -n 8 eignn explain --checkpoint runs/large --node 17 --out 17.csv\n"
      "  eignn explain --checkpoint runs/a --influence --beside runs/gcn --out far.svg\n"
      "EIGNN's contributions are exact under a plain or batch-norm head, at any distance; those of other "
      "models\n"
      "are gradient times input. docs/explain.md says what the numbers mean.\n"
      "Data flags that are not given are those of the training run.");
  auto flags = std::make_shared<ExplainFlags>();
  add_restore_flags(*command, flags->settings, flags->checkpoint);
  command->add_option("--node", flags->node, "The node, by its name or number");
  command->add_option("--class", flags->class_name,
                      "The class, label or target, by its name or number; the predicted one when not given");
  add_whole(*command, "--top", flags->top, "So many nodes, features or edges are shown; 0: all")
      ->capture_default_str();
  command->add_flag("--raw-units", flags->raw_units,
                    "Features count from the data's own zero, not from the mean of a standardisation");
  command->add_flag(
      "--edges", flags->edges,
      "What the score would be without an edge: first order for all, exact for the ten largest");
  command->add_flag("--influence", flags->influence,
                    "How far the model hears: the share of influence by distance, over a sample of nodes");
  add_whole(*command, "--sample", flags->sample, "--influence: so many nodes")->capture_default_str();
  command->add_option("--beside", flags->beside, "--influence: another run to set beside; may be repeated")
      ->allow_extra_args(false);
  add_grid_flag(*command, *flags);
  command->add_option("--out", flags->out,
                      "FILE.csv (all nodes and features), .dot or .graphml (the top nodes and the paths from "
                      "them); --edges: .csv; --influence: .csv or .svg");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] {
    check(*command, *flags);
    run_explain(*flags);
  });
}

void add_solve(CLI::App& app) {
  auto* command = add_command(
      app, "solve", "Solve the equilibrium, and its adjoint, for matrices in files",
      "  eignn solve --graph g.edges --features X.npy --weight F.npy --out Z.npy\n"
      "  eignn solve --graph g.npz --direction in --solver direct --gamma 1 --features X.npy --weight F.npy "
      "\\\n"
      "      --out Z.npy --exponents E.npy --cotangent Y.npy --grad-weight dF.npy --grad-features dX.npy "
      "--json\n"
      "X, Y, Z and dX have a row per node; F and dF are (m, m). docs/files.md describes every format.\n"
      "Weights of the arcs are ignored unless --edge-weights use is given.");
  auto f = std::make_shared<SolveFlags>();
  command->add_option("--graph", f->graph, "The graph: .npz with `edges`, Matrix Market, or an edge list");
  command->add_option("--graph-format", f->graph_format, "npz, npy, mtx or edges; by content when not given");
  command->add_option("--features", f->features, "X.npy, float32 or float64, a row per node");
  command->add_option("--weight", f->weight, "F.npy, a column per feature; square, or of fewer rows");
  command->add_option("--out", f->out, "Where to write Z.npy");
  command->add_option("--exponents", f->exponents,
                      "Where to write E.npy, int64: the true row j is Z[j]·2^E[j]");
  command->add_option("--cotangent", f->cotangent, "Y.npy = ∂L/∂Z");
  command->add_option("--grad-weight", f->grad_weight, "Where to write ∂L/∂F");
  command->add_option("--grad-features", f->grad_features, "Where to write ∂L/∂X");
  command->add_option("--grad-exponents", f->grad_exponents, "Where to write the exponents of ∂L/∂X's rows");
  f->settings.add(*command, std::vector<std::string>{"edge-weights", "weight-scale", "direction", "normalise",
                                                     "self-loops", "source", "gamma", "epsilon", "solver",
                                                     "eigenpairs", "dtype", "device", "threads"});
  command->add_flag("--json", f->json, "Print one JSON object");
  set_work(command, [command, f] {
    check(*command, *f);
    run_solve(*f);
  });
}

void add_inspect(CLI::App& app) {
  auto* command =
      add_command(app, "inspect", "Describe a data set, a graph or a checkpoint, and the solver it calls for",
                  "  eignn inspect --dataset chains --chain-length 200\n"
                  "  eignn inspect --graph g.mtx --direction in --feature-dim 64 --json\n"
                  "  eignn inspect --checkpoint runs/a/model.safetensors\n"
                  "  eignn inspect --dataset my-graph --ranks 8\n"
                  "For a bare graph --feature-dim says how many features to plan for.");
  auto flags = std::make_shared<InspectFlags>();
  command->add_option("--graph", flags->graph,
                      "A graph file: .npz with `edges`, Matrix Market, or an edge list");
  command->add_option("--graph-format", flags->graph_format,
                      "npz, npy, mtx or edges; by content when not given");
  command->add_option("--checkpoint", flags->checkpoint, "model.safetensors, or a run folder");
  add_whole(*command, "--ranks", flags->ranks,
            "Instead: the memory that each of so many processes would need, and the rows it would fetch "
            "(docs/cluster.md)");
  flags->settings.add(
      *command, {Field::Group::data, Field::Group::model, Field::Group::optimisation, Field::Group::machine});
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] {
    check(*flags);
    run_inspect(*flags);
  });
}

void add_convert(CLI::App& app) {
  auto* command = add_command(
      app, "convert", "Write a data set of any format as one compact .npz, or in shards",
      "  eignn convert --dataset squirrel --out squirrel.npz\n"
      "  eignn convert --dataset downloads/arxiv --out arxiv.npz\n"
      "  eignn convert --graph edges.csv --features features.csv --labels labels.csv --out mine.npz\n"
      "  eignn convert --dataset downloads/papers100M --shards 16 --memory 8G --out papers\n"
      "A name that does not end in .npz becomes a folder of .npy files, which needs no zip to read.\n"
      "docs/data.md has the formats.");
  auto flags = std::make_shared<ConvertFlags>();
  command->add_option("--dataset", flags->dataset, "A named set, or the path of one");
  command->add_option("--graph", flags->files.graph, "Your own graph: edges or Matrix Market");
  command->add_option("--features", flags->files.features, "Your own graph: .npy or .csv");
  command->add_option("--labels", flags->files.labels, "Your own graph: .npy or .csv");
  command->add_option("--splits", flags->files.splits, "Your own graph: .csv");
  flags->settings.add(*command, std::vector<std::string>{"edge-weights"});
  add_whole(
      *command, "--shards", flags->shards,
      "Write a folder that need not fit into memory, its arrays in so many files each: arcs are sorted on "
      "disk");
  command->add_option("--memory", flags->memory,
                      "With --shards: the memory to sort in, such as 500M; 2G by default");
  command->add_option("--out", flags->out, "FILE.npz, or a folder to make");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] { run_convert(*command, *flags); });
}

void add_reproduce(CLI::App& app) {
  auto* command =
      add_command(app, "reproduce", "Run one of the paper's experiments again, beside the paper's figures",
                  "  eignn reproduce chains-binary --quick\n"
                  "  eignn reproduce chains-multiclass --models eignn,ignn --lengths 10,50,100 --seeds 5\n"
                  "  eignn reproduce finite-depth --quick\n"
                  "  eignn reproduce efficiency\n"
                  "  eignn reproduce heterophilic --models eignn\n"
                  "  eignn reproduce heterophilic --models all --quick\n"
                  "  eignn reproduce attacks --rows texas\n"
                  "  eignn reproduce ppi --models eignn,gat --device cuda --tf32 on\n"
                  "  eignn reproduce limitations --quick\n"
                  "  eignn reproduce all --quick\n"
                  "  eignn reproduce chains-binary --redraw\n"
                  "Interrupted, the same command goes on where it stopped. heterophilic, attacks, ppi, "
                  "limitations and all "
                  "need the data sets: eignn fetch --list.");
  auto flags = std::make_shared<ReproduceFlags>();
  command->add_option("experiment", flags->name,
                      fmt::format("{}, or all", fmt::join(experiment_names(), ", ")));
  command->add_option(
      "--models", flags->models,
      "Models, with commas between them, or all; when not given all, for heterophilic and ppi eignn");
  command->add_option(
      "--rows", flags->rows,
      "heterophilic, attacks, limitations: only these rows, such as cornell,texas,chameleon-plain-symmetric");
  command->add_option("--lengths", flags->lengths,
                      "chains-*, finite-depth, oversmoothing: lengths of chains");
  command->add_flag(
      "--quick", flags->quick,
      "A taste: fewer lengths and seeds; heterophilic, attacks: two splits, fewer epochs; ppi: four "
      "training graphs, 50 epochs (docs/experiments.md)");
  command->add_flag("--redraw", flags->redraw,
                    "Run nothing: write the pages, figures and verdicts anew from the results in --out");
  add_whole(*command, "--seeds", flags->seeds,
            "Runs of every point or split, seeds 0, 1, …; when not given as many as in the paper");
  flags->settings.add(*command, std::vector<std::string>{"epochs"});
  command->add_option("--out", flags->out, "The folder of NAME.json, NAME.md and figures")
      ->capture_default_str();
  command->add_option("--runs", flags->runs, "The folder that keeps the runs")->capture_default_str();
  add_whole(*command, "--jobs", flags->jobs,
            "Runs at a time; when not given as many as there are cores, or as --threads leaves room for, "
            "8 at most, and one with --device cuda; efficiency: always one");
  flags->settings.add(*command, {Field::Group::machine});
  flags->settings.add(*command, std::vector<std::string>{"solver"});
  command->add_flag("--json", flags->json, "Print the results as one JSON object");
  set_work(command, [command, flags] {
    check(*command, *flags);
    run_reproduce(*flags);
  });
}

void add_fetch(CLI::App& app) {
  auto* command = add_command(
      app, "fetch", "Download public data sets, checked and resumable",
      "  eignn fetch cornell texas wisconsin\n"
      "  eignn fetch --list\n"
      "  eignn fetch ppi --to data --mirror https://mirror.example.org/graphs\n"
      "A set lands in DIR/NAME; DIR is --to, else `data` in $EIGNN_CACHE, else in ~/.cache/eignn. Sets are\n"
      "looked for there and in the folders of $EIGNN_DATA (a list with colons).\n"
      "A mirror stands for the scheme and host of every address: https://data.dgl.ai/dataset/ppi.zip "
      "becomes\n"
      "https://mirror.example.org/graphs/dataset/ppi.zip. $EIGNN_MIRROR does the same.");
  auto flags = std::make_shared<FetchFlags>();
  command->add_option("names", flags->names, "The data sets");
  command->add_flag("--list", flags->list, "List the sets that have a name, and which are here");
  command->add_option("--to", flags->to, "The data folder to put them into");
  command->add_option("--mirror", flags->mirror,
                      "An address in place of the scheme and host of all addresses");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] { run_fetch(*flags); });
}

void add_bench_chains(CLI::App& bench) {
  auto* command =
      add_command(bench, "chains", "The paper's chains: epoch, preprocessing, memory and accuracy",
                  "  eignn bench chains\n"
                  "  eignn bench chains --size 200,20 --threads 1 --json\n"
                  "The PyTorch transcription of the published algorithm (bench/published.py) is timed with\n"
                  "Debian's python3-torch when that is installed.");
  auto flags = std::make_shared<BenchChainsFlags>();
  command->add_option("--size", flags->sizes, "Chain length and chains per class, L,N; may be repeated")
      ->allow_extra_args(false);
  flags->settings.add(*command, std::vector<std::string>{"num-classes", "feature-dim"});
  add_bench_flags(*command, *flags);
  add_whole(*command, "--published-epochs", flags->published_epochs,
            "Epochs of published before its accuracy is read")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add_python_flag(*command, *flags);
  set_work(command, [flags] {
    check(*flags);
    run_bench_chains(*flags);
  });
}

void add_bench_heterophilic(CLI::App& bench) {
  auto* command = add_command(
      bench, "heterophilic", "The universities and Wikipedia, under their recipes",
      "  eignn bench heterophilic\n"
      "  eignn bench heterophilic --dataset cornell --blocks 20 --json\n"
      "  eignn bench heterophilic --dataset chameleon --solver spectral\n"
      "  eignn bench heterophilic --dataset texas --rank 32\n"
      "Our side takes the solver of the recipe, as train does, or the planner's. Where a recipe is for a\n"
      "directed graph, which published cannot take, both sides get the paper's symmetric one.\n"
      "The PyTorch transcription of the published algorithm (bench/published.py) is timed after them with\n"
      "Debian's python3-torch when that is installed.\n"
      "All five take about seven minutes on two cores. Needs the data sets:\n"
      "eignn fetch cornell texas wisconsin chameleon squirrel.");
  auto flags = std::make_shared<BenchHeterophilicFlags>();
  command
      ->add_option("--dataset", flags->datasets,
                   "cornell, texas, wisconsin, chameleon or squirrel; may be repeated; otherwise all")
      ->allow_extra_args(false);
  add_bench_flags(*command, *flags);
  flags->settings.add(*command, std::vector<std::string>{"rank"});
  add_python_flag(*command, *flags);
  set_work(command, [command, flags] {
    check(*flags);
    run_bench_heterophilic(*command, *flags);
  });
}

void add_bench_planner(CLI::App& bench) {
  auto* command = add_command(
      bench, "planner", "What the planner's choice costs beside the fastest solver, on some thirty problems",
      "  eignn bench planner --quick\n"
      "  eignn bench planner --only rmat --only texas\n"
      "  EIGNN_DATA=/data/graphs eignn bench planner --json >results/bench-planner.json\n"
      "Real data sets that are neither in $EIGNN_DATA nor fetched are left out. Solvers that are refused, "
      "or\n"
      "whose estimate is over --limit, are not timed.");
  auto flags = std::make_shared<BenchPlannerFlags>();
  command->add_flag("--quick", flags->quick, "Leave out the problems that take more than some seconds");
  command->add_option("--only", flags->only, "Problems whose name contains this; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--limit", flags->limit_s, "Seconds for one solver on one problem")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  flags->settings.add(*command, std::vector<std::string>{"dtype", "threads", "seed"});
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] {
    check(*flags);
    run_bench_planner(*flags);
  });
}

void add_bench_ppi(CLI::App& bench) {
  auto* command = add_command(bench, "ppi", "PPI: epoch, preprocessing, and a run of both together",
                              "  eignn bench ppi\n"
                              "  eignn bench ppi --blocks 10 --json\n"
                              "Needs the data set: eignn fetch ppi.");
  auto flags = std::make_shared<BenchFlags>();
  flags->check_epochs = 1;  // ten steps of Adam
  add_bench_flags(*command, *flags);
  set_work(command, [flags] {
    check(*flags);
    run_bench_ppi(*flags);
  });
}

void add_bench_scaling(CLI::App& bench) {
  auto* command = add_command(
      bench, "scaling", "How time and memory of a training epoch grow, and the exponents fitted to it",
      "  eignn bench scaling --quick\n"
      "  eignn bench scaling --axis nodes --up-to 100000 --plot figures\n"
      "  eignn bench scaling --json >results/bench-scaling.json\n"
      "Random features on R-MAT graphs (ten edges per node, m = 64 unless the axis varies it) and on "
      "chains.\n"
      "The axes wide and identity have sparse features, a hundred entries a node and one, and an F of 32 "
      "rows.\n"
      "Each point runs in a process of its own, `sparse` beside the solvers that one can wait for there.\n"
      "`first` is the first epoch, with what is computed once; `labelled` says how far an epoch's scores at\n"
      "the training nodes are from those of the Z whose residual is printed.");
  auto flags = std::make_shared<BenchScalingFlags>();
  command->add_option("--axis", flags->axis, "nodes, features, density, components, wide, identity or all")
      ->capture_default_str();
  command->add_option("--solvers", flags->solvers, "Some of them, separated by commas")
      ->delimiter(',')
      ->default_str("[sparse,picard,spectral,krylov,direct]");
  add_whole(*command, "--up-to", flags->up_to, "Most nodes of a graph")->capture_default_str();
  command->add_flag("--quick", flags->quick, "At most 10000 nodes");
  command->add_option("--plot", flags->plot, "A folder for plots (SVG); needs gnuplot");
  flags->settings.add(*command, std::vector<std::string>{"dtype", "threads", "seed"});
  command->add_option("--point", flags->point, "")->group("");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] {
    check(*flags);
    run_bench_scaling(*flags);
  });
}

void add_bench_stack(CLI::App& bench) {
  auto* command =
      add_command(bench, "stack", "A stack of equilibria beside a GCN of the same depth and width",
                  "  eignn bench stack\n"
                  "  eignn bench stack --layers 5 --hidden 128 --source both --json\n"
                  "On a random graph (R-MAT). The stack's settings are those of data without a recipe, with "
                  "one equilibrium "
                  "a layer\nunless --source says otherwise. Two GCNs: ours, and one in PyTorch "
                  "(bench/gcn.py), which is timed "
                  "with\nDebian's python3-torch when that is installed.");
  auto flags = std::make_shared<BenchStackFlags>();
  const auto count = [&](const char* flag, int64_t& value, const char* help) {
    add_whole(*command, flag, value, help)->capture_default_str()->check(CLI::PositiveNumber);
  };
  count("--nodes", flags->nodes, "Nodes of the graph");
  count("--edges", flags->edges, "Its undirected edges");
  count("--features", flags->features, "Features of a node");
  count("--classes", flags->classes, "Classes");
  count("--blocks", flags->blocks, "Blocks of five epochs that each side runs in turn");
  flags->settings.add(*command, std::vector<std::string>{"layers", "hidden", "source", "norm", "gamma",
                                                         "dropout", "solver", "dtype", "threads", "seed"});
  command->add_flag("--no-python", flags->no_python, "Do not time the GCN in PyTorch");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] {
    check(*flags);
    run_bench_stack(*flags);
  });
}

void add_bench_cluster(CLI::App& bench) {
  auto* command = add_command(
      bench, "cluster", "The parts of training on several processes, and what a model of them predicts",
      "  eignn bench cluster\n"
      "  mpirun -n 4 eignn bench cluster --nodes 1000000 --edges 10000000 --grid 2x2\n"
      "  mpirun -n 4 eignn bench cluster --predict 111059956,1615685872,128,172,1207179,32\n"
      "Measures a product with S, the exchange of rows, sums and dense products, adds them up, and compares "
      "the\n"
      "sum with a preparation and an epoch on an R-MAT graph (docs/cluster.md).");
  auto flags = std::make_shared<BenchClusterFlags>();
  const auto count = [&](const char* flag, int64_t& value, const char* help) {
    add_whole(*command, flag, value, help)->capture_default_str()->check(CLI::PositiveNumber);
  };
  count("--nodes", flags->nodes, "Nodes of the graph that is measured");
  count("--edges", flags->edges, "Its undirected edges");
  count("--features", flags->features, "Features of a node");
  count("--classes", flags->classes, "Classes");
  command->add_option("--grid", flags->grid,
                      "Parts of the rows times parts of the columns; rows alone when not given");
  command
      ->add_option("--predict", flags->predict,
                   "Also predict: NODES,EDGES,FEATURES,CLASSES,LABELLED,PROCESSES; may be repeated")
      ->allow_extra_args(false);
  flags->settings.add(*command, std::vector<std::string>{"dtype", "threads", "seed"});
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] {
    check(*flags);
    run_bench_cluster(*flags);
  });
}

namespace {

void add_peak_memory(CLI::App& bench) {
  auto* command =
      add_command(bench, "peak-memory", "Peak memory of two epochs of the config.toml on standard input",
                  "  eignn bench peak-memory < runs/one/config.toml");
  command->group("");  // hidden: called by the other benchmarks
  set_work(command, [] { run_bench_peak_memory(); });
}

}  // namespace

void add_bench(CLI::App& app) {
  auto* bench = add_command(app, "bench", "Measure ours beside the published algorithm, and how it grows",
                            "  eignn bench chains\n"
                            "  eignn bench chains --size 100,20 --dtype float64 --json\n"
                            "  eignn bench cluster\n"
                            "  eignn bench heterophilic --dataset cornell --dataset chameleon\n"
                            "  eignn bench planner --quick\n"
                            "  eignn bench ppi\n"
                            "  eignn bench scaling --quick\n"
                            "  eignn bench stack\n"
                            "docs/performance.md says how to read them.");
  bench->require_subcommand(1);
  add_bench_chains(*bench);
  add_bench_cluster(*bench);
  add_bench_heterophilic(*bench);
  add_bench_planner(*bench);
  add_bench_ppi(*bench);
  add_bench_scaling(*bench);
  add_bench_stack(*bench);
  add_peak_memory(*bench);
}

}  // namespace eignn::cli
