#include "train/target_scale.h"

#include <torch/torch.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "eignn/error.h"

namespace eignn {

namespace {

torch::Tensor row_of(const std::vector<double>& values, const torch::Tensor& like) {
  return torch::tensor(values, torch::kFloat64).to(like.options());
}

std::vector<double> numbers(const torch::Tensor& row) {
  const auto values = row.to(torch::kCPU, torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

}  // namespace

TargetScale TargetScale::fit(const torch::Tensor& labels, const torch::Tensor& training) {
  const auto known = labels.to(torch::kCPU, torch::kFloat64).index_select(0, training.to(torch::kCPU));
  TargetScale out;
  out.mean = numbers(known.mean(0));
  out.scale = numbers(known.std(0, /*unbiased=*/false));
  // A constant target keeps a round-off of deviation, which must not become the unit.
  for (size_t k = 0; k < out.scale.size(); ++k)
    if (!(out.scale[k] > 1e-12 * std::abs(out.mean[k]))) out.scale[k] = 1;
  return out;
}

torch::Tensor TargetScale::standardised(const torch::Tensor& raw) const {
  return empty() ? raw : (raw - row_of(mean, raw)) / row_of(scale, raw);
}

torch::Tensor TargetScale::raw(const torch::Tensor& standardised) const {
  return empty() ? standardised : standardised * row_of(scale, standardised) + row_of(mean, standardised);
}

std::string TargetScale::to_json() const {
  return nlohmann::json{{"mean", mean}, {"scale", scale}}.dump();
}

TargetScale TargetScale::from_json(const std::string& text, const std::string& where) {
  TargetScale out;
  bool holds = false;
  try {
    const auto json = nlohmann::json::parse(text);
    json.at("mean").get_to(out.mean);
    json.at("scale").get_to(out.scale);
    holds = out.mean.size() == out.scale.size();
    for (size_t k = 0; holds && k < out.mean.size(); ++k)
      holds = std::isfinite(out.mean[k]) && std::isfinite(out.scale[k]) && out.scale[k] > 0;
  } catch (const nlohmann::json::exception&) {
    holds = false;
  }
  if (!holds)
    throw DataError(where, "target", "the scale of the targets is damaged", "train again, or take a copy");
  return out;
}

}  // namespace eignn
