// first train FILE: which of two rings is a node on, by noisy hints? first predict FILE: on larger rings.
#include <eignn/train.h>

#include <cstdio>

eignn::Dataset two_rings(int64_t nodes) {
  std::vector<int64_t> from(nodes), to(nodes);
  for (int64_t v = 0; v < nodes; ++v) to[v] = ((from[v] = v) + 2) % nodes;
  const auto ring = torch::arange(nodes).remainder(2);
  const auto hints = torch::randn({nodes, 4}, torch::kFloat64) + 2 * ring.unsqueeze(1) - 1;
  return eignn::make_dataset(eignn::Graph::from_arcs(nodes, from, to), hints, ring);
}

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string("train")) {
    const auto run = eignn::train(two_rings(200), eignn::TrainOptions{}.set("epochs", "200"));
    run.model.save(argv[2]);
    return std::printf("trained: test accuracy %.2f\n", run.result.score.test) < 0;
  }
  const auto data = two_rings(300);
  const auto model = eignn::load_model(argv[argc - 1]);
  const auto right = model.predict(data).classes.eq(data.labels).sum().item<int64_t>();
  const auto [loss, accuracy] = model.evaluate(data, torch::arange(300));
  return std::printf("predicted: %d of 300 right, accuracy %.2f\n", int(right), accuracy) < 0;
}
