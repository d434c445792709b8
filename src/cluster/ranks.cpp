#include "cluster/ranks.h"

#include <torch/torch.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <numeric>

namespace eignn {

namespace {

int64_t bytes_of(const torch::Tensor& t) {
  return static_cast<int64_t>(t.nbytes());
}

// Rows of every process that receives them: all, or the first alone.
torch::Tensor gathered(const Transport& transport, const torch::Tensor& given, bool everywhere) {
  const auto here = given.contiguous();
  const int size = transport.size();
  const auto sizes = here.sizes();
  const int64_t width = std::accumulate(sizes.begin() + 1, sizes.end(),
                                        static_cast<int64_t>(here.element_size()), std::multiplies<>());
  std::vector<int64_t> rows(static_cast<size_t>(size), 0);
  rows[static_cast<size_t>(transport.rank())] = here.size(0);
  transport.sum(rows.data(), size);
  const bool receives = everywhere || transport.rank() == 0;
  std::vector<int64_t> send(static_cast<size_t>(size), 0), receive(static_cast<size_t>(size), 0);
  for (int k = 0; k < size; ++k) {
    if (everywhere || k == 0) send[static_cast<size_t>(k)] = bytes_of(here);
    if (receives) receive[static_cast<size_t>(k)] = rows[static_cast<size_t>(k)] * width;
  }
  auto shape = here.sizes().vec();
  shape[0] = receives ? std::accumulate(rows.begin(), rows.end(), int64_t{0}) : 0;
  auto out = torch::empty(shape, here.options());
  // exchange() takes a copy for each receiver.
  const auto sent =
      everywhere ? torch::stack(std::vector<torch::Tensor>(static_cast<size_t>(size), here)) : here;
  transport.exchange(sent.data_ptr(), send.data(), out.data_ptr(), receive.data());
  return receives ? out : torch::Tensor();
}

}  // namespace

torch::Tensor Ranks::sum(const torch::Tensor& here) const {
  // Numbers in float32 are added up in float64 and rounded once.
  if (here.scalar_type() == torch::kFloat32) return sum(here.to(torch::kFloat64)).to(torch::kFloat32);
  auto total = here.contiguous().clone();
  switch (total.scalar_type()) {
    case torch::kInt64:
      transport_->sum(total.data_ptr<int64_t>(), total.numel());
      break;
    default:
      transport_->sum(total.data_ptr<double>(), total.numel());
  }
  return total;
}

double Ranks::sum(double here) const {
  transport_->sum(&here, 1);
  return here;
}

int64_t Ranks::sum(int64_t here) const {
  transport_->sum(&here, 1);
  return here;
}

double Ranks::largest(double here) const {
  transport_->largest(&here, 1);
  return here;
}

std::vector<int64_t> Ranks::all(int64_t here) const {
  std::vector<int64_t> out(static_cast<size_t>(size()), 0);
  out[static_cast<size_t>(rank())] = here;
  transport_->sum(out.data(), size());
  return out;
}

torch::Tensor Ranks::rows_on_first(const torch::Tensor& here) const {
  return gathered(*transport_, here, /*everywhere=*/false);
}

torch::Tensor Ranks::rows_everywhere(const torch::Tensor& here) const {
  return gathered(*transport_, here, /*everywhere=*/true);
}

void Ranks::texts_to_first(const std::string& here,
                           const std::function<void(const std::string&)>& take) const {
  const auto lengths = all(static_cast<int64_t>(here.size()));
  std::exception_ptr failure;
  for (int from = 0; from < size(); ++from) {  // so that the first process holds one text beside its own
    std::vector<int64_t> send(static_cast<size_t>(size()), 0), receive(static_cast<size_t>(size()), 0);
    const int64_t length = lengths[static_cast<size_t>(from)];
    if (rank() == from) send[0] = length;
    if (is_first()) receive[static_cast<size_t>(from)] = length;
    std::string text(is_first() ? static_cast<size_t>(length) : 0, '\0');
    transport_->exchange(here.data(), send.data(), text.data(), receive.data());
    if (!is_first() || failure) continue;
    try {
      take(text);
    } catch (...) {
      failure = std::current_exception();  // the others still send
    }
  }
  on_first([&] {
    if (failure) std::rethrow_exception(failure);
  });
}

torch::Tensor Ranks::of_first(const torch::Tensor& here) const {
  auto out = here.contiguous().clone();
  transport_->broadcast(out.data_ptr(), bytes_of(out), 0);
  return out;
}

std::string Ranks::of_first(const std::string& here) const {
  auto length = static_cast<int64_t>(here.size());
  transport_->broadcast(&length, sizeof length, 0);
  std::string out = here;
  out.resize(static_cast<size_t>(length));
  transport_->broadcast(out.data(), length, 0);
  return out;
}

double Ranks::of_first(double here) const {
  transport_->broadcast(&here, sizeof here, 0);
  return here;
}

void Ranks::together(const std::function<void()>& work) const {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!any(failure != nullptr)) return;
  if (failure) std::rethrow_exception(failure);
  throw FailedElsewhere();
}

void Ranks::on_first(const std::function<void()>& work) const {
  together([&] {
    if (is_first()) work();
  });
}

}  // namespace eignn
