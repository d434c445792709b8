// Options of any model, by name.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "eignn/options.h"

namespace eignn::test {

/// Options that several models have, so that one test can go over all of them.
struct AnyOptions {
  Head head = Head::plain;
  double dropout = 0;
  int64_t hidden = 64, layers = 2, heads = 8, output_heads = 1, hops = 10;
  double alpha = 0.1, theta = 1, kappa = 0.9, tolerance = 3e-6;
  int64_t max_iterations = 300, implicit_layers = 1, samples = 25, samples_second = 10;
};

/// The model of that name with those of the options that it reads.
inline ModelOptions options_for(const std::string& model, const AnyOptions& any = {}) {
  const auto text = [](auto number) { return fmt::format("{}", number); };
  TrainConfig config;
  config.model = model_options(model);
  const auto read = to_strings(config);
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"head", name(any.head)},
                                          {"dropout", text(any.dropout)},
                                          {"hidden", text(any.hidden)},
                                          {"layers", text(any.layers)},
                                          {"heads", text(any.heads)},
                                          {"output-heads", text(any.output_heads)},
                                          {"hops", text(any.hops)},
                                          {"alpha", text(any.alpha)},
                                          {"theta", text(any.theta)},
                                          {"kappa", text(any.kappa)},
                                          {"tolerance", text(any.tolerance)},
                                          {"max-iterations", text(any.max_iterations)},
                                          {"implicit-layers", text(any.implicit_layers)},
                                          {"samples", text(any.samples)},
                                          {"samples-second", text(any.samples_second)}})
    if (read.count(name)) assign(config, name, value);
  return config.model;
}

}  // namespace eignn::test
