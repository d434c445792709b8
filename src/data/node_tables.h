// The tables about nodes: which column is what, and what it holds.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/raw_dataset.h"
#include "data/text_pool.h"
#include "eignn/table.h"

namespace eignn {

struct NodeFile {
  std::string path, text;
};

/// Reads the files, then gives what they hold once all nodes are known, those of the edges among them.
class NodeTables {
 public:
  /// Gives each id a number in `ids`. DataError for whatever cannot be used, with file, line and column.
  NodeTables(std::vector<NodeFile> files, const TableOptions& options, TextPool* ids);
  ~NodeTables();
  NodeTables(const NodeTables&) = delete;
  NodeTables& operator=(const NodeTables&) = delete;

  /// Fills in features, labels, splits and the report, for `nodes` of them. Once.
  void take(int64_t nodes, RawDataset* set);

 private:
  struct File;
  struct Column;

  void open(NodeFile file);
  void choose_labels();
  void read(File& file, TextPool* ids);
  void decide(Column& column);
  const TrainedColumn* trained(const Column& column) const;
  bool decide_as_trained(Column& column);
  void settle_placeholders(Column& column);
  void read_words(File& file);
  void settle_words(Column& column);
  void take_features(int64_t nodes, RawDataset* set);
  void take_labels(int64_t nodes, RawDataset* set);
  void take_classes(const Column& column, int64_t nodes, RawDataset* set);
  void take_label_sets(const std::vector<const Column*>& columns, int64_t nodes, RawDataset* set);
  void take_targets(const std::vector<const Column*>& columns, int64_t nodes, RawDataset* set);
  void take_splits(int64_t nodes, RawDataset* set);

  const TableOptions& options_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<std::unique_ptr<Column>> columns_;  // of all files, in order
  std::vector<Column*> labels_, features_, splits_;
  std::string why_unlabelled_;
};

}  // namespace eignn
