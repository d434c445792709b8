#include "train/run_batch.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <numeric>
#include <set>

#include "eignn/error.h"
#include "equilibrium/chebyshev.h"
#include "equilibrium/contraction.h"
#include "equilibrium/range_of_s.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tolerance.h"
#include "graph/random_stream.h"
#include "models/dropout_mask.h"
#include "train/adam.h"
#include "train/config.h"
#include "train/plan_request.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// A recorded epoch reads and writes the same memory every time.
void put(torch::Tensor& slot, const torch::Tensor& value) {
  if (slot.defined() && slot.sizes() == value.sizes())
    slot.copy_(value);
  else
    slot = value.clone();
}

// Adam's two powers and what follows from them, on the device.
struct AdamClock {
  torch::Tensor power1, power2;  // β₁^t, β₂^t
  torch::Tensor schedule;        // the factor of all rates
  torch::Tensor rate, floor;     // √(1-β₂^t) / (1-β₁^t) of a rate; ε √(1-β₂^t)

  explicit AdamClock(torch::Device device)
      : power1(torch::ones({}, torch::dtype(torch::kFloat64).device(device))),
        power2(torch::ones_like(power1)),
        schedule(torch::ones_like(power1)) {}

  void tick() {
    power1.mul_(AdamConstants::beta1);
    power2.mul_(AdamConstants::beta2);
    const auto root = (1 - power2).sqrt();
    rate = schedule * root / (1 - power1);
    floor = root * AdamConstants::epsilon;
  }
};

// Adam with a rate and a decay per run.
struct BatchedAdam {
  torch::Tensor rate, decay;    // (b, 1, 1)
  torch::Tensor first, second;  // moments, as the parameter

  void step(torch::Tensor& parameter, const torch::Tensor& gradient, const AdamClock& clock) {
    constexpr double beta1 = AdamConstants::beta1, beta2 = AdamConstants::beta2;
    const auto g = torch::addcmul(gradient, decay, parameter);
    first.lerp_(g, 1 - beta1);
    second.mul_(beta2).addcmul_(g, g, 1 - beta2);
    const auto length = second.sqrt().add_(clock.floor);
    parameter.addcmul_(torch::div(first, length), rate * clock.rate, -1);
  }

  void keep(const torch::Tensor& places) {
    for (torch::Tensor* t : {&rate, &decay, &first, &second}) *t = t->index_select(0, places);
  }
};

constexpr int64_t most_terms = 200;
constexpr int64_t most_live_features = 64;  // l2: a chain of more rows is not thin any more

[[noreturn]] void refuse(const std::string& why) {
  throw UsageError(fmt::format("{} (--batch-runs); train the runs one by one", why));
}

void require_alike(const std::vector<TrainConfig>& configs) {
  const auto& own = settings_of_a_run();
  auto shared = to_strings(configs.at(0));
  for (const TrainConfig& config : configs)
    for (const auto& [name, value] : to_strings(config))
      if (!own.count(name) && shared.at(name) != value)
        refuse(fmt::format("runs in a batch share --{}, and {} is not {}", name, value, shared.at(name)));
}

void require_possible(const TrainConfig& c, const Dataset& dataset) {
  if (c.model != "eignn") refuse("a batch knows one model, eignn, and not " + c.model);
  if (c.clip > 0) refuse("a batch does not clip gradients");
  if (c.solver != "auto" && c.solver != "krylov" && c.solver != "spectral")
    refuse(fmt::format("a batch is solved by a series, and not by --solver {}", c.solver));
  if (c.tf32 == "on") refuse("a batch computes in full precision, not in --tf32");
  if (c.head != "plain" && c.head != "l2") refuse("a batch knows the heads plain and l2, not " + c.head);
  if (c.encoder > 0 || c.equilibria > 1) refuse("a batch has no encoder and one equilibrium");
  if (dataset.graphs() > 1 || dataset.multi_label()) refuse("a batch is of one graph with one label a node");
  if (c.gamma >= 1 || chebyshev_terms(c.gamma, backward_tolerance(solver_options(c))) > most_terms)
    refuse(fmt::format("the series for gamma {} has no end in sight", c.gamma));
}

// S, where a batch can do what the configuration asks for.
Propagation propagation_of_a_batch(const TrainConfig& config, const Dataset& dataset) {
  require_possible(config, dataset);
  Propagation S = make_propagation(dataset, config);
  if (!S.symmetric) refuse("a batch needs a symmetric S");
  return S;
}

}  // namespace

const std::set<std::string>& settings_of_a_run() {
  static const std::set<std::string> names = {"split",          "seed",         "lr",
                                              "lr-propagation", "weight-decay", "weight-decay-propagation"};
  return names;
}

void require_batchable(const TrainConfig& config, const Dataset& dataset) {
  propagation_of_a_batch(config, dataset);
  if (config.solver != "auto") return;
  const auto graphs = graph_matrices(dataset, config);
  if (const Plan plan = plan_solver(plan_request(graphs, dataset, config)); plan.out_of_reach)
    throw UsageError(
        fmt::format("a batch is right to the largest entry alone, and this graph calls for direct: {} "
                    "(--batch-runs); train the runs one by one, or say --solver krylov",
                    plan.reason));
}

// What the runs have in common.
struct RunBatch::Shared {
  TrainConfig config;
  torch::TensorOptions type;
  std::unique_ptr<RangeOfS> range;
  torch::Tensor X;      // (n, m)
  torch::Tensor alpha;  // (r, terms)
  torch::Tensor label;  // (n, 1)

  int64_t terms() const { return alpha.size(1); }
};

// What each has of its own, b of them.
struct RunBatch::Runs {
  torch::Tensor F, B;  // (b, m, m), (b, classes, m)
  BatchedAdam adam_F, adam_B;
  torch::Tensor share;                   // (n, b, 1): 1/|train| at training nodes, 0 elsewhere
  torch::Tensor train_truth, val_truth;  // (n, b, classes): the truth, so weighted; with 1/|val|
  torch::Tensor is_val;                  // (n, b): 1 at validation nodes
  std::vector<double> val_count;
  torch::Tensor gram, nu, twice_argument;  // FᵀF, its norm (b, 1, 1), and 2(2g - I)
  torch::Tensor scores;                    // (n, b, classes), of the weights as they are
  torch::Tensor report;                    // (3, b): training loss, validation loss, right ones
  std::unique_ptr<AdamClock> clock;
  std::unique_ptr<ChebyshevChain> chain;
  uint64_t dropout_seed = 0;
};

// From a chain to scores and back.
class RunBatch::Outputs {
 public:
  virtual ~Outputs() = default;
  virtual torch::Tensor start(const torch::Tensor& B) const = 0;  // P_0 (b, k, m)
  virtual bool starts_at_B() const = 0;
  /// (n, b, classes) of the chain P (terms, b, k, m).
  virtual torch::Tensor scores(const torch::Tensor& P, const torch::Tensor& B) = 0;
  /// The same under dropout.
  virtual torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor& B) = 0;
  struct Pulled {
    torch::Tensor P, B;
  };
  /// For the cotangent of the last training scores.
  virtual Pulled pull(const torch::Tensor& cotangent, const torch::Tensor& B) const = 0;
  virtual void seed_dropout(uint64_t) {}
};

// f = X_rest Bᵀ + Q Σ_p α_p(Λ) X̂ P_pᵀ with P_p = B T_p
class RunBatch::PlainOutputs : public Outputs {
 public:
  explicit PlainOutputs(const Shared& shared)
      : shared_(shared), X_hat_(shared.range->to_spectral(shared.X, {})) {
    if (shared.range->lambda.size(0) < shared.range->nodes) X_rest_ = shared.range->rest_of(shared.X, X_hat_);
  }

  torch::Tensor start(const torch::Tensor& B) const override { return B; }
  bool starts_at_B() const override { return true; }

  torch::Tensor scores(const torch::Tensor& P, const torch::Tensor& B) override {
    auto f = shared_.range->to_nodes(chebyshev_sum(X_hat_, shared_.alpha, P), {});
    if (X_rest_.defined()) f = torch::addmm(f, X_rest_, B.flatten(0, 1).t());
    return f.view({-1, B.size(0), B.size(1)});
  }
  torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor&) override { return scores; }

  Pulled pull(const torch::Tensor& cotangent, const torch::Tensor& B) const override {
    const auto flat = cotangent.flatten(1);
    const auto P_bar = pull_chebyshev_sum(X_hat_, shared_.alpha, shared_.range->to_spectral(flat, {}));
    const auto B_bar = X_rest_.defined() ? flat.t().mm(X_rest_).view(B.sizes()) : torch::zeros_like(B);
    return {P_bar.view({shared_.terms(), B.size(0), B.size(1), B.size(2)}), B_bar};
  }

 private:
  const Shared& shared_;
  torch::Tensor X_hat_, X_rest_;
};

// z = Σ_p N_p P_p with N_p = α_p(S) U, then z/‖z‖, dropout, B.
class RunBatch::NormalisedOutputs : public Outputs {
 public:
  explicit NormalisedOutputs(const Shared& shared)
      : dropout_(shared.config.dropout), generator_(at::detail::createCPUGenerator(0)) {
    const auto live = shared.X.ne(0).any(0).nonzero().squeeze(1);
    if (live.size(0) > most_live_features || live.size(0) == 0)
      refuse(fmt::format("the l2 head is for 1 to {} features that are not zero everywhere, and there are {}",
                         most_live_features, live.size(0)));
    E_ = torch::eye(shared.X.size(1), shared.type).index_select(0, live);
    const auto U = shared.X.index_select(1, live), U_hat = shared.range->to_spectral(U, {});
    std::vector<torch::Tensor> N;
    for (int64_t p = 0; p < shared.terms(); ++p)
      N.push_back(shared.range->to_nodes(shared.alpha.narrow(1, p, 1) * U_hat, {}));
    N[0] = N[0] + shared.range->rest_of(U, U_hat);  // λ = 0 there: α_0 = 1, the others 0
    N_ = torch::cat(N, 1);
  }

  torch::Tensor start(const torch::Tensor& B) const override {
    return E_.unsqueeze(0).expand({B.size(0), E_.size(0), E_.size(1)});
  }
  bool starts_at_B() const override { return false; }

  torch::Tensor scores(const torch::Tensor& P, const torch::Tensor& B) override {
    const int64_t terms = P.size(0), b = P.size(1), k = P.size(2), m = P.size(3);
    const auto z = torch::matmul(N_, P.transpose(0, 1).reshape({b, terms * k, m}));
    // A row below the smallest square is lost, as it is to rounding: the series is right to the largest row.
    const auto length = z.norm(2, 2, /*keepdim=*/true);
    put(over_length_, length.reciprocal().masked_fill_(length == 0, 0));
    put(direction_, z * over_length_);
    return scores_of(direction_, B);
  }

  torch::Tensor training_scores(const torch::Tensor& scores, const torch::Tensor& B) override {
    if (dropout_ == 0) return scores;
    mask_ = dropout_mask(direction_.sizes(), direction_.options(), dropout_, generator_);
    return scores_of(direction_ * mask_, B);
  }

  Pulled pull(const torch::Tensor& cotangent, const torch::Tensor& B) const override {
    const auto dropped = [&](const torch::Tensor& t) { return dropout_ == 0 ? t : t * mask_; };
    const auto by_run = cotangent.transpose(0, 1);  // (b, n, c)
    const auto u_bar = dropped(by_run.bmm(B));
    const auto along = (direction_ * u_bar).sum(2, true);
    const auto z_bar = torch::addcmul(u_bar, along, direction_, -1) * over_length_;
    const int64_t b = B.size(0), k = E_.size(0), m = B.size(2);
    const auto P_bar = torch::matmul(N_.t(), z_bar).view({b, -1, k, m}).transpose(0, 1).contiguous();
    return {P_bar, by_run.transpose(1, 2).bmm(dropped(direction_))};
  }

  void seed_dropout(uint64_t seed) override {
    generator_.set_current_seed(seed);
    if (direction_.is_cuda()) torch::cuda::manual_seed(seed);
  }

 private:
  static torch::Tensor scores_of(const torch::Tensor& u, const torch::Tensor& B) {
    return u.bmm(B.transpose(1, 2)).transpose(0, 1);
  }

  double dropout_;
  at::Generator generator_;
  torch::Tensor E_, N_;                    // (k, m); (n, terms·k)
  torch::Tensor direction_, over_length_;  // z/‖z‖ and 1/‖z‖: (b, n, m), (b, n, 1)
  torch::Tensor mask_;
};

RunBatch::RunBatch(const std::vector<TrainConfig>& configs, const Dataset& dataset, SpectrumStore* store) {
  const torch::NoGradGuard guard;
  require_alike(configs);
  const TrainConfig& c = configs[0];
  const Propagation S = propagation_of_a_batch(c, dataset);
  SolverOptions options = solver_options(c);
  options.store = store;
  const double tolerance = backward_tolerance(options);

  const Stopwatch watch;
  shared_ = std::make_unique<Shared>();
  shared_->config = c;
  shared_->type = torch::dtype(options.dtype).device(options.device);
  shared_->range = std::make_unique<RangeOfS>(S, options, tolerance / 2);
  shared_->X = dataset.features.to(shared_->type);
  shared_->alpha =
      chebyshev_coefficients(shared_->range->lambda, c.gamma, chebyshev_terms(c.gamma, tolerance));
  if (c.head == "plain")
    outputs_ = std::make_unique<PlainOutputs>(*shared_);
  else
    outputs_ = std::make_unique<NormalisedOutputs>(*shared_);
  preprocess_seconds_ = watch.seconds();

  const int64_t n = dataset.nodes(), b = static_cast<int64_t>(configs.size());
  const auto known = dataset.labels.clamp_min(0);
  auto truth = torch::one_hot(known, dataset.classes).to(torch::kFloat64);
  truth.masked_fill_(dataset.labels.lt(0).unsqueeze(1), 0);
  shared_->label = dataset.labels.unsqueeze(1).to(options.device);

  runs_ = std::make_unique<Runs>();
  Runs& r = *runs_;
  std::vector<torch::Tensor> F, B;
  std::map<uint64_t, std::map<std::string, torch::Tensor>> starts;
  auto share = torch::zeros({n, b}, torch::kFloat64), is_val = torch::zeros_like(share),
       val_share = torch::zeros_like(share);
  const auto per_run = [&](auto value) {
    std::vector<double> values;
    for (const TrainConfig& config : configs) values.push_back(value(config));
    return torch::tensor(values, torch::kFloat64).to(shared_->type).view({b, 1, 1});
  };
  for (int64_t k = 0; k < b; ++k) {
    const Split& split = dataset.splits.at(split_number(configs[k], dataset));
    share.select(1, k).index_fill_(0, split.train, 1 / static_cast<double>(split.train.numel()));
    const auto val_count = static_cast<double>(split.val.numel());
    is_val.select(1, k).index_fill_(0, split.val, 1);
    val_share.select(1, k).index_fill_(0, split.val, 1 / val_count);
    r.val_count.push_back(val_count);
    auto& start = starts[configs[k].seed];
    if (start.empty()) {
      const auto model = make_model(dataset, configs[k], store);
      for (const auto& parameter : model->named_parameters())
        start[parameter.key()] = parameter.value().detach();
    }
    F.push_back(start.at("F"));
    B.push_back(start.at("B"));
  }
  r.F = torch::stack(F).to(shared_->type);
  r.B = torch::stack(B).to(shared_->type);
  r.share = share.unsqueeze(2).to(shared_->type);
  r.is_val = is_val.to(shared_->type);
  r.train_truth = (share.unsqueeze(2) * truth.unsqueeze(1)).to(shared_->type);
  r.val_truth = (val_share.unsqueeze(2) * truth.unsqueeze(1)).to(shared_->type);
  r.adam_F = {per_run(rate_of_F), per_run(decay_of_F), torch::zeros_like(r.F), torch::zeros_like(r.F)};
  r.adam_B = {per_run([](const TrainConfig& x) { return x.lr; }),
              per_run([](const TrainConfig& x) { return x.weight_decay; }), torch::zeros_like(r.B),
              torch::zeros_like(r.B)};
  r.clock = std::make_unique<AdamClock>(options.device);
  r.dropout_seed = c.seed;
  keep([&] {
    std::vector<int64_t> all(b);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }());
}

RunBatch::~RunBatch() = default;

int64_t RunBatch::size() const {
  return runs_->F.size(0);
}

void RunBatch::keep(const std::vector<int64_t>& places) {
  const torch::NoGradGuard guard;
  Runs& r = *runs_;
  const auto kept = torch::tensor(places, torch::kInt64).to(r.F.device());
  captured_ = nullptr;
  for (torch::Tensor* t : {&r.F, &r.B}) *t = t->index_select(0, kept);
  for (torch::Tensor* t : {&r.share, &r.train_truth, &r.val_truth, &r.is_val}) *t = t->index_select(1, kept);
  std::vector<double> val_count;
  for (const int64_t place : places) val_count.push_back(r.val_count[place]);
  r.val_count = val_count;
  r.adam_F.keep(kept);
  r.adam_B.keep(kept);
  const int64_t b = r.F.size(0), m = r.F.size(1);
  for (torch::Tensor* t : {&r.gram, &r.nu, &r.twice_argument, &r.scores}) *t = torch::Tensor();
  r.report = torch::zeros({3, b}, shared_->type);
  r.chain = std::make_unique<ChebyshevChain>(shared_->terms(), b, outputs_->start(r.B).size(1), m,
                                             shared_->type, /*recorded=*/true);
  evaluate();
  captured_ = std::make_unique<Captured>([this] { work(); }, shared_->type.device());
}

void RunBatch::evaluate() {
  Runs& r = *runs_;
  put(r.gram, grams_of(r.F));
  // An infinite ν would make g = 0 and look like a solution: as NaN it reaches the loss, and is told.
  const auto nu = r.gram.flatten(1).norm(2, 1).view({-1, 1, 1});
  put(r.nu, nu.masked_fill(nu.isinf(), std::numeric_limits<double>::quiet_NaN()));
  put(r.twice_argument, twice_argument_of(r.gram, (r.nu + shared_->config.epsilon).reciprocal()));
  r.chain->run(outputs_->start(r.B), r.twice_argument);
  put(r.scores, outputs_->scores(r.chain->P, r.B));
}

void RunBatch::work() {
  Runs& r = *runs_;
  const auto sum_of_run = [](const torch::Tensor& t) { return t.sum(at::IntArrayRef({0, 2})); };
  const auto log_p = torch::log_softmax(outputs_->training_scores(r.scores, r.B), 2);
  const auto train_loss = sum_of_run(r.train_truth * log_p).neg();
  const auto pulled = outputs_->pull(torch::addcmul(-r.train_truth, r.share, log_p.exp()), r.B);
  const auto through = r.chain->pull(pulled.P, r.twice_argument);

  r.clock->tick();
  const auto grad_F = pull_contractions(r.F, r.gram, r.nu, shared_->config.epsilon, through.g());
  r.adam_F.step(r.F, grad_F, *r.clock);
  r.adam_B.step(r.B, outputs_->starts_at_B() ? pulled.B + through.P0 : pulled.B, *r.clock);

  evaluate();
  const auto val_loss = sum_of_run(r.val_truth * torch::log_softmax(r.scores, 2)).neg();
  const auto right = (r.is_val * r.scores.argmax(2).eq(shared_->label)).sum(0);
  torch::stack_out(r.report, {train_loss, val_loss, right});
}

std::vector<RunBatch::Report> RunBatch::epoch() {
  const torch::NoGradGuard guard;
  Runs& r = *runs_;
  const TrainConfig& c = shared_->config;
  outputs_->seed_dropout(stream_seed(r.dropout_seed, Stream::dropout, static_cast<uint64_t>(epoch_)));
  if (c.schedule != "constant") r.clock->schedule.fill_(schedule_factor(c, epoch_));
  (*captured_)();
  ++epoch_;
  const auto report = r.report.to(torch::kCPU).to(torch::kFloat64);
  const auto at = report.accessor<double, 2>();
  std::vector<Report> out;
  for (int64_t k = 0; k < size(); ++k)
    out.push_back({at[0][k], at[1][k], at[2][k] / r.val_count[k]});  // a count, divided as it is alone
  return out;
}

std::map<std::string, torch::Tensor> RunBatch::state(int64_t place) const {
  return {{"F", runs_->F[place].clone()}, {"B", runs_->B[place].clone()}};
}

}  // namespace eignn
