// EIGNN (Liu, Kawaguchi, Hooi, Wang, Xiao, 2021): Z = γ g(F) Z S + X, f = head(Z).
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/model.h"
#include "graph/nearest_name.h"

namespace eignn {

namespace {

torch::Tensor starting_F(Start start, int64_t m, at::Generator generator) {
  switch (start) {
    case Start::xavier: {  // U(-b, b), b = √(6/(m+m))
      const double bound = std::sqrt(3.0 / static_cast<double>(m));
      return torch::empty({m, m}, torch::kFloat64).uniform_(-bound, bound, generator);
    }
    case Start::orthogonal: {  // Q of a Gaussian matrix, signs fixed so that the law is uniform
      const auto [Q, R] = torch::linalg_qr(torch::randn({m, m}, generator, torch::kFloat64), "reduced");
      return Q * R.diagonal().sign();
    }
  }
  return {};
}

class Eignn : public Model {
 public:
  Eignn(std::unique_ptr<Solver> solver, const torch::Tensor& X, int64_t classes, const EignnOptions& options,
        uint64_t seed)
      : solver_(std::move(solver)), options_(options) {
    const auto type = torch::dtype(solver_->options().dtype).device(solver_->options().device);
    const int64_t m = X.size(1);
    auto generator = at::detail::createCPUGenerator(seed);
    X_ = X.to(type);
    // Drawn in float64, so that one seed means one start in every precision.
    F_ = register_parameter("F", starting_F(options.start, m, generator).to(type));
    B_ = register_parameter(
        "B", (torch::randn({classes, m}, generator, torch::kFloat64) / std::sqrt(static_cast<double>(m)))
                 .to(type));
    if (options.head == Head::batch_norm) {
      norm_ = register_module("norm", torch::nn::BatchNorm1d(m));
      norm_->to(solver_->options().device, solver_->options().dtype);
    }
  }

  torch::Tensor scores(const torch::Tensor& index) override {
    switch (options_.head) {
      case Head::plain:
        return rows(index).plain().mm(B_.t());
      case Head::l2: {
        // The row's exponent drops out, and there is no floor: a far node's 1e-300 is as good a direction as
        // any.
        return dropout(normalised(rows(index).values), options_.dropout).mm(B_.t());
      }
      case Head::batch_norm:
        return dropout(norm_(rows({}).plain()).index_select(0, index), options_.dropout).mm(B_.t());
    }
    return {};
  }

  torch::Tensor propagation_weight() const override { return F_; }
  std::vector<torch::Tensor> memory() const override { return solver_->memory(); }
  void restore(const std::vector<torch::Tensor>& memory) override {
    solver_->restore(memory);
    solved_ = nullptr;
  }
  const char* solver_name() const override { return solver_->name(); }
  double preprocess_seconds() const override { return solver_->preprocess_seconds(); }
  double solve_seconds() const override { return solved_ ? solved_->seconds : 0; }

 private:
  // Z depends on F and X alone: the evaluation after a step and the next training step share one solve.
  ScaledRows rows(const torch::Tensor& index) {
    if (!solved_ || solved_version_ != F_._version()) {
      const torch::NoGradGuard guard;
      solved_ = nullptr;  // gives its buffers back before the next solve asks for some
      solved_ = solver_->solve(F_, X_);
      solved_version_ = F_._version();
    }
    return equilibrium(*solver_, F_, X_, index, solved_);
  }

  // z/‖z‖ by rows, brought near 1 first so that squares cannot underflow. A row of zeros (a node that no
  // signal can reach) stays zero.
  static torch::Tensor normalised(const torch::Tensor& z) {
    const auto or_one = [](const torch::Tensor& t) { return torch::where(t > 0, t, torch::ones_like(t)); };
    const auto near_one = z / or_one(z.detach().abs().amax(1, true));
    return near_one / or_one(near_one.norm(2, 1, true));
  }

  std::unique_ptr<Solver> solver_;
  EignnOptions options_;
  torch::Tensor X_, F_, B_;
  torch::nn::BatchNorm1d norm_{nullptr};
  std::shared_ptr<const Equilibrium> solved_;
  int64_t solved_version_ = -1;
};

template <class Enum>
Enum parse(const std::string& text, const char* what, const char* flag, const std::vector<Enum>& known) {
  std::vector<std::string> names;
  for (Enum value : known) {
    if (text == name(value)) return value;
    names.emplace_back(name(value));
  }
  throw UsageError(unknown_name(what, flag, text, names));
}

}  // namespace

Model::Model() : dropout_generator_(at::detail::createCPUGenerator(0)) {}

torch::Tensor Model::dropout(const torch::Tensor& x, double p) {
  if (!is_training() || p == 0) return x;
  const auto keep =
      torch::empty(x.sizes(), x.options().device(torch::kCPU)).bernoulli_(1 - p, dropout_generator_);
  return x * (keep / (1 - p)).to(x.device());
}

Head parse_head(const std::string& text) {
  return parse<Head>(text, "head", "--head", {Head::plain, Head::l2, Head::batch_norm});
}

Start parse_start(const std::string& text) {
  return parse<Start>(text, "start of F", "--start", {Start::xavier, Start::orthogonal});
}

const char* name(Head head) {
  return head == Head::plain ? "plain" : head == Head::l2 ? "l2" : "batch-norm";
}

const char* name(Start start) {
  return start == Start::xavier ? "xavier" : "orthogonal";
}

std::shared_ptr<Model> make_eignn(std::unique_ptr<Solver> solver, const torch::Tensor& X, int64_t classes,
                                  const EignnOptions& options, uint64_t seed) {
  return std::make_shared<Eignn>(std::move(solver), X, classes, options, seed);
}

}  // namespace eignn
