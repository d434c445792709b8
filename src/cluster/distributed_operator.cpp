// The rows of S that a process has are kept in compressed form, as in one process. Their columns are numbered
// anew: its own rows first, then those of other processes that S reaches (the halo), which are fetched before
// every product. Entries stay in the order of the whole graph, so that each row is added up as one process
// would.
//
// A product of k columns reads the entries, copies k numbers of each own row, and fetches k of each row of
// the halo. Memory beside S: (own + fetched rows) · 64 columns.
#include "cluster/distributed_operator.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "eignn/error.h"
#include "equilibrium/large_pages.h"
#include "equilibrium/row_parts.h"
#include "equilibrium/sparse_kernel.h"
#include "graph/content_hash.h"
#include "graph/scaled_weight.h"

namespace eignn {

namespace {

// ---- Â, row by row

struct AdjacencyOptions {
  bool self_loops = true;
  double scale = 1;
};

// Calls entry(column, value) for the entries of row i of Â = A (+ I), in the order of the columns: as
// make_propagation() has them.
template <class Entry>
void each_entry(const RowsOfGraph& A, int64_t i, const AdjacencyOptions& options, const Entry& entry) {
  const int64_t here = A.first + i;
  bool diagonal_done = !options.self_loops;
  for (int64_t a = A.begin[i]; a < A.begin[i + 1]; ++a) {
    const int64_t j = A.target[a];
    const double w = A.weight.empty() ? 1 : scaled_weight(A.weight[a], options.scale);
    if (!diagonal_done && j > here) entry(here, 1.0);
    if (!diagonal_done && j == here) {
      entry(here, 1.0 + w);
    } else {
      entry(j, w);
    }
    if (j >= here) diagonal_done = true;
  }
  if (!diagonal_done) entry(here, 1.0);
}

torch::Tensor row_sums(const RowsOfGraph& A, const AdjacencyOptions& options) {
  auto sums = torch::empty({A.rows()}, torch::kFloat64);
  double* at = sums.data_ptr<double>();
  for (int64_t i = 0; i < A.rows(); ++i) {
    long double sum = 0;
    each_entry(A, i, options, [&](int64_t, double w) { sum += w; });
    at[i] = static_cast<double>(sum);
  }
  return sums;
}

// d^-1/2, or `without` for a node without any weight.
torch::Tensor inverse_roots(const torch::Tensor& degree, double without) {
  return torch::where(degree > 0, 1 / degree.sqrt(), torch::full_like(degree, without));
}

// ---- which rows of other processes a process needs

// A set of nodes, with the place of each among its members.
class NodeSet {
 public:
  explicit NodeSet(int64_t nodes) : words_(static_cast<size_t>(nodes / 64 + 1)) {}
  void add(int64_t node) { words_[static_cast<size_t>(node / 64)] |= uint64_t{1} << (node % 64); }
  // After the last add(): the members, ascending.
  std::vector<int64_t> members() {
    std::vector<int64_t> out;
    before_.resize(words_.size());
    for (size_t w = 0; w < words_.size(); ++w) {
      before_[w] = static_cast<int64_t>(out.size());
      for (uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        out.push_back(static_cast<int64_t>(w * 64) + __builtin_ctzll(bits));
    }
    return out;
  }
  int64_t place(int64_t member) const {
    const auto w = static_cast<size_t>(member / 64);
    return before_[w] + __builtin_popcountll(words_[w] & ((uint64_t{1} << (member % 64)) - 1));
  }

 private:
  std::vector<uint64_t> words_;
  std::vector<int64_t> before_;
};

// The rows that a process gives to others and those that it fetches.
class Border {
 public:
  // `first` has the first row of each process of the group. The others' rows are taken in ascending order.
  Border(const Ranks& ranks, const std::vector<int64_t>& first, const std::vector<int64_t>& needed)
      : fetched(static_cast<int64_t>(needed.size())) {
    const auto size = static_cast<size_t>(ranks.size());
    std::vector<HaloPlace> places(needed.size());
    std::vector<int32_t> asked(needed.size());  // by the owners' own numbers
    std::vector<int64_t> asked_of(size, 0), asked_by(size, 0);
    for (size_t k = 0; k < needed.size(); ++k) {
      const auto owner = std::upper_bound(first.begin(), first.end(), needed[k]) - first.begin() - 1;
      places[k].process = static_cast<int32_t>(owner);
      asked[k] = static_cast<int32_t>(needed[k] - first[static_cast<size_t>(owner)]);
      asked_of[static_cast<size_t>(owner)] += sizeof(int32_t);
    }
    const Transport& transport = *ranks.transport();
    const auto tell = [&](const void* send, const std::vector<int64_t>& send_bytes, void* receive,
                          const std::vector<int64_t>& receive_bytes) {
      transport.exchange(send, send_bytes.data(), receive, receive_bytes.data());
    };
    const std::vector<int64_t> one(size, sizeof(int64_t));
    tell(asked_of.data(), one, asked_by.data(), one);
    std::vector<int32_t> wanted(
        static_cast<size_t>(std::accumulate(asked_by.begin(), asked_by.end(), int64_t{0})) / sizeof(int32_t));
    tell(asked.data(), asked_of, wanted.data(), asked_by);
    std::vector<int32_t> given = wanted;
    std::sort(given.begin(), given.end());
    given.erase(std::unique(given.begin(), given.end()), given.end());
    for (int32_t& row : wanted)
      row = static_cast<int32_t>(std::lower_bound(given.begin(), given.end(), row) - given.begin());
    tell(wanted.data(), asked_by, asked.data(), asked_of);
    for (size_t k = 0; k < needed.size(); ++k) places[k].row = asked[k];
    given_ = torch::tensor(given, torch::kInt32).to(torch::kInt64);
    halo_ = transport.halo(given_.numel(), places);
  }

  int64_t given() const { return given_.numel(); }

  // The others' rows (fetched, columns) of a matrix whose own rows are here.
  void fetch(const torch::Tensor& own, const torch::Tensor& to) const {
    const auto rows = own.index_select(0, given_).contiguous();
    const int64_t columns = own.dim() > 1 ? own.size(1) : 1;
    halo_->fetch(rows.data_ptr(), to.data_ptr(), columns * static_cast<int64_t>(own.element_size()));
  }
  torch::Tensor fetched_of(const torch::Tensor& own) const {
    auto sizes = own.sizes().vec();
    sizes[0] = fetched;
    auto out = torch::empty(sizes, own.options());
    fetch(own, out);
    return out;
  }

  const int64_t fetched;

 private:
  torch::Tensor given_;
  std::unique_ptr<Halo> halo_;
};

// ---- the rows of a process

class LocalRows {
 public:
  // Finds the halo of Â's rows; finish() makes S of them.
  LocalRows(const Ranks& ranks, const std::vector<int64_t>& first, RowsOfGraph A, AdjacencyOptions options)
      : A_(std::move(A)), options_(options), own_(A_.rows()), others_(first.back()) {
    for (const int32_t j : A_.target)
      if (j < A_.first || j >= A_.first + own_) others_.add(j);
    border_ = std::make_unique<Border>(ranks, first, others_.members());
  }

  torch::Tensor sums() const { return row_sums(A_, options_); }
  const Border& border() const { return *border_; }
  const std::string& content() const { return content_; }
  int64_t rows() const { return own_; }
  int64_t entries() const { return entries_; }

  // S = diag(left) Â diag(right), or with `transposed` the rows of Sᵀ: there `left` belongs to the columns.
  // The factors of columns are those of own rows, then those of the halo.
  void finish(const torch::Tensor& of_rows, const torch::Tensor& of_columns, bool transposed,
              torch::Dtype dtype) {
    std::vector<int64_t> begin = {0};
    begin.reserve(static_cast<size_t>(own_) + 1);
    for (int64_t i = 0; i < own_; ++i) {
      int64_t entries = 0;
      each_entry(A_, i, options_, [&](int64_t, double) { ++entries; });
      begin.push_back(begin.back() + entries);
    }
    parts_ = RowParts(begin.data(), own_);
    entries_ = begin.back();
    begin_ = torch::tensor(begin, torch::kInt64);
    column_ = torch::empty({entries_}, torch::kInt32);
    const bool formed = A_.weight.empty() && too_many_to_store(entries_, dtype);
    if (formed) {
      row_factor_ = of_rows;
      column_factor_ = of_columns;
      diagonal_.assign(static_cast<size_t>(own_), 1);
    } else {
      value_ = torch::empty({entries_}, dtype);
    }
    double* loops = diagonal_.data();
    const double *row_factor = of_rows.data_ptr<double>(), *column_factor = of_columns.data_ptr<double>();
    AT_DISPATCH_FLOATING_TYPES(dtype, "distributed rows", [&] {
      auto* column = column_.data_ptr<int32_t>();
      auto* value = formed ? nullptr : value_.data_ptr<scalar_t>();
      at::parallel_for(0, own_, rows_worth_a_thread, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          int64_t e = begin[static_cast<size_t>(i)];
          each_entry(A_, i, options_, [&](int64_t j, double w) {
            const bool mine = j >= A_.first && j < A_.first + own_;
            const int64_t c = mine ? j - A_.first : own_ + others_.place(j);
            const double left = transposed ? column_factor[c] : row_factor[i],
                         right = transposed ? row_factor[i] : column_factor[c];
            column[e] = static_cast<int32_t>(c);
            if (!formed) value[e] = static_cast<scalar_t>(left * w * right);
            if (formed && w != 1) loops[i] = w;
            ++e;
          });
        }
      });
    });
    ContentHash hash;
    hash.add(&A_.first, sizeof A_.first);
    hash.add(A_.begin);
    hash.add(A_.target);
    hash.add(A_.weight);
    hash.add(row_factor, static_cast<size_t>(of_rows.nbytes()));
    hash.add(column_factor, static_cast<size_t>(of_columns.nbytes()));
    content_ = hash.hex();
    A_ = {};
    others_ = NodeSet(0);
  }

  torch::Tensor multiply(const torch::Tensor& Z) const {
    const auto z = Z.contiguous();
    const int64_t m = z.size(1);
    auto out = torch::empty({own_, m}, z.options());
    AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "distributed product", [&] {
      const int64_t block = most_lines * cache_line / static_cast<int64_t>(sizeof(scalar_t));
      for (int64_t c = 0; c < m; c += block) {
        const int64_t columns = std::min(block, m - c);
        const auto from = with_halo(z.narrow(1, c, columns), columns, 0);
        const StridedRows<const scalar_t> rows{from.data_ptr<scalar_t>(), columns};
        const StridedRows<scalar_t> to{out.data_ptr<scalar_t>() + c, m};
        parts_.for_each(columns, [&](int64_t, int64_t first, int64_t last) {
          multiply_rows(compressed<scalar_t>(), rows, columns, to, first, last);
        });
      }
    });
    return out;
  }

  // The squares of r and z, (2, columns from `begin` on), over own rows.
  torch::Tensor advance(const torch::Tensor& Z, const torch::Tensor& X, const torch::Tensor& a,
                        const torch::Tensor& omega, int64_t begin, torch::Tensor& last) const {
    const int64_t width = Z.size(1), columns = width - begin;
    const auto from = with_halo(Z.narrow(1, begin, columns), width, begin);
    torch::Tensor squares;
    AT_DISPATCH_FLOATING_TYPES(Z.scalar_type(), "distributed semi-iteration", [&] {
      squares = parts_.advance(compressed<scalar_t>(), from, X, a, omega, begin, last);
    });
    return squares;
  }

 private:
  static constexpr int64_t rows_worth_a_thread = 512;

  template <class T>
  CompressedRows<T> compressed() const {
    CompressedRows<T> out{begin_.data_ptr<int64_t>(), column_.data_ptr<int32_t>(),
                          value_.defined() ? value_.data_ptr<T>() : nullptr};
    if (value_.defined()) return out;
    out.row_factor = row_factor_.data_ptr<double>();
    out.column_factor = column_factor_.data_ptr<double>();
    out.diagonal = diagonal_.data();
    return out;
  }

  // Own rows and the halo's, one below the other, in a buffer of `width` columns from `begin` on.
  torch::Tensor with_halo(const torch::Tensor& Z, int64_t width, int64_t begin) const {
    const int64_t all = own_ + border_->fetched, columns = Z.size(1);
    if (!buffer_.defined() || buffer_.size(1) != width || buffer_.scalar_type() != Z.scalar_type()) {
      buffer_.reset();
      buffer_ = in_large_pages({all, width}, Z.options());
    }
    buffer_.narrow(0, 0, own_).narrow(1, begin, columns).copy_(Z);
    const auto below = buffer_.narrow(0, own_, border_->fetched);
    if (columns == width) {
      border_->fetch(Z, below);
    } else {
      below.narrow(1, begin, columns).copy_(border_->fetched_of(Z));
    }
    return buffer_;
  }

  RowsOfGraph A_;  // until finish()
  AdjacencyOptions options_;
  int64_t own_;
  NodeSet others_;  // until finish()
  std::unique_ptr<Border> border_;
  torch::Tensor begin_, column_;
  torch::Tensor value_;                       // undefined: formed from the factors
  torch::Tensor row_factor_, column_factor_;  // of own rows; of own and fetched ones
  std::vector<double> diagonal_;
  int64_t entries_ = 0;
  RowParts parts_;
  std::string content_;  // a hash of it
  mutable torch::Tensor buffer_;
};

// ---- the operators

class RowOperator : public NodeOperator {
 public:
  // `first` has the first row of each process of `ranks`.
  RowOperator(Ranks ranks, const RowSource& graph, const std::vector<int64_t>& first,
              const PropagationOptions& options, torch::Dtype dtype)
      : ranks_(std::move(ranks)), nodes_(first.back()) {
    const auto here = static_cast<size_t>(ranks_.rank());
    const auto rows = [&](RowEnds ends) { return graph.rows(first[here], first[here + 1], ends); };
    symmetric_ = options.direction == Direction::undirected || graph.symmetric();
    const bool against = options.direction == Direction::out;
    const RowEnds ends = options.direction == Direction::undirected ? RowEnds::both
                         : against                                  ? RowEnds::in
                                                                    : RowEnds::out;
    AdjacencyOptions adjacency{options.self_loops, 1};
    if (graph.weighted()) {
      adjacency.scale =
          options.weight_scale > 0 ? options.weight_scale : mean_weight(ranks_, rows(RowEnds::out));
    }
    rows_ = std::make_unique<LocalRows>(ranks_, first, rows(ends), adjacency);
    const auto with_others = [](const torch::Tensor& own, const Border& border) {
      return torch::cat({own, border.fetched_of(own)});
    };
    const auto sums = rows_->sums();
    const auto left = inverse_roots(sums, 1);
    if (symmetric_) {
      rows_->finish(left, with_others(left, rows_->border()), /*transposed=*/false, dtype);
    } else {
      transposed_ = std::make_unique<LocalRows>(
          ranks_, first, rows(ends == RowEnds::out ? RowEnds::in : RowEnds::out), adjacency);
      // Under `sym` a node without outgoing weight has D^-1/2 = 0, which makes its column of S zero too.
      const auto right = options.normalise == Normalisation::sym ? inverse_roots(sums, 0)
                                                                 : inverse_roots(transposed_->sums(), 1);
      rows_->finish(left, with_others(right, rows_->border()), /*transposed=*/false, dtype);
      transposed_->finish(right, with_others(left, transposed_->border()), /*transposed=*/true, dtype);
    }
    entries_ = ranks_.sum(rows_->entries());
  }

  int64_t rows() const override { return nodes_; }
  int64_t rows_here() const override { return rows_->rows(); }
  int64_t entries() const override { return entries_; }
  bool symmetric() const override { return symmetric_; }
  torch::Tensor apply(const torch::Tensor& Z) const override { return rows_->multiply(Z); }
  torch::Tensor apply_transposed(const torch::Tensor& Z) const override { return of(false).multiply(Z); }
  torch::Tensor sum(torch::Tensor of_nodes_here) const override { return ranks_.sum(of_nodes_here); }
  int64_t count(int64_t here) const override { return ranks_.sum(here); }
  torch::Tensor agreed(torch::Tensor here) const override { return ranks_.of_first(here); }
  Squares advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X, const torch::Tensor& a,
                  const torch::Tensor& omega, int64_t begin, torch::Tensor& last) const override {
    const auto squares = ranks_.sum(of(adjoint).advance(Z, X, a, omega, begin, last));
    return {squares[0], squares[1]};
  }

  std::string fingerprint() const override { return rows_->content(); }

  ProductSize size() const {
    return {rows_->rows(), rows_->entries(), rows_->border().fetched, rows_->border().given()};
  }

 private:
  const LocalRows& of(bool adjoint) const { return adjoint || symmetric_ ? *rows_ : *transposed_; }

  Ranks ranks_;
  int64_t nodes_, entries_ = 0;
  bool symmetric_ = true;
  std::unique_ptr<LocalRows> rows_, transposed_;  // transposed_ is null for a symmetric S
};

class GridOperator : public NodeOperator, public ColumnShares {
 public:
  GridOperator(const Ranks& ranks, const RowSource& graph, const NodeRanges& ranges,
               const PropagationOptions& options, torch::Dtype dtype)
      : all_(ranks), same_rows_(ranks.part(static_cast<int>(ranks.rank() / ranges.grid.columns))) {
    part_ = std::make_shared<RowOperator>(ranks.part(static_cast<int>(ranks.rank() % ranges.grid.columns)),
                                          graph, ranges.first_of_part, options, dtype);
    nodes_ = part_;
    line_ = cache_line / static_cast<int64_t>(c10::elementSize(dtype));
    const int64_t first = ranks.rank() - same_rows_.rank();
    for (int64_t c = 0; c < same_rows_.size(); ++c) {
      const auto* at = &ranges.first_of_process[static_cast<size_t>(first + c)];
      rows_of_.push_back(at[1] - at[0]);
      if (c < same_rows_.rank()) before_ += rows_of_.back();
    }
  }

  int64_t rows() const override { return nodes_->rows(); }
  int64_t rows_here() const override { return rows_of_[static_cast<size_t>(same_rows_.rank())]; }
  int64_t entries() const override { return nodes_->entries(); }
  bool symmetric() const override { return nodes_->symmetric(); }
  torch::Tensor apply(const torch::Tensor& Z) const override {
    return whole(nodes_->apply(share(Z, line_)), Z.size(1), line_, {});
  }
  torch::Tensor apply_transposed(const torch::Tensor& Z) const override {
    return whole(nodes_->apply_transposed(share(Z, line_)), Z.size(1), line_, {});
  }
  torch::Tensor sum(torch::Tensor of_nodes_here) const override { return all_.sum(of_nodes_here); }
  int64_t count(int64_t here) const override { return all_.sum(here); }
  torch::Tensor agreed(torch::Tensor here) const override { return all_.of_first(here); }
  std::string fingerprint() const override { return part_->fingerprint(); }
  const ColumnShares* column_shares() const override { return this; }

  const std::shared_ptr<const NodeOperator>& nodes() const override { return nodes_; }

  Range range(int64_t columns, int64_t unit) const override {
    return range_of(same_rows_.rank(), columns, unit);
  }

  torch::Tensor share(const torch::Tensor& Z, int64_t unit) const override {
    const int64_t bytes = static_cast<int64_t>(Z.element_size()), mine = range(Z.size(1), unit).count;
    std::vector<torch::Tensor> blocks;
    std::vector<int64_t> send, receive;
    for (int c = 0; c < same_rows_.size(); ++c) {
      const Range their = range_of(c, Z.size(1), unit);
      blocks.push_back(Z.narrow(1, their.first, their.count).reshape({-1}));
      send.push_back(blocks.back().numel() * bytes);
      receive.push_back(rows_of_[static_cast<size_t>(c)] * mine * bytes);
    }
    const auto sent = torch::cat(blocks);
    auto out = torch::empty({nodes_->rows_here(), mine}, Z.options());
    same_rows_.transport()->exchange(sent.data_ptr(), send.data(), out.data_ptr(), receive.data());
    return out;
  }

  Rows rows_at(const torch::Tensor& index) const override {
    return {same_rows_.rows_everywhere(index + before_), same_rows_.all(index.size(0))};
  }

  torch::Tensor whole(const torch::Tensor& share, int64_t columns, int64_t unit,
                      const std::vector<int64_t>& given_counts) const override {
    const std::vector<int64_t>& counts = given_counts.empty() ? rows_of_ : given_counts;
    const int64_t bytes = static_cast<int64_t>(share.element_size()),
                  rows = counts[static_cast<size_t>(same_rows_.rank())];
    std::vector<int64_t> send, receive;
    for (int c = 0; c < same_rows_.size(); ++c) {
      send.push_back(counts[static_cast<size_t>(c)] * share.size(1) * bytes);
      receive.push_back(rows * range_of(c, columns, unit).count * bytes);
    }
    const auto sent = share.contiguous();
    auto received = torch::empty({rows * columns}, share.options());
    same_rows_.transport()->exchange(sent.data_ptr(), send.data(), received.data_ptr(), receive.data());
    auto out = torch::empty({rows, columns}, share.options());
    for (int c = 0; c < same_rows_.size(); ++c) {
      const Range their = range_of(c, columns, unit);
      out.narrow(1, their.first, their.count)
          .copy_(received.narrow(0, rows * their.first, rows * their.count).view({rows, their.count}));
    }
    return out;
  }

  const RowOperator& part() const { return *part_; }

 private:
  Range range_of(int64_t process, int64_t columns, int64_t unit) const {
    const int64_t units = (columns + unit - 1) / unit, parts = same_rows_.size();
    const int64_t first = std::min(columns, units * process / parts * unit);
    return {first, std::min(columns, units * (process + 1) / parts * unit) - first};
  }

  Ranks all_, same_rows_;
  std::shared_ptr<const RowOperator> part_;
  std::shared_ptr<const NodeOperator> nodes_;  // the same
  int64_t line_ = 1, before_ = 0;
  std::vector<int64_t> rows_of_;  // of each process with the same rows of S
};

}  // namespace

NodeRanges spread_rows(const RowSource& graph, Grid grid) {
  const int64_t processes = grid.rows * grid.columns;
  if (graph.nodes() < processes) {
    throw ArgumentError("ranks", fmt::format("{} processes have {} nodes to share", processes, graph.nodes()),
                        "start fewer of them");
  }
  return spread_rows(graph.equal_parts(grid.rows), grid);
}

NodeRanges spread_rows(std::vector<int64_t> first_of_part, Grid grid) {
  const int64_t nodes = first_of_part.back();
  NodeRanges out;
  out.grid = grid;
  out.first_of_part = std::move(first_of_part);
  // A part of few rows with many entries may have fewer rows than processes.
  for (int64_t r = 1; r < grid.rows; ++r) {
    out.first_of_part[static_cast<size_t>(r)] = std::clamp(
        out.first_of_part[static_cast<size_t>(r)],
        out.first_of_part[static_cast<size_t>(r) - 1] + grid.columns, nodes - (grid.rows - r) * grid.columns);
  }
  for (int64_t r = 0; r < grid.rows; ++r) {
    const int64_t first = out.first_of_part[static_cast<size_t>(r)],
                  rows = out.first_of_part[static_cast<size_t>(r) + 1] - first;
    for (int64_t c = 0; c < grid.columns; ++c)
      out.first_of_process.push_back(first + rows * c / grid.columns);
  }
  out.first_of_process.push_back(nodes);
  return out;
}

std::vector<int64_t> halo_rows(const RowSource& graph, const std::vector<int64_t>& first_of_part,
                               Direction direction) {
  std::vector<int64_t> out;
  for (size_t k = 0; k + 1 < first_of_part.size(); ++k) {
    const int64_t first = first_of_part[k], last = first_of_part[k + 1];
    int64_t most = 0;
    // S of a directed graph is multiplied by from both sides.
    for (const RowEnds ends : direction == Direction::undirected
                                  ? std::vector<RowEnds>{RowEnds::both}
                                  : std::vector<RowEnds>{RowEnds::out, RowEnds::in}) {
      NodeSet others(graph.nodes());
      for (const int32_t j : graph.rows(first, last, ends).target)
        if (j < first || j >= last) others.add(j);
      most = std::max(most, static_cast<int64_t>(others.members().size()));
    }
    out.push_back(most);
  }
  return out;
}

std::shared_ptr<const NodeOperator> distributed_operator(const Ranks& ranks, const RowSource& graph,
                                                         const NodeRanges& ranges,
                                                         const PropagationOptions& options,
                                                         torch::Dtype dtype) {
  if (ranges.grid.columns == 1)
    return std::make_shared<RowOperator>(ranks, graph, ranges.first_of_part, options, dtype);
  return std::make_shared<GridOperator>(ranks, graph, ranges, options, dtype);
}

double mean_weight(const Ranks& ranks, const RowsOfGraph& arcs) {
  double largest = 0;
  for (const double w : arcs.weight) largest = std::max(largest, w);
  largest = ranks.largest(largest);
  long double sum = 0;
  for (const double w : arcs.weight) sum += static_cast<long double>(w) / largest;
  const double total = ranks.sum(static_cast<double>(sum)),
               count = ranks.sum(static_cast<double>(arcs.weight.size()));
  return count > 0 ? total / count * largest : 1;
}

ProductSize product_size(const NodeOperator& distributed) {
  if (const auto* grid = dynamic_cast<const GridOperator*>(&distributed)) return grid->part().size();
  if (const auto* rows = dynamic_cast<const RowOperator*>(&distributed)) return rows->size();
  throw ArgumentError("S", "the operator is not spread over processes", "make it with distributed_operator");
}

}  // namespace eignn
