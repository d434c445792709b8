#include "models/encoder.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

// A bag of words: two entries of fourteen in a row.
torch::Tensor words() {
  auto X = torch::zeros({20, 14}, torch::kFloat64);
  for (int64_t v = 0; v < 20; ++v) {
    X[v][v % 14] = 1.0 + static_cast<double>(v);
    X[v][(5 * v + 3) % 14] = 0.5;
  }
  return X;
}

TEST(Encoder, ValuesAndGradientsAreThoseOfTheDenseFormula) {
  for (const Activation activation : {Activation::none, Activation::relu})
    for (const auto& X : {words(), random_matrix(20, 14, 3)}) {
      const auto W = random_matrix(6, 14, 4).requires_grad_(), b = random_matrix(1, 6, 5)[0].requires_grad_();
      const auto G = random_matrix(20, 6, 6);
      auto expected = torch::addmm(b, X, W.t());
      if (activation == Activation::relu) expected = torch::relu(expected);
      const auto gradients = torch::autograd::grad({(expected * G).sum()}, {W, b});
      const Encoder encoder(W, b, activation);
      Encoder::Kept kept;
      const auto sparse = X.to_sparse().coalesce();
      Encoder::Kept kept_sparse;
      for (const auto& H : {encoder(X), encoder(X, kept), encoder(sparse), encoder(sparse, kept_sparse)}) {
        EXPECT_LE(relative_error(H, expected), 1e-14);
        const auto found = torch::autograd::grad({(H * G).sum()}, {W, b});
        EXPECT_LE(relative_error(found[0], gradients[0]), 1e-13);
        EXPECT_LE(relative_error(found[1], gradients[1]), 1e-13);
      }
    }
}

TEST(Encoder, KeepsItsOutputUntilAWeightChanges) {
  const auto W = random_matrix(6, 14, 4).requires_grad_(), b = random_matrix(1, 6, 5)[0].requires_grad_();
  const Encoder encoder(W, b, Activation::none);
  const auto X = words();
  Encoder::Kept kept;
  torch::Tensor evaluated;
  {
    const torch::NoGradGuard guard;
    evaluated = encoder(X, kept);
  }
  EXPECT_EQ(encoder(X, kept).data_ptr(), evaluated.data_ptr());
  for (const auto& weight : {W, b}) {
    const auto before = encoder(X, kept).detach().clone();
    {
      const torch::NoGradGuard guard;
      weight.add_(1);
    }
    EXPECT_GT((encoder(X, kept) - before).abs().max().item<double>(), 0.5);
  }
}

TEST(Encoder, OtherFeaturesAreEncodedAnew) {
  const Encoder encoder(random_matrix(6, 14, 4), random_matrix(1, 6, 5)[0], Activation::none);
  Encoder::Kept kept;
  const auto X = words(), Y = random_matrix(20, 14, 8);
  encoder(X, kept);
  EXPECT_LE(relative_error(encoder(Y, kept), encoder(Y)), 1e-14);
}

TEST(Encoder, FeaturesThatNeedAGradientHaveIt) {
  const auto W = random_matrix(6, 14, 4), b = random_matrix(1, 6, 5)[0];
  const auto X = words().requires_grad_();
  Encoder::Kept kept;
  Encoder(W, b, Activation::none)(X, kept).sum().backward();
  EXPECT_LE(relative_error(X.grad(), W.sum(0).unsqueeze(0).expand_as(X)), 1e-14);
}

TEST(Encoder, WithoutWeightsTheFeaturesPass) {
  const auto X = words();
  Encoder::Kept kept;
  EXPECT_TRUE(torch::equal(Encoder()(X), X));
  EXPECT_TRUE(torch::equal(Encoder()(X, kept), X));
}

}  // namespace
}  // namespace eignn
