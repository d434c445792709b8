// S as the solvers in node space see it: products and sums, never entries.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace eignn {

class ColumnShares;
class SparseProduct;

/// A square matrix S whose rows (nodes) may be spread over processes. Each process holds the rows of its own
/// nodes of every node-major matrix, (rows_here(), columns); a product takes and returns such rows, and
/// numbers that belong to all nodes are sums over the processes. With one process rows_here() is rows(), and
/// the sums are what they are given.
class NodeOperator {
 public:
  virtual ~NodeOperator() = default;

  virtual int64_t rows() const = 0;       // nodes, of all processes
  virtual int64_t rows_here() const = 0;  // nodes of this process
  virtual int64_t entries() const = 0;    // non-zero entries, of all processes
  virtual bool symmetric() const = 0;

  virtual torch::Tensor apply(const torch::Tensor& Z) const = 0;             // S Z
  virtual torch::Tensor apply_transposed(const torch::Tensor& Z) const = 0;  // Sᵀ Z: row j is Σ_i S_ij z_i

  /// Adds up, over all processes, what each has summed over its own nodes.
  virtual torch::Tensor sum(torch::Tensor of_nodes_here) const { return of_nodes_here; }
  virtual int64_t count(int64_t here) const { return here; }
  /// What the first process has computed, for all: eigenvectors that each computed for itself need not be
  /// the same.
  virtual torch::Tensor agreed(torch::Tensor here) const { return here; }
  /// ‖Z‖_F over all nodes.
  virtual double norm(const torch::Tensor& Z) const;

  /// Sᵀ Z in the recurrence, S Z in its adjoint.
  torch::Tensor propagate(const torch::Tensor& Z, bool adjoint) const {
    return adjoint ? apply(Z) : apply_transposed(Z);
  }

  /// Sums of squares over all nodes, by columns.
  struct Squares {
    torch::Tensor r, z;  // float64 on the CPU
  };
  /// One step of a semi-iteration for Z = (Sᵀ Z) diag(a) + X, or with S for Sᵀ in the adjoint, in place:
  ///
  ///     R = X + (Sᵀ Z) a - Z,   last ← last + ω (R + Z - last)
  ///
  /// on the columns from `begin` on, which must be one to most_lines whole cache lines (sparse_kernel.h) of
  /// contiguous matrices. An undefined X is 0. Returns the squares of R and Z in these columns. This default
  /// uses propagate(); SparseProduct overrides it with a single pass.
  virtual Squares advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X,
                          const torch::Tensor& a, const torch::Tensor& omega, int64_t begin,
                          torch::Tensor& last) const;

  /// All of S, where it is in this process's memory and kernels may read it; null otherwise.
  virtual const SparseProduct* in_memory() const { return nullptr; }

  /// A name of the rows of S that this process has, by their content, under which results may be kept. Empty:
  /// it has none.
  virtual std::string fingerprint() const { return {}; }

  /// How columns are spread over processes besides the rows; null where each process works on all columns of
  /// its rows.
  virtual const ColumnShares* column_shares() const { return nullptr; }
};

/// A product with S works on each column alone. Where some processes have the same rows of S, each takes a
/// share of the columns for the rows of all of them, keeps it for as many products as follow, and gives back
/// every process its own rows at the end.
class ColumnShares {
 public:
  virtual ~ColumnShares() = default;

  /// S among the processes that have a share of the same columns: its rows_here() are more.
  virtual const std::shared_ptr<const NodeOperator>& nodes() const = 0;

  /// The columns of this process among so many, in whole multiples of `unit` but for the last ones. There may
  /// be none.
  struct Range {
    int64_t first, count;
  };
  virtual Range range(int64_t columns, int64_t unit) const = 0;

  /// The share of this process, nodes()->rows_here() rows and range() columns, of a Z that has the rows of
  /// each process and all columns.
  virtual torch::Tensor share(const torch::Tensor& Z, int64_t unit) const = 0;

  /// Rows of a share that belong to some nodes of each process.
  struct Rows {
    torch::Tensor index;          // among the rows of the share
    std::vector<int64_t> counts;  // of each process, in their order
  };
  /// `index`: the nodes of this process, among its own rows.
  virtual Rows rows_at(const torch::Tensor& index) const = 0;

  /// The inverse of share(): the rows of this process, all `columns` of them. `counts`: to which processes
  /// the rows of the share belong; empty where they are all rows.
  virtual torch::Tensor whole(const torch::Tensor& share, int64_t columns, int64_t unit,
                              const std::vector<int64_t>& counts = {}) const = 0;
};

}  // namespace eignn
