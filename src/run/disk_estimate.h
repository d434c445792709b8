// About how much disk a run will take, known before its first epoch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/train.h"
#include "run/run_set.h"

namespace eignn {

/// Of a run's folder.
struct RunBytes {
  double small = 0;   // settings, metrics and summary, which stay in any case
  double model = 0;   // the checkpoint and the files of a row per node
  double on_way = 0;  // the state to resume from, twice: a new one stands beside the old one
};

/// `weights`: the bytes of the model's parameters and buffers.
RunBytes bytes_of_run(double weights, const Dataset& data, const TrainConfig& config);

double bytes_of(const std::map<std::string, torch::Tensor>& tensors);

/// The bytes of the weights that a run of this configuration has on data of these widths. Makes the model, on
/// a graph of two nodes.
double bytes_of_weights(TrainConfig config, int64_t features, int64_t classes);

/// About a file with a row per node: a name, a part, a label, and so many numbers.
double bytes_of_node_rows(const Dataset& data, double numbers);

/// How many runs are worked at.
struct ManyRuns {
  int64_t at_once = 1;
  bool keep_models = true;  // otherwise only the small files stay
  bool resumable = true;    // the runs under way save their state
};

/// ResourceError where the disk of `folder` has no room for the jobs that are not finished. `raw` are the
/// data of the first before prepared(), and its weights stand for those of all. `more` is the number of
/// further runs like the first.
void require_space_for_runs(const std::string& folder, const std::vector<Job>& jobs, const Dataset& raw,
                            const ManyRuns& how, int64_t more = 0);

}  // namespace eignn
