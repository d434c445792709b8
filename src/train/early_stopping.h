// Decides when to stop and which weights to keep.
#pragma once

#include <cstdint>
#include <limits>

#include "eignn/options.h"

namespace eignn {

/// `loss`: an epoch is better when its validation loss is strictly lower; it is kept and resets the counter.
/// `score`: the same by a strictly higher validation score.
/// `either` (the published code): the counter resets when the loss is at most its best or the accuracy at
/// least its best; weights are kept when both hold, or when the accuracy is strictly better.
class EarlyStopping {
 public:
  EarlyStopping(Stopping rule, int64_t patience) : rule_(rule), patience_(patience) {}

  struct Verdict {
    bool keep;  // these weights are the best so far
    bool stop;  // the patience is used up
  };
  Verdict judge(double val_loss, double val_score);

  // The state that a resumed run restores.
  double best_loss = std::numeric_limits<double>::infinity();
  double best_score = -std::numeric_limits<double>::infinity();
  int64_t waited = 0;

 private:
  Stopping rule_;
  int64_t patience_;
};

}  // namespace eignn
