// State other than tensors that a custom autograd function saves for its backward pass.
#pragma once

#include <torch/torch.h>

#include <utility>

namespace eignn {

template <class T>
struct BackwardState : torch::CustomClassHolder {
  explicit BackwardState(T saved) : value(std::move(saved)) {}
  T value;
};
template <class T>
using BackwardStatePtr = c10::intrusive_ptr<BackwardState<T>>;

/// Wraps a value so that Function::apply accepts it.
template <class T>
BackwardStatePtr<T> backward_state(T value) {
  return c10::make_intrusive<BackwardState<T>>(std::move(value));
}

template <class T>
void save_for_backward(torch::autograd::AutogradContext* context, const BackwardStatePtr<T>& state) {
  context->saved_data["state"] = c10::IValue::make_capsule(state);
}
template <class T>
const T& saved_for_backward(torch::autograd::AutogradContext* context) {
  return static_cast<BackwardState<T>&>(*context->saved_data["state"].toCapsule()).value;
}

}  // namespace eignn
