// The series for (I - γλ g)⁻¹ and the chain that sums it, against dense inverses and finite differences.
#include "equilibrium/chebyshev.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "equilibrium/contraction.h"
#include "support/oracle.h"

namespace eignn {
namespace {

torch::Tensor random(at::IntArrayRef size, uint64_t seed) {
  return torch::randn(size, at::detail::createCPUGenerator(seed), torch::kFloat64);
}

// A batch of g(F).
torch::Tensor contractions(const torch::Tensor& F) {
  const auto gram = F.transpose(1, 2).bmm(F);
  return gram / gram.square().sum({1, 2}, true).sqrt();
}

torch::Tensor twice_argument(const torch::Tensor& g) {
  return 2 * (2 * g - torch::eye(g.size(1), g.options()));
}

TEST(Chebyshev, SumsToTheResolventWithinItsPromise) {
  const auto mu = torch::linspace(0, 1, 101, torch::kFloat64);
  const auto lambda = torch::tensor({-1.0, -0.3, 0.0, 0.5, 1.0}, torch::kFloat64);
  for (const double gamma : {0.3, 0.8, 0.95}) {
    for (const double tolerance : {1e-3, 1e-12}) {
      const int64_t terms = chebyshev_terms(gamma, tolerance);
      const auto alpha = chebyshev_coefficients(lambda, gamma, terms);
      const auto angle = torch::acos((2 * mu - 1).clamp(-1, 1));
      const auto T = torch::cos(torch::arange(terms, torch::kFloat64).unsqueeze(1) * angle.unsqueeze(0));
      const auto sum = alpha.mm(T), exact = 1 / (1 - gamma * lambda.unsqueeze(1) * mu.unsqueeze(0));
      EXPECT_LE((sum - exact).abs().max().item<double>(), tolerance + 1e-13) << gamma;
      // One term less would not do: the promise is no waste either.
      const auto shorter = chebyshev_coefficients(lambda, gamma, terms - 1).mm(T.narrow(0, 0, terms - 1));
      EXPECT_GT((shorter - exact).abs().max().item<double>(), tolerance / 3) << gamma;
    }
  }
}

TEST(Chebyshev, TheSumOfAnEmptySpectrumIsEmpty) {
  // An S without entries has no eigenvalue but zero.
  const int64_t terms = 4, b = 2, k = 3, m = 5;
  const auto X_hat = torch::empty({0, m}, torch::kFloat64), alpha = torch::empty({0, terms}, torch::kFloat64);
  EXPECT_EQ(chebyshev_sum(X_hat, alpha, random({terms, b, k, m}, 1)).sizes(), (at::IntArrayRef{0, b * k}));
  const auto pulled = pull_chebyshev_sum(X_hat, alpha, torch::empty({0, b * k}, torch::kFloat64));
  EXPECT_EQ(pulled.sizes(), (at::IntArrayRef{terms, b * k, m}));
  EXPECT_EQ(pulled.abs().sum().item<double>(), 0);
}

TEST(Chebyshev, ChainIsTheSeriesOfTheMatrix) {
  const int64_t b = 3, k = 2, m = 6;
  const double gamma = 0.8;
  const auto g = contractions(random({b, m, m}, 1)), P0 = random({b, k, m}, 2);
  const auto lambda = torch::tensor({0.7}, torch::kFloat64);
  const int64_t terms = chebyshev_terms(gamma, 1e-14);
  ChebyshevChain chain(terms, b, k, m, torch::kFloat64);
  chain.run(P0, twice_argument(g));
  const auto alpha = chebyshev_coefficients(lambda, gamma, terms).view({terms, 1, 1, 1});
  const auto expected = P0.bmm(torch::inverse(torch::eye(m, torch::kFloat64) - gamma * 0.7 * g));
  EXPECT_LE(((alpha * chain.P).sum(0) - expected).abs().max().item<double>(), 1e-12);
}

TEST(Chebyshev, AnArgumentThatIsNotFormedIsTheSame) {
  const int64_t terms = 6, k = 2, m = 7;
  const auto gram = 3 * contractions(random({1, m, m}, 4)), P0 = random({1, k, m}, 5);
  const auto scale = torch::tensor(0.3, torch::kFloat64), weight = random({terms, 1, k, m}, 6);
  const auto outcome = [&](const TwiceArgument& argument) {
    ChebyshevChain chain(terms, 1, k, m, torch::kFloat64);
    chain.run(P0, argument);
    const auto pulled = chain.pull(weight.clone(), argument);
    return std::vector<torch::Tensor>{chain.P, pulled.P0, pulled.g()};
  };
  const auto formed = outcome(twice_argument_of(gram, scale)), plain = outcome({gram[0], scale});
  for (size_t part = 0; part < formed.size(); ++part)
    EXPECT_LE(test::relative_error(plain[part], formed[part]), 1e-13) << part;
}

TEST(Chebyshev, PullsBackWhatFiniteDifferencesSay) {
  const int64_t b = 2, k = 2, m = 4, terms = 7;
  const auto g = contractions(random({b, m, m}, 3)), P0 = random({b, k, m}, 4);
  const auto weight = random({terms, b, k, m}, 5);
  const auto loss = [&](const torch::Tensor& start, const torch::Tensor& at) {
    ChebyshevChain chain(terms, b, k, m, torch::kFloat64);
    chain.run(start, twice_argument(at));
    return (weight * chain.P).sum().item<double>();
  };
  ChebyshevChain chain(terms, b, k, m, torch::kFloat64);
  chain.run(P0, twice_argument(g));
  const auto pulled = chain.pull(weight.clone(), twice_argument(g));
  const double h = 1e-6;
  for (const auto& [what, gradient] : {std::pair(g, pulled.g()), std::pair(P0, pulled.P0)})
    for (int64_t entry = 0; entry < what.numel(); ++entry) {
      auto step = torch::zeros_like(what);
      step.view({-1})[entry] = h;
      const bool of_g = what.is_same(g);
      const double difference =
          of_g ? loss(P0, g + step) - loss(P0, g - step) : loss(P0 + step, g) - loss(P0 - step, g);
      const double exact = gradient.reshape({-1})[entry].item<double>();
      EXPECT_NEAR(difference / (2 * h), exact, 1e-6 * (1 + std::abs(exact)))
          << (of_g ? "g " : "P0 ") << entry;
    }
}

TEST(Chebyshev, AGpuRunsTheChainOfTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  struct Case {
    int64_t terms, b, k, m;
  };
  const std::vector<Case> cases = {{9, 3, 2, 1},   {9, 3, 2, 6},    {9, 3, 2, 100},
                                   {9, 3, 2, 128},  // a block to a row
                                   {9, 1, 1, 129}, {9, 1, 5, 300},  {3, 1, 8, 131},
                                   {2, 1, 5, 129}, {17, 1, 3, 700},  // all blocks on a term
                                   {9, 3, 2, 129}, {9, 1, 9, 129}};  // operation by operation
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const auto& [terms, b, k, m] : cases) {
      const auto argument = twice_argument(contractions(random({b, m, m}, 1))).to(dtype);
      const auto P0 = random({b, k, m}, 2).to(dtype), weight = random({terms, b, k, m}, 3).to(dtype);
      const auto outcome = [&, terms = terms, b = b, k = k, m = m](torch::Device device) {
        ChebyshevChain chain(terms, b, k, m, torch::dtype(dtype).device(device));
        chain.run(P0.to(device), argument.to(device));
        const auto pulled = chain.pull(weight.clone().to(device), argument.to(device));
        return std::vector<torch::Tensor>{chain.P.cpu(), pulled.P0.cpu(), pulled.g().cpu()};
      };
      const auto cpu = outcome(torch::kCPU), gpu = outcome(torch::kCUDA);
      const double tolerance = dtype == torch::kFloat32 ? 1e-4 : 1e-12;
      for (size_t part = 0; part < cpu.size(); ++part)
        EXPECT_LE((cpu[part] - gpu[part]).norm().item<double>(), tolerance * cpu[part].norm().item<double>())
            << terms << " terms, " << k << "×" << m << ", " << part;
    }
}

TEST(Chebyshev, BatchOfContractionsPullsBackAsEachAlone) {
  const int64_t b = 3, m = 5;
  const double gamma = 0.8, epsilon = 1e-3;  // large, so that its place in the formula shows
  auto F = random({b, m, m}, 6);
  F[2].zero_();  // ∇F = 0 there
  const auto R = random({b, m, m}, 7);
  const auto gram = F.transpose(1, 2).bmm(F), nu = gram.square().sum({1, 2}, true).sqrt();
  const auto one_by_one = pull_contractions(F, gram, nu, epsilon, gamma * R),
             together = pull_contractions_batched(F, gram, nu, epsilon, gamma * R);
  for (int64_t k = 0; k < b; ++k) {
    const auto alone = Contraction(F[k], gamma, epsilon).pullback(R[k].clone());
    EXPECT_LE((one_by_one[k] - alone).abs().max().item<double>(), 1e-13) << k;
    EXPECT_LE((together[k] - alone).abs().max().item<double>(), 1e-13) << k;
  }
}

}  // namespace
}  // namespace eignn
