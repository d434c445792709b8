// The runs and the files of results that a report shows, as they lie on the disk.
#pragma once

#include <string>
#include <vector>

#include "eignn/train.h"
#include "run/result_json.h"

namespace eignn {

/// metrics.jsonl: a value for each epoch; NaN where one is not defined.
struct MetricCurves {
  std::string metric;  // of val_score, such as "accuracy"
  std::vector<double> train_loss, val_loss, val_score;

  size_t epochs() const { return train_loss.size(); }
};

/// The curves of a run's folder; empty where it has no metrics.jsonl. DataError for a line that is damaged;
/// the last line of an unfinished run may be cut off, and is left out.
MetricCurves read_metrics(const std::string& path, bool finished);

struct CollectedRun {
  std::string name;    // the path as the user would type it
  std::string folder;  // empty: a summary without a folder
  bool finished = true;
  RunResult result;  // of an unfinished run the configuration alone
  MetricCurves curves;
};

enum class ResultKind {
  study,        // reproduce: a quantity over another, for several models
  table,        // reproduce: data sets and models, beside the paper
  robustness,   // reproduce attacks
  attack,       // attack --json
  explanation,  // explain --json
  influence,    // explain --influence --json
  speed         // bench: ours beside published
};

struct CollectedResult {
  std::string name;
  ResultKind kind;
  ResultJson json;
};

struct Collected {
  std::vector<CollectedRun> runs;
  std::vector<CollectedResult> results;
  std::vector<std::string>
      not_shown;  // files in folders that no page shows, and failed runs, with the reason
};

/// Searches folders to any depth for runs (summary.json, or config.toml with metrics.jsonl where one is
/// unfinished) and for .json files of results; other files are left alone. A path that is a file must be one
/// that the report knows. Nothing is taken twice. DataError for a path that does not exist, a damaged file,
/// or where nothing is found.
Collected collect(const std::vector<std::string>& paths);

/// What a JSON file is, told by its keys. ArgumentError{"file"} for one that no page shows.
ResultKind kind_of(const ResultJson& json);

}  // namespace eignn
