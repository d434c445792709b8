// The data sets of gnn-benchmark (Shchur et al. 2018: amazon_electronics_photo.npz, ms_academic_cs.npz, …):
// an .npz file, or a folder with the same arrays as .npy files, with two sparse matrices and the labels.
//
//   adj_data, adj_indices, adj_indptr, adj_shape       the adjacency matrix (n, n) in CSR
//   attr_data, attr_indices, attr_indptr, attr_shape   the features (n, d) in CSR; or attr_matrix, dense
//   labels                                             (n,) integers, -1 where not known
//
// In CSR row v has the values data[k] in the columns indices[k], indptr[v] <= k < indptr[v+1]. Each entry of
// the adjacency matrix that is not zero is an arc from its row to its column; its value is the weight of the
// arc for those who ask for it. Features stay a list where a dense matrix would take more than 1 GiB and
// nearly all are zero (data/sparse_rows.h). Otherwise they become dense: uint8 where every one is a whole
// number from 0 to 255, else float32, or float64 where they are stored so. The names (node_names, attr_names,
// class_names, …) are pickled and are not read. There are no splits.
#include "data/readers.h"

#include <fmt/format.h>

#include <utility>

#include "data/dense_features.h"
#include "data/named_arrays.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

struct Csr {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> begin;   // (rows + 1,)
  std::vector<int64_t> column;  // of each entry, in range
  Array data;                   // the value of each entry
};

constexpr const char* save_again = "save the matrix again with scipy, as CSR";

Csr read_csr(const NamedArrays& arrays, const std::string& prefix) {
  Csr matrix;
  const Array shape = arrays.read(prefix + "_shape");
  if (shape.size() != 2) refuse("not two numbers", shape.origin, save_again);
  const std::vector<int64_t> sizes = shape.as<int64_t>();
  matrix.rows = sizes[0];
  matrix.columns = sizes[1];
  if (matrix.rows < 0 || matrix.columns < 0) refuse("a negative size", shape.origin, save_again);

  const Array indptr = arrays.read(prefix + "_indptr"), indices = arrays.read(prefix + "_indices");
  matrix.data = arrays.read(prefix + "_data");
  if (indptr.size() - 1 != matrix.rows)
    refuse(fmt::format("{} row starts for {} rows", indptr.size(), matrix.rows), indptr.origin, save_again);
  if (indices.size() != matrix.data.size())
    refuse(fmt::format("{} indices for {} values", indices.size(), matrix.data.size()), indices.origin,
           save_again);
  matrix.begin = indptr.as<int64_t>();
  matrix.column = indices.as<int64_t>();
  if (matrix.begin.front() != 0)
    refuse(fmt::format("the first row starts at {}, not at 0", matrix.begin.front()), indptr.origin,
           save_again);
  for (size_t v = 1; v < matrix.begin.size(); ++v)
    if (matrix.begin[v] < matrix.begin[v - 1])
      refuse(fmt::format("row {} ends before it starts", v - 1), indptr.origin, save_again);
  if (matrix.begin.back() != indices.size())
    refuse(
        fmt::format("the last row ends at {}, but there are {} indices", matrix.begin.back(), indices.size()),
        indptr.origin, save_again);
  for (size_t k = 0; k < matrix.column.size(); ++k)
    if (matrix.column[k] < 0 || matrix.column[k] >= matrix.columns)
      refuse(fmt::format("element {} is {}, but there are {} columns", k, matrix.column[k], matrix.columns),
             indices.origin, save_again);
  return matrix;
}

ArcList read_arcs(const NamedArrays& arrays) {
  const Csr adjacency = read_csr(arrays, "adj");
  if (adjacency.rows != adjacency.columns)
    refuse(fmt::format("the adjacency matrix has {} rows and {} columns", adjacency.rows, adjacency.columns),
           arrays.path(), "give one row and one column per node");
  const std::vector<double> weight = adjacency.data.as<double>();
  ArcList arcs;
  arcs.weight_on_request = true;
  arcs.weight_origin = adjacency.data.origin;
  arcs.nodes = adjacency.rows;
  for (int64_t v = 0; v < adjacency.rows; ++v)
    for (int64_t k = adjacency.begin[v]; k < adjacency.begin[v + 1]; ++k) {
      if (weight[k] == 0) continue;
      arcs.source.push_back(v);
      arcs.target.push_back(adjacency.column[k]);
      arcs.weight.push_back(weight[k]);
    }
  return arcs;
}

template <class Number>
Array densify(const Csr& matrix, size_t listed_bytes) {
  const std::vector<Number> values = matrix.data.as<Number>();
  Array dense =
      zero_features(matrix.rows, matrix.columns, element_type_of<Number>(), listed_bytes, matrix.data.origin);
  auto* cells = reinterpret_cast<Number*>(dense.bytes.data());
  for (int64_t v = 0; v < matrix.rows; ++v)
    for (int64_t k = matrix.begin[v]; k < matrix.begin[v + 1]; ++k) {
      Number& cell = cells[v * matrix.columns + matrix.column[k]];
      if (cell != 0 && values[k] != 0)
        refuse(fmt::format("row {} has column {} twice", v, matrix.column[k]), matrix.data.origin,
               "call .sum_duplicates() before saving");
      if (values[k] != 0) cell = values[k];
    }
  return dense;
}

Array read_features(const NamedArrays& arrays, std::optional<SparseRows>& entries) {
  // Where there is neither, the message should name the sparse form, which all published files have.
  if (arrays.has("attr_matrix") && !arrays.has("attr_data")) return arrays.read("attr_matrix");
  Csr matrix = read_csr(arrays, "attr");
  if (stay_sparse(matrix.rows, matrix.columns, matrix.begin.back())) {
    Array shape;
    shape.shape = {matrix.rows, matrix.columns};
    shape.origin = matrix.data.origin;
    entries = sorted_rows({std::move(matrix.begin), std::move(matrix.column), matrix.data.as<double>()},
                          matrix.columns, matrix.data.origin);
    return shape;
  }
  const size_t listed_bytes = matrix.data.bytes.size() + (matrix.begin.size() + matrix.column.size()) * 4;
  matrix.data = as_bytes_if_exact(std::move(matrix.data));
  if (matrix.data.type == ElementType::uint8) return densify<uint8_t>(matrix, listed_bytes);
  if (matrix.data.type == ElementType::float64) return densify<double>(matrix, listed_bytes);
  return densify<float>(matrix, listed_bytes);
}

RawDataset from_arrays(const NamedArrays& arrays) {
  RawDataset set;
  set.name = name_of_path(arrays.path());
  set.format = "gnn-benchmark npz";
  set.path = arrays.path();
  set.arcs = read_arcs(arrays);
  set.features = read_features(arrays, set.entries);
  const Array labels = arrays.read("labels");
  if (labels.shape.size() != 1)
    refuse(fmt::format("labels with {} dimensions", labels.shape.size()), labels.origin,
           "save one label per node, of shape (n,)");
  set.labels = labels.as<int64_t>();
  set.classes = count_classes(set.labels);
  check(set);
  return set;
}

}  // namespace

RawDataset parse_gnn_benchmark(std::string_view archive, const std::string& origin) {
  return from_arrays(NamedArrays(archive, origin));
}

namespace {

bool is_gnn_benchmark(const std::string& path) {
  return is_named_arrays(path) && NamedArrays(path).has("adj_indptr");
}

RawDataset read_gnn_benchmark(const std::string& path) {
  return from_arrays(NamedArrays(path));
}

}  // namespace

const Reader gnn_benchmark_reader = {"gnn-benchmark", "adj_indptr in an .npz or a folder", is_gnn_benchmark,
                                     read_gnn_benchmark};

}  // namespace eignn
