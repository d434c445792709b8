#include "equilibrium/spectral/lanczos.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <random>
#include <vector>

#include "eignn/error.h"
#include "equilibrium/sparse_product.h"

#ifdef EIGNN_HAVE_SPECTRA
// Threads are the Execution's matter.
#define EIGEN_DONT_PARALLELIZE
#include <Spectra/LinAlg/TridiagEigen.h>
#include <Eigen/Core>

#include "equilibrium/symmetric_eigen.h"

namespace Spectra {

// Spectra 1.0.1 takes the tridiagonal eigensolver of Eigen 3.4, which gives up where many eigenvalues are
// zero but for rounding: those of a star are. LAPACK does not.
template <>
class TridiagEigen<double> {
 public:
  explicit TridiagEigen(const Eigen::MatrixXd& H) {
    const int64_t n = H.rows();
    const auto T = torch::zeros({n, n}, torch::kFloat64);
    double* row = T.data_ptr<double>();
    for (int64_t i = 0; i < n; ++i, row += n) {
      row[i] = H(i, i);
      if (i > 0) row[i - 1] = H(i, i - 1);
      if (i + 1 < n) row[i + 1] = H(i + 1, i);
    }
    const auto [values, vectors] = eignn::symmetric_eigen(T);
    const auto by_columns = vectors.t().contiguous();
    values_ = Eigen::Map<const Eigen::VectorXd>(values.contiguous().data_ptr<double>(), n);
    vectors_ = Eigen::Map<const Eigen::MatrixXd>(by_columns.data_ptr<double>(), n, n);
  }
  const Eigen::VectorXd& eigenvalues() const { return values_; }
  const Eigen::MatrixXd& eigenvectors() const { return vectors_; }

 private:
  Eigen::VectorXd values_;
  Eigen::MatrixXd vectors_;
};

}  // namespace Spectra

#include <Spectra/SymEigsSolver.h>
#endif

namespace eignn {

#ifdef EIGNN_HAVE_SPECTRA

namespace {

// x ↦ S x - Q Λ Qᵀ x, as Spectra asks for it.
class Deflated {
 public:
  using Scalar = double;

  Deflated(const Propagation& S, const torch::Tensor& lambda, const torch::Tensor& Q)
      : nodes_(S.nodes), product_(S, torch::kFloat64, torch::kCPU), lambda_(lambda.unsqueeze(1)), Q_(Q) {}

  Eigen::Index rows() const { return nodes_; }
  Eigen::Index cols() const { return nodes_; }
  torch::Tensor times(const torch::Tensor& X) const {
    auto Y = product_.scatter(X);
    if (Q_.size(1) > 0) Y.addmm_(Q_, lambda_ * Q_.t().mm(X), 1, -1);
    return Y;
  }
  void perform_op(const double* from, double* to) const {
    const auto x = torch::from_blob(const_cast<double*>(from), {nodes_, 1}, torch::kFloat64);
    std::copy_n(times(x).contiguous().data_ptr<double>(), nodes_, to);
  }

 private:
  int64_t nodes_;
  SparseProduct product_;
  torch::Tensor lambda_, Q_;
};

std::vector<double> start_vector(int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> x(static_cast<size_t>(n));
  for (double& value : x) value = static_cast<double>(random() >> 11) * 0x1p-52 - 1;  // in [-1, 1)
  return x;
}

using Pairs = std::pair<torch::Tensor, torch::Tensor>;

// A random x has a part in every eigenspace. Where nothing comes of it nothing is left of S, and where S only
// stretches S x there is one eigenvalue left beside 0. Spectra, which starts from S x, would take the
// rounding of its first residual for a direction. Nothing where neither is so.
std::optional<Pairs> without_iteration(const Deflated& S_left, const torch::Tensor& x, int64_t count) {
  constexpr double round_off = 1e-13;
  const auto times = [&](const torch::Tensor& v) {
    auto out = torch::empty_like(v);
    S_left.perform_op(v.data_ptr<double>(), out.data_ptr<double>());
    return out;
  };
  Pairs out{torch::zeros({count}, torch::kFloat64), torch::zeros({x.size(0), count}, torch::kFloat64)};
  const auto y = times(x);
  const double size = y.norm().item<double>();
  if (size <= round_off * x.norm().item<double>()) return out;
  const auto q = y / size, Sq = times(q);
  const double lambda = q.dot(Sq).item<double>();
  if ((Sq - lambda * q).norm().item<double>() > round_off * std::abs(lambda)) return {};
  out.first[0] = lambda;
  out.second.select(1, 0).copy_(q);
  return out;
}

// Whether these are orthonormal eigenvectors, to a little more than the tolerance that was asked for.
bool hold(const Deflated& S_left, const torch::Tensor& values, const torch::Tensor& rows, double tolerance) {
  const int64_t count = values.size(0);
  const auto gram = rows.mm(rows.t()) - torch::eye(count, torch::kFloat64);
  if (!(gram.abs().max().item<double>() < 1e-8)) return false;
  auto image = torch::empty_like(rows[0]);
  for (int64_t k = 0; k < count; ++k) {
    S_left.perform_op(rows.data_ptr<double>() + k * rows.size(1), image.data_ptr<double>());
    const double lambda = values[k].item<double>();
    constexpr double more = 10, round_off = 1e-12;
    if (!((image - lambda * rows[k]).norm().item<double>() <=
          more * tolerance * std::abs(lambda) + round_off))
      return false;
  }
  return true;
}

}  // namespace

std::pair<torch::Tensor, torch::Tensor> lanczos(const Propagation& S, const torch::Tensor& lambda,
                                                const torch::Tensor& Q, int64_t count, double tolerance,
                                                uint64_t start) {
  Deflated S_left(S, lambda, Q);
  const auto x = torch::tensor(start_vector(S.nodes, start), torch::kFloat64);
  if (auto found = without_iteration(S_left, x, count)) return *found;
  // A larger basis needs fewer restarts, which long paths, whose eigenvalues are close, have many of.
  constexpr int64_t numbers = 30'000'000, least = 20, most = 128;
  const int64_t usual = std::clamp(numbers / S.nodes, least, most);
  const int64_t basis = std::min(S.nodes, std::max(2 * count + 1, usual));
  // A basis of the whole space is a dense decomposition, and Spectra finds no further vector for it where
  // S has a kernel.
  if (basis == S.nodes) {
    const auto left = S_left.times(torch::eye(S.nodes, torch::kFloat64));
    const auto [values, vectors] = symmetric_eigen((left + left.t()) / 2);
    const auto order = values.abs().argsort(0, /*descending=*/true).narrow(0, 0, count);
    return {values.index_select(0, order), vectors.index_select(1, order)};
  }
  constexpr int64_t most_restarts = 1000;
  const auto stopped = [&](const std::string& why) -> ConvergenceError {
    return {fmt::format("Lanczos found no {} eigenpairs of a component of {} nodes: {}", count, S.nodes, why),
            "eigenpairs", "ask for another number of them"};
  };
  try {
    Spectra::SymEigsSolver<Deflated> solver(S_left, count, basis);
    solver.init(x.data_ptr<double>());
    solver.compute(Spectra::SortRule::LargestMagn, most_restarts, tolerance, Spectra::SortRule::LargestMagn);
    if (solver.info() != Spectra::CompInfo::Successful)
      throw stopped(fmt::format("{} restarts were not enough", most_restarts));
    const Eigen::VectorXd values = solver.eigenvalues();
    const Eigen::MatrixXd vectors = solver.eigenvectors();
    auto out_values = torch::empty({count}, torch::kFloat64),
         out_vectors = torch::empty({count, S.nodes}, torch::kFloat64);
    std::copy_n(values.data(), count, out_values.data_ptr<double>());
    std::copy_n(vectors.data(), count * S.nodes, out_vectors.data_ptr<double>());  // column after column
    if (!hold(S_left, out_values, out_vectors, tolerance)) throw stopped("its vectors are no eigenvectors");
    return {out_values, out_vectors.t()};
  } catch (const Error&) {
    throw;
  } catch (const c10::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // Spectra's own
    throw stopped(error.what());
  }
}

#else

std::pair<torch::Tensor, torch::Tensor> lanczos(const Propagation& S, const torch::Tensor&,
                                                const torch::Tensor&, int64_t count, double, uint64_t) {
  throw ResourceError(
      fmt::format("{} eigenpairs of a component of {} nodes take a Lanczos, and this build has none", count,
                  S.nodes),
      "eigenpairs", "build with the headers of Spectra and Eigen, or use the solver sparse");
}

#endif

}  // namespace eignn
