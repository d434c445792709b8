// The baselines by name; each file opens with its paper and its equation.
#pragma once

#include <memory>

#include "eignn/model.h"

namespace eignn {

struct BaselineInputs;

std::shared_ptr<Model> make_mlp(const BaselineInputs& inputs, const MlpOptions& options);
std::shared_ptr<Model> make_gcn(const BaselineInputs& inputs, const GcnOptions& options);
std::shared_ptr<Model> make_sgc(const BaselineInputs& inputs, const SgcOptions& options);
std::shared_ptr<Model> make_gat(const BaselineInputs& inputs, const GatOptions& options);
std::shared_ptr<Model> make_jknet(const BaselineInputs& inputs, const JknetOptions& options);
std::shared_ptr<Model> make_appnp(const BaselineInputs& inputs, const AppnpOptions& options);
std::shared_ptr<Model> make_ppnp(const BaselineInputs& inputs, const PpnpOptions& options);
std::shared_ptr<Model> make_gcnii(const BaselineInputs& inputs, const GcniiOptions& options);
std::shared_ptr<Model> make_h2gcn(const BaselineInputs& inputs, const H2gcnOptions& options);
std::shared_ptr<Model> make_geom_gcn(const BaselineInputs& inputs, const GeomGcnOptions& options);
std::shared_ptr<Model> make_graphsage(const BaselineInputs& inputs, const GraphsageOptions& options);
std::shared_ptr<Model> make_sse(const BaselineInputs& inputs, const SseOptions& options);
std::shared_ptr<Model> make_ignn(const BaselineInputs& inputs, const IgnnOptions& options);
std::shared_ptr<Model> make_ignn_finite(const BaselineInputs& inputs, const IgnnFiniteOptions& options);

}  // namespace eignn
