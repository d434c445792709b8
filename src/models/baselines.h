// The baselines by name; each file opens with its paper and its equation.
#pragma once

#include <memory>

#include "eignn/model.h"

namespace eignn {

struct BaselineInputs;

std::shared_ptr<Model> make_mlp(const BaselineInputs& inputs);
std::shared_ptr<Model> make_gcn(const BaselineInputs& inputs);
std::shared_ptr<Model> make_sgc(const BaselineInputs& inputs);
std::shared_ptr<Model> make_gat(const BaselineInputs& inputs);
std::shared_ptr<Model> make_jknet(const BaselineInputs& inputs);
std::shared_ptr<Model> make_appnp(const BaselineInputs& inputs);
std::shared_ptr<Model> make_ppnp(const BaselineInputs& inputs);
std::shared_ptr<Model> make_gcnii(const BaselineInputs& inputs);
std::shared_ptr<Model> make_h2gcn(const BaselineInputs& inputs);
std::shared_ptr<Model> make_geom_gcn(const BaselineInputs& inputs);
std::shared_ptr<Model> make_graphsage(const BaselineInputs& inputs);
std::shared_ptr<Model> make_sse(const BaselineInputs& inputs);
std::shared_ptr<Model> make_ignn(const BaselineInputs& inputs);
std::shared_ptr<Model> make_ignn_finite(const BaselineInputs& inputs);

}  // namespace eignn
