// Misuse of the installed package, one line each: what was done, and the error of ours that refused it, or
// that the answer is right. Built with AddressSanitizer where the package was (./dev asan).
#include <eignn/attack.h>
#include <eignn/error.h>
#include <eignn/explain.h>
#include <eignn/inspect.h>
#include <eignn/new_node.h>
#include <eignn/search.h>
#include <eignn/solver.h>
#include <eignn/train.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace eignn;

int failures = 0;

void row(const std::string& what, bool good, const std::string& outcome) {
  std::printf("%-4s  %-52s %s\n", good ? "ok" : "FAIL", what.c_str(), outcome.c_str());
  failures += !good;
}

/// The call must throw an error of ours.
void refused(const std::string& what, const std::function<void()>& call) {
  try {
    call();
    row(what, false, "was accepted");
  } catch (const Error& error) {
    row(what, true, error.what());
  } catch (const std::exception& error) {
    row(what, false, std::string("another's exception: ") + error.what());
  }
}

/// The call must return, and say that its answer is right.
void works(const std::string& what, const std::function<bool()>& call) {
  try {
    const bool right = call();
    row(what, right, right ? "right answer" : "wrong answer");
  } catch (const std::exception& error) {
    row(what, false, error.what());
  }
}

torch::Tensor matrix(int64_t rows, int64_t columns, int64_t seed) {
  return torch::sin(torch::arange(seed, seed + rows * columns, torch::kFloat64)).reshape({rows, columns});
}

bool close(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::allclose(a, b, 1e-10, 1e-12);
}

constexpr int64_t n = 9, m = 4;

Graph ring(int64_t nodes) {
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v) {
    from.push_back(v);
    to.push_back((v + 1) % nodes);
  }
  return Graph::from_arcs(nodes, from, to);
}

std::shared_ptr<const Propagation> matrix_of(const Graph& graph) {
  return std::make_shared<Propagation>(make_propagation(graph));
}

void with_solver(const std::string& name) {
  const auto say = [&](const std::string& what) { return name + ": " + what; };
  const auto S = matrix_of(ring(n));
  const auto solver = make_solver(name, S, {}, m);
  const auto F = matrix(m, m, 1), X = matrix(n, m, 100);
  const auto solved = solver->solve(F, X);
  const auto Z = solved->rows().plain().clone();
  const auto index = torch::tensor({2, 0}, torch::kInt64);
  const auto Y = matrix(2, m, 7);

  refused(say("too few rows of X"), [&] { solver->solve(F, matrix(n - 1, m, 0)); });
  refused(say("too many rows of X"), [&] { solver->solve(F, matrix(n + 1, m, 0)); });
  refused(say("F is not square"), [&] { solver->solve(matrix(m, m + 1, 0), X); });
  refused(say("F of another width"), [&] { solver->solve(matrix(m + 1, m + 1, 0), X); });
  refused(say("X in float32"), [&] { solver->solve(F, X.to(torch::kFloat32)); });
  refused(say("X of whole numbers"), [&] { solver->solve(F, torch::ones({n, m}, torch::kInt64)); });
  refused(say("X on a device without memory"), [&] {
    solver->solve(F, torch::ones({n, m}, torch::dtype(torch::kFloat64).device(torch::kMeta)));
  });
  refused(say("X undefined"), [&] { solver->solve(F, {}); });
  refused(say("NaN in X"), [&] { solver->solve(F, X * std::numeric_limits<double>::quiet_NaN()); });
  refused(say("NaN in F"), [&] { solver->solve(F * std::numeric_limits<double>::quiet_NaN(), X)->rows(); });
  refused(say("index -1"), [&] { solved->rows(torch::tensor({-1}, torch::kInt64)); });
  refused(say("index n"), [&] { solved->rows(torch::tensor(std::vector<int64_t>{0, n}, torch::kInt64)); });
  refused(say("index of another type"), [&] { solved->rows(torch::tensor({1}, torch::kInt32)); });
  refused(say("cotangent of another shape"), [&] { solved->pull(index, {matrix(3, m, 0), {}}, true); });
  works(say("transposed views"), [&] {
    const auto F_view = F.t().contiguous().t(), X_view = X.t().contiguous().t();
    return close(solver->solve(F_view, X_view)->rows().plain(), Z);
  });
  works(say("a slice of a larger tensor"), [&] {
    const auto wide = torch::cat({X, X}, 1);
    return close(solver->solve(F, wide.narrow(1, m, m))->rows().plain(), Z);
  });
  refused(say("X changed after the solve"), [&] {
    const auto mine = X.clone();
    const auto kept = solver->solve(F, mine);
    const_cast<torch::Tensor&>(mine).mul_(2);
    kept->rows();
  });
  refused(say("F changed between solve and pull"), [&] {
    const auto mine = F.clone();
    const auto kept = solver->solve(mine, X);
    const_cast<torch::Tensor&>(mine).mul_(2);
    kept->pull(index, {Y, {}}, true);
  });
  refused(say("X changed between solve and pull"), [&] {
    const auto mine = X.clone();
    const auto kept = solver->solve(F, mine);
    const_cast<torch::Tensor&>(mine).mul_(2);
    kept->pull(index, {Y, {}}, true);
  });
  refused(say("project: C of another height"), [&] { solver->project(F, X, matrix(m + 1, 2, 0)); });
  refused(say("project: too few rows of X"),
          [&] { solver->project(F, matrix(n - 1, m, 0), matrix(m, 2, 0)); });
  refused(say("project: C changed before its pull"), [&] {
    const auto C = matrix(m, 2, 3);
    const auto kept = solver->project(F, X, C);
    const_cast<torch::Tensor&>(C).mul_(2);
    kept->pull(index, matrix(2, 2, 0));
  });
  works(say("solver destroyed before its equilibrium"), [&] {
    auto mortal = make_solver(name, S, {}, m);
    const auto kept = mortal->solve(F, X);
    mortal.reset();
    return close(kept->rows().plain(), Z) && kept->pull(index, {Y, {}}, true).F.defined();
  });
  works(say("two threads on one solver"), [&] {
    std::vector<torch::Tensor> found(2);
    const auto work = [&](size_t k) {
      for (int round = 0; round < 5; ++round) found[k] = solver->solve(F * double(k + 1), X)->rows().plain();
    };
    std::thread other([&] { work(1); });
    work(0);
    other.join();
    return close(found[0], Z) && close(found[1], Z);  // g does not depend on the size of F
  });
  works(say("a graph without nodes"), [&] {
    const auto none = make_solver(name, matrix_of(Graph::from_arcs(0, {}, {})), {}, m);
    return none->solve(F, torch::empty({0, m}, torch::kFloat64))->rows().values.size(0) == 0;
  });
  works(say("no features"), [&] {
    const auto narrow = make_solver(name, S, {}, 0);
    const auto empty = torch::empty({0, 0}, torch::kFloat64);
    return narrow->solve(empty, torch::empty({n, 0}, torch::kFloat64))->rows().values.size(0) == n;
  });
}

void with_graphs() {
  refused("graph: arc to a node that is not there", [] { Graph::from_arcs(3, {0}, {3}); });
  refused("graph: negative id", [] { Graph::from_arcs(3, {-1}, {0}); });
  refused("graph: sources and targets of different number", [] { Graph::from_arcs(3, {0, 1}, {1}); });
  refused("graph: more nodes than memory", [] { Graph::from_arcs(INT64_MAX, {}, {}); });
  refused("graph: sizes whose product overflows", [] { chain_graph(INT64_MAX / 2, 3); });
  refused("graph: offsets that contradict its arcs", [] {
    Graph graph = ring(n);
    graph.row_begin.back() += 5;
    make_propagation(graph);
  });
  refused("S: a column out of range", [] {
    auto S = make_propagation(ring(n));
    S.column[0] = n;
    make_solver("sparse", std::make_shared<Propagation>(S), {}, m);
  });
  refused("S: null", [] { make_solver("auto", nullptr, {}, m); });
  refused("projection: null", [] { projected(nullptr, matrix(m, m, 0), matrix(m, 2, 0), {}); });
  refused("model: no solver", [] { make_eignn(std::unique_ptr<Solver>(), matrix(n, m, 0), 2, {}, 0); });
  refused("chains: sizes whose product overflows", [] {
    ChainsOptions chains;
    chains.length = INT64_MAX / 2;
    chains_dataset(chains, 0);
  });
  refused("solver: unknown name", [] { make_solver("spars", matrix_of(ring(n)), {}, m); });
  refused("solver: gamma 2", [] {
    SolverOptions options;
    options.gamma = 2;
    make_solver("auto", matrix_of(ring(n)), options, m);
  });
}

void with_data_sets() {
  const auto labels = torch::arange(n).remainder(2);
  refused("data set: too few rows of features", [&] { make_dataset(ring(n), matrix(n - 1, m, 0), labels); });
  refused("data set: labels of another length",
          [&] { make_dataset(ring(n), matrix(n, m, 0), torch::zeros({n + 1}, torch::kInt64)); });
  refused("data set: NaN among the features",
          [&] { make_dataset(ring(n), matrix(n, m, 0) * std::numeric_limits<double>::quiet_NaN(), labels); });
  refused("data set: a split that names no node", [&] {
    Dataset data = make_dataset(ring(n), matrix(n, m, 0), labels);
    data.splits[0].test = torch::tensor({n}, torch::kInt64);
    train(data);
  });
  refused("data set: a class out of range", [&] {
    Dataset data = make_dataset(ring(n), matrix(n, m, 0), labels);
    data.classes = 1;
    train(data);
  });
  refused("data set: arcs beyond its nodes", [&] {
    Dataset data = make_dataset(ring(n), matrix(n, m, 0), labels);
    data.graph.target[0] = n + 100;
    train(data);
  });
  refused("load: no such name", [] { load("no-such-data-set"); });
  refused("load: no such path", [] { load("./no/such/folder"); });
  refused("train: a setting that the model does not read", [] { TrainOptions{}.set("hops", "3"); });
  refused("train: a value out of range",
          [&] { train(make_dataset(ring(n), matrix(n, m, 0), labels), TrainOptions{}.set("gamma", "3")); });
  refused("load_model: no such file", [] { load_model("no-such-model.safetensors"); });
}

void with_models() {
  const auto labels = torch::arange(40).remainder(2);
  const auto data = make_dataset(ring(40), matrix(40, m, 0) + labels.unsqueeze(1), labels);
  const auto run = train(data, TrainOptions{}.set("epochs", "3"));
  const auto nodes = data.splits[0].test;
  refused("predict: other features", [&] { run.model.predict(make_dataset(ring(n), matrix(n, m + 1, 0))); });
  refused("evaluate: a node out of range",
          [&] { run.model.evaluate(data, torch::tensor({40}, torch::kInt64)); });
  refused("evaluate: without labels",
          [&] { run.model.evaluate(make_dataset(ring(n), matrix(n, m, 0)), nodes); });
  works("predict: another graph",
        [&] { return run.model.predict(make_dataset(ring(n), matrix(n, m, 0))).classes.size(0) == n; });
  refused("attack: a negative size", [&] { attack(run.model, data, nodes, {{AttackMethod::fgsm, -1}}); });
  refused("attack: nodes of another type", [&] {
    attack(run.model, data, nodes.to(torch::kInt32), {{AttackMethod::fgsm, 0.1}});
  });
  works("attack: of size 0 changes nothing", [&] {
    const auto report = attack(run.model, data, nodes, {{AttackMethod::fgsm, 0}})[0];
    return report.kept == report.right;
  });
  refused("search: no points", [&] { search(data, SearchPlan{}); });
  refused("search: a split that is not there", [&] {
    TrainConfig config;
    config.epochs = 2;
    search(data, parse_search("lr = [0.1, 0.2]\nsplits = [7]", config));
  });
  works("inspect: the data set", [&] { return inspect(data).graph.components == 1; });
}

void with_explanations() {
  const auto labels = torch::arange(40).remainder(2);
  const auto data = make_dataset(ring(40), matrix(40, m, 0) + labels.unsqueeze(1), labels);
  const auto model = train(data, TrainOptions{}.set("epochs", "3")).model;
  const auto gcn = train(data, TrainOptions{}.model(GcnOptions{}).set("epochs", "3")).model;
  Dataset short_of_rows = data, beyond = data, without_features = data;
  short_of_rows.features = data.features.narrow(0, 0, 39);
  beyond.graph.target[0] = 1000;
  without_features.features = torch::Tensor();
  for (const int64_t node : {int64_t{-1}, int64_t{40}, INT64_MAX, INT64_MIN}) {
    const std::string at = " node " + std::to_string(node);
    refused("explain:" + at, [&] { explain(model, data, node); });
    refused("explain_edges:" + at, [&] { explain_edges(model, data, node); });
  }
  for (const int64_t k : {int64_t{-1}, int64_t{2}, INT64_MAX}) {
    const std::string of = " class " + std::to_string(k);
    refused("explain:" + of, [&] { explain(model, data, 3, k); });
    refused("explain_edges:" + of, [&] { explain_edges(model, data, 3, k); });
  }
  for (const auto& [what, wrong] :
       {std::pair<std::string, const Dataset&>("too few rows of features", short_of_rows),
        {"arcs beyond its nodes", beyond},
        {"no features", without_features}}) {
    refused("explain: " + what, [&] { explain(model, wrong, 3); });
    refused("influence: " + what, [&] { influence(model, wrong); });
    refused("explain_edges: " + what, [&] { explain_edges(model, wrong, 3); });
    refused("predict: " + what, [&] { model.predict(wrong); });
  }
  refused("explain: other features", [&] { explain(model, make_dataset(ring(n), matrix(n, m + 1, 0)), 3); });
  refused("influence: a sample of none", [&] { influence(model, data, {/*sample=*/0}); });
  refused("influence: a sample below none", [&] { influence(model, data, {/*sample=*/-5}); });
  refused("explain_edges: of a GCN", [&] { explain_edges(gcn, data, 3); });
  refused("explain_edges: less than no exact ones",
          [&] { explain_edges(model, data, 3, {}, {/*exact=*/-1}); });
  refused("explain_edges: fewer than no rows", [&] { explain_edges(model, data, 3, {}, {1, /*keep=*/-1}); });
  refused("find_node: no such name", [&] { find_node(data, "Bob"); });
  refused("find_node: a number beyond", [&] { find_node(data, "40"); });
  refused("find_class: no such name", [&] { find_class(data, "chess"); });
  works("explain: the contributions add up", [&] {
    const auto why = explain(model, data, 3);
    return std::abs(why.sum - why.score) <= 1e-4 * (1 + std::abs(why.score));
  });
  works("influence: of more nodes than there are",
        [&] { return influence(model, data, {1000}).sample == 40; });
  works("explain_edges: more exact ones than edges",
        [&] { return explain_edges(model, data, 3, {}, {1000}).edges <= 40; });
}

void with_new_nodes() {
  const auto labels = torch::arange(40).remainder(2);
  const auto data = make_dataset(ring(40), matrix(40, m, 0) + labels.unsqueeze(1), labels);
  const auto model = train(data, TrainOptions{}.set("epochs", "3")).model;
  const std::vector<NewNode::Feature> all = {{"0", "1"}, {"1", "0.5"}, {"2", "-1"}, {"3", "2e-3"}};
  const auto with = [](std::vector<NewNode::Feature> features, std::vector<NewNode::Neighbour> neighbours) {
    return NewNode{"new", std::move(features), std::move(neighbours)};
  };
  refused("new node: no features", [&] { with_node(data, {}); });
  refused("new node: a feature too few", [&] { with_node(data, with({all[0], all[1], all[2]}, {})); });
  refused("new node: a feature that is none", [&] {
    with_node(data, with({all[0], all[1], all[2], all[3], {"age", "3"}}, {}));
  });
  refused("new node: a feature twice", [&] {
    with_node(data, with({all[0], all[0], all[1], all[2], all[3]}, {}));
  });
  for (const char* text : {"", "NaN", "inf", "ten", "1e999"})
    refused(std::string("new node: a feature of '") + text + "'", [&] {
      with_node(data, with({{"0", text}, all[1], all[2], all[3]}, {}));
    });
  refused("new node: a neighbour that is none", [&] { with_node(data, with(all, {{"40"}})); });
  refused("new node: a neighbour below 0", [&] { with_node(data, with(all, {{"-1"}})); });
  refused("new node: a neighbour twice", [&] { with_node(data, with(all, {{"3"}, {"3"}})); });
  for (const double weight :
       {0.0, -1.0, 2.5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    refused("new node: an arc of weight " + std::to_string(weight), [&] {
      with_node(data, with(all, {{"3", weight}}));
    });
  Dataset short_of_rows = data, beyond = data, without_features = data, short_labels = data;
  short_of_rows.features = data.features.narrow(0, 0, 39);
  beyond.graph.row_begin.back() += 100;
  without_features.features = torch::Tensor();
  short_labels.labels = labels.narrow(0, 0, 39);
  for (const auto& [what, wrong] :
       {std::pair<std::string, const Dataset&>("too few rows of features", short_of_rows),
        {"offsets beyond the arcs", beyond},
        {"no features", without_features},
        {"too few labels", short_labels}}) {
    refused("new node: data with " + what, [&] { with_node(wrong, with(all, {{"3"}})); });
    refused("parse_node: data with " + what, [&] { parse_node(wrong, "1,2,3,4", "3"); });
  }
  refused("parse_node: a quote without an end", [&] { parse_node(data, "\"1,2,3,4", ""); });
  refused("parse_node: a feature without a name", [&] { parse_node(data, "1,2", "3"); });
  refused("parse_node: a weight that is none", [&] { parse_node(data, "1,2,3,4", "3:heavy"); });
  works("new node: it is the last, and can be predicted", [&] {
    const auto more = with_node(data, with(all, {{"3"}, {"39"}}));
    return more.nodes() == 41 && model.predict(more).classes.size(0) == 41;
  });
  works("new node: without neighbours", [&] {
    return model.predict(with_node(data, parse_node(data, "1,2,3,4", ""))).classes.size(0) == 41;
  });
}

}  // namespace

int main() {
  for (const std::string& name : solver_names())
    if (name != "auto") with_solver(name);
  with_graphs();
  with_data_sets();
  with_models();
  with_explanations();
  with_new_nodes();
  std::printf("misuse: %d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
