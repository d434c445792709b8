// A matrix by its entries, for features of which nearly all are zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eignn {

/// Row v has the values value[k] in the columns column[k], begin[v] <= k < begin[v+1]; columns ascend within
/// a row.
struct SparseRows {
  std::vector<int64_t> begin = {0}, column;
  std::vector<double> value;
};

/// Whether features that a file lists stay a list: where a dense matrix of doubles would take more than 1
/// GiB, and at most one entry in eight is not zero.
bool stay_sparse(int64_t rows, int64_t columns, int64_t entries);

/// Sorts the entries of each row by column and leaves out zeros. DataError for a column that a row has twice,
/// and for more columns than 2^31 - 1; `origin` names the file.
SparseRows sorted_rows(SparseRows rows, int64_t columns, const std::string& origin);

}  // namespace eignn
