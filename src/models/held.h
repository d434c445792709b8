// What a custom operation keeps from its forward to its backward pass besides tensors.
#pragma once

#include <torch/torch.h>

#include <utility>

namespace eignn {

template <class T>
struct Held : torch::CustomClassHolder {
  explicit Held(T kept) : value(std::move(kept)) {}
  T value;
};
template <class T>
using HeldPtr = c10::intrusive_ptr<Held<T>>;

template <class T>
HeldPtr<T> hold(T value) {
  return c10::make_intrusive<Held<T>>(std::move(value));
}

template <class T>
void keep(torch::autograd::AutogradContext* context, const HeldPtr<T>& held) {
  context->saved_data["held"] = c10::IValue::make_capsule(held);
}
template <class T>
const T& kept(torch::autograd::AutogradContext* context) {
  return static_cast<Held<T>&>(*context->saved_data["held"].toCapsule()).value;
}

}  // namespace eignn
