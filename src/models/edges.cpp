#include "models/edges.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/backward_state.h"

namespace eignn {

namespace {

// Calls work(v) for every node in parallel, with at least some thousands of numbers per thread.
template <class Work>
void for_each_node(const Edges& edges, int64_t numbers_per_arc, const Work& work) {
  const int64_t arcs_per_node = edges.sender.numel() / std::max<int64_t>(edges.nodes, 1) + 1;
  const int64_t grain = std::max<int64_t>(1, 8192 / (arcs_per_node * numbers_per_arc));
  at::parallel_for(0, edges.nodes, grain, [&](int64_t first, int64_t last) {
    for (int64_t v = first; v < last; ++v) work(v);
  });
}

const int64_t* ids(const torch::Tensor& t) {
  return t.data_ptr<int64_t>();
}

template <class T>
T leaky(T x, T slope) {
  return x > 0 ? x : slope * x;
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& from_,
                               const torch::Tensor& to_, double slope,
                               const BackwardStatePtr<Edges>& holder) {
    const Edges& edges = holder->value;
    const auto from = from_.contiguous(), to = to_.contiguous();
    const int64_t heads = from.size(1);
    auto alpha = torch::empty({edges.sender.numel(), heads}, from.options());
    AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "attention", [&] {
      const scalar_t *f = from.data_ptr<scalar_t>(), *t = to.data_ptr<scalar_t>();
      scalar_t* a = alpha.data_ptr<scalar_t>();
      const int64_t *begin = ids(edges.begin), *sender = ids(edges.sender);
      for_each_node(edges, heads, [&](int64_t j) {
        for (int64_t h = 0; h < heads; ++h) {
          scalar_t top = -std::numeric_limits<scalar_t>::infinity(), sum = 0;
          for (int64_t e = begin[j]; e < begin[j + 1]; ++e) {
            const scalar_t raw = f[sender[e] * heads + h] + t[j * heads + h];
            a[e * heads + h] = leaky(raw, static_cast<scalar_t>(slope));
            top = std::max(top, a[e * heads + h]);
          }
          for (int64_t e = begin[j]; e < begin[j + 1]; ++e)
            sum += a[e * heads + h] = std::exp(a[e * heads + h] - top);
          for (int64_t e = begin[j]; e < begin[j + 1]; ++e) a[e * heads + h] /= sum;
        }
      });
    });
    context->save_for_backward({from, to, alpha});
    save_for_backward(context, holder);
    context->saved_data["slope"] = slope;
    return alpha;
  }

  // With the raw score r of an arc:  ∂r = α (∂α - Σ_e α_e ∂α_e) · (r > 0 ? 1 : slope)
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Edges& edges = saved_for_backward<Edges>(context);
    const auto saved = context->get_saved_variables();
    const auto &from = saved[0], &to = saved[1], &alpha = saved[2];
    const double slope = context->saved_data["slope"].toDouble();
    const auto gradient = gradients[0].contiguous();
    const int64_t heads = from.size(1);
    auto raw = torch::empty_like(alpha), by_sender = torch::zeros_like(from),
         by_receiver = torch::zeros_like(to);
    AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "attention's gradient", [&] {
      const scalar_t *f = from.data_ptr<scalar_t>(), *t = to.data_ptr<scalar_t>(),
                     *a = alpha.data_ptr<scalar_t>(), *d = gradient.data_ptr<scalar_t>();
      scalar_t *r = raw.data_ptr<scalar_t>(), *df = by_sender.data_ptr<scalar_t>(),
               *dt = by_receiver.data_ptr<scalar_t>();
      const int64_t *begin = ids(edges.begin), *sender = ids(edges.sender);
      const int64_t *sent = ids(edges.sent_begin), *entry = ids(edges.sent_entry);
      for_each_node(edges, heads, [&](int64_t j) {
        for (int64_t h = 0; h < heads; ++h) {
          scalar_t mean = 0;
          for (int64_t e = begin[j]; e < begin[j + 1]; ++e) mean += a[e * heads + h] * d[e * heads + h];
          for (int64_t e = begin[j]; e < begin[j + 1]; ++e) {
            const bool above = f[sender[e] * heads + h] + t[j * heads + h] > 0;
            const scalar_t value =
                a[e * heads + h] * (d[e * heads + h] - mean) * (above ? 1 : static_cast<scalar_t>(slope));
            r[e * heads + h] = value;
            dt[j * heads + h] += value;
          }
        }
      });
      for_each_node(edges, heads, [&](int64_t i) {
        for (int64_t k = sent[i]; k < sent[i + 1]; ++k)
          for (int64_t h = 0; h < heads; ++h) df[i * heads + h] += r[entry[k] * heads + h];
      });
    });
    return {by_sender, by_receiver, torch::Tensor(), torch::Tensor()};
  }
};

class WeightedSumFunction : public torch::autograd::Function<WeightedSumFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& alpha_,
                               const torch::Tensor& Z_, const BackwardStatePtr<Edges>& holder) {
    const Edges& edges = holder->value;
    const auto alpha = alpha_.contiguous(), Z = Z_.contiguous();
    const int64_t heads = Z.size(1), width = Z.size(2);
    auto out = torch::zeros_like(Z);
    AT_DISPATCH_FLOATING_TYPES(Z.scalar_type(), "weighted sum", [&] {
      const scalar_t *a = alpha.data_ptr<scalar_t>(), *z = Z.data_ptr<scalar_t>();
      scalar_t* o = out.data_ptr<scalar_t>();
      const int64_t *begin = ids(edges.begin), *sender = ids(edges.sender);
      for_each_node(edges, heads * width, [&](int64_t j) {
        for (int64_t e = begin[j]; e < begin[j + 1]; ++e)
          for (int64_t h = 0; h < heads; ++h) {
            const scalar_t weight = a[e * heads + h];
            const scalar_t* from = z + (sender[e] * heads + h) * width;
            scalar_t* to = o + (j * heads + h) * width;
            for (int64_t c = 0; c < width; ++c) to[c] += weight * from[c];
          }
      });
    });
    context->save_for_backward({alpha, Z});
    save_for_backward(context, holder);
    context->saved_data["weights"] = alpha_.requires_grad();
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Edges& edges = saved_for_backward<Edges>(context);
    const auto saved = context->get_saved_variables();
    const auto &alpha = saved[0], &Z = saved[1];
    const bool weights = context->saved_data["weights"].toBool();
    const auto gradient = gradients[0].contiguous();
    const int64_t heads = Z.size(1), width = Z.size(2);
    auto d_alpha = weights ? torch::empty_like(alpha) : torch::Tensor();
    auto d_Z = torch::zeros_like(Z);
    AT_DISPATCH_FLOATING_TYPES(Z.scalar_type(), "weighted sum's gradient", [&] {
      const scalar_t *a = alpha.data_ptr<scalar_t>(), *z = Z.data_ptr<scalar_t>(),
                     *g = gradient.data_ptr<scalar_t>();
      const int64_t *sent = ids(edges.sent_begin), *entry = ids(edges.sent_entry),
                    *receiver = ids(edges.receiver);
      scalar_t *da = weights ? d_alpha.data_ptr<scalar_t>() : nullptr, *dz = d_Z.data_ptr<scalar_t>();
      for_each_node(edges, heads * width, [&](int64_t i) {
        for (int64_t k = sent[i]; k < sent[i + 1]; ++k)
          for (int64_t h = 0; h < heads; ++h) {
            const scalar_t* from = g + (receiver[entry[k]] * heads + h) * width;
            const scalar_t weight = a[entry[k] * heads + h];
            const int64_t at = (i * heads + h) * width;
            for (int64_t c = 0; c < width; ++c) dz[at + c] += weight * from[c];
            if (!weights) continue;
            scalar_t dot = 0;
            for (int64_t c = 0; c < width; ++c) dot += from[c] * z[at + c];
            da[entry[k] * heads + h] = dot;
          }
      });
    });
    return {d_alpha, d_Z, torch::Tensor()};
  }
};

}  // namespace

Edges edges_of(const Propagation& S, const torch::TensorOptions& type, bool with_loops) {
  // The entries of S are sorted by receiver (column); a row of S has the arcs of one sender.
  std::vector<int64_t> begin(S.nodes + 1, 0), sent(S.nodes + 1, 0);
  const auto for_each_arc = [&](auto&& visit) {
    for (int64_t i = 0; i < S.nodes; ++i) {
      bool loop = false;
      for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
        loop = loop || S.column[e] == i;
        visit(i, S.column[e], S.value(i, e));
      }
      if (with_loops && !loop) visit(i, i, 0.0);
    }
  };
  for_each_arc([&](int64_t i, int64_t j, double) { ++begin[j + 1], ++sent[i + 1]; });
  for (int64_t v = 0; v < S.nodes; ++v) begin[v + 1] += begin[v], sent[v + 1] += sent[v];
  std::vector<int64_t> cursor(begin.begin(), begin.end() - 1), sender(begin.back()), receiver(begin.back()),
      entry;
  std::vector<double> value(begin.back());
  for_each_arc([&](int64_t i, int64_t j, double s) {
    const int64_t at = cursor[j]++;
    sender[at] = i;
    receiver[at] = j;
    value[at] = s;
    entry.push_back(at);
  });
  const auto ready = [&](const std::vector<int64_t>& numbers) {
    return torch::tensor(numbers, torch::kInt64).to(type.device());
  };
  return {S.nodes,
          ready(begin),
          ready(sender),
          ready(receiver),
          ready(sent),
          ready(entry),
          torch::tensor(value, torch::kFloat64).unsqueeze(1).to(type)};
}

torch::Tensor attention(const Edges& edges, const torch::Tensor& from, const torch::Tensor& to,
                        double slope) {
  if (!from.is_cpu()) return attention_by_torch(edges, from, to, slope);
  return AttentionFunction::apply(from, to, slope, backward_state(edges));
}

torch::Tensor weighted_sum(const Edges& edges, const torch::Tensor& alpha, const torch::Tensor& Z) {
  if (!Z.is_cpu()) return weighted_sum_by_torch(edges, alpha, Z);
  return WeightedSumFunction::apply(alpha, Z, backward_state(edges));
}

torch::Tensor sampled_mean_weights(const Edges& edges, int64_t samples, at::Generator& generator) {
  const auto begin = edges.begin.to(torch::kCPU);
  auto weight = torch::zeros({edges.sender.numel(), 1}, torch::kFloat64);
  const auto chance = samples > 0 ? torch::rand({edges.sender.numel()}, generator, torch::kFloat64) : weight;
  const double* u = chance.data_ptr<double>();
  double* w = weight.data_ptr<double>();
  for (int64_t j = 0; j < edges.nodes; ++j) {
    const int64_t first = ids(begin)[j], last = ids(begin)[j + 1];
    const int64_t wanted = samples > 0 ? std::min(samples, last - first) : last - first;
    // Selection sampling: each arc is taken with probability (still wanted) / (still to come).
    for (int64_t e = first, left = wanted; e < last && left > 0; ++e)
      if (left == last - e || u[e] * static_cast<double>(last - e) < static_cast<double>(left)) {
        w[e] = 1 / static_cast<double>(wanted);
        --left;
      }
  }
  return weight;
}

torch::Tensor attention_by_torch(const Edges& edges, const torch::Tensor& from, const torch::Tensor& to,
                                 double slope) {
  const auto raw =
      torch::leaky_relu(from.index_select(0, edges.sender) + to.index_select(0, edges.receiver), slope);
  const auto lowest = torch::full({edges.nodes, raw.size(1)}, -std::numeric_limits<double>::infinity(),
                                  raw.options().requires_grad(false));
  const auto top = lowest.scatter_reduce(0, edges.receiver.unsqueeze(1).expand_as(raw), raw.detach(), "amax");
  const auto e = torch::exp(raw - top.index_select(0, edges.receiver));
  const auto sum = torch::zeros_like(lowest).index_add(0, edges.receiver, e);
  return e / sum.index_select(0, edges.receiver);
}

torch::Tensor weighted_sum_by_torch(const Edges& edges, const torch::Tensor& alpha, const torch::Tensor& Z) {
  return torch::zeros_like(Z, torch::TensorOptions().requires_grad(false))
      .index_add(0, edges.receiver, alpha.unsqueeze(2) * Z.index_select(0, edges.sender));
}

}  // namespace eignn
